"""What a client written for the contract could notice of another document: the differences, by operation and place.

A request of the contract has to be taken, so ours may take more: more types, values, amounts. An answer has to be
readable, so ours may promise more: fewer types and values, fields that are always there. What the contract leaves
open (an answer without a schema) differs in nothing. Fields of ours alone are told, for they are what one cannot
count on elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.wire_contract import BOUNDS, Facts, Operation

LEAST = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")


@dataclass(frozen=True)
class Found:
    """One difference. `aspect` is `missing`, `ours`, or the fact that differs."""

    operation: str
    place: str
    aspect: str
    contract: Any
    ours: Any

    @property
    def key(self) -> str:
        return f"{self.operation}: {self.place}: {self.aspect}"


def compared(contract: Mapping[str, Operation], ours: Mapping[str, Operation]) -> list[Found]:
    """All differences of the operations that both have."""
    return [
        Found(name, *each) for name, places in contract.items() if name in ours for each in _pair(places, ours[name])
    ]


def _pair(theirs: Operation, ours: Operation) -> Iterator[tuple[str, str, Any, Any]]:
    open_ended = not any(place.startswith("response ") for place in theirs)
    for place, facts in theirs.items():
        if place not in ours:
            if not _inside_another(place, theirs, ours):
                yield place, "missing", facts, None
        elif isinstance(facts, dict):
            yield from ((place, *each) for each in _facts(place, facts, ours[place]))
        elif facts != ours[place]:
            yield place, "value", facts, ours[place]
    for place, facts in ours.items():
        told_open = open_ended and place.startswith("response ")
        if place not in theirs and not told_open and not _inside_another(place, ours, theirs):
            yield place, "ours", None, facts


def _inside_another(place: str, here: Operation, there: Operation) -> bool:
    """Whether a field lies in one that the other document lacks or leaves open, so that the outer one tells it all."""
    for end in range(len(place) - 1, 0, -1):
        if place[end] in ".[{" and (outer := place[:end]) in here:
            return outer not in there or _is_open(outer, there)
    return False


def _is_open(outer: str, operation: Operation) -> bool:
    """An object or a list of anything."""
    return not any(place.startswith((f"{outer}.", f"{outer}[", f"{outer}{{")) for place in operation)


def _facts(place: str, theirs: Facts, ours: Facts) -> Iterator[tuple[str, Any, Any]]:
    if place.startswith("response "):
        yield from _answer(theirs, ours)
    elif place.startswith(("request ", "body")):
        yield from _asked(theirs, ours)
    else:
        yield from _asked(_sendable(theirs), _sendable(ours))


def _sendable(parameter: Facts) -> Facts:
    """Of a parameter: null cannot be sent in a URL or a header."""
    return {**parameter, "types": [each for each in parameter["types"] if each != "null"]}


def _answer(theirs: Facts, ours: Facts) -> Iterator[tuple[str, Any, Any]]:
    if theirs["required"] and not ours["required"]:
        yield "required", True, False
    yield from _within("types", ours, theirs, theirs, ours)
    if "values" in theirs:
        yield from _within("values", ours, theirs, theirs, ours)


def _asked(theirs: Facts, ours: Facts) -> Iterator[tuple[str, Any, Any]]:
    if ours["required"] and not theirs["required"]:
        yield "required", theirs["required"], ours["required"]
    if "media" in theirs:
        if not set(theirs["media"]) <= set(ours["media"]):
            yield "media", theirs["media"], ours["media"]
        return
    yield from _within("types", theirs, ours, theirs, ours)
    if "values" in ours:
        yield from _within("values", theirs, ours, theirs, ours)
    if theirs.get("default") != ours.get("default"):
        yield "default", theirs.get("default"), ours.get("default")
    for bound in BOUNDS:
        if _is_tighter(bound, theirs.get(bound), ours.get(bound)):
            yield bound, theirs.get(bound), ours.get(bound)
    if "items" in theirs and "items" in ours:
        inner = ({"required": False, **each["items"]} for each in (theirs, ours))
        yield from ((f"items {aspect}", *told) for aspect, *told in _asked(*inner))


def _within(fact: str, inner: Facts, outer: Facts, theirs: Facts, ours: Facts) -> Iterator[tuple[str, Any, Any]]:
    """A difference unless all of the one is in the other; `any`, like no values at all, holds everything."""
    inside, around = set(inner.get(fact, ["any"])), set(outer.get(fact, ["any"]))
    if "integer" in inside and "number" in around:
        inside.discard("integer")
    if "any" not in around and not inside <= around:
        yield fact, theirs.get(fact), ours.get(fact)


def _is_tighter(bound: str, theirs: float | None, ours: float | None) -> bool:
    if ours is None:
        return False
    if theirs is None:
        return True
    return ours > theirs if bound in LEAST else ours < theirs
