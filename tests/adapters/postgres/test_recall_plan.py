"""How recall is carried out on real PostgreSQL: in banks large and small nothing near is lost, whatever is indexed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from adapters.postgres import recall_plan, vector_index
from adapters.postgres.database import Database
from adapters.postgres.recall_plan import RecallPlan, plan_recall
from adapters.postgres.scope_sql import ScopeCondition
from adapters.postgres.vector_index import ensure_vector_index
from domain.memory import RecallQuery, Window
from domain.scope import Scope
from tests.support.eventually import eventually
from tests.support.memories import BankMemory, document, said

NORTH, EAST, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NORTH_EAST = (0.8, 0.6, 0.0)


def plan(memory: BankMemory, text: str = "tea", dimensions: int = 3, **query: Any) -> RecallPlan:
    asked = RecallQuery(bank_id=memory.bank_id, text=text, **query)
    with memory.database.connection() as connection:
        made = plan_recall(connection, asked, ScopeCondition(asked.scope), dimensions)
    assert made is not None
    return made


def points(count: int, seed: int = 3) -> Sequence[tuple[float, float, float]]:
    chance = random.Random(seed)
    raw = [[chance.gauss(0, 1) for _ in range(3)] for _ in range(count)]
    return [tuple(value / sum(x * x for x in each) ** 0.5 for value in each) for each in raw]


@pytest.fixture
def indexed(conninfo: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[BankMemory]:
    """A bank of 600 facts, searched by the graph, beside a small one, in a database of their own."""
    with Database(conninfo) as database:
        memory = BankMemory(database)
        facts = [said(f"tea {number}", vector) for number, vector in enumerate(points(600))]
        memory.retain(*(document(f"d{start}", *facts[start : start + 60], tags=(f"t{start // 300}",))
                        for start in range(0, 600, 60)))  # fmt: skip
        monkeypatch.setattr(vector_index, "EXACT_NUMBERS", 500 * 3)
        monkeypatch.setattr(recall_plan, "EXACT_NUMBERS", 500 * 3)
        monkeypatch.setattr(recall_plan, "GRAPH_COST", 1)
        with database.connection() as connection:
            assert ensure_vector_index(connection, 3)
        yield memory


def test_small_banks_need_no_vector_index(database: Database) -> None:
    memory = BankMemory(database)
    memory.retain(document("d1", "tea"))

    with database.connection() as connection:
        assert not ensure_vector_index(connection, 3)
    assert plan(memory).reach == 0


def test_the_vector_index_is_built_once_and_again_after_an_unfinished_build(indexed: BankMemory) -> None:
    with indexed.database.connection() as connection:
        assert ensure_vector_index(connection, 3)
        connection.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'current_vectors_3'::regclass")
        assert plan(indexed, limit=5).reach == 0
        assert ensure_vector_index(connection, 3)
    assert plan(indexed, limit=5).reach > 0


def test_the_vector_index_is_of_a_breadth_that_new_facts_can_pay_for(indexed: BankMemory) -> None:
    with indexed.database.connection() as connection:
        row = connection.execute("SELECT reloptions FROM pg_class WHERE oid = 'current_vectors_3'::regclass").fetchone()
    assert row is not None
    assert set(row["reloptions"]) == {"m=8", "ef_construction=64"}


def test_processes_that_start_together_build_one_index(indexed: BankMemory) -> None:
    def build(_: int) -> bool:
        with indexed.database.connection() as connection:
            return ensure_vector_index(connection, 3)

    with indexed.database.connection() as connection:
        connection.execute("DROP INDEX current_vectors_3")
    with ThreadPoolExecutor(4) as pool:
        assert any(pool.map(build, range(4)))


def test_vectors_of_too_many_dimensions_are_compared_one_by_one(indexed: BankMemory) -> None:
    with indexed.database.connection() as connection:
        assert not ensure_vector_index(connection, 4096)
    assert plan(indexed, dimensions=4096).reach == 0


def test_many_dimensions_are_indexed_and_found(conninfo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_index, "EXACT_NUMBERS", 1)
    monkeypatch.setattr(recall_plan, "EXACT_NUMBERS", 1)
    monkeypatch.setattr(recall_plan, "GRAPH_COST", 0)
    axes = [[float(place == axis) for place in range(2100)] for axis in range(5)]
    with Database(conninfo) as database:
        memory = BankMemory(database, dimensions=2100)
        memory.retain(document("d1", *(said(f"tea {axis}", vector) for axis, vector in enumerate(axes))))
        with database.connection() as connection:
            assert ensure_vector_index(connection, 2100)

        assert plan(memory, dimensions=2100, limit=2).reach > 0
        assert memory.texts("", axes[3], by_links=False) == ["tea 3"]


def test_the_graph_finds_what_comparing_everything_finds(indexed: BankMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    assert plan(indexed, limit=20).reach > 0
    by_graph = [indexed.texts("", vector, limit=20) for vector in points(10, seed=4)]

    monkeypatch.setattr(recall_plan, "EXACT_NUMBERS", 10**9)
    assert plan(indexed, limit=20).reach == 0
    compared = [indexed.texts("", vector, limit=20) for vector in points(10, seed=4)]

    shared = sum(len(set(one) & set(other)) for one, other in zip(by_graph, compared, strict=True))
    assert shared >= 0.95 * 200


def test_the_graph_is_really_searched(indexed: BankMemory) -> None:
    def scans() -> int:
        with indexed.database.connection() as connection:
            row = connection.execute(
                "SELECT pg_stat_force_next_flush(), pg_stat_get_numscans('current_vectors_3'::regclass) AS n"
            ).fetchone()
        return int(row["n"]) if row else -1

    indexed.recall("", NORTH, limit=5)

    assert eventually(scans) > 0


def test_before_there_are_statistics_no_bank_is_read_for_each_fact_found(database: Database) -> None:
    """A bank that was just filled, before autovacuum looked at it: neighbours are read by their place all the same."""
    memory = BankMemory(database)
    memory.retain(*(document(f"d{number}", *(f"tea {number} {line}" for line in range(200))) for number in range(80)))

    def rows_read() -> int:
        with database.connection() as connection:
            row = connection.execute(
                "SELECT pg_stat_force_next_flush(), idx_tup_read AS n FROM pg_stat_user_indexes"
                " WHERE indexrelname = 'current_facts_by_mention'"
            ).fetchone()
        return int(row["n"]) if row else -1

    before = rows_read()
    for _ in range(3):
        assert len(memory.recall("tea", limit=50)) == 50
    with database.connection() as connection:
        connection.execute("SELECT pg_stat_force_next_flush()")

    assert rows_read() - before < 16_000


def test_a_small_bank_beside_a_large_one_loses_nothing(indexed: BankMemory) -> None:
    small = indexed.neighbour()
    small.retain(document("d1", *(said(f"tea {number}", NORTH) for number in range(50))))

    assert plan(small).reach == 0
    assert len(small.recall("", NORTH, min_semantic=0.99)) == 50
    assert len(small.recall("tea")) == 50


def test_a_scope_or_window_loses_nothing_in_the_graph(indexed: BankMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    indexed.retain(*(document(f"x{number}", said(f"tea x{number}", NORTH), tags=("rare",)) for number in range(20)))
    rare = Scope(tags=("rare",), tags_match="any_strict")

    assert plan(indexed, scope=rare).reach == 0
    assert len(indexed.recall("", NORTH, scope=rare)) == 20
    assert len(indexed.recall("tea", scope=rare)) == 20
    assert plan(indexed, window=Window(after=600, upto=620)).reach == 0
    assert len(indexed.recall("", NORTH, window=Window(after=600, upto=620))) == 20

    half = Scope(tags=("t0",), tags_match="any_strict")
    monkeypatch.setattr(recall_plan, "EXACT_NUMBERS", 3)
    assert plan(indexed, scope=half, limit=40).reach > 0
    assert len(indexed.recall("", NORTH, scope=half, limit=40, min_semantic=-1.0)) == 40


def test_the_graph_reads_the_past_with_what_was_closed_since(indexed: BankMemory) -> None:
    indexed.retain(document("d0", said("tea anew", NORTH)))

    then = indexed.texts("", NORTH, limit=600, min_semantic=-1.0, window=Window(upto=600))

    assert len(then) == 600
    assert "tea anew" not in then
    assert "tea 0" in then


@pytest.mark.parametrize(
    ("version", "expected"), [("0.7.4", (0, 7, 4)), ("0.8.0", (0, 8, 0)), ("0.10", (0, 10)), ("1.0.0", (1, 0, 0))]
)
def test_versions_of_the_extension_are_compared_as_numbers(version: str, expected: tuple[int, ...]) -> None:
    assert recall_plan._version(version) == expected


def test_an_extension_without_iterative_scans_is_searched_only_where_nothing_can_be_lost(
    indexed: BankMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recall_plan, "_version", lambda _: (0, 7, 4))

    narrow = plan(indexed, limit=20)
    assert not narrow.iterative
    assert recall_plan.graph_settings(narrow).keys() == {"hnsw.ef_search"}
    assert narrow.reach > 0
    assert len(indexed.recall("", NORTH, limit=20)) == 20
    monkeypatch.setattr(recall_plan, "MOST_GRAPH_SEARCH", 29)
    assert plan(indexed, limit=20).reach == 0


def test_only_rare_words_are_looked_up_when_there_are_any(memory: BankMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.retain(document("d1", *(f"tea {number}" for number in range(30)), "quince tea"))
    monkeypatch.setattr(recall_plan, "MOST_MATCHES", 20)

    assert memory.texts("quince tea", by_links=False) == ["quince tea"]
    assert len(memory.texts("tea")) == 31


def test_of_many_words_the_sixteen_rarest_are_looked_up(memory: BankMemory) -> None:
    memory.retain(document("d1", "common tea"), document("d2", *(f"common word{number}" for number in range(20))))

    chosen = plan(memory, " ".join(["common", *(f"word{number}" for number in range(20))])).lexemes

    assert len(chosen) == 16
    assert not any(lexeme.endswith(":common") for lexeme, _ in chosen)
