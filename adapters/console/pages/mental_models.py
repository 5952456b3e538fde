"""The mental models of a bank: what they answer, how fresh they are, what failed, when they run next."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from nicegui import ui

from adapters.console.cron_words import NotCron, next_runs
from adapters.console.elements import (
    badge,
    box,
    button,
    empty,
    field,
    heading,
    moment,
    pager,
    search,
    select,
    tags,
    text,
    with_query,
)
from adapters.console.frame import frame, title
from adapters.console.page_api import Bank, PageApi, page, told
from adapters.console.words import ago, stale, when_refreshed

AT_ONCE = 50
LOOKED_THROUGH = 1000
"""A search by text is done here: the API has none for mental models."""
SHOWN = {"": "All", "wanting": "Stale or paused", "stale": "Stale", "paused": "Paused"}
REFRESHES = {"hand": "Only when asked", "writes": "After memory was written"}


def register() -> None:
    page("/banks/{bank_id}/models", "Mental models")(mental_models)


async def mental_models(
    api: PageApi, bank_id: str, *, q: str = "", tag: str = "", only: str = "", offset: str = "0", new: str = ""
) -> None:
    bank = Bank(api, bank_id)
    start = int(offset) if offset.isdecimal() else 0
    narrowed = bool(q or only)
    answer = await bank.get(
        "mental-models",
        tags=[tag] if tag else None,
        detail="content",
        limit=LOOKED_THROUGH if narrowed else AT_ONCE,
        offset=0 if narrowed else start,
    )
    known = await bank.get("tags", source="mental_models", limit=100)
    found = [each for each in answer["items"] if _matches(each, q.lower(), only)]
    with frame(api, bank, "/models"):
        with title("Mental models", "Documents that answer a standing question, and keep the answer current."):
            button("New mental model", lambda: new_model(bank), "main")
        if not answer["total"] and not (tag or narrowed):
            _nothing_yet()
        else:
            _filters(bank, q, tag, only, [each["tag"] for each in known["items"]])
            _listed(bank, found[start : start + AT_ONCE] if narrowed else found)
            total = len(found) if narrowed else answer["total"]
            params = {"q": q, "tag": tag, "only": only}
            pager(f"{bank.page}/models", params, offset=start, limit=AT_ONCE, total=total)
        if new:
            new_model(bank)


def _matches(model: dict[str, Any], part: str, only: str) -> bool:
    if part and not any(part in str(model.get(name) or "").lower() for name in ("name", "id", "source_query")):
        return False
    is_stale, is_paused = bool(model.get("is_stale")), bool(model.get("is_paused"))
    return {"wanting": is_stale or is_paused, "stale": is_stale, "paused": is_paused}.get(only, True)


def _filters(bank: Bank, q: str, tag: str, only: str, known: list[str]) -> None:
    def go(**changed: Any) -> None:
        ui.navigate.to(with_query(f"{bank.page}/models", {"q": q, "tag": tag, "only": only, **changed}))

    with box("row"):
        search("Search by name or question", q, lambda given: go(q=given))
        tag_options = {"": "Any tag", **{each: each for each in dict.fromkeys([*([tag] if tag else []), *known])}}
        select("Tag", tag_options, tag).on_value_change(lambda event: go(tag=event.value)).style("width: 11rem")
        shown = select("Show", SHOWN, only if only in SHOWN else "").style("width: 11rem")
        shown.on_value_change(lambda event: go(only=event.value))


def _listed(bank: Bank, models: list[dict[str, Any]]) -> None:
    if not models:
        empty("No mental model fits", "Ask for less, or show all of them.", ("Show all", f"{bank.page}/models"))
        return
    with box("panel list"):
        for each in models:
            _model(bank, each)


def _model(bank: Bank, model: dict[str, Any]) -> None:
    with box("item", "a", href=bank.model_page(model["id"])):
        with box("grow stack tight"):
            text(model["name"], "name", "span")
            text(model.get("source_query") or "", "quote clamp", "span")
            reasons = stale(model)
            with box("row"):
                tags(model["tags"])
                if reasons:
                    text(reasons, "faint", "span")
        with box("side"):
            state_badge(model)
            text(next_run(model.get("trigger") or {}), "muted nowrap", "span")
            moment(model.get("last_refreshed_at"), "Refreshed ")


def state_badge(model: dict[str, Any]) -> None:
    """The one thing about it that matters most now."""
    if model.get("is_paused"):
        badge("Paused", "bad", "Its last refresh failed for good: it no longer refreshes itself")
    elif model.get("last_refresh_failed_at"):
        badge("Failed", "bad", "Its last refresh failed")
    elif not (model.get("content") or "").strip():
        badge("Empty", "quiet", "It has no document yet")
    elif model.get("is_stale"):
        badge("Stale", "warn", stale(model))
    else:
        badge("Current", "good")


def next_run(trigger: dict[str, Any]) -> str:
    """How it is refreshed, and when next where that is known."""
    cron = trigger.get("refresh_cron")
    if not cron:
        return when_refreshed(trigger)
    try:
        return f"Next {ago(next_runs(cron, datetime.now(UTC), 1)[0].isoformat())}"
    except NotCron:
        return "Scheduled"


def _nothing_yet() -> None:
    empty(
        "No mental model yet",
        "A mental model keeps the answer to a question as a document: “How does the team decide?”, “What does this"
        " customer care about?”. Make the first one with the button above; it is written from what the bank knows.",
    )


def new_model(bank: Bank) -> None:
    with ui.dialog() as dialog, box("dialog", role="dialog", aria_label="New mental model"):
        heading("New mental model")
        name = field("Name").props("autofocus")
        query = field("Which question should it answer?", hint="As you would ask a colleague", lines=3)
        with box("field-row"):
            labels = field("Tags (optional)", hint="With commas between them; only memories with them are read")
            length = ui.number("Length in tokens", value=2048, min=256, max=8192, step=256).props("outlined dense")
            refresh = select("Refresh it", REFRESHES, "hand")

        @told
        async def make() -> None:
            after_writes = refresh.value == "writes"
            body = {
                "name": name.value or "",
                "source_query": query.value or "",
                "tags": split_tags(labels.value),
                "max_tokens": int(length.value or 2048),
                "trigger": {"mode": "delta", "refresh_after_consolidation": after_writes},
            }
            made = await bank.ask("POST", "mental-models", body=body)
            ui.navigate.to(bank.model_page(made["mental_model_id"]))

        name.on("keydown.enter", make)
        with box("actions"):
            button("Cancel", dialog.close)
            button("Make and write it", make, "main")
    dialog.open()


def split_tags(given: str | None) -> list[str]:
    return [tag.strip() for tag in (given or "").split(",") if tag.strip()]
