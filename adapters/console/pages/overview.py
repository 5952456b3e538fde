"""One bank at a glance: what it holds, what needs a look, how it grew."""

from __future__ import annotations

import asyncio
from typing import Any

from nicegui import ui

from adapters.console.charts import Bar, Series, bars
from adapters.console.elements import (
    badge,
    box,
    button,
    confirmed,
    empty,
    heading,
    link,
    moment,
    select,
    text,
    tile,
    with_query,
)
from adapters.console.frame import frame, title
from adapters.console.page_api import Bank, PageApi, page, told
from adapters.console.words import counted, read_time, stale

PERIODS = {"1d": "Last day", "7d": "Last 7 days", "30d": "Last 30 days", "90d": "Last 90 days"}
LISTED = 6
MODELS_LOOKED_AT = 1000
OPERATIONS_LOOKED_AT = 100
GROWTH = (
    Series("Facts", "a", "world"),
    Series("Experiences", "c", "experience"),
    Series("Observations", "b", "observation"),
)
ENDS = (Series("Done", "a", "completed"), Series("Failed", "d", "failed"), Series("Cancelled", "b", "cancelled"))


def register() -> None:
    page("/banks/{bank_id}", "Bank")(overview)


async def overview(api: PageApi, bank_id: str, *, period: str = "7d") -> None:
    bank = Bank(api, bank_id)
    chosen = period if period in PERIODS else "7d"
    stats, models, growth, refreshes = await asyncio.gather(
        bank.get_if_allowed("stats"),
        bank.get("mental-models", detail="metadata", limit=MODELS_LOOKED_AT),
        bank.get_if_allowed("stats", "memories-timeseries", period=chosen),
        bank.get("operations", type="refresh_mental_model", limit=OPERATIONS_LOOKED_AT),
    )
    with frame(api, bank, ""):
        ui.page_title(f"{bank_id} · Palimpsest")
        with title(bank_id):
            button("Tell it something", lambda: tell(bank), "main")
            button("Delete", lambda: _delete(bank), "quiet")
        if stats and not stats["total_nodes"] and not models["total"]:
            _nothing_yet(bank)
            return
        with box("tiles"):
            _models_tile(bank, models["items"], models["total"])
            if stats:
                _memory_tiles(bank, stats)
        if stats:
            with box("row"):
                moment(stats.get("last_memory_write_at"), "Last write ")
                moment(stats.get("last_consolidated_at"), "Last consolidation ")
        _needs_a_look(bank, models["items"])
        if growth:
            _growth(bank, growth, chosen)
        _refreshes(refreshes["operations"])


def _models_tile(bank: Bank, models: list[dict[str, Any]], total: int) -> None:
    outdated = sum(1 for each in models if each.get("is_stale"))
    tile(
        f"{total:,}",
        "mental model" if total == 1 else "mental models",
        f"{outdated} stale" if outdated else "all current",
        f"{bank.page}/models",
    )


def _memory_tiles(bank: Bank, stats: dict[str, Any]) -> None:
    facts = stats["total_nodes"] - stats["total_observations"]
    tile(
        f"{facts:,}",
        "fact" if facts == 1 else "facts",
        f"in {counted(stats['total_documents'], 'document')}",
        f"{bank.page}/memory",
    )
    behind = stats["pending_consolidation"]
    hint = f"{behind:,} facts wait for it" if behind else "up to date"
    tile(f"{stats['total_observations']:,}", "observations", hint, f"{bank.page}/memory?type=observation")
    failed = stats["failed_operations"]
    hint = f"{failed} failed" if failed else "none failed"
    tile(f"{stats['pending_operations']:,}", "operations under way", hint, f"{bank.page}/operations")


