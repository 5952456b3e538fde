"""Short names under which a model sees facts, and their traces in what it writes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from domain.memory import Fact
from domain.reflection import ToolResult

_CITED = r"[\[【]f\d+(?:[ \t]*[,;][ \t]*f\d+)*[\]】]"
_CODE_OR_CITATIONS = re.compile(
    r"(?P<code>(?P<fence>`{3,}|~{3,}).*?(?:(?P=fence)|\Z)"
    r"|(?<!`)(?P<ticks>`{1,2})(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=ticks)(?!`))"
    rf"|(?<![ \t])(?P<before>[ \t]*)(?P<cited>{_CITED}(?:[ \t]*{_CITED})*)(?P<behind>[ \t]*)",
    re.DOTALL,
)
_NAME = re.compile(r"f\d+")


class Aliases:
    """Names `f1` to `fN` in the order in which the facts first appeared: the same at each step of a run."""

    def __init__(self, results: Sequence[ToolResult]) -> None:
        ids = dict.fromkeys(str(recalled.fact.id) for result in results for recalled in result.facts)
        self._names = {fact_id: f"f{number}" for number, fact_id in enumerate(ids, start=1)}
        self._ids = {name: fact_id for fact_id, name in self._names.items()}

    def name(self, fact: Fact) -> str:
        return self._names[str(fact.id)]

    def ids(self, said: Iterable[str]) -> tuple[str, ...]:
        """Ids of the facts a model names, by alias or id, in order, without doubles; what it never saw is dropped."""
        found = (self._meant(name.strip().strip("[]【】").strip().lower()) for name in said)
        return tuple(dict.fromkeys(fact_id for fact_id in found if fact_id))

    def _meant(self, name: str) -> str | None:
        return self._ids.get(name) or (name if name in self._names else None)

    def take_out(self, text: str, cited: list[str]) -> str:
        """The text without citations such as [f3] or [f1, f2]; the names in them are appended to `cited`.

        A citation is brackets with nothing but aliases of facts that were shown. It goes with the blanks before it (at
        the start of a line: behind it). Brackets with any other name, links such as [f1](url) and their definitions,
        and code are left alone.
        """

        def replaced(found: re.Match[str]) -> str:
            if found["code"]:
                return found[0]
            names = _NAME.findall(found["cited"])
            opens_line = found.start() == 0 or text[found.start() - 1] == "\n"
            follows = text[found.end("cited") : found.end("cited") + 1]
            if follows == "(" or (opens_line and follows == ":") or not all(name in self._ids for name in names):
                return found[0]
            cited.extend(names)
            return str(found["before" if opens_line else "behind"])

        return _CODE_OR_CITATIONS.sub(replaced, text)
