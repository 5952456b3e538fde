"""Search terms: words of every script, compounds, plurals, and what never becomes a term."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.terms import (
    LONGEST_TERM,
    LONGEST_TEXT,
    MOST_POSSIBLE_NAMES,
    MOST_TERMS,
    NAME_MARK,
    STOP_WORDS,
    fact_terms,
    name_term,
    opens_with,
    possible_name_terms,
    terms,
)

any_text = st.text(st.characters(exclude_categories=()))
han = st.text("我们使用外币汇率换算服务东京都", min_size=2, max_size=20)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Alice likes green tea", ("alic", "like", "green", "tea")),
        ("What does the user like?", ("user", "like")),
        ("It is what it is.", ()),
        ("", ()),
        ("v1.2", ("v1.2", "v1", "2")),
        ("general generalisations", ("general", "generalis")),
        ("foo_bar", ("foo_bar", "foo", "bar")),
        ("on 2026-03-01", ("2026-03-01", "2026", "03", "01")),
        ("mail bob@example.com", ("mail", "bob@example.com", "bob", "exampl", "com")),
        ("a well-known fact", ("well-known", "well", "known", "fact")),
        ("Bob's don't", ("bob", "don")),
        ("42 and 3", ("42", "3")),
        ("__init__ -- ...", ("init",)),
        ("Straße ﬁle ＡＢＣ", ("strass", "file", "abc")),
        ("हिन्दी में", ("हिन्दी", "में")),
        ("我们的", ("我们", "们的")),
        ("税", ("税",)),
        ("iPhone手机2026", ("iphon", "手机", "2026")),
        ("サービス・利用", ("サー", "ービ", "ビス", "利用")),
        ("서울에서", ("서울", "울에", "에서")),
    ],
)
def test_a_text_gives_these_terms(text: str, expected: tuple[str, ...]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("service", "services"),
        ("policy", "policies"),
        ("movie", "movies"),
        ("box", "boxes"),
        ("class", "classes"),
        ("wish", "wishes"),
        ("run", "running"),
        ("moved", "moving"),
        ("decision", "decisions"),
        ("happy", "happiness"),
        ("prefer", "prefers"),
        ("Weekly REPORT", "weekly reports"),
        ("café", "CAFÉ"),
        ("cafe\u0301", "caf\u00e9"),
    ],
)
def test_forms_of_a_word_are_one_term(one: str, other: str) -> None:
    assert terms(one) == terms(other)


@pytest.mark.parametrize("word", ["bus", "class", "us", "gas7", "v2s", "très"])
def test_words_that_are_no_english_forms_keep_their_end(word: str) -> None:
    assert terms(word) == (word,)


def test_a_chinese_query_finds_the_run_it_is_part_of() -> None:
    assert set(terms("汇率换算")) <= set(terms("我们使用外币汇率换算服务"))


@given(han, st.data())
def test_every_part_of_a_run_without_spaces_is_found_in_it(run: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(run) - 2))
    end = data.draw(st.integers(start + 2, len(run)))

    assert set(terms(run[start:end])) <= set(terms(run))


def test_parts_of_a_compound_are_found_by_themselves_and_together() -> None:
    written = terms("see adapters/postgres/memory_store.py")

    assert {*terms("adapter postgres memory store py"), "adapters/postgres/memory_store.py"} <= set(written)
    assert set(terms("memory store")) <= set(written)


@given(any_text)
def test_any_text_gives_bounded_clean_distinct_terms(text: str) -> None:
    found = terms(text)

    assert len(set(found)) == len(found)
    for term in found:
        assert 0 < len(term) <= LONGEST_TERM
        assert not any(character.isspace() or character in "'\\\0" for character in term)
        term.encode()


@given(any_text)
def test_case_does_not_count(text: str) -> None:
    assert terms(text.casefold()) == terms(text)


def test_lone_surrogates_are_dropped() -> None:
    assert terms("tea \ud800 cup\udfff") == ("tea", "cup")
    assert terms("\ud800") == ()


def test_stop_words_are_dropped_unless_they_are_part_of_a_compound() -> None:
    assert not set(terms(" ".join(STOP_WORDS))) & STOP_WORDS
    assert terms("to-do") == ("to-do",)


def test_long_texts_and_long_words_are_cut() -> None:
    assert terms("x" * 1000) == ("x" * LONGEST_TERM,)
    assert len(terms(" ".join(f"w{number}" for number in range(5000)))) == MOST_TERMS
    assert terms("\n" * LONGEST_TEXT + "unread") == ()


def test_a_fact_is_found_by_the_names_in_it_and_by_its_date_in_words_and_numbers() -> None:
    found = fact_terms("She moved", ["Ada Lovelace"], datetime(2026, 3, 1, tzinfo=UTC), None)

    assert set(terms("Ada Lovelace March 2026 2026-03-01 moved")) <= set(found)


def test_a_fact_has_its_names_as_terms_that_no_word_can_be() -> None:
    found = fact_terms("She moved", ["Ada Lovelace", "ADA  lovelace", "???"])

    assert [term for term in found if term.startswith(NAME_MARK)] == ["e=ada_lovelace"]
    assert not any(term.startswith(NAME_MARK) for term in terms("e=ada e = ada"))


@pytest.mark.parametrize("name", ["Ada", "Ada Lovelace", "O'Brien", "ＡＣＭＥ", "foo_bar", "张三", "Анна"])
def test_a_name_in_a_question_is_among_its_possible_names(name: str) -> None:
    question = f"谁认识{name}？" if name == "张三" else f"What did {name}'s team say?"

    assert name_term(name) in possible_name_terms(question)


def test_a_little_word_is_no_name_and_a_long_question_has_not_too_many() -> None:
    assert name_term("will") not in possible_name_terms("When will it end?")
    assert len(possible_name_terms(" ".join(f"w{number}" for number in range(400)))) == MOST_POSSIBLE_NAMES


@given(any_text, any_text)
def test_names_of_any_text_are_clean_terms(text: str, name: str) -> None:
    for term in (*possible_name_terms(text[:200]), *filter(None, [name_term(name)])):
        assert len(NAME_MARK) < len(term) <= LONGEST_TERM
        assert not any(character.isspace() or character in "'\\\0" for character in term)
        term.encode()


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        ("Ada Lovelace: hello", "ada  LOVELACE", True),
        ("**Ada** moved", "Ada", True),
        ("Adam moved", "Ada", False),
        ("Yesterday Ada moved", "Ada", False),
        ("张三喜欢茶", "张三", True),
        ("李四喜欢张三", "张三", False),
        ("Ada", "Ada Lovelace", False),
        ("Ada", "?", False),
        ("", "Ada", False),
    ],
)
def test_a_text_opens_with_its_subject(text: str, name: str, expected: bool) -> None:
    assert opens_with(text, name) is expected
