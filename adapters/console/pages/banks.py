"""All banks: what they hold, what is stale in them, what failed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from nicegui import ui

from adapters.api_client import ApiFailure
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
    text,
    with_query,
)
from adapters.console.frame import frame, title
from adapters.console.page_api import Bank, PageApi, page, told
from adapters.console.words import counted

BANKS = "/v1/default/banks"
AT_ONCE = 25
MODELS_LOOKED_AT = 1000
FIRST_RETAIN = """curl -X POST %sv1/default/banks/team/memories \\
  -H 'Content-Type: application/json' \\
  -d '{"items": [{"content": "Decisions are written down on the same day."}]}'"""


@dataclass(frozen=True)
class Health:
    """What needs a look in a bank."""

    models: int
    stale: int
    paused: int
    failed: int


def register() -> None:
    page("/", "Banks")(banks)
    page("/banks", "Banks")(banks)


async def banks(api: PageApi, *, q: str = "", offset: str = "0") -> None:
    start = int(offset) if offset.isdecimal() else 0
    answer = await api.get(BANKS, q=q or None, limit=AT_ONCE, offset=start)
    listed = answer["banks"]
    healths = await asyncio.gather(*(health_of(Bank(api, each["bank_id"])) for each in listed))
    with frame(api):
        with title("Banks", "Each bank is a memory of its own, with the documents that live on it."):
            button("New bank", lambda: new_bank(api), "main")
        if not listed and not q:
            _nothing_yet()
            return
        search("Search by name or id", q, lambda given: ui.navigate.to(with_query("/", {"q": given})))
        if not listed:
            empty("No bank is called so", f"Nothing matches “{q}”.", ("Show all", "/"))
            return
        with box("panel list"):
            for each, health in zip(listed, healths, strict=True):
                _bank(Bank(api, each["bank_id"]), each, health)
        pager("/", {"q": q}, offset=start, limit=AT_ONCE, total=answer["total"])


async def health_of(bank: Bank) -> Health | None:
    """None when the bank cannot be read: it was deleted meanwhile, or the key may not."""
    try:
        models, stats = await asyncio.gather(
            bank.get("mental-models", detail="metadata", limit=MODELS_LOOKED_AT), bank.get_if_allowed("stats")
        )
    except ApiFailure:
        return None
    return Health(
        models=models["total"],
        stale=sum(1 for each in models["items"] if each.get("is_stale")),
        paused=sum(1 for each in models["items"] if each.get("is_paused")),
        failed=stats["failed_operations"] if stats else 0,
    )


def _bank(bank: Bank, told_of: dict[str, Any], health: Health | None) -> None:
    with box("item", "a", href=bank.page):
        with box("grow stack tight"):
            text(told_of["name"], "name", "span")
            mission = told_of.get("mission") or (bank.id if bank.id != told_of["name"] else "")
            if mission:
                text(mission, "muted clamp", "span")
        with box("side"):
            if health is not None:
                _badges(health)
            text(counted(told_of["fact_count"], "memory", "memories"), "muted nowrap", "span")
            moment(told_of.get("last_write_at"), never="nothing written yet")


def _badges(health: Health) -> None:
    text(counted(health.models, "mental model"), "muted nowrap", "span")
    if health.stale:
        badge(f"{health.stale} stale", "warn", "Mental models with something new to read")
    if health.paused:
        badge(f"{health.paused} paused", "bad", "Mental models whose last refresh failed for good")
    if health.failed:
        badge(f"{health.failed} failed", "bad", "Operations that failed")


def _nothing_yet() -> None:
    empty(
        "No bank yet",
        "A bank begins with the first thing it is told. Make one here, or tell one something from your program:",
        code=FIRST_RETAIN % ui.context.client.request.base_url,
    )


def new_bank(api: PageApi) -> None:
    with ui.dialog() as dialog, box("dialog", role="dialog", aria_label="New bank"):
        heading("New bank")
        bank_id = field("Id", hint="What programs call it, such as team or agent-7").props("autofocus")
        mission = field("Mission (optional)", hint="Who it serves and what matters to them", lines=3)

        @told
        async def make() -> None:
            chosen = (bank_id.value or "").strip()
            if not chosen:
                ui.notify("Give the bank an id", type="warning")
                return
            bank = Bank(api, chosen)
            await bank.ask("PUT", body={"mission": mission.value} if mission.value else {})
            ui.navigate.to(bank.page)

        bank_id.on("keydown.enter", make)
        with box("actions"):
            button("Cancel", dialog.close)
            button("Make it", make, "main")
    dialog.open()
