"""The demo: real text in, two documents out, one new fact, what it changed and why. All of it over the REST API."""

from __future__ import annotations

import difflib
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.markup import escape
from rich.padding import Padding
from rich.syntax import Syntax

from adapters.cli.timeline_table import timeline_table
from adapters.demo.client import Client, wait_until_healthy
from adapters.demo.texts import own_documentation
from projections.timeline import TimelineEntry

BANK = "demo"
DECISIONS = "decisions"
MODELS = {
    DECISIONS: ("Decisions", "Which decisions were taken, and why?"),
    "running-it": ("Running it", "How is it run and operated?"),
}
MAX_TOKENS = 400
"""Short enough to be read in a terminal."""
SHOWN_FACTS = 2
SHOWN_LINES = 11
SHOWN_EVENTS = 8


def show(address: str, console: Console | None = None, *, stays: bool = True) -> None:
    """Runs the demo against the service at `address`. What is there already is kept and grows on.

    `stays`: the service can be asked afterwards, so the way to ask it is told."""
    console = console or Console()
    wait_until_healthy(address)
    client = Client(address, BANK)
    _retain_documentation(client, console)
    for number, mental_model_id in enumerate(MODELS, start=1):
        _write_document(client, console, number, mental_model_id)
    before = _content(client, DECISIONS)
    _add_fact(client, console)
    console.rule("5. What the new fact changed")
    console.print(
        Syntax(_diff(before, _content(client, DECISIONS)), "diff", background_color="default", word_wrap=True)
    )
    _show_blame(client, console)
    console.rule("6. How the document came to be")
    _show_timeline(client, console)
    console.print(_what_to_try(address) if stays else _what_to_run(), markup=False, highlight=False, soft_wrap=True)


def _retain_documentation(client: Client, console: Console) -> None:
    console.rule("1. Text in")
    texts = own_documentation()
    with console.status("retaining the project's own documentation") as status:
        for number, (name, text) in enumerate(texts.items(), start=1):
            status.update(f"retaining {name} ({number} of {len(texts)})")
            client.ask("POST", "/memories", {"items": [{"content": text, "document_id": name, "context": "docs"}]})
    facts = client.ask("GET", "/stats")["total_nodes"]
    told = (
        f"{len(texts)} texts of this project's documentation are kept as {facts} facts in the bank “{BANK}”, such as:"
    )
    console.print(told, highlight=False)
    for fact in client.ask("POST", "/memories/recall", {"query": MODELS[DECISIONS][1]})["results"][:SHOWN_FACTS]:
        console.print(Padding(f"[dim]{escape(fact['document_id'] or '')}[/dim]\n{escape(fact['text'])}", (1, 2, 0, 2)))


def _write_document(client: Client, console: Console, number: int, mental_model_id: str) -> None:
    """Creates the document, or refreshes the one of an earlier run, and shows it."""
    name, source_query = MODELS[mental_model_id]
    console.rule(f"{number + 1}. A document: “{name}”")
    console.print(f"It answers: [bold]{source_query}[/bold] (in {MAX_TOKENS} tokens at most)", highlight=False)
    with console.status(f"writing “{name}”"):
        if client.there(f"/mental-models/{mental_model_id}"):
            asked = client.ask("POST", f"/mental-models/{mental_model_id}/refresh")
        else:
            body = {
                "id": mental_model_id,
                "name": name,
                "source_query": source_query,
                "max_tokens": MAX_TOKENS,
                "trigger": {"mode": "delta"},
            }
            asked = client.ask("POST", "/mental-models", body)
        ended = client.finished(asked["operation_id"])
    _tell_outcome(console, ended)
    console.print(Padding(Markdown(_shortened(_content(client, mental_model_id))), (1, 0)))