def _needs_a_look(bank: Bank, models: list[dict[str, Any]]) -> None:
    wanting = [each for each in models if each.get("is_paused") or each.get("is_stale")]
    if not wanting:
        return
    with box("stack"):
        heading("Needs a look")
        with box("panel list"):
            for each in sorted(wanting, key=lambda each: not each.get("is_paused"))[:LISTED]:
                with box("item", "a", href=bank.model_page(each["id"])):
                    text(each["name"], "name grow", "span")
                    with box("side"):
                        if each.get("is_paused"):
                            badge("Paused after a failure", "bad")
                        if each.get("is_stale"):
                            text(stale(each), "muted", "span")
        if len(wanting) > LISTED:
            link(f"All {len(wanting)} of them", f"{bank.page}/models?only=wanting")


def _growth(bank: Bank, growth: dict[str, Any], chosen: str) -> None:
    with box("panel section"):
        with box("row"):
            heading("Memory taken in", classes="grow")
            select("Period", PERIODS, chosen, None).on_value_change(
                lambda event: ui.navigate.to(with_query(bank.page, {"period": event.value}))
            ).style("width: 10rem")
        columns = [
            Bar(_label(each["time"], growth["trunc"]), {series.key: each[series.key] for series in GROWTH})
            for each in growth["buckets"]
        ]
        chart(columns, GROWTH, "Nothing was taken in during this time.")


def _label(time: str, stretch: str) -> str:
    moment_of = read_time(time)
    return f"{moment_of:%d %b}" if stretch == "day" else f"{moment_of:%H:%M}"


def _refreshes(operations: list[dict[str, Any]]) -> None:
    """By day, of the last hundred."""
    days: dict[str, dict[str, int]] = {}
    for each in reversed(operations):
        if each["status"] in ("completed", "failed", "cancelled"):
            day = days.setdefault(f"{read_time(each['created_at']):%d %b}", {series.key: 0 for series in ENDS})
            day[each["status"]] += 1
    if days:
        with box("panel section"):
            heading("Refreshes")
            chart([Bar(day, counts) for day, counts in days.items()], ENDS, "No refresh yet.")


def chart(columns: list[Bar], series: tuple[Series, ...], none: str) -> None:
    """Bars with their legend; a sentence when there is nothing to draw."""
    if not any(sum(each.values.values()) for each in columns):
        text(none, "muted")
        return
    ui.html(bars(columns, series), sanitize=False).classes("chart")  # made of numbers and labels that are escaped
    with box("legend"):
        for each in series:
            if any(column.values.get(each.key) for column in columns):
                with box(tag="span"):
                    box(each.shade, "i")
                    text(each.name, tag="span")


def _nothing_yet(bank: Bank) -> None:
    empty(
        "This bank knows nothing yet",
        "Tell it something: notes, a transcript, a handbook. Then ask a mental model to keep a document about it.",
        ("New mental model", f"{bank.page}/models?new=1"),
    )


def tell(bank: Bank) -> None:
    """Retains a text that somebody types."""
    with ui.dialog() as dialog, box("dialog", role="dialog", aria_label="Tell the bank something"):
        heading("Tell it something")
        content = ui.textarea("What should be remembered?").props("outlined autofocus rows=8 autogrow")
        document = ui.input("Document id (optional)").props("outlined dense")
        document.props["hint"] = "The same id again replaces what it said before"

        @told
        async def retain() -> None:
            if not (content.value or "").strip():
                ui.notify("There is nothing to remember yet", type="warning")
                return
            item = {"content": content.value, **({"document_id": document.value} if document.value else {})}
            await bank.ask("POST", "memories", body={"items": [item], "async": True})
            ui.navigate.to(f"{bank.page}/operations")

        with box("actions"):
            button("Cancel", dialog.close)
            button("Remember it", retain, "main")
    dialog.open()


@told
async def _delete(bank: Bank) -> None:
    sentence = f"Its memory and its documents are erased for good. Events of “{bank.id}” stay in the log."
    if await confirmed(f"Delete the bank “{bank.id}”?", sentence, "Delete it"):
        await bank.ask("DELETE")
        ui.navigate.to("/")
