"""The demo: real text in, two documents out, one new fact, what it changed and why. All of it over the REST API."""

from __future__ import annotations

import difflib
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.syntax import Syntax
from rich.table import Table

from adapters.demo.client import Client, wait_until_healthy
from adapters.demo.texts import own_documentation

BANK = "demo"
MODELS = {
    "what-it-does": ("What it does", "What is Palimpsest and what does it do with documents and events?"),
    "how-to-run": ("How to run it", "How is Palimpsest installed, run and operated?"),
}
SHOWN_LINES = 40


def show(address: str, console: Console | None = None) -> None:
    """Runs the demo against the service at `address`. Starts from an empty demo bank each time; the log keeps all."""
    console = console or Console()
    wait_until_healthy(address)
    client = Client(address, BANK)
    if client.there():
        client.ask("DELETE", "")
    _retain_documentation(client, console)
    for mental_model_id, (name, source_query) in MODELS.items():
        _create(client, console, mental_model_id, name, source_query)
    before = client.ask("GET", "/mental-models/what-it-does")["content"]
    console.rule("The document “What it does”")
    console.print(Markdown(_shortened(before)))
    _new_fact(client, console)
    after = client.ask("GET", "/mental-models/what-it-does")["content"]
    console.rule("What the new fact changed")
    console.print(Syntax(_diff(before, after), "diff", background_color="default", word_wrap=True))
    console.rule("How the document came to be")
    console.print(_timeline(client.ask("GET", "/mental-models/what-it-does/events")["items"]))
    console.print(_what_to_try(address), markup=False, highlight=False, soft_wrap=True)


def _retain_documentation(client: Client, console: Console) -> None:
    with console.status("retaining the project's own documentation") as status:
        texts = own_documentation()
        for number, (name, text) in enumerate(texts.items(), start=1):
            status.update(f"retaining {name} ({number} of {len(texts)})")
            client.ask("POST", "/memories", {"items": [{"content": text, "document_id": name, "context": "docs"}]})
    facts = client.ask("GET", "/stats")["total_nodes"]
    console.print(f"Retained {len(texts)} texts as {facts} facts in the bank “{BANK}”.")


def _create(client: Client, console: Console, mental_model_id: str, name: str, source_query: str) -> None:
    body = {"id": mental_model_id, "name": name, "source_query": source_query, "max_tokens": 1024}
    created = client.ask("POST", "/mental-models", body)
    with console.status(f"writing “{name}”"):
        ended = client.finished(created["operation_id"])
    _tell(console, f"“{name}” answers: {source_query}", ended)


def _new_fact(client: Client, console: Console) -> None:
    now = datetime.now(UTC)
    fact = f"On {now:%Y-%m-%d} Palimpsest read its own documentation and wrote two documents about what it does."
    console.rule("One new fact")
    console.print(fact, highlight=False)
    item = {"content": fact, "document_id": "news", "timestamp": now.isoformat()}
    client.ask("POST", "/memories", {"items": [item]})
    listed = client.ask("GET", "/mental-models")["items"]
    console.print("Stale now: " + ", ".join(model["id"] for model in listed if model["is_stale"]))
    asked = client.ask("POST", "/mental-models/what-it-does/refresh")
    with console.status("refreshing “What it does”"):
        _tell(console, "Refreshed", client.finished(asked["operation_id"]))


def _tell(console: Console, what: str, operation: dict[str, Any]) -> None:
    outcome = operation.get("details", {}).get("outcome") or operation["status"]
    error = operation.get("error_message")
    console.print(f"{what} [{outcome}]{f': {error}' if error else ''}", markup=False, highlight=False)


def _shortened(markdown: str) -> str:
    lines = markdown.splitlines()
    left = len(lines) - SHOWN_LINES
    return markdown if left <= 0 else "\n".join([*lines[:SHOWN_LINES], "", f"*({left} more lines)*"])


def _diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), "before", "after", lineterm="", n=1)
    return "\n".join(lines) or "(nothing: the document says the same)"


def _timeline(events: list[dict[str, Any]]) -> Table:
    table = Table("version", "when (UTC)", "who", "what", "tokens")
    for event in events[-12:]:
        when = event["occurred_at"][:19].replace("T", " ")
        table.add_row(str(event["version"]), when, event["actor"], event["sentence"], str(event["tokens"]))
    return table


def _what_to_try(address: str) -> str:
    base = f"{address}/v1/default/banks/{BANK}"
    return "\n".join(
        [
            "",
            "Try:",
            f"  curl '{base}/mental-models/what-it-does'              # the document, its question, its evidence",
            f"  curl '{base}/mental-models/what-it-does?as_of=2'      # as it was at version 2",
            f"  curl '{base}/mental-models/what-it-does/events'       # everything that happened to it",
            f"  curl '{base}/memories/recall' -H 'Content-Type: application/json' -d '{{\"query\": \"event log\"}}'",
            f"  open {address}/docs                                   # the whole API",
            "",
        ]
    )
