"""What the service does for a bank: what runs, what waits and for what, what failed; live."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from adapters.console.elements import badge, box, button, empty, every, link, moment, pager, select, text, with_query
from adapters.console.frame import frame, title
from adapters.console.page_api import Bank, PageApi, page, told
from adapters.console.words import OPERATIONS, PARKED, STATUSES, ago, counted, operation, outcome, progress

AT_ONCE = 30
LOOK_EVERY = 1.5
MODELS_NAMED = 1000
STATES = {"": "All", **{name: told_as for name, (told_as, _) in STATUSES.items()}}
KINDS = {"": "Of any kind", **{name: OPERATIONS[name] for name in ("refresh_mental_model", "retain", "consolidation")}}
OPEN = ("pending", "processing")


def register() -> None:
    page("/banks/{bank_id}/operations", "Operations")(operations)


async def operations(api: PageApi, bank_id: str, *, status: str = "", kind: str = "", offset: str = "0") -> None:
    bank = Bank(api, bank_id)
    shown = _Operations(bank, status if status in STATES else "", kind if kind in KINDS else "", offset)
    models = await bank.get("mental-models", detail="metadata", limit=MODELS_NAMED)
    shown.names = {each["id"]: each["name"] for each in models["items"]}
    answer = await shown.ask()
    with frame(api, bank, "/operations"):
        with title("Operations", "What is done in the background: refreshes, retains, consolidations."):
            pass
        shown.filters()
        place = box("stack")
        await shown.draw(place, answer)

        async def look() -> None:
            await shown.draw(place, await shown.ask())

        every(LOOK_EVERY, told(look))


class _Operations:
    """One page of the list, drawn anew when something in it changed."""

    def __init__(self, bank: Bank, status: str, kind: str, offset: str) -> None:
        self._bank = bank
        self._status, self._kind = status, kind
        self._offset = int(offset) if offset.isdecimal() else 0
        self._drawn: Any = None
        self.names: dict[str, str] = {}
        """Of mental models, by id."""

    async def ask(self) -> Any:
        return await self._bank.get(
            "operations", status=self._status or None, type=self._kind or None, limit=AT_ONCE, offset=self._offset
        )

    def filters(self) -> None:
        address = f"{self._bank.page}/operations"

        def go(**changed: Any) -> None:
            ui.navigate.to(with_query(address, {"status": self._status, "kind": self._kind, **changed}))

        with box("row"):
            select("State", STATES, self._status).on_value_change(lambda event: go(status=event.value)).style(
                "width: 11rem"
            )
            select("Kind", KINDS, self._kind).on_value_change(lambda event: go(kind=event.value)).style("width: 11rem")

    async def draw(self, place: ui.element, answer: Any) -> None:
        if answer == self._drawn:
            return
        self._drawn = answer
        place.clear()
        with place:
            if not answer["operations"]:
                _nothing(self._bank, filtered=bool(self._status or self._kind))
                return
            with box("panel list", role="list"):
                for each in answer["operations"]:
                    _operation(self._bank, each, self.names)
            params = {"status": self._status, "kind": self._kind}
            address = f"{self._bank.page}/operations"
            pager(address, params, offset=self._offset, limit=AT_ONCE, total=answer["total"])


def _nothing(bank: Bank, *, filtered: bool) -> None:
    if filtered:
        empty("No operation fits", "None is in this state now.", ("Show all", f"{bank.page}/operations"))
    else:
        empty("Nothing was done yet", "Refreshes, retains and consolidations are listed here as soon as there are any.")


def _operation(bank: Bank, each: dict[str, Any], names: dict[str, str]) -> None:
    with box("item", role="listitem"):
        with box("grow stack tight"):
            with box("row"):
                text(operation(each["operation_type"]), "name", "span")
                if each["mental_model_id"]:
                    model = each["mental_model_id"]
                    link(names.get(model, model), bank.model_page(model))
                elif each.get("document_id"):
                    text(each["document_id"], "muted", "span")
            text(_what(each), "muted" if each["status"] != "failed" else "", "span")
            _meter(each)
        with box("side"):
            badge(*STATUSES.get(each["status"], (each["status"], "quiet")))
            moment(each["updated_at"])
            _buttons(bank, each)


def _what(each: dict[str, Any]) -> str:
    """What it does, waits for, or came to."""
    if each["status"] == "processing":
        return progress(each["progress"]) if each.get("progress") else "Has begun"
    if each["status"] == "pending":
        reason = PARKED.get(each.get("park_reason") or "", "")
        until = f", until {ago(each['next_retry_at'])}" if each.get("next_retry_at") else ""
        return f"Waits: {reason}{until}" if reason else f"Waits for a worker{until.replace('until', 'again')}"
    if each["status"] == "failed":
        tries = f" (after {counted(each['retry_count'] + 1, 'attempt')})" if each["retry_count"] else ""
        return f"{each.get('error_message') or 'It failed'}{tries}"
    details = each.get("details") or {}
    if details.get("outcome"):
        return outcome(details["outcome"])
    if each["operation_type"].endswith("retain"):
        return f"{counted(each['items_count'], 'item')} taken in" if each["status"] == "completed" else ""
    return "Facts were made into observations" if each["status"] == "completed" else ""


def _meter(each: dict[str, Any]) -> None:
    told_of = each.get("progress") or {}
    if each["status"] == "processing" and told_of.get("total"):
        share = min(100, round(100 * (told_of.get("processed") or 0) / told_of["total"]))
        with box("meter", role="progressbar", aria_valuenow=str(share), aria_valuemin="0", aria_valuemax="100"):
            box().style(f"width: {share}%")


def _buttons(bank: Bank, each: dict[str, Any]) -> None:
    path = ("operations", each["operation_id"])

    @told
    async def cancel() -> None:
        await bank.ask("DELETE", *path)
        ui.notify("Cancelled")

    @told
    async def retry() -> None:
        await bank.ask("POST", *path, "retry")
        ui.notify("It is done again")

    if each["status"] in OPEN:
        button("Cancel", cancel, "quiet")
    if each["status"] in ("failed", "cancelled") or (each["status"] == "pending" and each.get("next_retry_at")):
        button("Retry" if each["status"] != "pending" else "Run now", retry)
