"""Requests for edits of a page about a bridge."""

from __future__ import annotations

from typing import Any

from domain.document import parse
from domain.editing import EditRequest, NewFact
from tests.adapters.llm.found_facts import ASKED_AT, fact

PAGE = """\
It was built long ago.

## Colour

The bridge is red.

- north arch: red
- south arch: rusty

## Visits

| year | visitors |
|---|---|
| 2022 | 10 |
| 2023 | 20 |
"""


def edit_request(page: str = PAGE, **changes: Any) -> EditRequest:
    """The task is to work in one fact, where nothing else is asked."""
    fields: dict[str, Any] = {
        "task": "edit",
        "name": "The bridge",
        "source_query": "What is the bridge like?",
        "document": parse(page),
        "max_tokens": 2048,
        "document_tokens": 300,
        "asked_at": ASKED_AT,
        "facts": (NewFact(fact(1)),),
    }
    return EditRequest(**(fields | changes))


def ids_by_text(page: str = PAGE) -> dict[str, str]:
    """The id of each block and item by its first line, of each section by its title."""
    ids: dict[str, str] = {}
    for section in parse(page).sections:
        ids[section.heading.title if section.heading else ""] = section.id
        for block in section.blocks:
            ids |= {item.source.split("\n")[0]: item.id for item in block.items}
            ids.setdefault(block.source.split("\n")[0], block.id)
            ids[f"{block.kind} of {section.id}"] = block.id
    return ids
