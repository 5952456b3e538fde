"""Reads a folder of markdown files as folders and pages: files of an export, and any other markdown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, ClassVar

import yaml
from pydantic import ValidationError

from adapters.http import errors
from adapters.http.fields import DOCUMENT_LENGTH, Name, SourceQuery, Tags, TokenBudget
from adapters.http.knowledge_base_export import FOLDER_TYPE, INDEX, INDEX_TYPE, LOG_SUFFIX, LOG_TYPE
from adapters.http.knowledge_base_wire import SortOrder
from adapters.http.requests import Body, TriggerInput
from application.knowledge_base_import import FolderFile, PageFile
from domain.candidate import is_blank
from domain.document.front_matter import front_matter_length

PATH_LENGTH = 1_000
FRONT_MATTER_LENGTH = 50_000
YAML_LENGTH = 10_000
YAML_BRACKETS = 200
"""Reading YAML that is made to be slow takes a second for every few thousand brackets."""
EARLIER_AT_MOST = 200
"""Texts of one log."""
OWN_ID = re.compile(r"kp-[0-9a-f]{32}")
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_OPENING = re.compile(r"^(`{3,})markdown\r?$", re.MULTILINE)


class _TextLoader(yaml.BaseLoader):  # type: ignore[misc]  # the library has no types
    """Every scalar is text. Aliases, by which a few lines stand for gigabytes, are not read."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not read here")
        return super().compose_node(parent, index)


class FolderFields(Body):
    INSIDE: ClassVar[str] = "folder."

    title: Name
    sort_order: SortOrder | None = None


class PageFields(Body):
    """What a page's front matter may tell."""

    INSIDE: ClassVar[str] = "page."

    title: Name
    description: SourceQuery | None = None
    tags: Tags | None = None
    max_tokens: TokenBudget | None = None
    trigger: TriggerInput | None = None
    sort_order: SortOrder | None = None


@dataclass(frozen=True)
class _File:
    """A file of the bundle. `number` is its place in the request."""

    number: int
    path: str
    fields: Mapping[str, Any]
    text: str
    """What is below the front matter."""
    ours: bool
    """It is of an export."""

    @property
    def directory(self) -> str:
        parent = str(PurePosixPath(self.path).parent)
        return "" if parent == "." else parent

    @property
    def kind(self) -> str:
        return str(self.fields.get("type", ""))


@dataclass
class ReadBundle:
    """`ignored` are the paths of tables of contents, and of logs whose page is not there."""

    folders: list[FolderFile] = field(default_factory=list)
    pages: list[PageFile] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


def read(files: Sequence[tuple[str, str]]) -> ReadBundle:
    """Paths and contents, in the order given. Raises a 422 that names the file and what is wrong with it."""
    bundle = ReadBundle()
    _check_paths([path for path, _ in files])
    named = [_file(number, path, content) for number, (path, content) in enumerate(files)]
    logs = {each.path: each for each in named if each.path.endswith(LOG_SUFFIX) and each.kind == LOG_TYPE}
    folders = {each.directory: each for each in named if _is_folder(each)}
    used: set[str] = set()
    for directory in _directories(named):
        bundle.folders.append(_folder(directory, folders.get(directory)))
    for each in named:
        if each.path in logs or _is_folder(each):
            continue
        if _is_contents(each, named):
            bundle.ignored.append(each.path)
            continue
        log = logs.get(each.path.removesuffix(".md") + LOG_SUFFIX)
        used.update({log.path} if log else ())
        bundle.pages.append(_page(each, log))
    bundle.ignored.extend(path for path in logs if path not in used)
    return bundle


def _check_paths(paths: Sequence[str]) -> None:
    seen: dict[str, int] = {}
    for number, path in enumerate(paths):
        parts = path.split("/")
        at = ("body", "files", number, "path")
        if len(path) > PATH_LENGTH or any(not part.strip() or part in (".", "..") for part in parts) or "\\" in path:
            raise errors.unprocessable(
                at, "a path is relative, its parts divided by '/', none of them empty, '.' or '..', and without '\\'"
            )
        if not path.endswith(".md"):
            raise errors.unprocessable(at, "is no markdown file: its name has to end in .md")
        first = seen.setdefault(path.casefold(), number)
        if first != number:
            raise errors.unprocessable(at, f"is the path of file {first} too (case does not count)")


def _file(number: int, path: str, content: str) -> _File:
    text = content.removeprefix("\ufeff")
    length = front_matter_length(text)
    if length > FRONT_MATTER_LENGTH:
        raise errors.unprocessable(_at(number), f"its front matter is longer than {FRONT_MATTER_LENGTH} characters")
    block, below = text[:length], text[length:]
    fields = _fields(number, block) if block else {}
    ours = bool(OWN_ID.fullmatch(str(fields.get("id", "")))) or fields.get("type") in (FOLDER_TYPE, LOG_TYPE)
    if block:
        below = re.sub(r"\A\r?\n" if ours else r"\A(?:[ \t]*\r?\n)+", "", below)
    return _File(number, path, fields, below, ours)


