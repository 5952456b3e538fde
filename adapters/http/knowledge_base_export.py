"""A knowledge base as a folder of markdown files, from which it can be made again: docs/knowledge-base.md, "Files".

Every folder is a directory with an `index.md` that has its name; a page is a file beside it, and what the page said
before is in a `.log.md` of the same name. The `index.md` of the root is a table of contents.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote

from adapters.http.knowledge_base_markdown import front_matter, page_type
from adapters.http.knowledge_base_wire import ROOT, places
from adapters.http.mental_model_wire import without_nulls
from adapters.http.times import iso
from projections.knowledge_tree import NodeRow

INDEX = "index.md"
LOG_SUFFIX = ".log.md"
INDEX_TYPE, FOLDER_TYPE, LOG_TYPE = "index", "folder", "log"
NAME_CHARACTERS = 60
"""Of a file's name before its suffixes: 255 bytes are what file systems take, and a character is four at most."""
_RESERVED = re.compile(r"index|con|prn|aux|nul|com\d|lpt\d")
"""Names that are taken here, and such that Windows does not take."""

Texts = Sequence[tuple[datetime, str]]


class Bundle:
    """The files of a tree, in its order. `earlier` is what each page said before, by mental model."""

    def __init__(self, rows: Sequence[NodeRow], earlier: Mapping[str, Texts]) -> None:
        self._earlier = earlier
        self._inside = places(rows)
        self._files: list[dict[str, str]] = []
        self._contents: list[str] = []

    def files(self) -> list[dict[str, str]]:
        self._directory(ROOT, "", 0)
        contents = front_matter({"type": INDEX_TYPE, "title": "Knowledge base"})
        listed = "\n".join(self._contents)
        return [{"path": INDEX, "content": f"{contents}\n{listed}\n" if listed else contents}, *self._files]

    def _directory(self, folder_id: str, path: str, depth: int) -> None:
        taken: set[str] = set()
        for row in self._inside.get(folder_id, ()):
            name = _file_name(row.name, row.kind, taken)
            at = f"{path}{name}/{INDEX}" if row.kind == "folder" else f"{path}{name}.md"
            self._contents.append(f"{'  ' * depth}- [{_link_text(row.name)}]({quote(at)})")
            if row.kind == "folder":
                self._add(at, front_matter(_folder_fields(row)))
                self._directory(row.node_id, f"{path}{name}/", depth + 1)
                continue
            self._add(at, f"{front_matter(_page_fields(row))}\n{row.content or ''}")
            if before := self._earlier.get(row.mental_model_id or ""):
                self._add(f"{path}{name}{LOG_SUFFIX}", _log(row, before))

    def _add(self, path: str, content: str) -> None:
        self._files.append({"path": path, "content": content})


def _folder_fields(row: NodeRow) -> dict[str, Any]:
    told: dict[str, Any] = {"id": row.node_id, "type": FOLDER_TYPE, "title": row.name}
    return told | _order(row) | {"timestamp": iso(row.timestamp)}


def _page_fields(row: NodeRow) -> dict[str, Any]:
    """`tags` are all of them, those that tell a type too: they say what the page is made from."""
    return {
        "id": row.node_id,
        "type": page_type(row.tags),
        "title": row.name,
        "description": row.source_query or "",
        "tags": list(row.tags),
        "max_tokens": row.max_tokens,
        "trigger": without_nulls(row.trigger) or {},
        **_order(row),
        "timestamp": iso(row.timestamp),
    }


def _order(row: NodeRow) -> dict[str, int]:
    return {"sort_order": row.sort_order} if row.sort_order else {}


def _log(row: NodeRow, before: Texts) -> str:
    """What a page said, each text to the byte in a fence that is longer than any in it."""
    parts = [front_matter({"type": LOG_TYPE, "title": row.name})]
    for written_at, text in before:
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
        parts.append(f"\n## {iso(written_at)}\n\n{fence}markdown\n{text}\n{fence}\n")
    return "".join(parts)


def _file_name(title: str, kind: str, taken: set[str]) -> str:
    """Readable, and the only one of its directory also where case does not count. Taken names are noted."""
    words = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", title).casefold())
    name = words[:NAME_CHARACTERS].strip("-") or kind
    if _RESERVED.fullmatch(name):
        name = f"{name}-{kind}"
    chosen, number = name, 1
    while chosen in taken:
        number += 1
        chosen = f"{name}-{number}"
    taken.add(chosen)
    return chosen


def _link_text(title: str) -> str:
    return re.sub(r"([\\\[\]`*_<>&!])", r"\\\1", " ".join(title.split()))
