"""Pages by meaning and by word: how both are fused, who sees which, and vectors made after the fact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from application.page_search import AT_ONCE, PageFinder, PageSearch, PageVectors, is_visible, page_scores, ranking
from application.ports import Embeddings, MindFailed
from application.ports.pages import PageMatch, PageOrigin, PageText
from domain.reflection import PageFound
from domain.scope import Scope, TagLeaf, TagNot
from domain.usage import ModelCall
from tests.support.examples import BANK, NOW, call
from tests.support.scripted_minds import unusable

VECTOR = (1.0, 0.0)


def match(mental_model_id: str, semantic: float | None = None, *terms: str, tags: tuple[str, ...] = ()) -> PageMatch:
    return PageMatch(mental_model_id, tags, semantic, frozenset(terms))


class Index:
    """PageIndex over a list."""

    def __init__(self, *matches: PageMatch) -> None:
        self.all = matches
        self.waiting: list[PageText] = []
        self.kept: list[tuple[PageText, Sequence[float]]] = []

    def matches(self, bank_id: str, terms: Sequence[str], vector: Sequence[float]) -> Sequence[PageMatch]:
        assert bank_id == BANK
        assert terms or vector
        return self.all

    def origins(self, bank_id: str) -> dict[str, PageOrigin]:
        assert bank_id == BANK
        return {each.mental_model_id: PageOrigin(each.tags, each.made_in) for each in self.all if not each.is_empty}

    def read(self, bank_id: str, mental_model_ids: Sequence[str]) -> dict[str, PageFound]:
        assert bank_id == BANK
        return {
            each.mental_model_id: PageFound(
                mental_model_id=each.mental_model_id,
                name=each.mental_model_id,
                content="text",
                version=1,
                updated_at=NOW,
                tags=each.tags,
                made_in=each.made_in,
            )
            for each in self.all
            if each.mental_model_id in mental_model_ids
        }

    def without_vector(self, bank_id: str | None, limit: int) -> Sequence[PageText]:
        assert bank_id is None
        return self.waiting[:limit]

    def keep_vectors(self, vectors: Sequence[tuple[PageText, Sequence[float]]]) -> None:
        self.kept += vectors
        self.waiting = [each for each in self.waiting if each not in [page for page, _ in vectors]]

    def forget_gone(self) -> None:
        """Nothing goes."""


class Embedder:
    model = "some"
    dimensions = 2

    def __init__(self, *calls: ModelCall) -> None:
        self.calls = calls
        self.texts: list[Sequence[str]] = []
        self.broken: Exception | None = None

    def embed(self, texts: Sequence[str]) -> Embeddings:
        if self.broken:
            raise self.broken
        self.texts.append(texts)
        return Embeddings([VECTOR] * len(texts), self.calls)

    def close(self) -> None:
        """Nothing is held."""


def test_a_page_that_is_first_by_meaning_and_by_word_is_wholly_relevant() -> None:
    found = ranking([match("a", 0.9, "tea"), match("b", 0.5), match("c", 0.1)], by_meaning=True)
    assert found == [("a", 1.0), ("b", pytest.approx(61 / 62 / 2))]


def test_without_vectors_words_alone_count() -> None:
    assert ranking([match("a", None, "tea"), match("b")], by_meaning=False) == [("a", 1.0)]


def test_a_rare_word_counts_more_than_common_ones() -> None:
    common = [match(f"c{number}", None, "tea", "green") for number in range(5)]
    assert ranking([*common, match("rare", None, "green", "gyokuro")], by_meaning=False)[0][0] == "rare"


def search(index: Index, scope: Scope | None = None, *excluded: str, limit: int = 5) -> list[str]:
    found = PageSearch(index).search(BANK, "tea", VECTOR, scope or Scope(), excluded, limit)
    return [each.mental_model_id for each in found]


def test_only_visible_pages_are_found_and_limits_count_those() -> None:
    index = Index(
        *(match(f"p{number}", 0.9, "tea", tags=("eve",)) for number in range(9)), match("mine", 0.4, tags=("ada",))
    )
    mine = Scope(tags=("ada",), tags_match="any_strict")
    assert search(index, mine, limit=1) == ["mine"]
    assert search(index, mine, "mine") == []
    searching = PageSearch(index)
    assert searching.any_visible(BANK, mine, ())
    assert not searching.any_visible(BANK, mine, ("mine",))
    assert [each.mental_model_id for each in searching.read(BANK, ["p1", "mine", "none"], mine, ())] == ["mine"]


def test_pages_without_text_are_not_found() -> None:
    index = Index(PageMatch("empty", (), 0.9, frozenset(["tea"]), is_empty=True))
    assert search(index) == []
    assert not PageSearch(index).any_visible(BANK, Scope(), ())


def test_types_of_facts_hide_no_page_and_groups_do() -> None:
    assert is_visible(Scope(fact_types=("observation",)), PageOrigin((), (Scope(),)))
    archived = Scope(tag_groups=(TagNot(none_of=TagLeaf(tags=("archived",))),))
    assert is_visible(archived, PageOrigin(("ada",)))
    assert not is_visible(archived, PageOrigin(("ada", "archived")))


def test_nobody_sees_through_a_page_what_is_hidden_from_him() -> None:
    adas = Scope(tags=("ada",), tags_match="all_strict")
    page = match("page", 0.9, "tea", tags=("ada",))
    narrow, wide = replace(page, made_in=(adas,)), replace(page, made_in=(adas, Scope(tags=("ada",), tags_match="any")))
    for asked, seen in ((Scope(tags=("ada",), tags_match="any_strict"), True), (adas, True), (Scope(), True)):
        assert is_visible(asked, narrow) is seen
    assert not is_visible(Scope(tags=("ada",), tags_match="exact"), narrow)
    assert not is_visible(adas, wide)
    assert is_visible(Scope(), wide)
    for index in (Index(wide), Index(replace(wide, tags=("eve",)))):
        assert search(index, adas) == []
        assert not PageSearch(index).any_visible(BANK, adas, ())
        assert not PageSearch(index).read(BANK, ["page"], adas, ())


def text(number: int, bank_id: str = BANK) -> PageText:
    return PageText(bank_id, f"page-{number:02}", 3, "Tea", f"green {number}")


def test_missing_vectors_are_made_bank_by_bank_and_their_cost_is_told() -> None:
    index, embedder = Index(), Embedder(call("embed", 7, 0))
    index.waiting = [*(text(number) for number in range(AT_ONCE)), text(1, "other")]
    told: list[tuple[str, Sequence[ModelCall]]] = []
    made = PageVectors(index, embedder, lambda bank_id, calls: told.append((bank_id, calls))).catch_up()
    assert (made, len(index.kept), index.waiting) == (AT_ONCE + 1, AT_ONCE + 1, [])
    assert embedder.texts[0][0] == "Tea\ngreen 0"
    assert [bank_id for bank_id, _ in told] == [BANK, "other"]


def test_vectors_that_cost_nothing_leave_no_event() -> None:
    index = Index()
    index.waiting = [text(1)]
    told: list[str] = []
    PageVectors(index, Embedder(call("embed", 0, 0)), lambda bank_id, _calls: told.append(bank_id)).catch_up()
    assert (told, len(index.kept)) == ([], 1)


def test_when_the_embedder_fails_the_cost_is_told_and_the_pages_wait() -> None:
    index, embedder = Index(), Embedder()
    index.waiting = [text(1)]
    embedder.broken = unusable()
    told: list[str] = []
    with pytest.raises(MindFailed):
        PageVectors(index, embedder, lambda bank_id, _calls: told.append(bank_id)).catch_up()
    assert (told, index.kept, len(index.waiting)) == ([BANK], [], 1)


# --- for a person -----------------------------------------------------------------------------------------------------


def test_a_score_is_half_words_and_half_meaning() -> None:
    scored = page_scores(
        [match("both", 0.8, "zebra", "bridge"), match("words", None, "zebra", "bridge")], ["zebra", "bridge"]
    )
    assert [(each.mental_model_id, each.words, each.meaning, each.score) for each in scored] == [
        ("both", 1.0, 0.8, 0.9),
        ("words", 1.0, 0.0, 0.5),
    ]


def test_what_one_arm_finds_alone_has_half_at_most_however_well() -> None:
    (meant, said) = page_scores([match("meant", 1.0), match("said", 0.1, "zebra")], ["zebra"])
    assert (meant.score, said.score) == (0.5, 0.5)


def test_a_rare_word_counts_more_and_one_that_no_page_has_counts_too() -> None:
    matches = [
        match("a", None, "team"),
        match("b", None, "team", "zebra"),
        match("c", None, "zebra"),
        match("d", None, "team"),
    ]
    scores = {each.mental_model_id: each.score for each in page_scores(matches, ["team", "zebra"])}
    assert scores["b"] == 0.5
    assert scores["c"] > scores["a"] == scores["d"]
    (alone,) = page_scores([match("a", None, "team")], ["team", "nowhere"])
    assert 0 < alone.words < 0.5


def test_a_page_that_is_hardly_near_is_not_found() -> None:
    assert page_scores([match("far", 0.29), match("none")], ["zebra"]) == []


def test_a_vector_of_a_text_that_is_gone_finds_nothing() -> None:
    """KP-03"""
    assert page_scores([replace(match("a", 0.9), vector_is_current=False)], ["zebra"]) == []


def finder(index: Index, embedder: Embedding) -> tuple[PageFinder, list[ModelCall]]:
    spent: list[ModelCall] = []
    return PageFinder(index, embedder, lambda _bank, calls: spent.extend(calls)), spent


def test_only_pages_that_are_looked_among_are_found_and_what_it_cost_is_told() -> None:
    index = Index(match("a", 0.9, "zebra"), match("b", 0.9, "zebra"), replace(match("c", 0.5), is_empty=True))
    find, spent = finder(index, Embedding(call("embed")))
    found = find.find(BANK, "zebra", {"a", "c"})
    assert ([each.mental_model_id for each in found.pages], found.by_meaning) == (["a", "c"], True)
    assert spent == [call("embed")]


def test_without_the_meaning_of_the_query_pages_are_found_by_word_and_that_is_told() -> None:
    find, spent = finder(Index(match("a", None, "zebra")), Embedding(fails=True))
    found = find.find(BANK, "zebra", {"a"})
    assert ([each.score for each in found.pages], found.by_meaning) == ([0.5], False)
    assert spent == [call("failed", 7, 1)], "what failed cost something"


class Embedding:
    """Embeds each text as VECTOR, or fails."""

    model = "embedding"
    dimensions = 2

    def __init__(self, *calls: ModelCall, fails: bool = False) -> None:
        self._calls = calls
        self._fails = fails

    def embed(self, texts: Sequence[str]) -> Embeddings:
        if self._fails:
            raise unusable("the endpoint answered 500")
        return Embeddings([VECTOR for _ in texts], self._calls)
