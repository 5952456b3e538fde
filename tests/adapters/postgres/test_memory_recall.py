"""Recall on real PostgreSQL: by meaning and by word, in scopes and windows, of now and of the past, in any bank."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from adapters.postgres.database import Database
from domain.memory import Window, estimated_tokens
from domain.recall.fusion import KEYWORD, SEMANTIC
from domain.scope import Scope, TagAnd, TagLeaf, TagNot, TagOr, TagsMatch
from tests.support.memories import BankMemory, document, said

NORTH, EAST, UP = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NORTH_EAST = (0.8, 0.6, 0.0)


# By meaning and by word


def test_facts_are_found_by_meaning_the_nearest_first(memory: BankMemory) -> None:
    memory.retain(document("d1", said("east", EAST), said("north", NORTH), said("north east", NORTH_EAST)))

    found = memory.recall("", NORTH, by_links=False)

    assert [(each.fact.text, each.scores.keyword) for each in found] == [("north", None), ("north east", None)]
    assert [each.scores.semantic for each in found] == [pytest.approx(1.0), pytest.approx(0.8, abs=0.001)]
    assert memory.texts("", NORTH, min_semantic=0.9, by_links=False) == ["north"]
    assert memory.texts("", NORTH, min_semantic=-1.0, by_links=False) == ["north", "north east", "east"]


def test_facts_are_found_by_word_the_rare_words_first(memory: BankMemory) -> None:
    memory.retain(
        document("d1", "the user likes tea", "the user likes coffee", "the user likes quince jam", "the user sleeps")
    )

    found = memory.recall("does the user like quince?", by_links=False)

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

    assert memory.texts("quince", by_links=False) == [
        "quince jam",
        "quince jam with bread and butter and cheese from the market",
    ]


def test_words_of_scripts_without_spaces_are_found_without_embeddings(memory: BankMemory) -> None:
    memory.retain(document("d1", said("我们使用外币汇率换算服务", ()), said("天气很好", ())))

    assert memory.texts("汇率换算", by_links=False) == ["我们使用外币汇率换算服务"]


def test_facts_are_found_by_the_names_and_dates_they_are_about(memory: BankMemory) -> None:
    memory.retain(document("d1", said("She moved", entities=("Ada Lovelace",))))

    assert memory.texts("lovelace") == ["She moved"]


def test_what_is_found_both_ways_comes_before_what_is_found_one_way(memory: BankMemory) -> None:
    memory.retain(
        document(
            "d1", said("green tea", NORTH_EAST), said("black coffee", NORTH), said("tea with milk and honey", EAST)
        )
    )

    found = memory.recall("tea", NORTH, by_links=False)

    assert [each.fact.text for each in found] == ["green tea", "tea with milk and honey", "black coffee"]
    assert found[0].scores.final == pytest.approx(KEYWORD + SEMANTIC * (0.8 - 0.3) / (1 - 0.3), abs=0.001)
    assert found[2].scores.final == pytest.approx(SEMANTIC)


def test_an_arm_that_is_switched_off_finds_nothing(memory: BankMemory) -> None:
    memory.retain(document("d1", said("tea", EAST)), document("d2", said("coffee", NORTH)))

    assert memory.texts("tea", NORTH) == ["tea", "coffee"]
    assert memory.texts("tea", NORTH, by_word=False) == ["coffee"]


def test_a_floor_of_the_words_prunes_their_arm_only(memory: BankMemory) -> None:
    memory.retain(document("d1", said("tea", EAST)), document("d2", said("tea with quince", NORTH)))
    scores = {each.fact.text: each.scores.keyword or 0.0 for each in memory.recall("tea quince", by_links=False)}
    floor = (scores["tea"] + scores["tea with quince"]) / 2

    assert memory.texts("tea quince", min_keyword=floor) == ["tea with quince"]
    assert memory.texts("tea quince", EAST, min_keyword=floor) == ["tea with quince", "tea"]


def test_several_words_score_what_each_of_them_scores_alone(memory: BankMemory) -> None:
    memory.retain(document("d1", "tea with quince in the afternoon", "tea", "coffee", "water"))

    def score(words: str) -> float:
        found = {each.fact.text: each.scores.keyword or 0.0 for each in memory.recall(words, by_links=False)}
        return found["tea with quince in the afternoon"]

    assert score("tea quince") == pytest.approx(score("tea") + score("quince"))
    assert score("quince") > score("tea") > 0


def test_equal_scores_are_ordered_by_position_the_newest_first(memory: BankMemory) -> None:
    memory.retain(*(document(f"d{number}", f"tea {number}") for number in range(6)))

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
    assert memory.texts("", NORTH, by_links=False) == ["tea"]


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


def test_of_facts_found_equally_well_the_newest_comes_first_even_when_one_is_asked_for(memory: BankMemory) -> None:
    for bank, texts in ((memory, ("needle x", "needle y")), (memory.neighbour(), ("needle y", "needle x"))):
        for number, text in enumerate(texts):
            bank.retain(document(f"d{number}", text))
        assert bank.texts("needle", NORTH) == list(reversed(texts))
        assert bank.texts("needle", NORTH, limit=1) == [texts[1]]
