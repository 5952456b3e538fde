"""Writing memory on real PostgreSQL: documents, versions, positions, and writers at the same time."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from psycopg.rows import dict_row

from adapters.postgres import memory_statistics
from adapters.postgres.database import Database, PostgresTransaction
from adapters.postgres.memory_write import lock_clock
from adapters.postgres.reader import Reader
from application.ports import MemoryWrite
from domain.memory import RecallQuery, Window
from domain.scope import Scope
from domain.terms import terms
from tests.support.eventually import eventually
from tests.support.memories import NOON, BankMemory, document, hours_later, said


@pytest.fixture
def memory(shared_database: Database) -> BankMemory:
    return BankMemory(shared_database)


def changes(memory: BankMemory) -> list[int]:
    """Positions of all changes, in order."""
    rows = memory.rows(
        "SELECT p FROM fact_versions, unnest(ARRAY[from_position, to_position]) p WHERE bank_id = %s AND p IS NOT NULL"
    )
    return sorted({row["p"] for row in rows})


def stored_document(memory: BankMemory, document_id: str) -> dict[str, Any]:
    rows = memory.rows("SELECT * FROM memory_documents WHERE bank_id = %s")
    return next(row for row in rows if row["document_id"] == document_id)


def newest(memory: BankMemory, window: Window | None = None, **scope: Any) -> str | None:
    query = RecallQuery(bank_id=memory.bank_id, text="", scope=Scope(**scope), window=window)
    fact = memory.store.newest_in_scope(query)
    return fact.text if fact else None


# Documents and facts


def test_a_bank_without_memory_stands_at_zero(memory: BankMemory) -> None:
    assert memory.store.position(memory.bank_id) == 0
    assert memory.recall("anything") == []
    assert newest(memory) is None
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
    assert other.texts("tea") == ["tea"]


def test_a_failed_transaction_leaves_no_trace(memory: BankMemory) -> None:
    memory.retain(document("d1", "tea"))

    def write_and_fail() -> None:
        with memory.database.begin() as tx:
            memory.store.write(memory.bank_id, [document("d1", "milk")], NOON, tx)
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


# Positions


def test_every_change_has_a_position_of_its_own_and_none_is_left_out(memory: BankMemory) -> None:
    memory.retain(document("d1", "a", "b", "c"))
    memory.retain(document("d1", "c", "d"), document("d2", "e"))
    memory.retain(document("d2", "f"), document("d1"))

    assert changes(memory) == list(range(1, memory.store.position(memory.bank_id) + 1))


def test_the_scope_clock_says_where_each_set_of_tags_was_last_written(memory: BankMemory) -> None:
    memory.retain(document("d1", "a", tags=("y", "x")), document("d2", "b", "c"))
    memory.retain(document("d3", said("d", fact_type="experience"), tags=("x", "y")))
    memory.retain(document("d1"))

    rows = memory.rows("SELECT tags, fact_type, position, facts FROM scope_clock WHERE bank_id = %s ORDER BY position")
    assert rows == [
        {"tags": ["x", "y"], "fact_type": "world", "position": 1, "facts": 0},
        {"tags": [], "fact_type": "world", "position": 3, "facts": 2},
        {"tags": ["x", "y"], "fact_type": "experience", "position": 4, "facts": 1},
    ]


def test_a_late_committer_gets_the_later_position(memory: BankMemory) -> None:
    with ThreadPoolExecutor(1) as pool:
        with memory.database.begin() as first:
            memory.store.write(memory.bank_id, [document("d1", "first", "and more")], NOON, first)
            late = pool.submit(memory.retain, document("d2", "late"))
            eventually(lambda: waiting_for_the_clock(memory))
            assert memory.store.position(memory.bank_id) == 0
            assert newest(memory) is None
        assert late.result(timeout=10) == MemoryWrite(position=3, written=1, closed=0)


def waiting_for_the_clock(memory: BankMemory) -> bool:
    with memory.database.connection() as connection:
        return bool(
            connection.execute(
                "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
                " AND query LIKE 'INSERT INTO memory_clock%'"
            ).fetchall()
        )


def test_a_writer_that_gives_up_leaves_its_positions_to_the_next(memory: BankMemory) -> None:
    with ThreadPoolExecutor(1) as pool:
        with psycopg.connect(memory.database.conninfo, row_factory=dict_row) as first:
            memory.store.write(memory.bank_id, [document("d1", "first", "and more")], NOON, PostgresTransaction(first))
            late = pool.submit(memory.retain, document("d2", "late"))
            eventually(lambda: waiting_for_the_clock(memory))
            first.rollback()
        assert late.result(timeout=10) == MemoryWrite(position=1, written=1, closed=0)


def test_writers_of_other_banks_do_not_wait(memory: BankMemory) -> None:
    with memory.database.begin() as first:
        memory.store.write(memory.bank_id, [document("d1", "first")], NOON, first)

        assert memory.neighbour().retain(document("d1", "meanwhile")).position == 1


def test_twenty_writers_at_once_leave_no_gap_and_no_reader_sees_one(shared_conninfo: str) -> None:
    with Database(shared_conninfo, max_size=24) as database:
        memory, done = BankMemory(database), threading.Event()

        def write(number: int) -> list[int]:
            return [memory.retain(document(f"d{number % 7}", f"{number}-{turn}")).position for turn in range(5)]

        def watch() -> Sequence[tuple[int, list[int]]]:
            seen = []
            while not done.is_set():
                [row] = memory.rows(
                    "SELECT coalesce(max(c.position), 0) AS position, coalesce(array_agg(DISTINCT p)"
                    " FILTER (WHERE p IS NOT NULL), '{}') AS changes FROM memory_clock c"
                    " LEFT JOIN fact_versions f USING (bank_id)"
                    " LEFT JOIN LATERAL unnest(ARRAY[f.from_position, f.to_position]) p ON true WHERE c.bank_id = %s"
                )
                seen.append((row["position"], row["changes"]))
            return seen

        with ThreadPoolExecutor(22) as pool:
            watching = [pool.submit(watch) for _ in range(2)]
            writing = [pool.submit(write, number) for number in range(20)]
            positions = [position for each in writing for position in each.result(timeout=60)]
            done.set()
            seen = [snapshot for each in watching for snapshot in each.result(timeout=60)]

        assert len(set(positions)) == 100
        assert changes(memory) == list(range(1, memory.store.position(memory.bank_id) + 1))
        assert seen
        for position, visible in seen:
            assert visible == list(range(1, position + 1))


def append_turn(memory: BankMemory, document_id: str, turn: str) -> None:
    with memory.database.begin() as tx:
        before = memory.store.document_text(memory.bank_id, document_id, tx)
        facts = [*before.split("\n"), turn] if before else [turn]
        memory.store.write(memory.bank_id, [document(document_id, *facts, update_mode="append")], NOON, tx)


def test_concurrent_appends_lose_no_turn(memory: BankMemory) -> None:
    memory.retain(document("d1", "T1"))

    with ThreadPoolExecutor(8) as pool:
        turns = [pool.submit(append_turn, memory, "d1", f"T{number}") for number in range(2, 5)]
        new = [pool.submit(append_turn, memory, "new", f"N{number}") for number in range(1, 5)]
        alone = [pool.submit(append_turn, memory, f"alone{number}", f"A{number}") for number in range(8)]
        for done in (*turns, *new, *alone):
            done.result(timeout=30)

    text = memory.store.document_text(memory.bank_id, "d1") or ""
    assert text.startswith("T1\n")
    assert sorted(text.split("\n")) == ["T1", "T2", "T3", "T4"]
    assert sorted((memory.store.document_text(memory.bank_id, "new") or "").split("\n")) == ["N1", "N2", "N3", "N4"]
    assert len(memory.current()) == 16


def test_reading_a_document_to_change_it_keeps_other_writers_away(memory: BankMemory) -> None:
    with ThreadPoolExecutor(1) as pool:
        with memory.database.begin() as tx:
            assert memory.store.document_text(memory.bank_id, "d1", tx) is None
            other = pool.submit(memory.retain, document("d1", "other"))
            eventually(lambda: waiting_for_the_clock(memory))
            memory.store.write(memory.bank_id, [document("d1", "mine")], NOON, tx)
        assert other.result(timeout=10).position == 3
    assert set(memory.current()) == {"other"}


def test_locking_the_clock_of_a_new_bank_leaves_it_at_zero(memory: BankMemory) -> None:
    with memory.database.begin() as tx:
        assert lock_clock(tx.connection, memory.bank_id) == 0

    assert memory.store.position(memory.bank_id) == 0
    assert memory.recall("tea", (1.0, 0.0, 0.0)) == []


# The newest fact


def test_the_newest_fact_is_the_last_by_position_in_scope_and_window(memory: BankMemory) -> None:
    memory.retain(document("d1", "one", tags=("a",)), at=hours_later(9))
    memory.retain(document("d2", "two", said("three", fact_type="experience")), at=NOON)
    memory.retain(document("d3", "four", tags=("a", "b")))

    assert newest(memory) == "four"
    assert newest(memory, Window(upto=3)) == "three"
    assert newest(memory, Window(upto=99)) == "four"
    assert newest(memory, Window(after=3, upto=4)) == "four"
    assert newest(memory, Window(after=4, upto=4)) is None
    assert newest(memory, fact_types=("experience",)) == "three"
    assert newest(memory, Window(upto=3), tags=("a",), tags_match="all_strict") == "one"
    assert newest(memory, tags_match="exact") == "three"
    assert newest(memory, tags=("c",), tags_match="any_strict") is None


def test_the_newest_fact_of_a_past_position_may_be_closed_since(memory: BankMemory) -> None:
    memory.retain(document("d1", "one"))
    memory.retain(document("d1", "two"))

    assert newest(memory) == "two"
    assert newest(memory, Window(upto=1)) == "one"
    assert newest(memory, Window(upto=2)) is None


# Forgetting


def test_a_forgotten_bank_is_empty_and_its_positions_never_come_back(memory: BankMemory) -> None:
    memory.retain(document("d1", "tea", "coffee", tags=("a",)))
    memory.retain(document("d1", "tea", tags=("a",)))

    with memory.database.begin() as tx:
        assert memory.store.forget_bank(memory.bank_id, tx) == 1

    assert memory.store.position(memory.bank_id) == 4
    assert memory.recall("tea", (1.0, 0.0, 0.0)) == []
    assert memory.recall("tea", window=Window(upto=2)) == []
    assert newest(memory) is None
    assert memory.store.document_text(memory.bank_id, "d1") is None
    for table in ("fact_versions", "memory_documents", "memory_terms", "scope_clock"):
        assert memory.rows(f"SELECT 1 FROM {table} WHERE bank_id = %s") == []
    assert memory.retain(document("d1", "tea")).position == 5


def test_forgetting_a_bank_that_never_was_erases_nothing(memory: BankMemory) -> None:
    with memory.database.begin() as tx:
        assert memory.store.forget_bank(memory.bank_id, tx) == 0

    assert memory.store.position(memory.bank_id) == 0


# Counts


def test_tags_are_counted_over_current_facts(memory: BankMemory) -> None:
    reader = Reader(memory.database)
    memory.retain(
        document("d1", "a", "b", tags=("user:alice", "work")),
        document("d2", "c", tags=("USER:bob",)),
        document("d3", said("d", fact_type="experience"), tags=("work", "100%")),
    )
    memory.retain(document("d4", "e", tags=("gone",)))
    memory.retain(document("d4"))

    def page(pattern: str | None = None, limit: int = 100, offset: int = 0) -> tuple[list[tuple[str, int]], int]:
        return reader.ask(memory_statistics.tags_page(memory.bank_id, pattern, limit, offset))

    found, total = page()
    assert found[:2] == [("work", 3), ("user:alice", 2)]
    assert sorted(found[2:]) == [("100%", 1), ("USER:bob", 1)]
    assert total == 4
    assert page("user:%") == ([("user:alice", 2), ("USER:bob", 1)], 2)
    assert page(limit=1, offset=1) == ([("user:alice", 2)], 4)
    assert page(offset=9) == ([], 4)


def test_statistics_of_banks_count_what_is_current(memory: BankMemory) -> None:
    reader, other = Reader(memory.database), memory.neighbour()
    memory.retain(document("d1", "a", "b"), document("d2", said("c", fact_type="observation")))
    memory.retain(document("d1", "a"), at=hours_later(1))
    memory.retain(document("d1", "a"), at=hours_later(2))

    assert reader.ask(memory_statistics.of_bank(memory.bank_id)) == memory_statistics.MemoryStatistics(
        facts=2,
        facts_by_type={"world": 1, "observation": 1},
        documents=2,
        document_at=hours_later(2),
        written_at=hours_later(1),
    )
    nothing = reader.ask(memory_statistics.of_bank(other.bank_id))
    assert (nothing.facts, nothing.facts_by_type, nothing.documents, nothing.written_at) == (0, {}, 0, None)
    assert reader.ask(memory_statistics.of_banks([memory.bank_id, other.bank_id])) == {
        memory.bank_id: memory_statistics.MemorySize(2, document_at=hours_later(2), written_at=hours_later(1))
    }


@settings(max_examples=30, deadline=None)
@given(
    requests=st.lists(
        st.lists(
            st.tuples(
                st.sampled_from(["d1", "d2", "d3"]),
                st.lists(st.sampled_from(["green tea", "tea", "black coffee", "teas"]), max_size=3),
                st.sampled_from([(), ("a",), ("a", "b")]),
                st.sampled_from(["replace", "append"]),
            ),
            max_size=3,
        ),
        max_size=5,
    )
)
def test_kept_counts_always_agree_with_the_facts(
    shared_database: Database, requests: list[list[tuple[str, list[str], tuple[str, ...], str]]]
) -> None:
    memory = BankMemory(shared_database)
    for request in requests:
        memory.retain(*(document(name, *facts, tags=tags, update_mode=mode) for name, facts, tags, mode in request))

    current = memory.rows("SELECT * FROM fact_versions WHERE bank_id = %s AND to_position IS NULL")
    assert changes(memory) == list(range(1, memory.store.position(memory.bank_id) + 1))
    clock = memory.rows("SELECT facts FROM memory_clock WHERE bank_id = %s")
    assert [row["facts"] for row in clock] == [len(current)][: len(clock)]
    scopes = memory.rows("SELECT tags, fact_type, facts FROM scope_clock WHERE bank_id = %s AND facts <> 0")
    assert {tuple(row["tags"]): row["facts"] for row in scopes} == counted(tuple(row["tags"]) for row in current)
    found = memory.rows("SELECT term, facts FROM memory_terms WHERE bank_id = %s AND facts <> 0")
    assert {row["term"]: row["facts"] for row in found} == counted(
        term for row in current for term in terms(row["text"])
    )


def counted(things: Any) -> dict[Any, int]:
    counts: dict[Any, int] = {}
    for thing in things:
        counts[thing] = counts.get(thing, 0) + 1
    return counts


def test_times_are_utc_whatever_the_server_thinks(shared_conninfo: str) -> None:
    with Database(f"{shared_conninfo} options='-c TimeZone=Asia/Tokyo'") as database:
        memory = BankMemory(database)
        memory.retain(document("d1", said("tea", occurred_start=NOON)))

        [found] = memory.recall("tea")

    assert str(found.fact.occurred_start) == "2026-05-04 12:00:00+00:00"
    assert found.fact.recorded_at == datetime(2026, 5, 4, 12, tzinfo=UTC)
