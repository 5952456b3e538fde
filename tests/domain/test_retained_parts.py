"""Ids of chunks, what chunks were read with and lean on, and how items come to their documents."""

from __future__ import annotations

from itertools import count
from typing import Any
from uuid import UUID

import pytest

from domain.memory import RetainItem
from domain.retain import PARTS_AT_MOST, Part, chunk_ids, digest_in, leaned_on, leaning, merged, read_with
from domain.retain_batches import with_documents

ITEM = RetainItem(content="Ada lives in Rome.", document_id="d")


def test_a_chunk_has_an_id_of_its_own_in_its_bank_its_document_and_among_those_that_say_the_same() -> None:
    ids = [
        *chunk_ids("bank", "d", ["A", "A", "B"]),
        *chunk_ids("other", "d", ["A"]),
        *chunk_ids("bank", "e", ["A"]),
    ]
    assert len(set(ids)) == len(ids)
    assert chunk_ids("bank", "d", ["B", "A"]) == [ids[2], ids[0]]


@pytest.mark.parametrize(
    "change",
    [
        {"context": "a letter"},
        {"tags": ("a",)},
        {"entities": ("Ada",)},
        {"resolve_entities": False},
        {"observation_scopes": "shared"},
        {"timestamp": "2024-01-01T00:00:00Z"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_has_a_say_in_what_is_read_changes_the_digest(change: dict[str, Any]) -> None:
    changed = RetainItem.model_validate({**ITEM.model_dump(), **change})
    assert read_with(changed, said_now=False, steering=()) != read_with(ITEM, said_now=False, steering=())
    assert read_with(ITEM, said_now=False, steering=("verbose",)) != read_with(ITEM, said_now=False, steering=())


def test_when_it_was_said_to_be_now_does_not_change_the_digest() -> None:
    times = [f"202{year}-01-01T00:00:00Z" for year in range(2)]
    items = [RetainItem.model_validate({**ITEM.model_dump(), "timestamp": each}) for each in times]
    digests = {read_with(each, said_now=True, steering=()) for each in items}
    assert len(digests) == 1
    assert digests.isdisjoint(read_with(each, said_now=False, steering=()) for each in [*items, ITEM])


def test_what_a_chunk_leans_on_stands_behind_its_digest() -> None:
    digest = read_with(ITEM, said_now=False, steering=())
    once = leaning(digest, {"b", "a"})
    assert (digest_in(digest), leaned_on(digest)) == (digest, frozenset())
    assert (digest_in(once), leaned_on(once)) == (digest, {"a", "b"})
    assert leaning(once, {"c"}) == leaning(digest, {"c"})


def test_the_first_of_too_many_parts_are_one_that_still_replaces() -> None:
    parts = [Part(asked=number, length=3, chunks=1, replaces=number == 0) for number in range(PARTS_AT_MOST + 2)]
    one, *others = merged(parts)
    assert (one.asked, one.length, one.chunks, one.replaces) == (2, 11, 3, True)
    assert others == parts[3:]
    assert merged(parts[2:]) == tuple(parts[2:])


@pytest.mark.parametrize(
    ("items", "of", "ids"),
    [
        (["", ""], None, [0, 0]),
        (["", "d", ""], None, [0, "d", 1]),
        (["", ""], ["", ""], [0, 0]),
        (["", ""], ["", "", "d"], [0, 1]),
    ],
)
def test_items_that_name_no_document_share_one_only_when_none_of_the_request_names_any(
    items: list[str], of: list[str] | None, ids: list[Any]
) -> None:
    numbers = count()

    def made(names: list[str]) -> list[RetainItem]:
        return [RetainItem(content="x", document_id=name or None) for name in names]

    named = with_documents(made(items), lambda: UUID(int=next(numbers)), None if of is None else made(of))
    assert [each.document_id for each in named] == [
        each if isinstance(each, str) else str(UUID(int=each)) for each in ids
    ]
