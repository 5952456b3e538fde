"""Texts to parse: strategies for any text and for text full of markdown, and the shared examples where they exist."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st

from domain.document import Block, Document

_ROOT = Path(__file__).parents[3]

unhurried = settings(deadline=None)  # a busy machine is no failure; what must end in time is in test_hostile_text

_AWKWARD = "\r\n\t \x00\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0\u200b\u2028\u2029\u3000\ufeff\ufffd\ud800\udfff#>-`|"
any_text = st.text(st.one_of(st.characters(), st.characters(categories=["Cs", "Cc"]), st.sampled_from(_AWKWARD)))

_FRAGMENTS = [
    *"-*+#>=|`~[](){}<>!\\_:\"' \t\n\r\f",
    *("\n", "\n\n", "\n\n\n", "\r\n", "  ", "    ", "\n  ", "\n    ", "> ", "- ", "* ", "1. ", "2) ", "# ", "## "),
    *("\n- ", "\n1. ", "\n# ", "\n> ", "\n===\n", "\n---\n", "---\n", "...\n", "```", "\n```\n", "````", "~~~", "***"),
    *("|a|b|\n|-|-|\n", "\n|-|-|\n", "|c|\n", "a | b\n", "[a]: /u\n", '[a]: /u "t"\n', "[a]", "[ ] ", "[x] ", "\\\n"),
    *("<div>", "</div>", "\n<div>\n", "<!--", "-->", "<br>", "<a href='x'>", "&amp;", "key: value\n", "![a](/u)"),
    *("word", "two words", "概要", "é", "e\u0301", "🚀", "\ud800", "\x00", "\x0b", "\x85", "\u2028", "\ufeff"),
]
markdown_text = st.lists(st.sampled_from(_FRAGMENTS), max_size=40).map("".join)


def blocks_of(document: Document) -> list[Block]:
    """All blocks in order."""
    return [block for section in document.sections for block in section.blocks]


def ids_of(document: Document) -> list[str]:
    """All ids in order."""
    return list(_ids(document))


def titles_of(document: Document) -> list[str | None]:
    """The titles of the sections, None for a preamble."""
    return [None if section.heading is None else section.heading.title for section in document.sections]


def shared_json(folder: str, name: str) -> Any:
    """The parsed JSON, or list of JSON lines, of a shared example file; skips the test where there is none."""
    data = Path(os.environ.get("CORPUS_DIR", _ROOT.parent / "shared" / "data"))
    file = data.parent / folder / name
    if not file.is_file():
        pytest.skip(f"{folder}/{name} is in neither ../shared nor beside the folder that CORPUS_DIR names")
    text = file.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()] if name.endswith(".jsonl") else json.loads(text)


def _ids(document: Document) -> Iterator[str]:
    for section in document.sections:
        yield section.id
        for block in section.blocks:
            yield block.id
            yield from (item.id for item in block.items)
