"""Stored terms are made anew when their rule has changed: before anything is served, once, from where it was left."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from adapters.postgres.database import Database
from adapters.postgres.terms_upkeep import keep_terms_current
from domain.memory import Window
from domain.terms import TERMS_RULE
from tests.support.memories import BankMemory, document, said


@pytest.fixture
def database(conninfo: str) -> Iterator[Database]:
    """A database of its own: the rule is of all banks."""
    with Database(conninfo) as database:
        yield database


def spoilt(database: Database) -> tuple[BankMemory, BankMemory]:
    """Two banks whose terms are those of another rule."""
    one = BankMemory(database)
    two = one.neighbour()
    one.retain(document("d1", "she was running", said("he moved", entities=("Ada",))))
    one.retain(document("d1", "she was running", "he is moving"))
    two.retain(document("d1", *(f"running {number}" for number in range(5))))
    with database.connection() as connection:
        connection.execute("UPDATE fact_versions SET terms = array_to_tsvector(ARRAY['nothing'])")
        connection.execute("DELETE FROM memory_terms")
        connection.execute(
            "INSERT INTO memory_terms SELECT bank_id, substr('nothing', 8), facts FROM memory_clock WHERE facts > 0"
        )
    return one, two


def rule(database: Database) -> int:
    with database.connection() as connection:
        row = connection.execute("SELECT * FROM memory_terms_rule").fetchone()
    assert row is not None
    assert row["next_rule"] is None
    return int(row["rule"])


def counts(memory: BankMemory) -> dict[str, int]:
    rows = memory.rows("SELECT term, facts FROM memory_terms WHERE bank_id = %s AND facts <> 0 AND term <> ''")
    return {row["term"]: row["facts"] for row in rows}


def test_terms_of_another_rule_are_made_anew_in_batches(database: Database) -> None:
    one, two = spoilt(database)
    assert one.texts("runs", by_links=False) == []
    positions = one.store.position(one.bank_id), two.store.position(two.bank_id)

    assert keep_terms_current(database, batch=2) == 8

    assert rule(database) == TERMS_RULE
    assert one.texts("runs", by_links=False) == ["she was running"]
    assert len(two.texts("runs")) == 5
    assert one.texts("moved", by_links=False) == ["he is moving"]
    assert one.texts("moved", by_links=False, window=Window(upto=2)) == ["he moved"]
    assert (
        one.rows("SELECT 1 FROM fact_versions WHERE bank_id = %s AND 'nothing' = ANY(tsvector_to_array(terms))") == []
    )
    assert (one.store.position(one.bank_id), two.store.position(two.bank_id)) == positions


def test_afterwards_words_are_counted_as_if_nothing_had_been(database: Database) -> None:
    one, _ = spoilt(database)
    keep_terms_current(database)

    other = one.neighbour()
    other.retain(document("d1", "she was running", said("he moved", entities=("Ada",))))
    other.retain(document("d1", "she was running", "he is moving"))

    assert counts(one) == counts(other) != {}


def test_it_is_done_once(database: Database) -> None:
    spoilt(database)
    keep_terms_current(database)
    assert keep_terms_current(database) == 0

    with database.connection() as connection:
        connection.execute("UPDATE memory_terms_rule SET rule = %s", (TERMS_RULE - 1,))
    assert keep_terms_current(database) == 8


def test_a_process_that_is_stopped_leaves_the_rest_to_the_next(database: Database) -> None:
    """Stopped by the database, at the fourth fact of the second bank that it comes to."""
    one, two = spoilt(database)
    later = max(one, two, key=lambda bank: bank.bank_id)
    with database.connection() as connection:
        connection.execute(
            "CREATE FUNCTION stop_here() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'stopped'; END $$"
        )
        connection.execute(
            "CREATE TRIGGER stop BEFORE UPDATE ON fact_versions FOR EACH ROW"
            f" WHEN (new.bank_id = '{later.bank_id}' AND new.from_position >= 3) EXECUTE FUNCTION stop_here()"
        )
    with pytest.raises(psycopg.errors.RaiseException):
        keep_terms_current(database, batch=2)
    with database.connection() as connection:
        connection.execute("DROP TRIGGER stop ON fact_versions")

    assert 0 < keep_terms_current(database, batch=2) < 5
    assert rule(database) == TERMS_RULE
    assert len(two.texts("runs")) == 5
    assert counts(one)["run"] == 1


def test_processes_that_start_together_do_it_once(database: Database) -> None:
    one, _ = spoilt(database)

    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: keep_terms_current(database, batch=2), range(4)))

    assert sorted(done) == [0, 0, 0, 8]
    assert counts(one)["run"] == 1


def test_a_new_database_has_nothing_to_make_anew(database: Database) -> None:
    assert keep_terms_current(database) == 0
    assert rule(database) == TERMS_RULE