def _fields(number: int, block: str) -> dict[str, Any]:
    """The mapping that the front matter is. An export writes JSON on every line; of any other YAML all scalars are
    texts."""
    lines = re.split(r"\r?\n", block.rstrip("\r\n"))[1:-1]
    if lines and lines[0].startswith(('id: "', 'type: "')):
        with suppress(ValueError):
            return _of_json_lines(lines)
    inside = "\n".join(lines)
    if len(inside) > YAML_LENGTH or inside.count("[") + inside.count("{") > YAML_BRACKETS:
        raise errors.unprocessable(_at(number), "its front matter is too long, or has too many lists in it, to be read")
    try:
        fields = yaml.load(inside, Loader=_TextLoader)
    except (yaml.YAMLError, ValueError, TypeError) as error:
        first = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise errors.unprocessable(_at(number), f"its front matter is not YAML: {first}") from error
    if not isinstance(fields, dict):
        raise errors.unprocessable(_at(number), "its front matter is no mapping of names to values")
    return {str(name): value for name, value in fields.items()}


def _of_json_lines(lines: Sequence[str]) -> dict[str, Any]:
    """Raises ValueError when a line is not `name: JSON`."""
    found: dict[str, Any] = {}
    for line in lines:
        name, _, value = line.partition(": ")
        try:
            found[name] = json.loads(value)
        except RecursionError as error:
            raise ValueError(name) from error
    return found


def _is_folder(file: _File) -> bool:
    return PurePosixPath(file.path).name == INDEX and file.directory != "" and file.kind == FOLDER_TYPE


def _is_contents(file: _File, files: Sequence[_File]) -> bool:
    """A table of contents: of ours by its type; an export of the system of reference has one beside pages named by
    their ids."""
    if file.path != INDEX:
        return False
    return file.kind == INDEX_TYPE or (
        not file.fields and any(OWN_ID.fullmatch(each.path.removesuffix(".md")) for each in files)
    )


def _directories(files: Iterable[_File]) -> list[str]:
    """Every directory that holds something, each before what is in it, in the order in which they are met."""
    found: dict[str, None] = {}
    for each in files:
        parts = each.directory.split("/") if each.directory else []
        for depth in range(1, len(parts) + 1):
            found.setdefault("/".join(parts[:depth]))
    return list(found)


def _folder(directory: str, file: _File | None) -> FolderFile:
    parent, _, name = directory.rpartition("/")
    if file is None:
        return FolderFile(directory, parent, _valid(FolderFields, 0, {"title": name}).title)
    told = _valid(FolderFields, file.number, {"title": name, **_among(file, FolderFields)})
    return FolderFile(directory, parent, told.title, told.sort_order or 0)


def _page(file: _File, log: _File | None) -> PageFile:
    if len(file.text) > DOCUMENT_LENGTH:
        raise errors.unprocessable(_at(file.number), f"its text is longer than {DOCUMENT_LENGTH} characters")
    given = _among(file, PageFields)
    if not str(given.get("title", "")).strip():
        given["title"] = _title(file)
    if not str(given.get("description", "")).strip():
        given.pop("description", None)
    if isinstance(given.get("tags"), str):
        given["tags"] = [tag.strip() for tag in given["tags"].split(",") if tag.strip()]
    if file.ours and file.kind:
        given["tags"] = _with_type(given.get("tags"), file.kind)
    told = _valid(PageFields, file.number, given)
    return PageFile(
        file.path,
        file.directory,
        told.title,
        "" if is_blank(file.text) else file.text,
        told.description,
        None if told.tags is None else tuple(told.tags),
        told.max_tokens,
        _trigger(told.trigger, whole=file.ours),
        told.sort_order if told.sort_order is not None or not file.ours else 0,
        _earlier(log) if log else (),
    )


def _trigger(given: TriggerInput | None, *, whole: bool) -> dict[str, Any] | None:
    """An export tells the whole trigger: what is not in it is null. Any other file tells some fields."""
    if given is None:
        return None
    return given.complete().model_dump(mode="json", by_alias=True) if whole else given.given()


def _among(file: _File, kind: type[Body]) -> dict[str, Any]:
    """The fields that are known, of those that say something."""
    return {name: value for name, value in file.fields.items() if name in kind.model_fields and value not in ("", None)}


def _with_type(tags: Any, kind: str) -> Any:
    """The document of a page tells the tag of its type apart from the others."""
    if kind == "knowledge-page" or not isinstance(tags or [], list) or f"type:{kind}" in (tags or ()):
        return tags
    return [f"type:{kind}", *(tags or ())]


def _title(file: _File) -> str:
    """Of a file that tells none: its first heading, else its name."""
    heading = _HEADING.search(file.text)
    return heading.group(1)[:500] if heading else PurePosixPath(file.path).name.removesuffix(".md")[:500]


def _earlier(log: _File) -> tuple[str, ...]:
    """The texts of a log. Raises a 422 for one that is cut off, or has too many."""
    found: list[str] = []
    at = 0
    while opening := _OPENING.search(log.text, at):
        start, closing = opening.end() + 1, f"\n{opening.group(1)}"
        end = log.text.find(closing, opening.end())
        if end < start - 1 or len(found) == EARLIER_AT_MOST:
            raise errors.unprocessable(
                _at(log.number), f"a log has whole texts in fences of backticks, {EARLIER_AT_MOST} at most"
            )
        if not is_blank(text := log.text[start : max(start, end)]):
            found.append(text)
        at = max(start, end) + len(closing)
    if any(len(text) > DOCUMENT_LENGTH for text in found):
        raise errors.unprocessable(_at(log.number), f"one of its texts is longer than {DOCUMENT_LENGTH} characters")
    return tuple(found)


def _at(number: int) -> tuple[str, str, int, str]:
    return "body", "files", number, "content"


def _valid(kind: Any, number: int, given: Mapping[str, Any]) -> Any:
    """The fields of a file, checked as those of a request. Raises a 422 for the file."""
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        raise errors.unprocessable((*_at(number), *first["loc"]), first["msg"], first["type"]) from error
