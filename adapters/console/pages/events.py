"""Everything that ever happened to a mental model, with what it cost."""

from __future__ import annotations

from typing import Any

from adapters.console.charts import Bar, Series
from adapters.console.elements import badge, box, heading, moment, text
from adapters.console.model_frame import model_frame
from adapters.console.page_api import Bank, PageApi, page
from adapters.console.pages.history import all_events
from adapters.console.pages.overview import chart
from adapters.console.words import actor, cost, counted

CHARTED = 40
TOKENS = (Series("Tokens", "a", "tokens"),)


def register() -> None:
    page("/banks/{bank_id}/models/{mental_model_id}/events", "Timeline")(timeline)


async def timeline(api: PageApi, bank_id: str, mental_model_id: str) -> None:
    bank = Bank(api, bank_id)
    model = await bank.get("mental-models", mental_model_id)
    events = await all_events(bank, mental_model_id)
    with model_frame(bank, model, "events"):
        _costs(events)
        with box("panel events", role="list"):
            for each in reversed(events):
                _event(each)


def _costs(events: list[dict[str, Any]]) -> None:
    calls, tokens = sum(each["calls"] for each in events), sum(each["tokens"] for each in events)
    with box("panel section"):
        heading("Cost so far")
        spent = cost(calls, tokens, sum(each["duration_ms"] for each in events))
        text(f"{counted(len(events), 'event')}: {spent}.", "muted")
        asked = [each for each in events if each["calls"]][-CHARTED:]
        if asked:
            columns = [Bar(f"Version {each['version']}", {"tokens": each["tokens"]}) for each in asked]
            chart(columns, TOKENS, "No tokens were spent.")


def _event(event: dict[str, Any]) -> None:
    failed = "failed" in event["topic"]
    with box("event", role="listitem"):
        text(f"v{event['version']}", "version", "span")
        with box("stack tight"):
            with box("row"):
                text(event["sentence"], "grow", "span")
                if failed:
                    badge("Failed", "bad")
            with box("row"):
                text(f"By {actor(event['actor'])}", "faint", "span")
                moment(event["occurred_at"])
                if event["calls"] or event["duration_ms"]:
                    text(cost(event["calls"], event["tokens"], event["duration_ms"]), "faint", "span")
