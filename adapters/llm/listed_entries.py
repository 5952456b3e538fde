"""The entries that a reply lists, each an object with an `op`, in every form in which models write such a list (spec of
the system of reference, "Parsing the reply")."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from typing import Any

from adapters.llm.replies import json_in
from adapters.llm.storable_text import storable_json

EXCERPT = 600
"""Characters of a refused entry that are kept (the system of reference, limits)."""

_OPENING = re.compile(r'\{\s*"|\[\s*\{')
_MOST_OPENINGS = 500


def excerpt(entry: Any) -> str:
    """An entry as it came, shortened."""
    raw = entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)
    return raw if len(raw) <= EXCERPT else raw[: EXCERPT - 1] + "…"


@dataclass(frozen=True, slots=True)
class ListedEntries:
    """A list that a tool takes: the tool's name, the list's, what its entries may be, and what is never to be written
    instead of them."""

    tool: str
    name: str
    ops: Collection[str]
    instead_of: str

    def of(self, text: str) -> list[Any]:
        """The list in a text; nothing for one that says nothing. Raises ValueError, with what the text is instead."""
        if not text.strip():
            return []
        value = self._json(text)
        if isinstance(value, dict) and isinstance(value.get("arguments"), dict) and value.get("name") == self.tool:
            value = value["arguments"]
        if value is None or value == {}:
            return []
        if isinstance(value, dict) and self.name in value:
            value = value[self.name]
            if isinstance(value, str):
                value = self._json(value) if value.strip() else None
            if value is None:
                return []
        if isinstance(value, dict) and "op" in value:
            return [value]
        if not isinstance(value, list):
            raise ValueError(f"the reply has no list of {self.name}")
        return value

    def _json(self, text: str) -> Any:
        """The JSON of a whole text, in a fence or not, or the first in prose that holds entries. Raises ValueError."""
        stripped = text.strip()
        if stripped == "null":
            return None
        for read in (json_in, _decoded_twice, self._first_in_prose):
            if (value := read(stripped)) is not None:
                return value
        if _OPENING.match(stripped):
            raise ValueError(f"the JSON cannot be read, or holds no {self.name}")
        raise ValueError(f"the reply is text and no call of `{self.tool}`; write {self.name}, never {self.instead_of}")

    def _first_in_prose(self, text: str) -> Any:
        """The first JSON in prose that holds entries, or all single ones when there is no list of them.

        No other JSON, and no empty list: a document has `[ ]` in its tasks and any JSON in its examples. Raises
        ValueError for a list that is broken: what can be read of it is not what was meant.
        """
        decoder = json.JSONDecoder(strict=False)
        list_opening = re.compile(rf'\{{\s*"{self.name}"|\[\s*\{{\s*"op"')
        single: list[Any] = []
        end = 0
        for opening in islice(_OPENING.finditer(text), _MOST_OPENINGS):
            if opening.start() < end:
                continue
            try:
                value, end = decoder.raw_decode(text, opening.start())
            except (ValueError, RecursionError) as error:
                if list_opening.match(text, opening.start()):
                    raise ValueError(f"the JSON cannot be read ({error})") from error
                continue
            if self._is_list(value):
                return storable_json(value)
            if isinstance(value, dict) and "op" in value:
                single.append(storable_json(value))
        return single if any(map(self._is_known, single)) else None

    def _is_list(self, value: Any) -> bool:
        if isinstance(value, dict):
            return isinstance(value.get(self.name), list)
        return isinstance(value, list) and any(map(self._is_known, value))

    def _is_known(self, value: Any) -> bool:
        """Whether it is meant as one of the entries, and not just any object with an `op`."""
        return isinstance(value, dict) and isinstance(value.get("op"), str) and value["op"] in self.ops


def _decoded_twice(text: str) -> Any:
    if not text.startswith('"'):
        return None
    try:
        return json_in(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return None
