"""The documents that a memory was read from."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from adapters.api_client import ApiFailure
from adapters.console.elements import (
    box,
    button,
    confirmed,
    empty,
    heading,
    link_button,
    moment,
    pager,
    search,
    tags,
    text,
    with_query,
)
from adapters.console.frame import frame, title
from adapters.console.page_api import Bank, PageApi, page, told
from adapters.console.pages.memory import memory_tabs
from adapters.console.pages.overview import tell
from adapters.console.words import counted

AT_ONCE = 40
SHOWN = 60_000
"""Characters of a document that are shown."""


def register() -> None:
    page("/banks/{bank_id}/documents", "Documents")(documents)
    page("/banks/{bank_id}/document", "Document")(document)


async def documents(api: PageApi, bank_id: str, *, q: str = "", offset: str = "0") -> None:
    bank = Bank(api, bank_id)
    start = int(offset) if offset.isdecimal() else 0
    answer = await bank.get("documents", q=q or None, limit=AT_ONCE, offset=start)
    with frame(api, bank, "/memory"):
        with title("Documents", "What the bank was told, as it was told."):
            button("Tell it something", lambda: tell(bank), "main")
        memory_tabs(bank, "documents")
        address = f"{bank.page}/documents"
        search("Search in names and texts", q, lambda given: ui.navigate.to(with_query(address, {"q": given})))
        if not answer["items"]:
            told_why = f"No document has “{q}” in it." if q else "What is told with a document id is listed here."
            empty("No document", told_why, *([("Show all", address)] if q else []))
            return
        with box("panel list"):
            for each in answer["items"]:
                _item(bank, each)
        pager(address, {"q": q}, offset=start, limit=AT_ONCE, total=answer["total"])


def _item(bank: Bank, each: dict[str, Any]) -> None:
    with box("item", "a", href=with_query(f"{bank.page}/document", {"id": each["id"]})):
        with box("grow stack tight"):
            text(each["id"], "name", "span")
            with box("row"):
                tags(each["tags"])
        with box("side"):
            text(counted(each["text_length"], "character"), "muted nowrap", "span")
            text(counted(each["memory_unit_count"], "memory", "memories"), "muted nowrap", "span")
            moment(each["updated_at"])


async def document(api: PageApi, bank_id: str, *, id: str = "") -> None:
    bank = Bank(api, bank_id)
    if not id:
        raise ApiFailure(404, "The address names no document")
    told_of = await bank.get("documents", id)
    with frame(api, bank, "/memory"):
        with title(id, f"Told {counted(told_of['memory_unit_count'], 'memory', 'memories')}"):
            link_button("Its memories", with_query(f"{bank.page}/memory", {"document": id}))
            button("Delete", lambda: _delete(bank, id), "bad")
        memory_tabs(bank, "documents")
        with box("row"):
            moment(told_of["updated_at"], "Last told ")
            tags(told_of["tags"])
        whole = told_of.get("original_text")
        with box("panel section"):
            heading("As it was told")
            if whole is None:
                text("Its text was not stored.", "muted")
            else:
                text(whole[:SHOWN], tag="div").style("white-space: pre-wrap; overflow-wrap: anywhere")
                if len(whole) > SHOWN:
                    text(f"... and {counted(len(whole) - SHOWN, 'character')} more", "muted")


@told
async def _delete(bank: Bank, document_id: str) -> None:
    sentence = "The document goes, and every memory that was read in it."
    if await confirmed(f"Delete “{document_id}”?", sentence, "Delete it"):
        await bank.ask("DELETE", "documents", document_id)
        ui.navigate.to(f"{bank.page}/documents")
