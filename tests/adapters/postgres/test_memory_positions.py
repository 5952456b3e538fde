"""Positions of a bank on real PostgreSQL: gapless, in commit order, with many writers at once; and the newest fact."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import psycopg
from psycopg.rows import dict_row

from adapters.postgres.database import Database, PostgresTransaction
from adapters.postgres.fact_versions import lock_clock
from application.ports import MemoryWrite
from domain.memory import Window
from tests.support.eventually import eventually
from tests.support.memories import NOON, BankMemory, document, documents_of, hours_later, said


def changes(memory: BankMemory) -> list[int]:
    """Positions of all changes, in order."""
    rows = memory.rows(
        "SELECT p FROM fact_versions, unnest(ARRAY[from_position, to_position]) p WHERE bank_id = %s AND p IS NOT NULL"
    )
    return sorted({row["p"] for row in rows})


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
            memory.store.write(memory.bank_id, documents_of(document("d1", "first", "and more")), NOON, first)
            late = pool.submit(memory.retain, document("d2", "late"))
            eventually(lambda: waiting_for_the_clock(memory))
            assert memory.store.position(memory.bank_id) == 0
            assert memory.newest() is None
        assert late.result(timeout=10) == MemoryWrite(position=3, written=1, closed=0)


def test_a_writer_that_waited_sees_a_document_as_the_one_before_left_it(memory: BankMemory) -> None:
    with ThreadPoolExecutor(1) as pool:
        with memory.database.begin() as first:
            memory.store.write(memory.bank_id, documents_of(document("d1", "stays", "goes")), NOON, first)
            late = pool.submit(memory.retain, document("d1", "stays", "comes"))
            eventually(lambda: waiting_for_the_clock(memory))
        assert late.result(timeout=10) == MemoryWrite(position=4, written=1, closed=1)


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
            documents = documents_of(document("d1", "first", "and more"))
            memory.store.write(memory.bank_id, documents, NOON, PostgresTransaction(first))
            late = pool.submit(memory.retain, document("d2", "late"))
            eventually(lambda: waiting_for_the_clock(memory))
            first.rollback()
        assert late.result(timeout=10) == MemoryWrite(position=1, written=1, closed=0)


def test_writers_of_other_banks_do_not_wait(memory: BankMemory) -> None:
    with memory.database.begin() as first:
        memory.store.write(memory.bank_id, documents_of(document("d1", "first")), NOON, first)

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
        memory.store.revisions(memory.bank_id, [document_id], tx)
        before = memory.store.document_text(memory.bank_id, document_id)
        facts = [*before.split("\n"), turn] if before else [turn]
        memory.store.write(memory.bank_id, documents_of(document(document_id, *facts, update_mode="append")), NOON, tx)


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
            assert memory.store.revisions(memory.bank_id, ["d1"], tx) == {}
            other = pool.submit(memory.retain, document("d1", "other"))
            eventually(lambda: waiting_for_the_clock(memory))
            memory.store.write(memory.bank_id, documents_of(document("d1", "mine")), NOON, tx)
        assert other.result(timeout=10).position == 3
    assert set(memory.current()) == {"other"}


def test_locking_the_clock_of_a_new_bank_leaves_it_at_zero(memory: BankMemory) -> None:
    with memory.database.begin() as tx:
        assert lock_clock(tx.connection, memory.bank_id) == 0

    assert memory.store.position(memory.bank_id) == 0
    assert memory.recall("tea", (1.0, 0.0, 0.0)) == []


def test_the_newest_fact_is_the_last_by_position_in_scope_and_window(memory: BankMemory) -> None:
    memory.retain(document("d1", "one", tags=("a",)), at=hours_later(9))
    memory.retain(document("d2", "two", said("three", fact_type="experience")), at=NOON)
    memory.retain(document("d3", "four", tags=("a", "b")))

    assert memory.newest() == "four"
    assert memory.newest(Window(upto=3)) == "three"
    assert memory.newest(Window(upto=99)) == "four"
    assert memory.newest(Window(after=3, upto=4)) == "four"
    assert memory.newest(Window(after=4, upto=4)) is None
    assert memory.newest(fact_types=("experience",)) == "three"
    assert memory.newest(Window(upto=3), tags=("a",), tags_match="all_strict") == "one"
    assert memory.newest(tags_match="exact") == "three"
    assert memory.newest(tags=("c",), tags_match="any_strict") is None


def test_the_newest_fact_of_a_past_position_may_be_closed_since(memory: BankMemory) -> None:
    memory.retain(document("d1", "one"))
    memory.retain(document("d1", "two"))

    assert memory.newest() == "two"
    assert memory.newest(Window(upto=1)) == "one"
    assert memory.newest(Window(upto=2)) is None
