"""Recall on real PostgreSQL: by meaning and by word, in scopes and windows, of now and of the past, in any bank."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from adapters.postgres import recall_plan, vector_index
from adapters.postgres.database import Database
from adapters.postgres.memory_store import ensure_vector_index
from adapters.postgres.recall_plan import RecallPlan, plan_recall
from adapters.postgres.scope_sql import ScopeCondition
from domain.memory import RecallQuery, Window, estimated_tokens
from domain.scope import Scope, TagAnd, TagLeaf, TagNot, TagOr, TagsMatch
from tests.support.eventually import eventually
from tests.support.memories import BankMemory, document, said

NORTH, EAST, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NORTH_EAST = (0.8, 0.6, 0.0)


@pytest.fixture
def memory(shared_database: Database) -> BankMemory:
    return BankMemory(shared_database)


# By meaning and by word


def test_facts_are_found_by_meaning_the_nearest_first(memory: BankMemory) -> None:
    memory.retain(document("d1", said("east", EAST), said("north", NORTH), said("north east", NORTH_EAST)))

    found = memory.recall("", NORTH)

    assert [(each.fact.text, each.scores.keyword) for each in found] == [("north", None), ("north east", None)]
    assert [each.scores.semantic for each in found] == [pytest.approx(1.0), pytest.approx(0.8, abs=0.001)]
    assert memory.texts("", NORTH, min_semantic=0.9) == ["north"]
    assert memory.texts("", NORTH, min_semantic=-1.0) == ["north", "north east", "east"]


def test_facts_are_found_by_word_the_rare_words_first(memory: BankMemory) -> None:
    memory.retain(
        document("d1", "the user likes tea", "the user likes coffee", "the user likes quince jam", "the user sleeps")
    )

    found = memory.recall("does the user like quince?")

    assert found[0].fact.text == "the user likes quince jam"
    assert {each.fact.text for each in found} == {
        "the user likes tea",
        "the user likes coffee",
        "the user likes quince jam",
        "the user sleeps",
    }
    assert found[-1].fact.text == "the user sleeps"
    assert all(each.scores.semantic is None for each in found)
    keyword = [each.scores.keyword or 0.0 for each in found]
    assert keyword == sorted(keyword, reverse=True)


def test_of_facts_with_the_same_words_the_shorter_comes_first(memory: BankMemory) -> None:
    memory.retain(document("d1", "quince jam with bread and butter and cheese from the market", "quince jam"))

    assert memory.texts("quince")[0] == "quince jam"


def test_words_of_scripts_without_spaces_are_found_without_embeddings(memory: BankMemory) -> None:
    memory.retain(document("d1", said("我们使用外币汇率换算服务", ()), said("天气很好", ())))

    assert memory.texts("汇率换算") == ["我们使用外币汇率换算服务"]


def test_facts_are_found_by_the_names_and_dates_they_are_about(memory: BankMemory) -> None:
    memory.retain(document("d1", said("She moved", entities=("Ada Lovelace",))))

    assert memory.texts("lovelace") == ["She moved"]


def test_what_is_found_both_ways_comes_before_what_is_found_one_way(memory: BankMemory) -> None:
    memory.retain(
        document(
            "d1", said("green tea", NORTH_EAST), said("black coffee", NORTH), said("tea with milk and honey", EAST)
        )
    )

    found = memory.recall("tea", NORTH)

    assert [each.fact.text for each in found] == ["green tea", "black coffee", "tea with milk and honey"]
    assert found[0].scores.final == pytest.approx(1 / 62 + 1 / 61)
    assert [each.scores.final for each in found[1:]] == [pytest.approx(1 / 61), pytest.approx(1 / 62)]


def test_equal_scores_are_ordered_by_position_the_newest_first(memory: BankMemory) -> None:
    memory.retain(document("d1", *(f"tea {number}" for number in range(6))))

    expected = [f"tea {number}" for number in range(5, -1, -1)]
    assert memory.texts("tea") == expected
    assert memory.texts("", NORTH) == expected
    assert memory.texts("tea", NORTH, limit=3) == expected[:3]


@pytest.mark.parametrize("text", ["", "???", "is it what it was", "\ud800", "'; DROP TABLE fact_versions --", "a\\'b"])
def test_a_query_without_words_of_its_own_finds_by_meaning_only(memory: BankMemory, text: str) -> None:
    memory.retain(document("d1", "tea"))

    assert memory.texts(text, NORTH) == ["tea"]
    assert memory.texts(text) == []


def test_words_that_a_query_language_would_read_are_just_words(memory: BankMemory) -> None:
    fact = "mail bob@example.com about c:/tmp/x_1 & more | less ! <->"
    memory.retain(document("d1", fact))

    assert memory.texts("a:b") == []
    for word in ("bob@example.com", "c:/tmp/x_1", "tmp", "less !"):
        assert memory.texts(word) == [fact]


def test_a_vector_without_direction_is_near_nothing(memory: BankMemory) -> None:
    memory.retain(document("d1", said("tea", NORTH), said("nothing", (0.0, 0.0, 0.0))))

    assert memory.texts("", (0.0, 0.0, 0.0)) == []
    assert memory.texts("", NORTH) == ["tea"]


def test_vectors_of_another_model_or_size_are_left_alone_and_words_still_count(memory: BankMemory) -> None:
    memory.retain(document("d1", "tea by toy"))
    other = BankMemory(memory.database, memory.bank_id, model="other")
    other.retain(document("d2", "tea by other"))
    larger = BankMemory(memory.database, memory.bank_id, dimensions=4)
    larger.retain(document("d3", said("tea in four dimensions", (1.0, 0.0, 0.0, 0.0))))

    assert memory.texts("", NORTH) == ["tea by toy"]
    assert other.texts("", NORTH) == ["tea by other"]
    assert larger.texts("", (1.0, 0.0, 0.0, 0.0)) == ["tea in four dimensions"]
    assert len(memory.texts("tea", NORTH)) == 3


def test_limit_and_tokens_bound_the_answer(memory: BankMemory) -> None:
    facts = [f"tea {number} " + "x" * 40 for number in range(6)]
    memory.retain(document("d1", *facts))
    each = estimated_tokens(facts[0])

    assert len(memory.recall("tea", limit=4)) == 4
    assert len(memory.recall("tea", max_tokens=3 * each)) == 3
    assert len(memory.recall("tea", max_tokens=4 * each - 1)) == 3
    assert memory.recall("tea", max_tokens=each - 1) == []
    assert memory.recall("tea", NORTH, max_tokens=0) == []
    assert memory.recall("tea", NORTH, limit=0) == []


# Scopes


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("any", {"alice", "alice and bob", "untagged"}),
        ("all", {"alice", "alice and bob", "untagged"}),
        ("any_strict", {"alice", "alice and bob"}),
        ("all_strict", {"alice", "alice and bob"}),
        ("exact", {"alice"}),
    ],
)
def test_a_tag_filter_leaks_nothing_of_others(memory: BankMemory, match: TagsMatch, expected: set[str]) -> None:
    memory.retain(
        document("d1", "alice", tags=("user:alice",)),
        document("d2", "bob", tags=("user:bob",)),
        document("d3", "untagged"),
        document("d4", "alice and bob", tags=("user:bob", "user:alice")),
    )
    scope = Scope(tags=("user:alice",), tags_match=match)

    assert set(memory.texts("", NORTH, scope=scope)) == expected
    assert set(memory.texts("alice bob untagged", scope=scope)) == expected


def test_groups_and_fact_types_hold_in_both_arms(memory: BankMemory) -> None:
    memory.retain(
        document("d1", "tea at work", tags=("alice", "work")),
        document("d2", "tea at home", said("tea I made", fact_type="experience"), tags=("alice", "home")),
        document("d3", "tea long ago", tags=("alice", "home", "archived")),
        document("d4", "tea of bob", tags=("bob", "work")),
        document("d5", "tea of nobody"),
    )
    alice, work, home = (TagLeaf(tags=(tag,)) for tag in ("alice", "work", "home"))
    scope = Scope(
        tag_groups=(
            TagAnd(all_of=(alice, TagOr(any_of=(work, home)))),
            TagNot(none_of=TagLeaf(tags=("archived",))),
        ),
        fact_types=("world",),
    )

    assert set(memory.texts("tea", scope=scope)) == {"tea at work", "tea at home"}
    assert set(memory.texts("", NORTH, scope=scope)) == {"tea at work", "tea at home"}


def test_nothing_of_another_bank_is_found(memory: BankMemory) -> None:
    memory.neighbour().retain(document("d1", "tea", tags=("a",)))

    assert memory.recall("tea", NORTH) == []
    memory.retain(document("d1", "coffee"))
    assert memory.recall("tea", UP) == []


# Windows and the past


def test_a_window_holds_what_became_valid_in_it(memory: BankMemory) -> None:
    for number in range(1, 6):
        memory.retain(document(f"d{number}", f"tea {number}"))

    def both(window: Window) -> tuple[set[str], set[str]]:
        return set(memory.texts("tea", window=window)), set(memory.texts("", NORTH, window=window))

    assert both(Window(after=2, upto=4)) == ({"tea 3", "tea 4"},) * 2
    assert both(Window(after=4, upto=99)) == ({"tea 5"},) * 2
    assert both(Window(upto=2)) == ({"tea 1", "tea 2"},) * 2
    assert both(Window(after=5, upto=5)) == (set(),) * 2


def test_the_past_is_read_as_it_was(memory: BankMemory) -> None:
    """Against a model kept beside it, at every position of a random history."""
    chance, remembered, current = random.Random(5), {0: set[str]()}, dict[str, set[str]]()
    for step in range(40):
        name = f"d{chance.randint(1, 5)}"
        facts = {f"tea {chance.randint(1, 12)} {name}" for _ in range(chance.randint(0, 4))}
        position = memory.retain(document(name, *sorted(facts), tags=(f"t{step % 3}",))).position
        current[name] = facts
        remembered[position] = set().union(*current.values())

    for position, expected in remembered.items():
        assert set(memory.texts("tea", window=Window(upto=position))) == expected
        assert set(memory.texts("", NORTH, window=Window(upto=position))) == expected
        assert set(memory.texts("tea", NORTH, window=Window(upto=position))) == expected


def test_a_word_that_only_closed_facts_have_is_found_in_the_past(memory: BankMemory) -> None:
    memory.retain(document("d1", "quince jam"))
    memory.retain(document("d1", "plum jam"))

    assert memory.texts("quince") == []
    assert memory.texts("quince", window=Window(upto=2)) == []
    assert memory.texts("quince", window=Window(upto=1)) == ["quince jam"]
    assert memory.texts("plum", window=Window(upto=1)) == []


def test_scopes_hold_in_the_past_too(memory: BankMemory) -> None:
    memory.retain(document("d1", "tea", tags=("a",)), document("d2", "more tea", tags=("b",)))
    memory.retain(document("d1"), document("d2"))
    scope = Scope(tags=("a",), tags_match="any_strict")

    assert memory.texts("tea", NORTH, window=Window(upto=2), scope=scope) == ["tea"]


# Banks large and small


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
        assert memory.texts("", axes[3]) == ["tea 3"]


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
    assert recall_plan.graph_settings(narrow).keys() == {"enable_sort", "hnsw.ef_search"}
    assert narrow.reach > 0
    assert len(indexed.recall("", NORTH, limit=20)) == 20
    monkeypatch.setattr(recall_plan, "MOST_GRAPH_SEARCH", 30)
    assert plan(indexed, limit=20).reach == 0


def test_only_rare_words_are_looked_up_when_there_are_any(memory: BankMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.retain(document("d1", *(f"tea {number}" for number in range(30)), "quince tea"))
    monkeypatch.setattr(recall_plan, "MOST_MATCHES", 20)

    assert memory.texts("quince tea") == ["quince tea"]
    assert len(memory.texts("tea")) == 31


def test_of_many_words_the_sixteen_rarest_are_looked_up(memory: BankMemory) -> None:
    memory.retain(document("d1", "common tea"), document("d2", *(f"common word{number}" for number in range(20))))

    chosen = plan(memory, " ".join(["common", *(f"word{number}" for number in range(20))])).lexemes

    assert len(chosen) == 16
    assert not any(lexeme.endswith(":common") for lexeme, _ in chosen)


def test_both_arms_read_one_snapshot(memory: BankMemory) -> None:
    """A writer replaces a document over and over; every recall finds the facts of exactly one state of it."""
    memory.retain(document("d1", *(f"tea 0 {part}" for part in range(5))))

    def rewrite() -> None:
        for turn in range(1, 40):
            memory.retain(document("d1", *(f"tea {turn} {part}" for part in range(5))))

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(rewrite)
        seen = []
        while not writing.done():
            seen.append({text.split()[1] for text in memory.texts("tea", NORTH)})
        writing.result()

    assert seen
    assert all(len(turns) == 1 for turns in seen)


def test_a_recall_leaves_the_connection_as_it_was(shared_conninfo: str) -> None:
    def settings(database: Database) -> dict[str, str]:
        with database.connection() as connection:
            assert connection.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
            rows = connection.execute("SELECT name, setting FROM pg_settings").fetchall()
        return {row["name"]: row["setting"] for row in rows if not row["name"].startswith("hnsw.")}

    with Database(f"{shared_conninfo} options='-c jit=on'", max_size=1) as database:
        memory = BankMemory(database)
        memory.retain(document("d1", "tea"))
        before = settings(database)
        memory.recall("tea", NORTH)

        assert settings(database) == before
        assert memory.retain(document("d2", "more tea")).position == 2
