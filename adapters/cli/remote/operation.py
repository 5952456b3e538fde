"""`palimpsest operation`: work that runs in the background."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.remote.remote import Limit, Offset, Remote, Server, Yes
from adapters.cli.remote.shared_options import command
from adapters.cli.remote.waiting import LOOK_SECONDS_AT_MOST, again, finish, progress

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(no_args_is_help=True)

OperationId = Annotated[str, typer.Argument(metavar="ID", help="Id of the operation.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for the end; exit code 1 when it failed.")]
AT_ONCE = 100


@command(app, "list")
def list_operations(
    server: Server,
    status: Annotated[
        str | None, typer.Option(metavar="STATUS", help="pending, processing, completed, failed or cancelled.")
    ] = None,
    operation_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="Such as retain, refresh_mental_model, consolidation.")
    ] = None,
    limit: Limit = None,
    offset: Offset = None,
) -> None:
    """Operations of the bank, newest first."""
    params = {"status": status, "type": operation_type, "limit": limit, "offset": offset}
    server.show(server.ask("GET", "operations", params=params), _listed)


@command(app, "get")
def get_operation(
    server: Server,
    operation_id: OperationId,
    payload: Annotated[bool, typer.Option("--payload", help="With what it is to do (in the JSON).")] = False,
) -> None:
    """One operation: status, progress, attempts, result."""
    params = {"include_payload": payload or None}
    server.show(server.ask("GET", "operations", operation_id, params=params), _single)


@command(app, "cancel")
def cancel_operation(server: Server, operation_id: OperationId) -> None:
    """Cancel an operation that waits or runs."""
    told = server.ask("DELETE", "operations", operation_id)
    server.say(told, told["message"])


@command(app, "retry")
def retry_operation(server: Server, operation_id: OperationId, wait: Wait = False) -> None:
    """Queue a failed or cancelled operation again; one that waits for a time runs now."""
    told = server.ask("POST", "operations", operation_id, "retry")
    if wait:
        finish(server, operation_id)
    else:
        server.say(told, told["message"])


@command(app, "delete")
def delete_operation(server: Server, operation_id: OperationId, yes: Yes = False) -> None:
    """Delete an operation that has ended; its events stay in the log."""
    from adapters.cli.remote.inputs import confirm

    confirm(f"Delete operation {operation_id}?", yes=yes)
    told = server.ask("DELETE", "operations", operation_id, "delete")
    server.say(told, told["message"])


@command(app, "watch")
def watch(
    server: Server,
    operation_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Id of the operation; all that are under way when left out.")
    ] = None,
) -> None:
    """Follow an operation to its end (exit code 1 when it failed), or all of the bank until none is under way."""
    if operation_id is not None:
        finish(server, operation_id)
    else:
        _watch_all(server)


def _watch_all(server: Remote) -> None:
    from rich.live import Live

    with Live(console=server.errors, transient=True, auto_refresh=False) as live:
        for waiting in again(lambda: _under_way(server)):
            if not waiting:
                break
            live.update(_progress_table(waiting), refresh=True)
            time.sleep(LOOK_SECONDS_AT_MOST)
    server.say([], "nothing is under way")


def _under_way(server: Remote) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for status in ("processing", "pending"):
        told = server.ask("GET", "operations", params={"status": status, "limit": AT_ONCE})
        found += told["operations"]
    return found


def _progress_table(operations: Sequence[Mapping[str, Any]]) -> RenderableType:
    from datetime import UTC, datetime

    from adapters.cli.remote.output import table, visible

    now = datetime.now(UTC)
    rows = (
        (each["id"], progress(each, (now - datetime.fromisoformat(each["created_at"])).total_seconds()))
        for each in visible(list(operations))
    )
    return table("operation", "progress", rows=rows, flow=("progress",))


def _listed(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import counted, moment, stacked, table

    rows = (
        (
            moment(each["created_at"]).replace(" ", "\n"),
            stacked(each["operation_type"], each.get("mental_model_id") or each.get("document_id"), each["id"]),
            stacked(each["status"], _how(each)),
        )
        for each in told["operations"]
    )
    yield table("asked for", "operation", "status", rows=rows, flow=("status",))
    yield counted(len(told["operations"]), told["total"], told["offset"])


def _how(operation: Mapping[str, Any]) -> str | None:
    if operation.get("error_message"):
        return str(operation["error_message"])
    if operation.get("details"):
        return str(operation["details"]["outcome"])
    stage = (operation.get("progress") or {}).get("stage")
    return stage if operation["status"] == "processing" else None


def _single(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import as_json, fields, moment

    if told["status"] == "not_found":
        yield f"there is no operation {told['operation_id']}"
        return
    result = told.get("result_metadata")
    parts = [f"{each['operation_id']} {each['status']}" for each in told.get("child_operations") or ()]
    yield fields(
        [
            ("id", told["id"]),
            ("type", told["operation_type"]),
            ("status", told["status"]),
            ("of", told.get("mental_model_id")),
            ("asked for", moment(told["created_at"])),
            ("ended", moment(told.get("completed_at"))),
            ("how", _how(told)),
            ("retries", str(told["retry_count"])),
            ("next try", told.get("next_retry_at")),
            ("waits for", told.get("park_reason")),
            ("parts", "\n".join(parts) or None),
            ("result", as_json(result) if result else None),
        ]
    )
