"""What commands are given: texts, files, JSON, lists, and the answer to "really?"."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adapters.cli.unusable import Unusable


def file_text(path: str) -> str:
    """The text of a file, `-` is standard input, every byte of it. Raises Unusable."""
    try:
        data = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise Unusable(f"{path} cannot be read: {error.strerror}") from error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        name = "standard input" if path == "-" else path
        raise Unusable(f"{name} is not text in UTF-8 (byte {error.start})") from error


def given_text(value: str) -> str:
    """A text as it was given; `@FILE` is what the file says, `-` what standard input says."""
    if value == "-":
        return file_text("-")
    if not value.startswith("@"):
        return value
    if not Path(value[1:]).is_file():
        raise Unusable(f"there is no file {value[1:]}; a text that begins with @ can be given by standard input (-)")
    return file_text(value[1:])


def given_json(value: str | None, name: str) -> Any:
    """JSON, `@FILE` or `-`; None stays None. Raises Unusable that names the option."""
    if value is None:
        return None
    try:
        return json.loads(given_text(value))
    except (ValueError, RecursionError) as error:
        raise Unusable(f"{name} is not JSON: {error}") from error


def given_object(value: str | None, name: str) -> dict[str, Any]:
    """A JSON object; {} when it is not given."""
    told = given_json(value, name)
    if told is not None and not isinstance(told, dict):
        raise Unusable(f"{name} is not a JSON object, such as {{}}")
    return told or {}


def names(values: Sequence[str] | None) -> list[str] | None:
    """A list from options that may be repeated: each value is names with commas between them, or a JSON list (for names
    that have commas). One empty value is the empty list; no value is None, not given."""
    if not values:
        return None
    found: list[str] = []
    for value in values:
        found += _json_names(value) if value.lstrip().startswith("[") else _split(value)
    return found


def _split(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _json_names(value: str) -> list[str]:
    try:
        told = json.loads(value)
    except ValueError as error:
        raise Unusable(f"'{value}' is not a JSON list: {error}") from error
    if not all(isinstance(each, str) for each in told):
        raise Unusable(f"'{value}' is not a list of texts")
    return list(told)


def pairs(values: Sequence[str] | None, name: str) -> dict[str, str]:
    """`KEY=VALUE` each."""
    found = {}
    for value in values or ():
        key, is_there, text = value.partition("=")
        if not is_there or not key:
            raise Unusable(f"{name} is KEY=VALUE, not '{value}'")
        found[key] = text
    return found


def given(**values: Any) -> dict[str, Any]:
    """Those that are not None: what a partial update sends."""
    return {name: value for name, value in values.items() if value is not None}


def if_version(version: int | None) -> Mapping[str, str] | None:
    """The header of a change that is for this version only."""
    return None if version is None else {"If-Match": f'"{version}"'}


def confirm(question: str, *, yes: bool) -> None:
    """Goes on when the answer is yes. Raises Unusable when it is no, or nobody can be asked."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Unusable(f"{question} Say so with --yes: there is no terminal to ask at")
    import typer

    if not typer.confirm(question, err=True):
        raise Unusable("nothing was done")
