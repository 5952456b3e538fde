"""What the program logs on standard error: one line each, for people or as JSON, without secrets and without anything
that people stored.

Lines of libraries are taken from warnings on only: below that some of them tell whole requests.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote, unquote, urlsplit

from adapters.log_context import log_context

if TYPE_CHECKING:
    from pydantic import SecretStr

    from adapters.settings import Settings

LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error", "critical"]

OURS = ("adapters", "application", "domain", "projections")
_SHORTEST_SECRET = 6
"""Shorter keys are placeholders such as "none"; hiding them would blot out ordinary words."""


def log_to_standard_error(level: LogLevel = "warning", form: LogFormat = "text", secrets: Iterable[str] = ()) -> None:
    """Sets up logging for the whole process; the last call counts. `secrets` are hidden wherever they turn up."""
    handler = logging.StreamHandler()
    handler.setFormatter((AsJson if form == "json" else OneLine)(secrets))
    handler.addFilter(_is_to_be_told)
    ours = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(level=max(logging.WARNING, ours), handlers=[handler], force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(ours)
    # It logs the loss of the database with its whole stack; the worker says the same in one line.
    logging.getLogger("procrastinate.utils").setLevel(logging.CRITICAL)
    logging.getLogger("instructor").setLevel(logging.CRITICAL)  # it quotes answers of models


def log_as_set(settings: Settings) -> None:
    """As the settings say, and without their keys and passwords."""
    log_to_standard_error(settings.log_level, settings.log_format, secrets_of(settings))


def secrets_of(settings: Settings) -> set[str]:
    """Every key, and every password in an address, as it is and as an address spells it."""
    keys: list[SecretStr | None] = [settings.llm_api_key, settings.embeddings_api_key, settings.rerank_api_key]
    found = {key.get_secret_value() for key in keys if key is not None}
    addresses = (settings.database_url, settings.llm_base_url, settings.embeddings_base_url, settings.rerank_base_url)
    for password in filter(None, map(_password_in, addresses)):
        found |= {password, unquote(password), quote(unquote(password), safe="")}
    return found


def _password_in(address: str | None) -> str | None:
    if address is None:
        return None
    if "://" in address:
        try:
            return urlsplit(address).password
        except ValueError:
            return None
    _, _, rest = address.partition("password=")  # libpq's other form
    return rest.split()[0].strip("'") if rest.strip() else None


class _OfOneRecord(logging.Formatter):
    def __init__(self, secrets: Iterable[str] = ()) -> None:
        super().__init__()
        self._secrets = sorted({each for each in secrets if len(each) >= _SHORTEST_SECRET}, key=len, reverse=True)

    def without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text


class OneLine(_OfOneRecord):
    """`LEVEL logger: message [operation=... bank=... request=...]`; a stack trace follows in lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        about = " ".join(f"{name.removesuffix('_id')}={value}" for name, value in sorted(log_context().items()))
        line = f"{record.levelname} {record.name}: {_message(record)}{f' [{about}]' if about else ''}"
        shown = "".join(character if character.isprintable() else "�" for character in line)
        trace = _trace(record)
        return self.without_secrets(shown if trace is None else f"{shown}\n{trace}")


class AsJson(_OfOneRecord):
    """One JSON object a line: `time` (UTC), `level`, `logger`, `message`, `exception` where there is one, and the ids
    of what the line is about."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
            **log_context(),
        }
        if (trace := _trace(record)) is not None:
            entry["exception"] = trace
        return json.dumps({name: self.without_secrets(value) for name, value in entry.items()})


def _is_to_be_told(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or _is_ours(record)


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name.partition(".")[0] in OURS


def _message(record: logging.LogRecord) -> str:
    """One line, with errors as they may be told. Libraries add details in further lines, which may quote anything."""
    told = str(_shown(record.msg))
    if record.args:
        told %= _told(record.args)
    return " ".join(told.split()) if _is_ours(record) else told.strip().partition("\n")[0]


def _told(args: tuple[object, ...] | Mapping[str, object]) -> tuple[object, ...] | dict[str, object]:
    if isinstance(args, Mapping):
        return {name: _shown(value) for name, value in args.items()}
    return tuple(_shown(value) for value in args)


def _shown(value: object) -> object:
    if not isinstance(value, BaseException):
        return value
    from adapters.cli.log_errors import described  # takes longer to load than the rest of a command that needs no log

    return described(value)


def _trace(record: logging.LogRecord) -> str | None:
    if not record.exc_info:
        return None
    error = record.exc_info[1] if isinstance(record.exc_info, tuple) else sys.exception()
    if error is None:
        return None
    from adapters.cli.log_errors import traced

    return traced(error)
