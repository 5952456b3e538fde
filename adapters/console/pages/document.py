"""A document: its text, who wrote each piece of it and on which facts, and what can be done with it."""

from __future__ import annotations

import asyncio
from typing import Any

from nicegui import events, ui

from adapters.console.elements import box, button, empty, heading, icon_button, link, note, safe_html, text
from adapters.console.model_frame import model_frame
from adapters.console.page_api import Bank, PageApi, page
from adapters.console.pages.document_actions import Refreshing, actions
from adapters.console.safe_markdown import as_plain, first_lines, rendered
from adapters.console.words import FACT_TYPES, OUTCOMES, actor, ago, counted

EVIDENCE_AT_ONCE = 12
SNIPPET = 160
"""Characters of a piece that say which one it is."""
POINTED_AT = """(event) => {
  const piece = event.target.closest("[data-piece]");
  if (piece) emit(Number(piece.dataset.piece));
}"""


def register() -> None:
    page("/banks/{bank_id}/models/{mental_model_id}", "Mental model")(document)


async def document(api: PageApi, bank_id: str, mental_model_id: str, *, ended: str = "") -> None:
    bank = Bank(api, bank_id)
    model, blame, running = await asyncio.gather(
        bank.get("mental-models", mental_model_id),
        bank.get("mental-models", mental_model_id, "blame"),
        running_refresh(bank, mental_model_id),
    )
    starts = first_lines(model.get("content") or "", [each["text"] for each in blame["pieces"]])
    html = await asyncio.to_thread(rendered, model.get("content") or "", starts)
    with model_frame(bank, model, "") as place:
        refreshing = Refreshing(bank, model)
        with place:
            actions(bank, model, refreshing)
        if ended in OUTCOMES:
            note(f"The refresh has ended. {OUTCOMES[ended]}.", "bad" if "failed" in ended else "calm")
        if running:
            refreshing.follow(running)
        with box("columns"):
            with box("stack"):
                shown = _content(html)
            with box("aside"):
                panel = box("panel blame")
                _evidence(bank, model)
        if shown is not None:
            _blame(bank, shown, panel, blame["pieces"])
        else:
            panel.delete()


async def running_refresh(bank: Bank, mental_model_id: str) -> str | None:
    """The operation of a refresh that runs or waits now."""
    for status in ("processing", "pending"):
        answer = await bank.get("operations", type="refresh_mental_model", status=status, limit=100)
        for each in answer["operations"]:
            if each["mental_model_id"] == mental_model_id:
                return str(each["operation_id"])
    return None


def _content(html: str) -> ui.html | None:
    if not html.strip():
        empty(
            "Nothing written yet",
            "A refresh reads what the bank knows and writes the document. If it stays empty, the bank knows nothing"
            " that answers the question: tell it more, or ask for less in the settings.",
        )
        return None
    return safe_html(html, "panel document")


def _blame(bank: Bank, shown: ui.html, panel: ui.element, pieces: list[dict[str, Any]]) -> None:
    """Tells of the piece that a reader points at, and keeps telling of the one that was clicked."""
    state: dict[str, int | None] = {"at": None, "pinned": None}

    def tell(number: Any) -> None:
        if isinstance(number, int) and 0 <= number < len(pieces) and state["at"] != number:
            state["at"] = number
            panel.clear()
            with panel:
                with box("row"):
                    heading("Who wrote this?", 3, "grow")
                    icon_button("close", close, "Close").classes("when-pinned")
                _piece(bank, pieces[number])

    def hover(event: events.GenericEventArguments) -> None:
        if state["pinned"] is None:
            tell(event.args)

    def pin(event: events.GenericEventArguments) -> None:
        tell(event.args)
        state["pinned"] = state["at"]
        panel.classes("pinned")

    def close() -> None:
        state["pinned"] = None
        panel.classes(remove="pinned")

    shown.on("mouseover", hover, js_handler=POINTED_AT, throttle=0.08)
    shown.on("focusin", hover, js_handler=POINTED_AT)
    shown.on("click", pin, js_handler=POINTED_AT)
    shown.on("keydown.escape", close)
    with panel:
        heading("Who wrote this?", 3)
        text(
            "Point at a paragraph, an item or a row of the document: here is told who wrote it, and on which facts."
            " A click keeps it here.",
            "muted",
        )


def _piece(bank: Bank, piece: dict[str, Any]) -> None:
    text(as_plain(piece["text"].lstrip("#>-*+| "))[:SNIPPET], "quote clamp")
    if piece["version"] is None:
        text("It is not known who wrote this piece.", "muted")
    else:
        written = f" {ago(piece['written_at'])}" if piece["written_at"] else ""
        text(f"Written by {actor(piece['actor'])}{written}, in version {piece['version']}")
    facts = piece["facts"]
    if not facts:
        by_hand = piece["actor"] == "user"
        text("Written by hand: it rests on no fact." if by_hand else "No fact is known that it rests on.", "muted")
        return
    text(f"It rests on {counted(len(facts), 'fact')}:", "muted")
    with box("facts"):
        for each in facts:
            _fact(bank, each, current=each["current"])


def _fact(bank: Bank, fact: dict[str, Any], *, current: bool) -> None:
    with box("fact" + ("" if current else " gone")):
        text(as_plain(fact.get("text") or "A fact that was erased"), tag="div")
        kind = FACT_TYPES.get(fact.get("type") or "", "Fact")
        if current:
            link(kind, f"{bank.page}/memory/{fact['id']}", "faint")
        else:
            text(f"{kind}, no longer so", "faint", "span")


def _evidence(bank: Bank, model: dict[str, Any]) -> None:
    based_on = (model.get("reflect_response") or {}).get("based_on") or {}
    facts = [
        fact for kind, listed in based_on.items() if kind not in ("directives", "mental-models") for fact in listed
    ]
    with box("panel blame"):
        heading("Evidence", 3)
        if not facts:
            text("The document rests on no facts.", "muted")
        else:
            text(f"All of it rests on {counted(len(facts), 'fact')}.", "muted")
        with box("facts"):
            for each in facts[:EVIDENCE_AT_ONCE]:
                _fact(bank, each, current=True)
        if len(facts) > EVIDENCE_AT_ONCE:
            _rest_of_evidence(bank, facts[EVIDENCE_AT_ONCE:])
        for each in based_on.get("mental-models") or ():
            link(f"Mental model: {each.get('name') or each['id']}", bank.model_page(str(each["id"])))
        for each in based_on.get("directives") or ():
            text(f"Directive: {each.get('name') or each.get('text')}", "muted")


def _rest_of_evidence(bank: Bank, facts: list[dict[str, Any]]) -> None:
    place = box("facts")

    def show() -> None:
        more.delete()
        with place:
            for each in facts:
                _fact(bank, each, current=True)

    more = button(f"Show {len(facts)} more", show, "quiet")
