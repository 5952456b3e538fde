"""The knowledge base: folders and pages as a tree, a page beside it, and a search over all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from nicegui import ui

from adapters.console.elements import (
    badge,
    box,
    button,
    confirmed,
    empty,
    field,
    heading,
    link_button,
    moment,
    safe_html,
    search,
    select,
    tags,
    text,
    with_query,
)
from adapters.console.frame import frame, title
from adapters.console.page_api import Bank, PageApi, page, told
from adapters.console.pages.mental_models import split_tags
from adapters.console.safe_markdown import as_plain, rendered

K = "knowledge-base"
TOP = ""
"""The value of the choice to put something into no folder."""


def register() -> None:
    page("/banks/{bank_id}/knowledge", "Knowledge")(knowledge)
    page("/banks/{bank_id}/knowledge/{page_id}", "Knowledge")(knowledge)


async def knowledge(api: PageApi, bank_id: str, page_id: str = "", *, q: str = "") -> None:
    bank = Bank(api, bank_id)
    tree = await bank.get(K, "tree")
    node = next((each for each in all_nodes(tree["roots"]) if each["id"] == page_id), None)
    shown, found = await asyncio.gather(_page(bank, node, page_id), _found(bank, q))
    html = await asyncio.to_thread(rendered, (shown or {}).get("body") or "")
    with frame(api, bank, "/knowledge"):
        with title("Knowledge", "Pages that keep themselves current, in folders."):
            button("New page", lambda: _new_page(bank, tree["roots"], node), "main")
            button("New folder", lambda: _new_folder(bank, tree["roots"], node))
        if not tree["roots"]:
            empty(
                "No page yet",
                "A page answers a question, as a mental model does, and has its place in a folder. Make the first one.",
            )
            return
        address = f"{bank.page}/knowledge"
        search("Search in all pages", q, lambda given: ui.navigate.to(with_query(address, {"q": given})))
        with box("sidebar"):
            with box("panel tree", "nav", aria_label="Pages"):
                for each in tree["roots"]:
                    _node(bank, each, page_id)
            with box("stack"):
                if q:
                    _results(bank, q, found)
                elif shown is not None and node is not None:
                    _shown(bank, tree["roots"], node, shown, html)
                elif node is not None:
                    _folder(bank, tree["roots"], node)
                else:
                    empty("Choose a page", "Or search all of them: press / and type.")


async def _page(bank: Bank, node: dict[str, Any] | None, page_id: str) -> Any:
    """None for a folder, and where no page was chosen. Raises ApiFailure for one that is not there."""
    if not page_id or (node is not None and node["kind"] == "folder"):
        return None
    return await bank.get(K, "pages", page_id)


async def _found(bank: Bank, q: str) -> list[dict[str, Any]]:
    return list((await bank.get(K, "search", q=q, limit=20))["results"]) if q else []


def all_nodes(roots: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """All of a tree, each folder before what is in it."""
    for each in roots:
        yield each
        yield from all_nodes(each.get("children") or [])


def _node(bank: Bank, node: dict[str, Any], chosen: str) -> None:
    current = {"aria_current": "page"} if node["id"] == chosen else {}
    with box("node", "a", href=f"{bank.page}/knowledge/{node['id']}", **current):
        ui.icon("folder" if node["kind"] == "folder" else "description").props("size=1.1rem").classes("muted")
        text(node["name"], "grow", "span")
        if node.get("last_refresh_failed_at"):
            badge("failed", "bad")
        elif node.get("is_stale"):
            badge("stale", "warn")
    if node.get("children"):
        with box("branch"):
            for each in node["children"]:
                _node(bank, each, chosen)


def _shown(bank: Bank, roots: list[dict[str, Any]], node: dict[str, Any], shown: dict[str, Any], html: str) -> None:
    with box("head"):
        with box("grow"):
            heading(shown["name"])
            text(shown.get("description") or "", "quote")
            with box("row"):
                badge("Stale", "warn") if node.get("is_stale") else badge("Current", "good")
                moment(shown.get("timestamp"), "Refreshed ")
                tags(shown.get("tags") or ())
        with box("actions"):
            if node.get("mental_model_id"):
                link_button("Blame, history, refresh", bank.model_page(node["mental_model_id"]))
            _node_buttons(bank, roots, node)
    if html.strip():
        safe_html(html, "panel document")
    else:
        empty("Nothing written yet", "The page is written from what the bank knows; a moment later it is here.")


def _folder(bank: Bank, roots: list[dict[str, Any]], node: dict[str, Any]) -> None:
    with box("head"):
        with box("grow"):
            heading(node["name"])
        with box("actions"):
            _node_buttons(bank, roots, node)
    if not node.get("children"):
        empty("An empty folder", "Make a page in it with the button above.")
        return
    with box("panel list"):
        for each in node["children"]:
            with box("item", "a", href=f"{bank.page}/knowledge/{each['id']}"):
                with box("grow stack tight"):
                    text(each["name"], "name", "span")
                    text(each.get("description") or "", "quote clamp", "span")
                with box("side"):
                    moment(each.get("timestamp"))


def _results(bank: Bank, q: str, found: list[dict[str, Any]]) -> None:
    if not found:
        empty("No page fits", f"Nothing is near “{q}”.", ("Show all", f"{bank.page}/knowledge"))
        return
    with box("panel list"):
        for each in found:
            with box("item", "a", href=f"{bank.page}/knowledge/{each['id']}"):
                with box("grow stack tight"):
                    text(each["name"], "name", "span")
                    with box("muted clamp"):
                        for part in each.get("highlights") or [{"text": as_plain(each.get("snippet") or "")}]:
                            text(part["text"], tag="mark" if part.get("match") else "span")
                with box("side"):
                    text(f"{each['score']:.0%}", "faint", "span")


def _node_buttons(bank: Bank, roots: list[dict[str, Any]], node: dict[str, Any]) -> None:
    button("Rename or move", lambda: _change(bank, roots, node))
    button("Delete", lambda: _delete(bank, node), "bad")


def folders(roots: list[dict[str, Any]], without: dict[str, Any] | None = None) -> dict[str, str]:
    """Where something can be put, by id; not into what is `without`, nor below it."""
    choice = {TOP: "At the top"}

    def walk(nodes: list[dict[str, Any]], way: str) -> None:
        for each in nodes:
            if each["kind"] == "folder" and (without is None or each["id"] != without["id"]):
                choice[each["id"]] = f"{way}{each['name']}"
                walk(each.get("children") or [], f"{way}{each['name']} / ")

    walk(roots, "")
    return choice


def _place_of(node: dict[str, Any] | None) -> str:
    """The folder that something new goes to when this is what one looks at."""
    if node is None:
        return TOP
    return str(node["id"] if node["kind"] == "folder" else node.get("parent_id") or TOP)


def _new_page(bank: Bank, roots: list[dict[str, Any]], node: dict[str, Any] | None) -> None:
    with ui.dialog() as dialog, box("dialog", role="dialog", aria_label="New page"):
        heading("New page")
        name = field("Name").props("autofocus")
        query = field("Which question does it answer?", lines=3)
        with box("field-row"):
            place = select("Folder", folders(roots), _place_of(node))
            labels = field("Tags (optional)", hint="With commas between them")

        @told
        async def make() -> None:
            body = {"name": name.value or "", "source_query": query.value or "", "tags": split_tags(labels.value)}
            made = await bank.ask("POST", K, "pages", body={**body, "parent_id": place.value or None})
            ui.navigate.to(f"{bank.page}/knowledge/{made['page_id']}")

        _buttons(dialog, "Make and write it", make)
    dialog.open()


def _new_folder(bank: Bank, roots: list[dict[str, Any]], node: dict[str, Any] | None) -> None:
    with ui.dialog() as dialog, box("dialog", role="dialog", aria_label="New folder"):
        heading("New folder")
        name = field("Name").props("autofocus")
        place = select("Folder", folders(roots), _place_of(node))

        @told
        async def make() -> None:
            made = await bank.ask(
                "POST", K, "folders", body={"name": name.value or "", "parent_id": place.value or None}
            )
            ui.navigate.to(f"{bank.page}/knowledge/{made['id']}")

        name.on("keydown.enter", make)
        _buttons(dialog, "Make it", make)
    dialog.open()


def _change(bank: Bank, roots: list[dict[str, Any]], node: dict[str, Any]) -> None:
    with ui.dialog() as dialog, box("dialog", role="dialog", aria_label="Rename or move"):
        heading("Rename or move")
        name = field("Name", node["name"]).props("autofocus")
        place = select("Folder", folders(roots, node), node.get("parent_id") or TOP)

        @told
        async def save() -> None:
            await bank.ask("PATCH", K, "nodes", node["id"], body={"name": name.value, "parent_id": place.value or None})
            ui.navigate.to(f"{bank.page}/knowledge/{node['id']}")

        name.on("keydown.enter", save)
        _buttons(dialog, "Save", save)
    dialog.open()


def _buttons(dialog: ui.dialog, do: str, on_click: Any) -> None:
    with box("actions"):
        button("Cancel", dialog.close)
        button(do, on_click, "main")


@told
async def _delete(bank: Bank, node: dict[str, Any]) -> None:
    inside = len(list(all_nodes(node.get("children") or [])))
    more = f" With it go the {inside} things in it." if inside else ""
    if await confirmed(f"Delete “{node['name']}”?", f"Its events stay readable; its text is gone.{more}", "Delete it"):
        await bank.ask("DELETE", K, "nodes", node["id"])
        ui.navigate.to(f"{bank.page}/knowledge")
