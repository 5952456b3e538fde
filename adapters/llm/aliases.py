"""Short names under which a model sees facts, and their traces in what it writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from domain.editing import EditRequest
from domain.reflection import ToolResult

_CITED = r"[\[【][fr]\d+(?:[ \t]*[,;][ \t]*[fr]\d+)*[\]】]"
_CODE_OR_CITATIONS = re.compile(
    r"(?P<code>(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)"
    r"|(?<!`)(?P<ticks>`{1,2})(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`))"
    rf"|(?<![ \t])(?P<before>[ \t]*)(?P<cited>{_CITED}(?:[ \t]*{_CITED})*)(?P<behind>[ \t]*)",
    re.DOTALL,
)
_NAME = re.compile(r"[fr]\d+")


class Cited(NamedTuple):
    """A fact named in a text: `offset` is where in the text without citations it was named."""

    offset: int
    name: str


@dataclass(frozen=True, slots=True)
class Uncited:
    """A text without the citations that stood in it, and these."""

    text: str
    cited: tuple[Cited, ...] = ()


class Aliases:
    """Names of facts (`f1`, `f2` ...) and the ids behind them. Of several names for one fact the first is its own."""

    def __init__(self, ids: Mapping[str, str]) -> None:
        self._ids = dict(ids)
        self._names: dict[str, str] = {}
        for name, fact_id in self._ids.items():
            self._names.setdefault(fact_id, name)

    @classmethod
    def of_found(cls, results: Sequence[ToolResult]) -> Aliases:
        """`f1` to `fN` in the order in which the facts first appeared: the same at each step of a run."""
        return cls(_numbered("f", (recalled.fact.id for result in results for recalled in result.facts)))

    @classmethod
    def of_edit(cls, request: EditRequest) -> Aliases:
        """`f1` to `fN` for the facts of a request and then those its document rests on, `r1` to `rN` for the retracted
        ones."""
        facts = [new.fact.id for new in request.facts]
        grounds = [fact_id for _, grounds in request.grounds for fact_id in grounds.facts]
        retracted = _numbered("r", (each.fact_id for each in request.retracted))
        return cls(_numbered("f", [*facts, *grounds]) | retracted)

    def name(self, fact_id: UUID) -> str:
        return self._names[str(fact_id)]

    def ids(self, said: Iterable[str]) -> tuple[str, ...]:
        """Ids of the facts a model names, by alias or id, in order, without doubles; what it never saw is dropped."""
        found = (self._meant(name.strip().strip("[]【】").strip().lower()) for name in said)
        return tuple(dict.fromkeys(fact_id for fact_id in found if fact_id))

    def _meant(self, name: str) -> str | None:
        return self._ids.get(name) or (name if name in self._names else None)

    def take_out(self, text: str) -> Uncited:
        """The text without citations such as [f3] or [f1, f2], and where in it they stood.

        A citation is brackets with nothing but aliases of facts that were shown. It goes with the blanks before it (at
        the start of a line: behind it). Brackets with any other name, links such as [f1](url) and their definitions,
        and code are left alone.
        """
        kept: list[str] = []
        cited: list[Cited] = []
        length = end = 0
        for found in _CODE_OR_CITATIONS.finditer(text):
            if not self._is_citation(found, text):
                continue
            before = text[end : found.start()] + (found["before"] if _opens_line(found, text) else "")
            behind = "" if _opens_line(found, text) else found["behind"]
            cited += [Cited(length + len(before), name) for name in _NAME.findall(found["cited"])]
            kept += [before, behind]
            length += len(before) + len(behind)
            end = found.end()
        return Uncited("".join([*kept, text[end:]]), tuple(cited))

    def _is_citation(self, found: re.Match[str], text: str) -> bool:
        if found["code"]:
            return False
        follows = text[found.end("cited") : found.end("cited") + 1]
        if follows == "(" or (follows == ":" and _opens_line(found, text)):
            return False
        return all(name in self._ids for name in _NAME.findall(found["cited"]))


def _opens_line(found: re.Match[str], text: str) -> bool:
    return found.start() == 0 or text[found.start() - 1] == "\n"


def _numbered(letter: str, ids: Iterable[UUID]) -> dict[str, str]:
    return {f"{letter}{number}": fact_id for number, fact_id in enumerate(dict.fromkeys(map(str, ids)), start=1)}
