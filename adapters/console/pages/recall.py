"""Asking a memory directly: what a recall brings, best first."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from adapters.api_client import ApiFailure
from adapters.console.elements import box, empty, note, search, select, text, with_query
from adapters.console.frame import frame, title
from adapters.console.page_api import Bank, PageApi, page
from adapters.console.pages.memory import memory_item, memory_tabs
from adapters.console.words import counted

BUDGETS = {"low": "Quick", "mid": "Middle", "high": "Thorough"}


def register() -> None:
    page("/banks/{bank_id}/recall", "Recall")(recall)


async def recall(api: PageApi, bank_id: str, *, q: str = "", budget: str = "mid") -> None:
    bank = Bank(api, bank_id)
    chosen = budget if budget in BUDGETS else "mid"
    with frame(api, bank, "/memory"):
        with title("Recall", "What the memory brings to a question, as an agent gets it."):
            pass
        memory_tabs(bank, "recall")

        def go(**changed: Any) -> None:
            ui.navigate.to(with_query(f"{bank.page}/recall", {"q": q, "budget": chosen, **changed}))

        with box("row"):
            search("What do you want to know?", q, lambda given: go(q=given))
            select("Budget", BUDGETS, chosen).on_value_change(lambda event: go(budget=event.value)).style("width: 9rem")
        if not q:
            empty(
                "Ask the memory something", "It is found by words, by meaning, by names and by time. Press / and type."
            )
            return
        try:
            answer = await bank.ask("POST", "memories", "recall", body={"query": q, "budget": chosen, "trace": True})
        except ApiFailure as failure:
            if failure.status != 422:
                raise
            note(str(failure), "warn")
            return
        _results(bank, answer)


def _results(bank: Bank, answer: dict[str, Any]) -> None:
    found = answer["results"]
    if not found:
        empty("Nothing comes to mind", "No memory is near enough to this question. Try other words.")
        return
    trace = answer.get("trace") or {}
    text(f"{counted(len(found), 'memory', 'memories')} in {trace.get('duration_ms', 0):.0f} ms", "muted")
    with box("panel list"):
        for each in found:
            score = (each.get("scores") or {}).get("final")
            memory_item(bank, each, f"score {score:.2f}" if score is not None else "")