def _add_fact(client: Client, console: Console) -> None:
    console.rule("4. One new fact")
    now = datetime.now(UTC)
    fact = f"**Decision.** On {now:%Y-%m-%d} at {now:%H:%M:%S} it was decided to try this demo."
    console.print(Markdown(fact))
    client.ask("POST", "/memories", {"items": [{"content": fact, "document_id": "news", "timestamp": now.isoformat()}]})
    for model in (client.ask("GET", f"/mental-models/{each}") for each in MODELS):
        if model["is_stale"]:
            console.print(f"“{model['name']}” is stale now: {', '.join(model['stale_reasons'])}", highlight=False)
    asked = client.ask("POST", f"/mental-models/{DECISIONS}/refresh")
    with console.status("refreshing"):
        ended = client.finished(asked["operation_id"])
    _tell_outcome(console, ended)


def _show_blame(client: Client, console: Console) -> None:
    """Who wrote what is new, and on which facts."""
    pieces = client.ask("GET", f"/mental-models/{DECISIONS}/blame")["pieces"]
    newest = max((piece["version"] for piece in pieces), default=0)
    for piece in (each for each in pieces if each["version"] == newest and each["facts"] and each["text"]):
        facts = "; ".join(f"“{fact['text']}”" for fact in piece["facts"])
        told = f"{piece['text']}\n  written by the {piece['actor']} in version {newest} on: {facts}"
        console.print(told, markup=False, highlight=False)


def _tell_outcome(console: Console, operation: dict[str, Any]) -> None:
    outcome = operation.get("details", {}).get("outcome") or operation["status"]
    error = operation.get("error_message")
    console.print(f"Outcome: {outcome}{f' ({error})' if error else ''}", markup=False, highlight=False)


def _show_timeline(client: Client, console: Console) -> None:
    path = f"/mental-models/{DECISIONS}/events"
    total = client.ask("GET", f"{path}?limit=1")["total"]
    latest = client.ask("GET", f"{path}?limit={SHOWN_EVENTS}&offset={max(0, total - SHOWN_EVENTS)}")["items"]
    if total > len(latest):
        console.print(f"The latest {len(latest)} of {total} events:", highlight=False)
    console.print(timeline_table(map(_entry, latest)))


def _entry(event: dict[str, Any]) -> TimelineEntry:
    occurred_at = datetime.fromisoformat(event["occurred_at"])
    return TimelineEntry(**{"operation_id": None, "key_id": None, **event, "occurred_at": occurred_at})


def _content(client: Client, mental_model_id: str) -> str:
    return str(client.ask("GET", f"/mental-models/{mental_model_id}")["content"])


def _shortened(markdown: str) -> str:
    lines = markdown.splitlines()
    left = len(lines) - SHOWN_LINES
    return markdown if left <= 0 else "\n".join([*lines[:SHOWN_LINES], "", f"*({left} more lines)*"])


def _diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=0)
    return "\n".join(lines) or "(nothing: the document says the same)"


def _what_to_try(address: str) -> str:
    return f"""
Try, with B={address}/v1/default/banks/{BANK}:
  curl $B/mental-models/{DECISIONS}             # the document and what it rests on
  curl "$B/mental-models/{DECISIONS}?as_of=2"   # as it was at version 2
  curl $B/mental-models/{DECISIONS}/events      # everything that happened to it
  curl $B/mental-models/{DECISIONS}/blame       # each piece: who wrote it, on which facts
  curl $B/mental-models/{DECISIONS}/diff        # what the last write changed
  curl $B/memories/recall -H 'Content-Type: application/json' \\
       -d '{{"query": "event log"}}'
The whole API: {address}/docs
"""


def _what_to_run() -> str:
    return f"""
Try (as .venv/bin/palimpsest where make has installed it):
  palimpsest audit {BANK} {DECISIONS}          # everything that happened to it
  palimpsest audit {BANK} {DECISIONS} --at 2   # the document as it was
  palimpsest verify                        # every document is the fold of its events
  palimpsest serve                         # the service, with all of this in it
"""
