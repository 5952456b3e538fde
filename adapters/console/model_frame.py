"""What all pages of one mental model share: its name and question, its state, and the way between its pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nicegui import ui

from adapters.console.elements import badge, box, link, moment, note, tags, text
from adapters.console.frame import frame
from adapters.console.page_api import Bank
from adapters.console.words import ago, stale

VIEWS = (("", "Document"), ("history", "History"), ("events", "Timeline"), ("trigger", "Settings"))


@contextmanager
def model_frame(bank: Bank, model: dict[str, Any], view: str) -> Iterator[ui.element]:
    """Yields the place for actions; what is made inside is the page."""
    ui.page_title(f"{model['name']} · Palimpsest")
    with frame(bank.api, bank, "/models"):
        with box("head"):
            with box("grow"):
                text(model["name"], tag="h1")
                if model.get("source_query"):
                    text(model["source_query"], "quote")
                _state(model)
            actions = box("actions")
        _warnings(model)
        with box("tabs sub-tabs", "nav", aria_label="Views of the mental model"):
            for path, label in VIEWS:
                address = bank.model_page(model["id"], *([path] if path else []))
                link(label, address, **({"aria_current": "page"} if path == view else {}))
        yield actions


def _state(model: dict[str, Any]) -> None:
    with box("row"):
        if model.get("is_stale"):
            badge("Stale", "warn", "A dry run shows what a refresh would change")
            text(stale(model).removeprefix("Stale: "), "muted", "span")
        elif (model.get("content") or "").strip():
            badge("Current", "good", "It has read all there is to read")
        moment(model.get("last_refreshed_at"), "Refreshed ")
        text(f"Version {model['version']}", "faint", "span")
        if model.get("is_knowledge_page"):
            badge("Knowledge page", "calm")
        tags(model["tags"])


def _warnings(model: dict[str, Any]) -> None:
    failed = model.get("last_refresh_failed_at")
    if failed and model.get("is_paused"):
        told = f"The last refresh failed {ago(failed)}, so it no longer refreshes itself."
        note(f"{told} The timeline tells why; refresh it or edit it to go on.", "bad")
    elif failed:
        note(f"The last refresh failed {ago(failed)}; the document was left as it was. The timeline tells why.", "bad")
