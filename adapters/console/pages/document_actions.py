"""What can be done with a document: refresh it, see before what that would change, edit it, clear it, delete it."""

from __future__ import annotations

import asyncio
from typing import Any

from nicegui import ui

from adapters.console.differences import Line, as_html, compare
from adapters.console.elements import (
    box,
    button,
    confirmed,
    every,
    heading,
    icon_button,
    note,
    safe_html,
    text,
    with_query,
)
from adapters.console.page_api import Bank, told
from adapters.console.words import FACT_TYPES, PARKED, cost, counted, outcome, progress

ENDED = ("completed", "failed", "cancelled", "not_found")
LOOK_EVERY = 0.7
"""Seconds between looks at an operation that runs."""


class Refreshing:
    """A refresh of one document, followed to its end in a line of the page."""

    def __init__(self, bank: Bank, model: dict[str, Any]) -> None:
        self._bank = bank
        self._model = model
        self._line = box("note running", role="status", aria_live="polite")
        self._line.set_visibility(False)
        self._timer: ui.timer | None = None
        self._told = ""

    async def begin(self, mode: str | None = None) -> None:
        body = {"mode": mode} if mode else {}
        asked = await self._bank.ask("POST", "mental-models", self._model["id"], "refresh", body=body)
        if asked.get("folded"):
            ui.notify("A refresh already waits; it takes this request in")
        self.follow(asked["operation_id"])

    def follow(self, operation_id: str) -> None:
        """Tells how far the operation is, and shows the document anew when it has ended."""
        if self._timer is not None:
            self._timer.cancel()
        self._say("Waits for a worker")

        @told
        async def look() -> None:
            operation = await self._bank.get("operations", operation_id)
            if operation["status"] in ENDED:
                if self._timer is not None:
                    self._timer.cancel()
                self._end(operation)
            else:
                self._say(_how_far(operation))

        with self._line:
            self._timer = every(LOOK_EVERY, look)

    def _say(self, sentence: str) -> None:
        self._line.set_visibility(True)
        if sentence == self._told:
            return
        self._told = sentence
        for child in [each for each in self._line if not isinstance(each, ui.timer)]:
            child.delete()
        with self._line:
            box("dot")
            text(f"Refresh: {sentence}", tag="span")

    def _end(self, operation: dict[str, Any]) -> None:
        details = operation.get("details") or {}
        if operation["status"] == "completed":
            ended = {"ended": details.get("outcome")}
            ui.navigate.to(with_query(self._bank.model_page(self._model["id"]), ended))
            return
        self._line.clear()
        self._line.classes("bad")
        why = operation.get("error_message") or outcome(details.get("outcome")) or operation["status"]
        with self._line:
            text(f"The refresh ended without a new text: {why}", tag="span")


def _how_far(operation: dict[str, Any]) -> str:
    if operation.get("progress"):
        return progress(operation["progress"])
    parked = operation.get("park_reason")
    return f"Waits: {PARKED.get(parked, parked)}" if parked else "Waits for a worker"


def actions(bank: Bank, model: dict[str, Any], refreshing: Refreshing) -> None:
    refresh = told(refreshing.begin)
    button("Refresh", refresh, "main")
    button("Dry run", lambda: dry_run(bank, model, refreshing), "plain")
    button("Edit", lambda: edit(bank, model), "plain")
    with icon_button("more_horiz", lambda: None, "More"), ui.menu():
        ui.menu_item("Rewrite it from scratch", told(lambda: refreshing.begin("full")))
        ui.menu_item("Clear the document", lambda: _clear(bank, model))
        ui.menu_item("Delete the mental model", lambda: _delete(bank, model))


