"""Waiting for operations: one line that tells how far one is, and how it ended. Ctrl-C ends the waiting alone."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from adapters.cli.remote.remote import Refused, Remote
from adapters.cli.unusable import Unusable

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import RenderableType

Operation = Mapping[str, Any]

ENDED = ("completed", "failed", "cancelled")
LOOK_SECONDS, LOOK_SECONDS_AT_MOST = 0.1, 1.0
AWAY_SECONDS = 30.0
"""How long a server may be away, as while it starts anew, before the waiting ends."""


def submitted(remote: Remote, told: Mapping[str, Any], sentence: str, *, wait: bool) -> None:
    """Shows what a request was answered with; then waits for its operation and shows how that ended. As JSON it is the
    one or the other."""
    operation_id = told.get("operation_id") if wait else None
    if operation_id is None or not remote.as_json:
        remote.say(told, sentence)
    if operation_id is not None:
        finish(remote, operation_id)


def finish(remote: Remote, operation_id: str) -> None:
    """Waits for it and shows how it ended. Raises Exit with code 1 when it failed."""
    operation = _ended(remote, operation_id)
    remote.show(operation, lambda _: [outcome(operation)])
    if not succeeded(operation):
        raise typer.Exit(1)


def finish_all(remote: Remote, operation_ids: Iterable[str]) -> None:
    """The same for several; as JSON a list of them. Raises Exit with code 1 when one of them failed."""
    operations = [_ended(remote, each) for each in operation_ids]
    remote.show(operations, lambda _: map(outcome, operations))
    if not all(map(succeeded, operations)):
        raise typer.Exit(1)


def _ended(remote: Remote, operation_id: str) -> Operation:
    from rich.text import Text

    from adapters.cli.remote.output import visible

    began = time.monotonic()
    with _told_when_stopped(operation_id), remote.busy("waiting") as line:
        for operation in _looked_at(remote, operation_id):
            if operation["status"] in ENDED:
                return operation
            if line is not None:
                line.update(Text(visible(progress(operation, time.monotonic() - began))))
    raise AssertionError("an operation is looked at until it has ended")


@contextmanager
def _told_when_stopped(operation_id: str) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        goes_on = f"stopped waiting; the operation goes on: palimpsest operation watch {operation_id}"
        typer.echo(f"palimpsest: {goes_on}", err=True)
        raise typer.Exit(130) from None


def _looked_at(remote: Remote, operation_id: str) -> Iterator[Operation]:
    """The operation as it is now, again and again."""
    pause = LOOK_SECONDS
    for operation in again(lambda: remote.ask("GET", "operations", operation_id)):
        if operation["status"] == "not_found":
            raise Unusable(f"there is no operation {operation_id} in bank '{remote.bank}'")
        yield operation
        time.sleep(pause)
        pause = min(pause * 1.5, LOOK_SECONDS_AT_MOST)


def again(ask: Callable[[], Any]) -> Iterator[Any]:
    """Answers of a server, which may be away for a while once it has answered."""
    yield ask()
    while True:
        yield _patient(ask)


def _patient(ask: Callable[[], Any]) -> Any:
    until = time.monotonic() + AWAY_SECONDS
    while True:
        try:
            return ask()
        except Refused as error:
            if error.status not in (0, 503) or time.monotonic() > until:
                raise
            time.sleep(LOOK_SECONDS_AT_MOST)


def progress(operation: Operation, seconds: float) -> str:
    """One line: what runs, at which stage, how far, and for how long."""
    told = operation.get("progress") or {}
    stage = _waits(operation) if operation["status"] == "pending" else told.get("stage") or "running"
    if told.get("total") and operation["status"] != "pending":
        stage += f" {told.get('processed') or 0}/{told['total']}"
    return f"{operation['operation_type']}: {stage}, {seconds:.0f} s"


def _waits(operation: Operation) -> str:
    until = operation.get("next_retry_at")
    if not until:
        return "waiting"
    why = (operation.get("park_reason") or "to try again").replace("_", " ")
    return f"waiting until {until} ({why})"


def succeeded(operation: Operation) -> bool:
    """Whether it came to what was asked for: a refresh that ended without a usable document did not."""
    return operation["status"] == "completed" and not _result(operation).startswith("refresh_failed")


def outcome(operation: Operation) -> RenderableType:
    """One sentence: how it ended, with what, or why not."""
    from rich.text import Text

    from adapters.cli.remote.output import visible

    parts = [f"{operation['operation_type']} {operation['status']}"]
    parts += [part for part in (_result(operation), operation.get("error_message")) if part]
    return Text(visible(": ".join(parts)), style="green" if succeeded(operation) else "red")


def _result(operation: Operation) -> str:
    return str((operation.get("details") or {}).get("outcome") or "")
