"""Lines of the log as an operator reads them, or a program."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable

import psycopg
import pytest
from pydantic import BaseModel, SecretStr, ValidationError

from adapters.cli.logs import AsJson, OneLine, _is_to_be_told, secrets_of
from adapters.llm.failures import UnusableReply
from adapters.log_context import logged_about
from adapters.settings import Settings
from application.ports import MindFailed

WORD = "Quetzalcoatl"


def record(
    message: str, *args: object, error: BaseException | None = None, name: str = "adapters.jobs"
) -> logging.LogRecord:
    trace = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord(name, logging.WARNING, __file__, 1, message, args, trace)


def line(message: str, *args: object, error: BaseException | None = None) -> str:
    return OneLine().format(record(message, *args, error=error))


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        if cause is not None:
            raise error from cause
        raise error
    except type(error):
        found = sys.exception()
        assert found is not None
        return found


def test_a_message_of_several_lines_becomes_one() -> None:
    assert line("lost its database (\n    Database error.\n    ); trying again") == (
        "WARNING adapters.jobs: lost its database ( Database error. ); trying again"
    )


def test_a_stack_trace_keeps_its_lines_and_tells_where_and_not_what() -> None:
    lines = line("it failed", error=raised(ValueError(f"no such {WORD}"), cause=raised(KeyError(WORD)))).splitlines()
    assert lines[0] == "WARNING adapters.jobs: it failed"
    assert f"{__file__}:" in lines[2]
    assert "KeyError" in lines
    assert "which led to" in lines
    assert lines[-1] == "ValueError"


def test_a_line_tells_its_operation_its_bank_and_its_request() -> None:
    with logged_about(operation_id="o", bank_id="b"), logged_about(request_id="r"):
        assert line("it is done") == "WARNING adapters.jobs: it is done [bank=b operation=o request=r]"
        entry = json.loads(AsJson().format(record("it is\ndone")))
    assert entry.pop("time").endswith("+00:00")
    assert entry == {
        "level": "warning",
        "logger": "adapters.jobs",
        "message": "it is done",
        "operation_id": "o",
        "bank_id": "b",
        "request_id": "r",
    }


def test_a_name_cannot_forge_a_line() -> None:
    with logged_about(bank_id="b\nERROR adapters.jobs: the end\x1b[2J"):
        assert len(line("it is done").splitlines()) == 1
        assert "\x1b" not in line("it is done")
        assert len(AsJson().format(record("it is done")).splitlines()) == 1


class Strict(BaseModel):
    number: int


def invalid() -> ValidationError:
    with pytest.raises(ValidationError) as told:
        Strict.model_validate({"number": WORD})
    return told.value


def of_a_status(status: int) -> MindFailed:
    answered = Exception(WORD)
    answered.status_code = status  # type: ignore[attr-defined]
    failed = MindFailed(
        f"the endpoint refused the request ({status}): {WORD}", reason="unexpected_error", transient=False
    )
    failed.__cause__ = answered
    return failed


def unreachable() -> MindFailed:
    failed = MindFailed("m cannot be reached (refused)", reason="unexpected_error", transient=True)
    failed.__cause__ = ConnectionError(WORD)
    return failed


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (invalid, "ValidationError"),
        (lambda: of_a_status(400), "MindFailed: the endpoint answered 400"),
        (lambda: UnusableReply(WORD, raw=WORD), "UnusableReply: not told here (unexpected_error)"),
        (unreachable, "MindFailed: m cannot be reached (refused)"),
        (lambda: psycopg.OperationalError("connection refused"), "OperationalError: connection refused"),
        (lambda: psycopg.ProgrammingError(WORD), "ProgrammingError"),
        (
            lambda: FileNotFoundError(2, "No such file or directory", WORD),
            "FileNotFoundError: No such file or directory",
        ),
        (lambda: RuntimeError(WORD), "RuntimeError"),
    ],
)
@pytest.mark.parametrize("form", [OneLine(), AsJson()])
def test_an_error_is_told_without_what_it_quotes(
    make: Callable[[], BaseException], told: str, form: logging.Formatter
) -> None:
    error = make()
    written = form.format(record("it failed: %s", error, error=raised(error)))
    assert f"it failed: {told}" in written
    assert WORD not in written


def test_an_error_of_the_server_is_told_by_its_code(conninfo: str) -> None:
    with psycopg.connect(conninfo) as connection, pytest.raises(psycopg.Error) as told:
        connection.execute("INSERT INTO schema_migrations (name, sha256) SELECT %s, NULL", (WORD,))
    assert line("%s", told.value).endswith("NotNullViolation: SQLSTATE 23502 at schema_migrations")


def test_libraries_are_heard_from_warnings_on_and_without_their_details() -> None:
    debug = record("Request options: %s", WORD, name="openai._base_client")
    debug.levelno = logging.DEBUG
    assert not _is_to_be_told(debug)
    unretrieved = record(f"Task exception was never retrieved\nfuture: <Task exception={WORD}>", name="asyncio")
    assert _is_to_be_told(unretrieved)
    assert OneLine().format(unretrieved) == "WARNING asyncio: Task exception was never retrieved"


def test_keys_and_passwords_are_hidden_wherever_they_turn_up() -> None:
    settings = Settings(
        _env_file=None,
        llm_api_key=SecretStr("sk-very-secret"),
        llm_model="m",
        embeddings_api_key=SecretStr("none"),
        database_url="postgresql://me:p%40ss-word@db/x",
    )
    hidden = OneLine(secrets_of(settings)).format(record("%s", "sk-very-secret p@ss-word p%40ss-word; none"))
    assert hidden == "WARNING adapters.jobs: *** *** ***; none"
    spaced = settings.model_copy(update={"database_url": "host=db password='word-of-pass' user=me"})
    assert "word-of-pass" in secrets_of(spaced)