@told
async def dry_run(bank: Bank, model: dict[str, Any], refreshing: Refreshing) -> None:
    """Shows what a refresh would change; nothing is written until somebody says so."""
    with ui.dialog() as dialog, box("dialog wide", role="dialog", aria_label="Dry run") as place:
        heading("Dry run")
        with box("running", role="status"):
            box("dot")
            text("Finding out what a refresh would change. Nothing is written.", "muted", "span")
    dialog.open()

    @told
    async def go() -> None:
        dialog.close()
        await refreshing.begin()

    try:
        result = await bank.ask("POST", "mental-models", model["id"], "dry-run-refresh")
    except BaseException:
        dialog.close()
        raise
    if dialog.is_deleted:
        return
    lines = await asyncio.to_thread(compare, result["current_content"], result["preview_content"])
    place.clear()
    with place:
        heading("Dry run")
        _dry_result(result, lines)
        with box("actions"):
            button("Close", dialog.close)
            button("Refresh now", go, "main").props("autofocus")


def _dry_result(result: dict[str, Any], lines: list[Line]) -> None:
    if result["would_persist"]:
        text("A refresh now would change this:")
    else:
        text(f"A refresh now would change nothing. {outcome(result['outcome'])}.")
    if lines:
        safe_html(as_html(lines), "panel diff-frame")
    read = sum(result["facts"]["retrieved"].values())
    used = ", ".join(
        counted(number, FACT_TYPES.get(kind, kind).lower())
        for kind, number in result["facts"]["used"].items()
        if number
    )
    usage = result["usage"]
    spent = cost(len(result["trace"]["llm_calls"]), usage["total_tokens"], result["duration_ms"])
    of_facts = f"It read {counted(read, 'fact')}{f' and used {used}' if used else ''}"
    text(f"Mode {result['effective_mode']}. {of_facts}. {spent[0].upper()}{spent[1:]}.", "muted")
    if result.get("mode_fallback_reason"):
        text(
            f"Mode {result['requested_mode']} was asked for: {result['mode_fallback_reason'].replace('_', ' ')}",
            "muted",
        )
    for each in result["warnings"]:
        note(f"{each[:1].upper()}{each[1:]}.", "warn")


def edit(bank: Bank, model: dict[str, Any]) -> None:
    """The document by hand. What somebody else wrote meanwhile is not overwritten."""
    with ui.dialog() as dialog, box("dialog wide", role="dialog", aria_label="Edit the document"):
        heading("Edit the document")
        text("What you write stays: a delta refresh works around it.", "muted")
        content = ui.textarea(value=model.get("content") or "").props("outlined autofocus autogrow rows=16")
        content.classes("mono").props["aria-label"] = "The document, in markdown"
        preview = box()

        @told
        async def show() -> None:
            lines = await asyncio.to_thread(compare, model.get("content") or "", content.value or "")
            preview.clear()
            with preview:
                safe_html(as_html(lines), "panel diff-frame") if lines else text("Nothing changed yet.", "muted")

        def leave() -> None:
            if (content.value or "") == (model.get("content") or ""):
                dialog.close()
            else:
                ui.notify("Save what you wrote, or cancel", type="warning")

        @told
        async def save() -> None:
            await bank.ask(
                "PATCH", "mental-models", model["id"], body={"content": content.value}, if_match=model["version"]
            )
            ui.navigate.to(bank.model_page(model["id"]))

        with box("actions"):
            button("Cancel", dialog.close)
            button("Show what changes", show)
            button("Save", save, "main")
    dialog.props("persistent")
    dialog.on("escape-key", leave)
    dialog.open()


@told
async def _clear(bank: Bank, model: dict[str, Any]) -> None:
    sentence = "The document becomes empty; its history keeps what it said. The next refresh writes it anew."
    if await confirmed("Clear the document?", sentence, "Clear it"):
        await bank.ask("POST", "mental-models", model["id"], "clear")
        ui.navigate.to(bank.model_page(model["id"]))


@told
async def _delete(bank: Bank, model: dict[str, Any]) -> None:
    sentence = f"“{model['name']}” is gone then, with its document. Its events stay readable."
    if await confirmed("Delete the mental model?", sentence, "Delete it"):
        await bank.ask("DELETE", "mental-models", model["id"])
        ui.navigate.to(f"{bank.page}/models")
