from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.offline.entities import Names
from tests.adapters.offline.facts_of import unhurried


def names_in(sentence: str, *others: str, known: tuple[str, ...] = ()) -> list[str]:
    return list(Names([sentence, *others], known).find(sentence))


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("Yesterday we met Alice in Berlin.", ["Alice", "Berlin"]),
        ("Moved to Berlin.", ["Berlin"]),
        ("Alice left.", []),
        ("Alice Johnson left.", ["Alice Johnson"]),
        ("The Acme Corp. team uses PostgreSQL.", ["Acme Corp", "PostgreSQL"]),
        ("PostgreSQL stores it.", ["PostgreSQL"]),
        ("Bank of America and Ludwig van Beethoven.", ["Bank of America", "Ludwig van Beethoven"]),
        ("We met John F. Kennedy and Dr. Smith.", ["John F. Kennedy", "Smith"]),
        ("The U.S. and the EU use REST and S3.", ["U.S.", "EU", "REST", "S3"]),
        ("Ask Bob about Alice's Python script.", ["Bob", "Alice", "Python"]),
        ("It works for @carol and @dan_x.", ["@carol", "@dan_x"]),
        ("Write to ann@example.com or see https://example.com/Foo/Bar.", []),
        ("On Monday in May I said OK to Dana.", ["Dana"]),
        ("Owner: Dana", ["Dana"]),
        ("Project lead: Dana Scully", ["Dana Scully"]),
        ("Status: Open", []),
        ("He said: “Maybe later”, then Eve left.", ["Eve"]),
        ("THIS IS VERY IMPORTANT", []),
        ("Jean-Luc met O'Brien at AT&T.", ["Jean-Luc", "O'Brien", "AT&T"]),
        ("The CEO of Acme Corp resigned.", ["Acme Corp"]),
        ("Don't touch it, I'm Eve.", ["Eve"]),
        ("我们使用 Redis 和 Kafka。", ["Redis", "Kafka"]),
        ("Ärzte in Österreich", ["Österreich"]),
        ("nothing here", []),
        ("", []),
    ],
)
def test_names_are_told_by_how_they_are_written(sentence: str, names: list[str]) -> None:
    assert names_in(sentence) == names


def test_a_capital_at_the_start_is_a_name_when_another_sentence_has_it_in_the_middle() -> None:
    assert names_in("Alice left.", "We saw Alice.") == ["Alice"]


def test_a_capitalised_verb_before_a_name_is_no_part_of_it_when_the_text_has_it_small_elsewhere() -> None:
    assert names_in("Deploy Redis first.", "They deploy it daily.") == ["Redis"]


def test_names_of_the_caller_come_first_and_are_known_at_the_start_of_a_sentence() -> None:
    assert names_in("Alice met Bob.", known=("Zed", "alice")) == ["Zed", "alice", "Bob"]


def test_a_name_keeps_the_spelling_it_was_first_found_with() -> None:
    names = Names(["We like ACME.", "They like Acme."])
    assert names.find("We like ACME.") == ("ACME",)
    assert names.find("They like Acme.") == ("ACME",)


def test_in_a_title_only_names_known_from_the_text_count() -> None:
    names = Names(["It runs on Redis."])
    assert names.find("", titles=["How To Run", "Redis"]) == ("Redis",)


@unhurried
@given(st.lists(st.text(max_size=80), max_size=5), st.lists(st.text(max_size=10), max_size=3))
def test_names_of_any_text_are_clean_and_distinct(sentences: list[str], known: list[str]) -> None:
    finder = Names(sentences, known)
    for sentence in sentences:
        found = finder.find(sentence)
        assert list(found) == [" ".join(name.split()) for name in found]
        assert all(found)
        assert len({name.lower() for name in found}) == len(found)
