"""Memory on real PostgreSQL: what a retain does to documents and their facts, and what forgetting leaves."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.postgres.database import Database
from application.ports import MemoryWrite
from domain.memory import Window
from domain.scope import Scope
from tests.support.memories import NOON, BankMemory, document, documents_of, hours_later, said


def stored_document(memory: BankMemory, document_id: str) -> dict[str, Any]:
    rows = memory.rows("SELECT * FROM memory_documents WHERE bank_id = %s")
    return next(row for row in rows if row["document_id"] == document_id)


def test_a_bank_without_memory_stands_at_zero(memory: BankMemory) -> None:
    assert memory.store.position(memory.bank_id) == 0
    assert memory.recall("anything") == []
    assert memory.newest() is None
    assert memory.store.document_text(memory.bank_id, "d1") is None


def test_a_fact_comes_back_with_all_it_was_stored_with(memory: BankMemory) -> None:
    fact = said(
        "Ada moved to Prague",
        fact_type="experience",
        occurred_start=hours_later(-48),
        occurred_end=hours_later(-24),
        entities=("Ada",),
    )
    item = document(
        "d1",
        fact,
        tags=("work", "ada", "work"),
        context="a letter",
        timestamp=hours_later(-1),
        metadata=(("source", "mail"), ("page", "2")),
        entities=("Prague", "Ada"),
    )

    written = memory.retain(item)

    [found] = memory.recall("prague")
    stored = found.fact
    assert written == MemoryWrite(position=1, written=1, closed=0)
    assert (stored.version, stored.position, stored.text) == (1, 1, "Ada moved to Prague")
    assert (stored.fact_type, stored.tags, stored.context) == ("experience", ("ada", "work"), "a letter")
    assert (stored.occurred_start, stored.occurred_end) == (hours_later(-48), hours_later(-24))
    assert (stored.mentioned_at, stored.recorded_at) == (hours_later(-1), NOON)
    assert stored.recorded_at.tzinfo is UTC
    assert (stored.document_id, stored.chunk_id) == ("d1", None)
    assert stored.metadata == (("page", "2"), ("source", "mail"))
    assert stored.entities == ("Ada", "Prague")


def test_a_document_retained_again_keeps_what_is_said_again_and_closes_the_rest(memory: BankMemory) -> None:
    memory.retain(document("d1", "tea", "coffee", "milk"))
    before = memory.current()

    written = memory.retain(document("d1", "milk", "water", "tea"), at=hours_later(1))

    after = memory.current()
    assert written == MemoryWrite(position=5, written=1, closed=1)
    assert set(after) == {"tea", "milk", "water"}
    assert after["tea"] == before["tea"]
    assert after["milk"] == before["milk"]
    assert (after["water"]["from_position"], after["water"]["recorded_at"]) == (5, hours_later(1))
    [closed] = memory.rows("SELECT text, to_position FROM fact_versions WHERE bank_id = %s AND to_position > 0")
    assert closed == {"text": "coffee", "to_position": 4}


def test_the_same_document_again_changes_nothing(memory: BankMemory) -> None:
    item = document("d1", "tea", "coffee", tags=("a",))
    memory.retain(item)

    assert memory.retain(item, at=hours_later(1)) == MemoryWrite(position=2, written=0, closed=0)


@pytest.mark.parametrize(
    "changed",
    [
        document("d1", "tea", tags=("b",)),
        document("d1", "tea", context="a letter"),
        document("d1", said("tea", fact_type="experience")),
        document("d1", said("tea", occurred_start=NOON)),
        document("d1", "Tea"),
    ],
)
def test_a_fact_that_says_something_else_is_another_fact(memory: BankMemory, changed: Any) -> None:
    memory.retain(document("d1", "tea"))

    assert memory.retain(changed) == MemoryWrite(position=3, written=1, closed=1)


def test_time_of_mention_and_metadata_do_not_make_another_fact(memory: BankMemory) -> None:
    memory.retain(document("d1", "tea", timestamp=NOON))

    again = document("d1", "tea", timestamp=hours_later(5), metadata=(("a", "b"),), entities=("Tea",))

    assert memory.retain(again).written == 0


def test_equal_facts_of_different_documents_are_two(memory: BankMemory) -> None:
    memory.retain(document("d1", "tea"), document("d2", "tea"))

    assert memory.retain(document("d1")) == MemoryWrite(position=3, written=0, closed=1)
    assert memory.texts("tea") == ["tea"]


def test_a_fact_said_twice_in_a_document_is_stored_once(memory: BankMemory) -> None:
    assert memory.retain(document("d1", "tea", "tea"), document("d1", "tea")).written == 1


def test_items_of_one_document_in_a_request_are_that_document_together(memory: BankMemory) -> None:
    memory.retain(document("d1", "old"))

    memory.retain(
        document("d1", "A", text="A", tags=("x",)),
        document("d2", "C", text="C"),
        document("d1", "B", text="A\nB", tags=("y",)),
    )

    assert set(memory.current()) == {"A", "B", "C"}
    assert memory.store.document_text(memory.bank_id, "d1") == "A\nB"
    assert memory.store.document_text(memory.bank_id, "d2") == "C"
    assert stored_document(memory, "d1")["tags"] == ["x", "y"]


def test_upsert_keeps_the_time_of_creation_and_moves_that_of_the_update(memory: BankMemory) -> None:
    memory.retain(document("d1", "tea", tags=("a",), metadata=(("k", "1"),)))
    memory.retain(document("d1", "tea", "milk", tags=("b",), metadata=(("l", "2"),)), at=hours_later(3))

    row = stored_document(memory, "d1")
    assert (row["created_at"], row["updated_at"]) == (NOON, hours_later(3))
    assert (row["text"], row["tags"], row["metadata"]) == ("tea\nmilk", ["b"], {"l": "2"})


def test_an_append_keeps_tags_and_contexts_of_what_was_said_before(memory: BankMemory) -> None:
    memory.retain(document("d1", "tea", tags=("alice",), context="first", metadata=(("k", "1"),)))
    before = memory.current()

    whole = document("d1", "tea", "milk", tags=("bob",), context="second", update_mode="append", metadata=(("l", "2"),))
    written = memory.retain(whole, at=hours_later(1))

    after = memory.current()
    assert written == MemoryWrite(position=2, written=1, closed=0)
    assert after["tea"] == before["tea"]
    assert (after["milk"]["tags"], after["milk"]["context"]) == (["bob"], "second")
    row = stored_document(memory, "d1")
    assert (row["text"], row["tags"], row["metadata"]) == ("tea\nmilk", ["alice", "bob"], {"k": "1", "l": "2"})


def test_an_append_closes_what_the_whole_text_no_longer_says(memory: BankMemory) -> None:
    memory.retain(document("d1", "tea", "coffee?"))

    assert memory.retain(document("d1", "tea", "coffee!", update_mode="append")).closed == 1
    assert set(memory.current()) == {"tea", "coffee!"}


def test_a_bank_never_touches_a_document_of_the_same_name_in_another(memory: BankMemory) -> None:
    other = memory.neighbour()
    for each in (memory, other):
        each.retain(document("d1", "tea", "coffee", tags=("a",)))
    kept, kept_document = other.current(), stored_document(other, "d1")

    memory.retain(document("d1", "water"), at=hours_later(1))
    with memory.database.begin() as tx:
        memory.store.forget_bank(memory.bank_id, tx)

    assert other.current() == kept
    assert stored_document(other, "d1") == kept_document
    assert other.store.position(other.bank_id) == 2
    assert other.texts("tea", by_links=False) == ["tea"]


def test_a_failed_transaction_leaves_no_trace(memory: BankMemory) -> None:
    memory.retain(document("d1", "tea"))

    def write_and_fail() -> None:
        with memory.database.begin() as tx:
            memory.store.write(memory.bank_id, documents_of(document("d1", "milk")), NOON, tx)
            raise RuntimeError("the disk is full")

    with pytest.raises(RuntimeError, match="disk"):
        write_and_fail()

    assert memory.store.position(memory.bank_id) == 1
    assert set(memory.current()) == {"tea"}
    assert memory.store.document_text(memory.bank_id, "d1") == "tea"


def test_a_vector_of_other_dimensions_is_refused_with_the_reason(memory: BankMemory) -> None:
    with pytest.raises(ValueError, match="toy gave vectors of 2 numbers, not 3"):
        memory.retain(document("d1", said("tea", (1.0, 0.0))))

    assert memory.store.position(memory.bank_id) == 0


def test_a_fact_without_a_vector_is_found_by_word(memory: BankMemory) -> None:
    memory.retain(document("d1", said("tea", ())))

    assert memory.texts("tea", (1.0, 0.0, 0.0)) == ["tea"]


def test_tags_too_long_for_an_index_are_stored_and_found(memory: BankMemory) -> None:
    tags = tuple(f"{number:05d}" * 40 for number in range(100))
    memory.retain(document("d1", "tea", tags=tags))

    assert memory.texts("tea", scope=Scope(tags=tags[:1], tags_match="any_strict")) == ["tea"]


def test_metadata_that_is_no_text_does_not_break_reading(memory: BankMemory) -> None:
    memory.retain(document("d1", "tea", metadata=(("ok", "yes"),)))
    memory.rows(
        'UPDATE fact_versions SET metadata = metadata || \'{"a": null, "b": 348, "c": {"x": 1}}\''
        " WHERE bank_id = %s RETURNING 1"
    )

    [found] = memory.recall("tea")
    assert found.fact.metadata == (("b", "348"), ("c", '{"x": 1}'), ("ok", "yes"))


def test_a_forgotten_bank_is_empty_and_its_positions_never_come_back(memory: BankMemory) -> None:
    memory.retain(document("d1", "tea", "coffee", tags=("a",)))
    memory.retain(document("d1", "tea", tags=("a",)))

    with memory.database.begin() as tx:
        assert memory.store.forget_bank(memory.bank_id, tx) == 1

    assert memory.store.position(memory.bank_id) == 4
    assert memory.recall("tea", (1.0, 0.0, 0.0)) == []
    assert memory.recall("tea", window=Window(upto=2)) == []
    assert memory.newest() is None
    assert memory.store.document_text(memory.bank_id, "d1") is None
    for table in ("fact_versions", "fact_vectors", "memory_documents", "memory_terms", "scope_clock"):
        assert memory.rows(f"SELECT 1 FROM {table} WHERE bank_id = %s") == []
    assert memory.retain(document("d1", "tea")).position == 5


def test_forgetting_a_bank_that_never_was_erases_nothing(memory: BankMemory) -> None:
    with memory.database.begin() as tx:
        assert memory.store.forget_bank(memory.bank_id, tx) == 0

    assert memory.store.position(memory.bank_id) == 0


def test_times_are_utc_whatever_the_server_thinks(shared_conninfo: str) -> None:
    with Database(f"{shared_conninfo} options='-c TimeZone=Asia/Tokyo'") as database:
        memory = BankMemory(database)
        memory.retain(document("d1", said("tea", occurred_start=NOON)))

        [found] = memory.recall("tea")

    assert str(found.fact.occurred_start) == "2026-05-04 12:00:00+00:00"
    assert found.fact.recorded_at == datetime(2026, 5, 4, 12, tzinfo=UTC)
