"""How a document came to be: `mental-model history`, `diff`, `events`, `blame` and `audit`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.remote.mental_model_options import ModelId
from adapters.cli.remote.remote import Limit, Offset, Server
from adapters.cli.remote.shared_options import command

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_EVENTS = 1000


def add_to(app: typer.Typer) -> None:
    """Adds the commands to the group of mental models."""
    for name, run in (
        ("history", history), ("diff", diff), ("events", events), ("blame", blame), ("audit", audit),
    ):  # fmt: skip
        command(app, name)(run)


def history(server: Server, model: ModelId) -> None:
    """What it said before each change, and refreshes that failed; newest first."""
    server.show(server.ask("GET", "mental-models", model, "history"), _history)


def diff(
    server: Server,
    model: ModelId,
    before: Annotated[
        int | None, typer.Argument(metavar="FROM", help="A version; the last with another text.", min=1)
    ] = None,
    after: Annotated[int | None, typer.Argument(metavar="TO", help="A version; the present one.", min=1)] = None,
    context: Annotated[int | None, typer.Option(metavar="N", help="Lines around a change.", min=0)] = None,
) -> None:
    """What changed in the document between two versions."""
    params = {"from": before, "to": after, "context": context}
    server.show(server.ask("GET", "mental-models", model, "diff", params=params), _diff)


def events(
    server: Server,
    model: ModelId,
    detail: Annotated[str | None, typer.Option(metavar="LEVEL", help="full: the whole events, in the JSON.")] = None,
    limit: Limit = None,
    offset: Offset = None,
) -> None:
    """Its events, oldest first; of deleted ones too."""
    params = {"detail": detail, "limit": limit, "offset": offset}
    server.show(server.ask("GET", "mental-models", model, "events", params=params), _events)


def blame(
    server: Server,
    model: ModelId,
    as_of: Annotated[str | None, typer.Option(metavar="MOMENT", help="As it was: a version or an ISO time.")] = None,
    facts: Annotated[bool, typer.Option("--facts", help="With the facts that each piece rests on.")] = False,
) -> None:
    """Every piece of the document: who wrote it, when, and on how many facts."""
    told = server.ask("GET", "mental-models", model, "blame", params={"as_of": as_of})
    server.show(told, lambda shown: _blame(shown, with_facts=facts))


def audit(server: Server, model: ModelId) -> None:
    """Its whole life in sentences: who did what, why, and what it cost, with the sum."""
    told = _page(server, model, 0)
    while len(told["items"]) < told["total"] and (more := _page(server, model, len(told["items"]))["items"]):
        told["items"] += more
    server.show(told, lambda shown: _audit(f"{server.bank}/{model}", shown))


def _page(server: Server, model: str, offset: int) -> Any:
    params = {"limit": MOST_EVENTS, "offset": offset}
    return server.ask("GET", "mental-models", model, "events", params=params)


def _history(told: list[Mapping[str, Any]]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import moment, number, stacked, table

    rows = (
        (
            str(each["version"]),
            moment(each["changed_at"]),
            stacked(each["actor"], each.get("key_id")),
            (each.get("kind") or "refreshed").replace("_", " "),
            _characters(each, number),
            each.get("error_message") or each.get("failure_reason") or "-",
        )
        for each in told
    )
    yield table("version", "when (UTC)", "who", "what", "said before", "why not", rows=rows, flow=("why not",))


def _characters(entry: Mapping[str, Any], number: Any) -> str:
    before = entry.get("previous_content")
    return "-" if before is None else f"{number(len(before))} characters"


def _diff(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import difference

    if told["diff"]:
        yield difference(told["diff"])
    else:
        yield f"versions {told['from_version']} and {told['to_version']} say the same"


def _events(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import counted, moment, stacked, table

    rows = (
        (
            str(each["version"]),
            moment(each["occurred_at"]).replace(" ", "\n"),
            each["topic"].removeprefix("mental_model."),
            stacked(each["actor"], each.get("key_id")),
            stacked(each["cause"], each.get("operation_id")),
        )
        for each in told["items"]
    )
    yield table("version", "when (UTC)", "event", "who", "why", rows=rows, flow=("why",))
    yield counted(len(told["items"]), told["total"], told["offset"])


def _blame(told: Mapping[str, Any], *, with_facts: bool) -> Iterator[RenderableType]:
    from rich.text import Text

    from adapters.cli.remote.output import moment, table

    def text(piece: Mapping[str, Any]) -> Text:
        shown = Text(piece["text"].rstrip("\n"))
        for fact in piece["facts"] if with_facts else ():
            gone = "" if fact["current"] else " (no longer so)"
            shown.append(f"\n  {fact['text'] or fact['id']}{gone}", style="dim")
        return shown

    rows = (
        (
            str(piece["version"] or "-"),
            piece["actor"] or "-",
            moment(piece["written_at"])[:16],
            str(len(piece["facts"]) or "-"),
            text(piece),
        )
        for piece in told["pieces"]
        if piece["text"].strip()  # of a list, what stands before its items: nothing, mostly
    )
    yield table("v", "who", "when (UTC)", "facts", "text", rows=rows, flow=("text",))


def _audit(title: str, told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import number
    from adapters.cli.timeline_table import timeline_table
    from projections.timeline import TimelineEntry

    items = told["items"]
    known = [field.name for field in dataclasses.fields(TimelineEntry)]
    entries = (
        TimelineEntry(
            **{name: each.get(name) for name in known} | {"occurred_at": datetime.fromisoformat(each["occurred_at"])}
        )
        for each in items
    )
    yield timeline_table(entries, title=title)
    spent = (f"{number(sum(each[name] for each in items))} {unit}" for name, unit in _SPENT.items())
    yield f"{len(items)} events; {', '.join(spent)}"


_SPENT = {"calls": "calls of models", "tokens": "tokens", "duration_ms": "ms"}
