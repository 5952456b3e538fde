"""`palimpsest memory`: filling memory, asking it, and correcting it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.remote import answers
from adapters.cli.remote.inputs import confirm, given, given_text, names, pairs
from adapters.cli.remote.remote import Limit, Offset, Server, Tags, Yes
from adapters.cli.remote.shared_options import Shared, command

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(no_args_is_help=True)

MemoryId = Annotated[str, typer.Argument(metavar="ID", help="Id of the memory.")]


def _item(
    document_id: Annotated[
        str | None, typer.Option(metavar="ID", help="The document it belongs to; the same id again replaces it.")
    ] = None,
    append: Annotated[bool, typer.Option("--append", help="Add to that document.")] = False,
    context: Annotated[str | None, typer.Option(metavar="TEXT", help="Where it is from.")] = None,
    timestamp: Annotated[
        str | None, typer.Option(metavar="TIME", help="When it was said: ISO 8601, or unset; else now.")
    ] = None,
    tags: Tags = None,
    metadata: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="May be repeated.")] = None,
    strategy: Annotated[str | None, typer.Option(metavar="NAME", help="One of the bank's retain strategies.")] = None,
) -> dict[str, Any]:
    """What every text is retained with."""
    return given(
        document_id=document_id,
        update_mode="append" if append else None,
        context=context,
        timestamp=timestamp,
        tags=names(tags),
        metadata=pairs(metadata, "--metadata") or None,
        strategy=strategy,
    )


@command(app, "retain")
def retain(
    server: Server,
    texts: Annotated[list[str], typer.Argument(metavar="TEXT", help="Texts; @FILE, or - for standard input.")],
    item: Annotated[dict[str, Any], Shared(_item)],
    wait: Annotated[bool, typer.Option("--wait", help="Wait until it is read; exit code 1 when it failed.")] = False,
) -> None:
    """Read facts out of texts, in the background; all texts or none."""
    from adapters.cli.remote.waiting import submitted

    items = [{"content": given_text(text), **item} for text in texts]
    told = server.ask("POST", "memories", body={"items": items, "async": True})
    submitted(server, told, f"{told['items_count']} queued; operation {told['operation_id']}", wait=wait)


answers.add_to(app)


@command(app, "list")
def list_memories(
    server: Server,
    part: Annotated[str | None, typer.Argument(metavar="PART", help="Part of the text or the context.")] = None,
    fact_type: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="world, experience or observation.")
    ] = None,
    state: Annotated[str | None, typer.Option(metavar="STATE", help="valid (default) or invalidated.")] = None,
    document_id: Annotated[str | None, typer.Option(metavar="ID", help="Of this document.")] = None,
    tags: Tags = None,
    tags_match: Annotated[str | None, typer.Option(metavar="MODE", help="any, all, any_strict ... exact.")] = None,
    limit: Limit = None,
    offset: Offset = None,
) -> None:
    """Memories of the bank, the latest first."""
    params = {
        "q": part,
        "type": fact_type,
        "state": state,
        "document_id": document_id,
        "tags": names(tags),
        "tags_match": tags_match,
        "limit": limit,
        "offset": offset,
    }
    server.show(server.ask("GET", "memories", "list", params=params), _listed)


@command(app, "get")
def get_memory(server: Server, memory_id: MemoryId) -> None:
    """One memory, current or set aside."""
    server.show(server.ask("GET", "memories", memory_id), _single)


@command(app, "edit")
def edit_memory(
    server: Server,
    memory_id: MemoryId,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="What it says; @FILE or -.")] = None,
    context: Annotated[str | None, typer.Option(metavar="TEXT", help="'' clears it.")] = None,
    fact_type: Annotated[str | None, typer.Option("--type", metavar="TYPE", help="world or experience.")] = None,
    entities: Annotated[list[str] | None, typer.Option(metavar="A,B", help="Those it is about; '' for none.")] = None,
    occurred_start: Annotated[str | None, typer.Option(metavar="TIME", help="'' clears it.")] = None,
    occurred_end: Annotated[str | None, typer.Option(metavar="TIME", help="'' clears it.")] = None,
    mentioned_at: Annotated[str | None, typer.Option(metavar="TIME", help="'' clears it.")] = None,
) -> None:
    """Correct a fact; what was observed of it is made anew."""
    changes = given(
        text=None if text is None else given_text(text),
        context=context,
        fact_type=fact_type,
        entities=names(entities),
        occurred_start=occurred_start,
        occurred_end=occurred_end,
        mentioned_at=mentioned_at,
    )
    server.show(server.ask("PATCH", "memories", memory_id, body=changes), _single)


@command(app, "invalidate")
def invalidate_memory(
    server: Server,
    memory_id: MemoryId,
    reason: Annotated[str | None, typer.Option(metavar="TEXT", help="Why it is no longer so.")] = None,
) -> None:
    """Set a fact aside; what rests on it follows."""
    told = server.ask("PATCH", "memories", memory_id, body=given(state="invalidated", reason=reason))
    server.say(told, f"{memory_id} is set aside")


@command(app, "restore")
def restore_memory(server: Server, memory_id: MemoryId) -> None:
    """Have a fact count again that was set aside."""
    server.say(server.ask("PATCH", "memories", memory_id, body={"state": "valid"}), f"{memory_id} counts again")


@command(app, "delete")
def delete_memory(server: Server, memory_id: MemoryId, yes: Yes = False) -> None:
    """Delete a memory for good."""
    confirm(f"Delete memory {memory_id} for good?", yes=yes)
    told = server.ask("DELETE", "memories", memory_id)
    server.say(told, told["message"])


def _listed(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import counted, stacked, table

    rows = (
        (each.get("type") or "-", each["date"][:10] or "-", stacked(_text(each), each["id"])) for each in told["items"]
    )
    yield table("type", "date", "text", rows=rows, flow=("text",))
    yield counted(len(told["items"]), told["total"], told["offset"])


def _text(memory: Mapping[str, Any]) -> str:
    reason = memory.get("invalidation_reason")
    aside = "" if memory["state"] == "valid" else f" (set aside{f': {reason}' if reason else ''})"
    return f"{memory['text']}{aside}"


def _single(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import fields, listed, moment

    yield fields(
        [
            ("id", told["id"]),
            ("type", told.get("type")),
            ("text", _text(told)),
            ("context", told["context"] or None),
            ("occurred", _period(told)),
            ("mentioned", moment(told.get("mentioned_at"))),
            ("entities", listed(told["entities"])),
            ("tags", listed(told["tags"])),
            ("document", told.get("document_id")),
            ("rests on", "\n".join(told["source_memory_ids"]) or None),
            ("version", str(told["version"])),
            ("written", moment(told.get("updated_at"))),
        ]
    )


def _period(told: Mapping[str, Any]) -> str | None:
    times = [told.get("occurred_start"), told.get("occurred_end")]
    return " to ".join(dict.fromkeys(time for time in times if time)) or None
