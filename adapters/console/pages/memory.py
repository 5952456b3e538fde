"""What a bank remembers, memory by memory, and the means to correct it."""

from __future__ import annotations

import re
from typing import Any

from nicegui import ui

from adapters.console.elements import (
    badge,
    box,
    button,
    empty,
    heading,
    link,
    moment,
    note,
    pager,
    search,
    select,
    tags,
    text,
    with_query,
)
from adapters.console.frame import frame, title
from adapters.console.page_api import Bank, PageApi, page, told
from adapters.console.pages.overview import tell
from adapters.console.safe_markdown import as_plain
from adapters.console.words import FACT_TYPES, ago, counted, in_full, read_time

AT_ONCE = 40
TYPES = {"": "Any kind", **{name: FACT_TYPES[name] + "s" for name in ("world", "experience", "observation")}}
STATES = {"valid": "Valid", "invalidated": "Set aside"}
_GENERATED = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""Ids of documents that nobody named say nothing to a reader."""
VIEWS = (("", "Memories"), ("recall", "Recall"), ("documents", "Documents"))


def register() -> None:
    page("/banks/{bank_id}/memory", "Memory")(memories)
    page("/banks/{bank_id}/memory/{memory_id}", "Memory")(memory)


def memory_tabs(bank: Bank, view: str) -> None:
    with box("tabs sub-tabs", "nav", aria_label="Views of the memory"):
        for path, label in VIEWS:
            address = f"{bank.page}/{path or 'memory'}"
            link(label, address, **({"aria_current": "page"} if path == view else {}))


async def memories(
    api: PageApi, bank_id: str, *, q: str = "", type: str = "", state: str = "valid", tag: str = "",
    document: str = "", offset: str = "0",
) -> None:  # fmt: skip
    bank = Bank(api, bank_id)
    start = int(offset) if offset.isdecimal() else 0
    given = {"q": q, "type": type if type in TYPES else "", "state": state if state in STATES else "valid", "tag": tag,
             "document": document}  # fmt: skip
    answer = await bank.get(
        "memories", "list", q=q or None, type=given["type"] or None, state=given["state"], tags=[tag] if tag else None,
        tags_match="any_strict" if tag else None, document_id=document or None, limit=AT_ONCE, offset=start,
    )  # fmt: skip
    known = await bank.get("tags", limit=100)
    with frame(api, bank, "/memory"):
        with title("Memory", "Facts as they were read, and observations made of them."):
            button("Tell it something", lambda: tell(bank), "main")
        memory_tabs(bank, "")
        _filters(bank, given, [each["tag"] for each in known["items"]])
        if document:
            note(f"Only of the document “{document}”.")
        if not answer["items"]:
            _nothing(bank, narrowed=any(value for name, value in given.items() if name != "state"))
            return
        with box("panel list"):
            for each in answer["items"]:
                memory_item(bank, each)
        pager(f"{bank.page}/memory", given, offset=start, limit=AT_ONCE, total=answer["total"])


def _filters(bank: Bank, given: dict[str, str], known: list[str]) -> None:
    def go(**changed: Any) -> None:
        ui.navigate.to(with_query(f"{bank.page}/memory", {**given, **changed}))

    with box("row"):
        search("Search in the texts", given["q"], lambda part: go(q=part))
        select("Kind", TYPES, given["type"]).on_value_change(lambda event: go(type=event.value)).style("width: 10rem")
        select("State", STATES, given["state"]).on_value_change(lambda event: go(state=event.value)).style(
            "width: 9rem"
        )
        if known or given["tag"]:
            options = {
                "": "Any tag",
                **{each: each for each in dict.fromkeys([*([given["tag"]] if given["tag"] else []), *known])},
            }
            select("Tag", options, given["tag"]).on_value_change(lambda event: go(tag=event.value)).style(
                "width: 10rem"
            )


def _nothing(bank: Bank, *, narrowed: bool) -> None:
    if narrowed:
        empty("No memory fits", "Nothing is remembered that fits what was asked.", ("Show all", f"{bank.page}/memory"))
    else:
        empty("Nothing is remembered here", "Tell the bank something with the button above, or from your program.")


def memory_item(bank: Bank, each: dict[str, Any], aside: str = "") -> None:
    """One memory in a list, as it links to its own page."""
    with box("item", "a", href=f"{bank.page}/memory/{each['id']}"):
        with box("grow stack tight"):
            text(as_plain(each["text"]), "clamp", "span")
            with box("row"):
                badge(FACT_TYPES.get(each["type"], each["type"]), "calm" if each["type"] == "observation" else "quiet")
                if each.get("document_id") and not _GENERATED.fullmatch(each["document_id"]):
                    text(each["document_id"], "faint", "span")
                tags(each.get("tags") or ())
        with box("side"):
            if each.get("invalidated_at"):
                badge("Set aside", "bad")
            if aside:
                text(aside, "faint", "span")
            if each.get("occurred_start"):
                text(f"{read_time(each['occurred_start']):%d %b %Y}", "muted nowrap", "span", title="When it happened")
            elif each.get("mentioned_at"):
                moment(each["mentioned_at"])


async def memory(api: PageApi, bank_id: str, memory_id: str) -> None:
    bank = Bank(api, bank_id)
    told_of = await bank.get("memories", memory_id)
    with frame(api, bank, "/memory"):
        with title(FACT_TYPES.get(told_of["type"], "Memory")):
            if told_of["state"] == "invalidated":
                button("Restore", lambda: _patch(bank, memory_id, {"state": "valid"}), "main")
            elif told_of["type"] != "observation":
                button("Correct", lambda: _correct(bank, told_of), "main")
                button("Set aside", lambda: _set_aside(bank, told_of), "bad")
        if told_of["state"] == "invalidated":
            reason = told_of.get("invalidation_reason")
            note(
                f"Set aside {ago(told_of['invalidated_at'])}{f': {reason}' if reason else ''}. Nothing reads it.",
                "warn",
            )
        if told_of["type"] == "observation":
            note("An observation is made of facts: correct those, and it is made anew.")
        with box("panel section"):
            text(told_of["text"])
        with box("panel section"):
            heading("What is known of it")
            for label, value in _known(told_of):
                with box("row"):
                    text(label, "muted", "span").style("width: 9rem")
                    text(value, "grow", "span")
            if told_of.get("document_id"):
                link("The document it was read in", with_query(f"{bank.page}/document", {"id": told_of["document_id"]}))
        await _sources(bank, told_of["source_memory_ids"])


def _known(told_of: dict[str, Any]) -> list[tuple[str, str]]:
    times = (
        ("Happened", "occurred_start"),
        ("Until", "occurred_end"),
        ("Said", "mentioned_at"),
        ("Taken in", "created_at"),
    )
    told_times = [(label, in_full(told_of[name])) for label, name in times if told_of.get(name)]
    lists = (("Names", told_of.get("entities")), ("Tags", told_of.get("tags")))
    told_lists = [(label, ", ".join(values)) for label, values in lists if values]
    context = [("Context", told_of["context"])] if told_of.get("context") else []
    counts = [("Versions", str(told_of["version"]))] if told_of["version"] > 1 else []
    return [*context, *told_times, *told_lists, *counts]


async def _sources(bank: Bank, ids: list[str]) -> None:
    if not ids:
        return
    with box("stack"):
        heading(f"Made of {counted(len(ids), 'fact')}")
        with box("panel list"):
            for each in ids[:AT_ONCE]:
                memory_item(bank, await bank.get("memories", each))


@told
async def _patch(bank: Bank, memory_id: str, changes: dict[str, Any]) -> None:
    await bank.ask("PATCH", "memories", memory_id, body=changes)
    ui.navigate.to(f"{bank.page}/memory/{memory_id}")


def _correct(bank: Bank, told_of: dict[str, Any]) -> None:
    with ui.dialog() as dialog, box("dialog", role="dialog", aria_label="Correct the fact"):
        heading("Correct the fact")
        text("Documents that rest on it become stale, and observations of it are made anew.", "muted")
        said = ui.textarea("What is true?", value=told_of["text"]).props("outlined autofocus autogrow")
        with box("actions"):
            button("Cancel", dialog.close)
            button("Save", lambda: _patch(bank, told_of["id"], {"text": said.value}), "main")
    dialog.open()


def _set_aside(bank: Bank, told_of: dict[str, Any]) -> None:
    with ui.dialog() as dialog, box("dialog", role="dialog", aria_label="Set the fact aside"):
        heading("Set the fact aside")
        text("Nothing reads it any more: documents that rest on it become stale. It can be restored.", "muted")
        reason = ui.input("Why? (optional)").props("outlined dense autofocus")

        async def put() -> None:
            await _patch(bank, told_of["id"], {"state": "invalidated", "reason": reason.value or None})

        reason.on("keydown.enter", put)
        with box("actions"):
            button("Cancel", dialog.close)
            button("Set it aside", put, "bad")
    dialog.open()
