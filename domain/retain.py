"""What a retain makes of a document, whatever else was asked of it meanwhile.

A document is made of parts, one for each request that gave it text, in the order in which they were asked for. One
that replaces drops the parts asked for before it; one that appends comes after them. What was asked for later stays,
also when it was done first: retains of one document may overtake each other, but never undo each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Literal
from uuid import UUID, uuid5

from pydantic import Field

from domain.digest import sha256_of
from domain.memory import RetainItem
from domain.value import Value

BETWEEN = "\n"
"""What stands between the texts of a document."""
PARTS_AT_MOST = 500
"""Parts kept apart; those before are one, for no retain waits so long."""
_CHUNKS = UUID("6d9c4a55-0e0b-5d0c-9a0f-7f6f2b2f1c11")


class PartItem(Value):
    """An item of a part: `length` characters, and what it was given with, but for its text and its document. One that
    was said to be of now is."""

    length: int
    given: dict[str, Any] = Field(default_factory=dict)
    said_now: bool = False


class Part(Value):
    """What one request gave to a document: `length` characters, read in so many `chunks`, with the items that it was
    made of."""

    asked: int
    length: int
    chunks: int = 0
    replaces: bool = False
    items: tuple[PartItem, ...] = ()


class Placed(Value):
    """Where a request stands among the parts of a document: `before` and `after` it."""

    before: tuple[Part, ...] = ()
    after: tuple[Part, ...] = ()


def replaces(items: Iterable[RetainItem]) -> bool:
    """Whether items of one document in a request replace it: when any of them does."""
    return any(item.update_mode == "replace" for item in items)


def placed(parts: Sequence[Part], asked: int, *, replacing: bool) -> Placed | Literal["superseded"]:
    """Where a request asked for at a point of the order belongs; superseded when a later one has replaced the document
    already."""
    if any(part.replaces and part.asked > asked for part in parts):
        return "superseded"
    before = () if replacing else tuple(part for part in parts if part.asked <= asked)
    return Placed(before=before, after=tuple(part for part in parts if part.asked > asked))


def texts_of(text: str, parts: Sequence[Part]) -> list[str]:
    """The text of each part of a document."""
    texts: list[str] = []
    start = 0
    for part in parts:
        texts.append(text[start : start + part.length])
        start += part.length + len(BETWEEN)
    return texts


def part_item(item: RetainItem, *, said_now: bool) -> PartItem:
    ignored = {"content", "document_id", "update_mode", "anew"}
    given = item.model_dump(mode="json", exclude=ignored, exclude_defaults=True)
    return PartItem(length=len(item.content), given=given, said_now=said_now)


def items_of(document_id: str, text: str, parts: Sequence[Part]) -> list[list[tuple[RetainItem, bool]]]:
    """For each part of a document its items, as they would be given again, and whether they were said to be of now."""
    found: list[list[tuple[RetainItem, bool]]] = []
    for part, whole in zip(parts, texts_of(text, parts), strict=True):
        items: list[tuple[RetainItem, bool]] = []
        start = 0
        for each in part.items or (PartItem(length=len(whole)),):
            given = {**each.given, "content": whole[start : start + each.length], "document_id": document_id}
            items.append((RetainItem.model_validate(given), each.said_now))
            start += each.length + len(BETWEEN)
        found.append(items)
    return found


def merged(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts, the first of too many as one."""
    excess = len(parts) - PARTS_AT_MOST
    if excess <= 0:
        return tuple(parts)
    first = parts[: excess + 1]
    one = Part(
        asked=first[-1].asked,
        length=sum(part.length for part in first) + len(BETWEEN) * excess,
        chunks=sum(part.chunks for part in first),
        replaces=first[0].replaces,
        items=tuple(item for part in first for item in part.items) if all(part.items for part in first) else (),
    )
    return (one, *parts[excess + 1 :])


def chunk_ids(bank_id: str, document_id: str, texts: Iterable[str]) -> list[UUID]:
    """An id for each chunk of a document, of its text and of how many with the same text stand before it."""
    seen: Counter[str] = Counter()
    ids: list[UUID] = []
    for text in texts:
        digest = sha256_of(text)
        ids.append(uuid5(_CHUNKS, "\n".join((bank_id, document_id, digest, str(seen[digest])))))
        seen[digest] += 1
    return ids


def leaning(digest: str, on: Iterable[str]) -> str:
    """What a chunk was read with that repeats facts which stand in others: those are named behind the digest. Such a
    chunk is known only as long as they are: when one of them goes, its facts may stand here alone."""
    return " ".join((digest_in(digest), *sorted(on)))


def digest_in(read_with: str) -> str:
    return read_with.partition(" ")[0]


def leaned_on(read_with: str) -> frozenset[str]:
    """The ids of the chunks that a chunk leans on."""
    return frozenset(read_with.split(" ")[1:])


def read_with(item: RetainItem, *, said_now: bool, steering: Hashable) -> str:
    """A digest of all that has a say in what is read out of a text of this item, and for whom it is kept. One that is
    said to be of now is read with the same whenever it is."""
    return sha256_of(
        repr(
            (
                item.context,
                "now" if said_now else item.timestamp and item.timestamp.isoformat(),
                sorted(item.tags),
                item.entities,
                item.resolve_entities,
                item.observation_scopes,
                steering,
            )
        )
    )
