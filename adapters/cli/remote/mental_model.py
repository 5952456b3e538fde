"""`palimpsest mental-model`: documents that answer a standing question, and their refreshes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.remote import document_versions, hand_edits
from adapters.cli.remote.inputs import confirm, file_text, given, if_version, names
from adapters.cli.remote.mental_model_options import IfVersion, MaxTokens, ModelId, Wait
from adapters.cli.remote.remote import Limit, Offset, Server, Tags, Yes
from adapters.cli.remote.shared_options import command
from adapters.cli.remote.trigger import TriggerFields

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(no_args_is_help=True)


@command(app, "list")
def list_models(
    server: Server,
    tags: Tags = None,
    tags_match: Annotated[str | None, typer.Option(metavar="MODE", help="any, all or exact.")] = None,
    detail: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="metadata, content or full (in the JSON).")
    ] = None,
    no_pages: Annotated[bool, typer.Option("--no-pages", help="Without pages of the knowledge base.")] = False,
    limit: Limit = None,
    offset: Offset = None,
) -> None:
    """Mental models of the bank, last refreshed first."""
    params = {
        "tags": names(tags),
        "tags_match": tags_match,
        "detail": detail,
        "exclude_knowledge_pages": no_pages or None,
        "limit": limit,
        "offset": offset,
    }
    server.show(server.ask("GET", "mental-models", params=params), _listed)


@command(app, "get")
def get_model(
    server: Server,
    model: ModelId,
    as_of: Annotated[str | None, typer.Option(metavar="MOMENT", help="As it was: a version or an ISO time.")] = None,
    raw: Annotated[bool, typer.Option("--raw", help="The document alone, to the byte.")] = False,
    detail: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="metadata, content or full (in the JSON).")
    ] = None,
) -> None:
    """One mental model with its document, now or as it was."""
    told = server.ask("GET", "mental-models", model, params={"as_of": as_of, "detail": detail})
    server.show_document(told, told.get("content"), raw=raw, render=_with_document)


@command(app, "create")
def create_model(
    server: Server,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the document is called.")],
    source_query: Annotated[str, typer.Argument(metavar="QUESTION", help="What it answers.")],
    trigger: TriggerFields,
    model_id: Annotated[str | None, typer.Option("--id", metavar="ID", help="Else one is made.")] = None,
    tags: Tags = None,
    max_tokens: MaxTokens = None,
    content: Annotated[
        str | None, typer.Option(metavar="FILE", help="A document to begin with; - is standard input.")
    ] = None,
    wait: Wait = False,
) -> None:
    """Define a mental model and ask for its first refresh."""
    from adapters.cli.remote.waiting import submitted

    text = None if content is None else file_text(content)
    options = given(id=model_id, tags=names(tags), max_tokens=max_tokens, trigger=trigger, content=text)
    told = server.ask("POST", "mental-models", body={"name": name, "source_query": source_query, **options})
    submitted(server, told, f"{told['mental_model_id']} created; operation {told['operation_id']}", wait=wait)


@command(app, "update")
def update_model(
    server: Server,
    model: ModelId,
    trigger: TriggerFields,
    name: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    source_query: Annotated[str | None, typer.Option(metavar="QUESTION", help="What it answers.")] = None,
    tags: Tags = None,
    max_tokens: MaxTokens = None,
    version: IfVersion = None,
) -> None:
    """Change what is given; of the trigger, the fields that are given."""
    changes = given(name=name, source_query=source_query, tags=names(tags), max_tokens=max_tokens, trigger=trigger)
    told = server.ask("PATCH", "mental-models", model, body=changes, headers=if_version(version))
    server.show(told, lambda shown: [_facts(shown)])


@command(app, "delete")
def delete_model(server: Server, model: ModelId, yes: Yes = False) -> None:
    """Delete it; its events stay readable."""
    confirm(f"Delete mental model '{model}'?", yes=yes)
    server.say(server.ask("DELETE", "mental-models", model), f"{model} deleted")


@command(app, "clear")
def clear_model(server: Server, model: ModelId, yes: Yes = False) -> None:
    """Empty its document; its history keeps what it said."""
    confirm(f"Empty the document of '{model}'?", yes=yes)
    server.say(server.ask("POST", "mental-models", model, "clear"), f"{model} is empty")


@command(app, "refresh")
def refresh_model(
    server: Server,
    model: ModelId,
    full: Annotated[bool, typer.Option("--full", help="Write it anew this once.")] = False,
    wait: Wait = False,
) -> None:
    """Ask for a refresh in the background."""
    from adapters.cli.remote.waiting import submitted

    told = server.ask("POST", "mental-models", model, "refresh", body={"mode": "full"} if full else None)
    how = "joined a refresh that waits" if told["folded"] else "queued"
    submitted(server, told, f"{how}; operation {told['operation_id']}", wait=wait)


@command(app, "dry-run")
def dry_run(server: Server, model: ModelId) -> None:
    """What a refresh would change and why; it costs what a refresh costs, and writes nothing."""
    from adapters.cli.remote.dry_run import rendered

    with server.busy("running"):
        told = server.ask("POST", "mental-models", model, "dry-run-refresh")
    server.show(told, rendered)


document_versions.add_to(app)
hand_edits.add_to(app)


def _listed(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import counted, listed, moment, table

    rows = (
        (each["id"], each["name"], _state(each), moment(each["last_refreshed_at"]), listed(each["tags"]))
        for each in told["items"]
    )
    yield table("id", "name", "state", "refreshed (UTC)", "tags", rows=rows, flow=("name", "state", "tags"))
    yield counted(len(told["items"]), told["total"], told["offset"])


def _with_document(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from rich.rule import Rule

    from adapters.cli.remote.output import document

    yield _facts(told)
    if told.get("content") is not None:
        yield Rule()
        yield document(told["content"])


def _facts(told: Mapping[str, Any]) -> RenderableType:
    from adapters.cli.remote.output import fields, listed, moment

    fields_of_trigger = (told.get("trigger") or {}).items()
    trigger = [f"{name}: {_value(value)}" for name, value in fields_of_trigger if value not in (None, False)]
    return fields(
        [
            ("id", told["id"]),
            ("name", told["name"]),
            ("answers", told.get("source_query")),
            ("version", str(told["version"])),
            ("state", _state(told)),
            ("refreshed", moment(told["last_refreshed_at"])),
            ("failed", moment(told["last_refresh_failed_at"]) if told.get("last_refresh_failed_at") else None),
            ("tags", listed(told["tags"])),
            ("max tokens", str(told["max_tokens"]) if told.get("max_tokens") else None),
            ("trigger", "\n".join(trigger) or None),
        ]
    )


def _value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _state(told: Mapping[str, Any]) -> str:
    """In words: whether it refreshes itself no more, and whether it is behind its memory, and why."""
    words = ["paused"] if told.get("is_paused") else []
    if told.get("is_stale"):
        reasons = ", ".join(told.get("stale_reasons") or ()).replace("_", " ")
        words.append(f"stale: {reasons}" if reasons else "stale")
    elif told.get("is_stale") is False:
        words.append("current")
    return ", ".join(words) or "-"
