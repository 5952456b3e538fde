"""How a document came to be: any two of its versions side by side in one text, with a slider over all of them."""

from __future__ import annotations

import asyncio
from typing import Any

from nicegui import ui

from adapters.console.differences import CONTEXT_LINES, as_html, compare
from adapters.console.elements import box, button, confirmed, empty, heading, moment, safe_html, select, text
from adapters.console.model_frame import model_frame
from adapters.console.page_api import Bank, PageApi, page, told
from adapters.console.words import actor, ago

EVENTS_AT_ONCE = 1000
WRITES = ("content_written", "content_edited", "content_reverted", "content_cleared", "created")
WHOLE = 1_000_000
"""Lines around a change: all of them."""


def register() -> None:
    page("/banks/{bank_id}/models/{mental_model_id}/history", "History")(history)


async def history(api: PageApi, bank_id: str, mental_model_id: str) -> None:
    bank = Bank(api, bank_id)
    model = await bank.get("mental-models", mental_model_id)
    writes = [each for each in await all_events(bank, mental_model_id) if each["topic"].split(".")[-1] in WRITES]
    with model_frame(bank, model, "history"):
        if len(writes) < 2:
            empty(
                "Nothing to compare yet",
                "Every text the document ever had is kept. The first comparison is here once it was written.",
                ("Back to the document", bank.model_page(mental_model_id)),
            )
            return
        await _Comparison(bank, model, writes).show()


async def all_events(bank: Bank, mental_model_id: str) -> list[dict[str, Any]]:
    """Oldest first; at most the last thousand."""
    parts = ("mental-models", mental_model_id, "events")
    answer = await bank.get(*parts, limit=EVENTS_AT_ONCE)
    if answer["total"] > EVENTS_AT_ONCE:
        answer = await bank.get(*parts, limit=EVENTS_AT_ONCE, offset=answer["total"] - EVENTS_AT_ONCE)
    return list(answer["items"])


class _Comparison:
    """Two versions chosen among the writes, and what changed between them."""

    def __init__(self, bank: Bank, model: dict[str, Any], writes: list[dict[str, Any]]) -> None:
        self._bank = bank
        self._model = model
        self._writes = writes
        self._texts: dict[int, str] = {}
        self._at, self._from, self._whole = len(writes) - 1, len(writes) - 2, False

    async def show(self) -> None:
        labels = {number: self._label(each) for number, each in enumerate(self._writes)}
        with box("panel section"):
            with box("row"):
                heading("Versions", classes="grow")
                ui.switch("Show all lines", value=False, on_change=told(self._set_whole))
            slider = ui.slider(min=0, max=len(labels) - 1, step=1, value=self._at).props("snap markers label-always")
            slider.props["aria-label"] = "Version to look at"
            slider.props["label-value"] = self._slider_label()
            slider.on_value_change(told(self._moved))
            self._slider = slider
            with box("field-row"):
                self._before = select("Compare with", labels, self._from)
                self._after = select("Version", labels, self._at)
            self._before.on_value_change(told(self._chose))
            self._after.on_value_change(told(self._chose))
        self._place = box("stack")
        await self._draw()

    def _label(self, write: dict[str, Any]) -> str:
        what = write["topic"].split(".")[-1].removeprefix("content_").replace("_", " ")
        return f"Version {write['version']}: {what} {ago(write['occurred_at'])}"

    def _slider_label(self) -> str:
        return f"Version {self._writes[self._at]['version']}"

    async def _set_whole(self, event: Any) -> None:
        self._whole = bool(event.value)
        await self._draw()

    async def _moved(self, event: Any) -> None:
        """The slider shows what each version changed: it is compared with the one before."""
        self._at = int(event.value)
        self._from = max(self._at - 1, 0)
        self._slider.props["label-value"] = self._slider_label()
        self._after.set_value(self._at)
        self._before.set_value(self._from)
        await self._draw()

    async def _chose(self, _: Any) -> None:
        at, before = int(self._after.value), int(self._before.value)
        if (at, before) != (self._at, self._from):
            self._at, self._from = at, before
            await self._draw()

    async def _text(self, number: int) -> str:
        version = self._writes[number]["version"]
        if version not in self._texts:
            told_of = await self._bank.get(
                "mental-models", self._model["id"], "versions", str(version), detail="content"
            )
            self._texts[version] = told_of.get("content") or ""
        return self._texts[version]

    async def _draw(self) -> None:
        before, after = await self._text(self._from), await self._text(self._at)
        lines = await asyncio.to_thread(compare, before, after, WHOLE if self._whole else CONTEXT_LINES)
        write = self._writes[self._at]
        self._place.clear()
        with self._place:
            with box("row"):
                with box("grow stack tight"):
                    text(write["sentence"])
                    with box("row"):
                        text(f"By {actor(write['actor'])}", "muted", "span")
                        moment(write["occurred_at"])
                if write["version"] != self._model["version"] and after.strip():
                    button(f"Put version {write['version']} back", lambda: self._revert(write["version"]))
            if lines:
                safe_html(as_html(lines), "panel diff-frame")
            else:
                with box("panel empty"):
                    text("These two versions say the same.")

    @told
    async def _revert(self, version: int) -> None:
        sentence = f"The document says again what it said in version {version}. Nothing is lost: that is a version too."
        if await confirmed(f"Put version {version} back?", sentence, "Put it back", bad=False):
            await self._bank.ask(
                "POST",
                "mental-models",
                self._model["id"],
                "revert",
                body={"version": version},
                if_match=self._model["version"],
            )
            ui.navigate.to(self._bank.model_page(self._model["id"]))
