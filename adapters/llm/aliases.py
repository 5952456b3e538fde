"""Short names under which a model sees facts and pages, and their traces in what it writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from domain.consolidation import ConsolidationRequest
from domain.editing import EditRequest
from domain.reflection import ToolResult

_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_ONE = rf"(?:[from]\d+|{_UUID})"
_CITED = rf"[\[【]{_ONE}(?:[ \t]*[,;][ \t]*{_ONE})*[\]】]"
_CODE_OR_CITATIONS = re.compile(
    r"(?P<code>(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)"
    r"|(?<!`)(?P<ticks>`{1,2})(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`))"
    rf"|(?<![ \t])(?P<before>[ \t]*)(?P<cited>{_CITED}(?:[ \t]*{_CITED})*)(?P<behind>[ \t]*)",
    re.DOTALL,
)
_NAME = re.compile(_ONE)
_IS_UUID = re.compile(_UUID)


class Cited(NamedTuple):
    """A fact or page named in a text: `offset` is where in the text without citations it was named."""

    offset: int
    name: str


@dataclass(frozen=True, slots=True)
class Uncited:
    """A text without the citations that stood in it, and these."""

    text: str
    cited: tuple[Cited, ...] = ()


class Aliases:
    """Names of facts (`f1`, `f2` ...) and pages (`m1` ...) and the ids behind them. Of several names for one thing the
    first is its own."""

    def __init__(self, ids: Mapping[str, str]) -> None:
        self._ids = dict(ids)
        self._names: dict[str, str] = {}
        for name, known in self._ids.items():
            self._names.setdefault(known, name)

    @classmethod
    def of_found(cls, results: Sequence[ToolResult]) -> Aliases:
        """`f1` to `fN` and `m1` to `mN` in the order in which they first appeared: the same at each step of a run."""
        facts = _numbered("f", (recalled.fact.id for result in results for recalled in result.facts))
        pages = _numbered("m", (shown.page.mental_model_id for result in results for shown in result.pages))
        return cls(facts | pages)

    @classmethod
    def of_edit(cls, request: EditRequest) -> Aliases:
        """`f1` to `fN` for the facts of a request and then those its document rests on, `r1` to `rN` for the retracted
        ones."""
        facts = [new.fact.id for new in request.facts]
        grounds = [fact_id for _, grounds in request.grounds for fact_id in grounds.facts]
        retracted = _numbered("r", (each.fact_id for each in request.retracted))
        return cls(_numbered("f", [*facts, *grounds]) | retracted)

    @classmethod
    def of_consolidation(cls, request: ConsolidationRequest) -> Aliases:
        """`f1` to `fN` for the facts of a request, `o1` to `oN` for the observations they may have to do with."""
        related = _numbered("o", (each.observation.id for each in request.related))
        return cls(_numbered("f", (fact.id for fact in request.facts)) | related)

    def name(self, fact_id: UUID) -> str:
        return self._names[str(fact_id)]

    def of_fact(self, fact_id: str) -> str:
        """The name of a fact; what was never shown keeps its id."""
        return self._names.get(fact_id, fact_id)

    of_page = of_fact

    def ids(self, said: Iterable[str]) -> tuple[str, ...]:
        """Ids of the facts a model names, by alias or id, in order, without doubles; what it never saw is dropped."""
        found = (self._meant(name) for name in said)
        return tuple(dict.fromkeys(known for name, known in found if name and not name.startswith("m")))

    def pages(self, said: Iterable[str]) -> tuple[str, ...]:
        """Ids of the pages that it names, likewise."""
        found = (self._meant(name) for name in said)
        return tuple(dict.fromkeys(known for name, known in found if name.startswith("m")))

    def unknown(self, said: Iterable[str]) -> tuple[str, ...]:
        """What it names and never saw."""
        return tuple(dict.fromkeys(name.strip() for name in said if name.strip() and not self._meant(name)[0]))

    def _meant(self, said: str) -> tuple[str, str]:
        """The alias and the id that are meant; both empty for what was never shown."""
        name = said.strip().strip("[]【】").strip().lower()
        alias = name if name in self._ids else self._names.get(name, "")
        return alias, self._ids.get(alias, "")

    def take_out(self, text: str) -> Uncited:
        """The text without citations such as [f3] or [f1, f2], and where in it they stood.

        A citation is brackets with nothing but aliases that were shown, or UUIDs, whatever they are of. It goes with
        the blanks before it (at the start of a line: behind it). Brackets with any other name, links such as [f1](url)
        and their definitions, and code are left alone.
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
        return all(name in self._ids or _IS_UUID.fullmatch(name) for name in _NAME.findall(found["cited"]))


def _opens_line(found: re.Match[str], text: str) -> bool:
    return found.start() == 0 or text[found.start() - 1] == "\n"


def _numbered(letter: str, ids: Iterable[UUID | str]) -> dict[str, str]:
    return {f"{letter}{number}": known for number, known in enumerate(dict.fromkeys(map(str, ids)), start=1)}
