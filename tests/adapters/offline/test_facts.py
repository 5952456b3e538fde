from __future__ import annotations

import re
import time
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from adapters.offline.facts import OfflineFactExtractor
from adapters.offline.sentences import LONGEST_SENTENCE
from application.ports import RetainSteering
from domain.memory import RetainItem
from tests.adapters.offline.facts_of import SAID, extracted, texts, unhurried


def page(*lines: str) -> str:
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        pytest.param("One. Two!", ["One.", "Two!"], id="sentences"),
        pytest.param("One.\n\none\nONE.\nOne.", ["One.", "one", "ONE."], id="exact duplicates once"),
        pytest.param("Buy milk\nCall Bob\r\nSleep", ["Buy milk", "Call Bob", "Sleep"], id="short lines are meant"),
        pytest.param(
            page("This paragraph was broken by an editor where the", "line was full. It has two sentences."),
            ["This paragraph was broken by an editor where the line was full.", "It has two sentences."],
            id="wrapped lines are joined",
        ),
        pytest.param(
            page(
                "This paragraph was broken by an editor where",
                "its lines were full, also before a name like",
                "Bob.",
            ),
            ["This paragraph was broken by an editor where its lines were full, also before a name like Bob."],
            id="in a wrapped text also before a capital",
        ),
        pytest.param(
            page("Alice owns the billing service and all the invoices", "Bob owns the search"),
            ["Alice owns the billing service and all the invoices", "Bob owns the search"],
            id="long lines of a text that is not wrapped stay apart",
        ),
        pytest.param("我们发布了。\n昨天修复了。", ["我们发布了。", "昨天修复了。"], id="CJK"),
        pytest.param("??? !!!\n\n😀\n---\n***", [], id="no letter or digit, no fact"),
        pytest.param(page("Before.", "```py", "x = 1", "```", "After."), ["Before.", "After."], id="code is left out"),
        pytest.param(page("> ~~~", "> x", "> ~~~", "> Quoted."), ["Quoted."], id="code in a quote"),
        pytest.param(
            page("Before.", "```", "Not code."), ["Before.", "Not code."], id="an unclosed fence fences nothing"
        ),
        pytest.param(page("A [link][1].", "", "[1]: https://a.example/b 'T'"), ["A [link][1]."], id="link definition"),
        pytest.param("[^1]: A note.", ["[^1]: A note."], id="a footnote says something"),
        pytest.param(
            page("# Storage", "", "Redis keeps the sessions."), ["Redis keeps the sessions."], id="label heading"
        ),
        pytest.param(page("## Redis", "We use it for sessions."), ["Redis: We use it for sessions."], id="it"),
        pytest.param(page("## Redis", "They said so."), ["Redis: They said so."], id="they"),
        pytest.param(page("## Redis", "- deprecated"), ["Redis: deprecated"], id="fragment"),
        pytest.param(
            page("## Redis ##", "It is old. Redis is."), ["Redis: It is old.", "Redis is."], id="closed heading"
        ),
        pytest.param(page("Redis", "=====", "It is old."), ["Redis: It is old."], id="underlined heading"),
        pytest.param(page("## 2.1 Redis", "It is old."), ["Redis: It is old."], id="numbered heading"),
        pytest.param(page("## Alone", "", "## Also alone"), ["Alone", "Also alone"], id="headings over nothing"),
        pytest.param(
            page("# Page", "## Part", "All is well here."), ["All is well here."], id="headings over headings"
        ),
        pytest.param(
            page("## We store events", "They are never changed."),
            ["We store events", "We store events: They are never changed."],
            id="a heading that says something",
        ),
        pytest.param("#hashtag is no heading", ["#hashtag is no heading"], id="hashtag"),
        pytest.param(
            page("- One.", "* Two.", "+ Three.", "1. Four.", "2) Five."), ["One.", "Two.", "Three.", "Four.", "Five."]
        ),
        pytest.param(page("- [x] Ship it", "- [ ] Rest a little"), ["[x] Ship it", "[ ] Rest a little"], id="tasks"),
        pytest.param(page("- An item that goes on", "  in the next line"), ["An item that goes on in the next line"]),
        pytest.param(
            page("Supported databases:", "", "- PostgreSQL", "- SQLite, in tests."),
            ["Supported databases: PostgreSQL", "Supported databases: SQLite, in tests."],
            id="a list keeps what announces it",
        ),
        pytest.param(
            page("- Ports", "  - http: 8080", "  - 5432", "- Nothing else is open."),
            ["Ports: http: 8080", "Ports: 5432", "Nothing else is open."],
            id="a nested list keeps the label above it",
        ),
        pytest.param(
            page("| Tier | Cap | |", "|---|:-:|---|", "| free | 10 | a\\|b |", "| team | |", "", "End."),
            ["Tier: free; Cap: 10; a|b", "Tier: team", "End."],
            id="table rows",
        ),
        pytest.param(page("Env | Host", "--- | ---", "prod | a1"), ["Env: prod; Host: a1"], id="table without edges"),
        pytest.param(page("a | b", "c | d"), ["a | b", "c | d"], id="pipes without a border are text"),
        pytest.param(page("Owner: Dana", "Status: open"), ["Owner: Dana", "Status: open"], id="labels"),
        pytest.param(page("> Quoted a. ", "> > And b."), ["Quoted a.", "And b."], id="quotes"),
        pytest.param("if a > b then c", ["if a > b then c"], id="a sign is no quote"),
        pytest.param(
            "A **bold** [link](https://a.example).", ["A **bold** [link](https://a.example)."], id="inline stays"
        ),
        pytest.param("", [], id="empty"),
        pytest.param(" \n\t\n", [], id="blank"),
    ],
)
def test_the_sentences_of_a_page_are_facts(content: str, facts: list[str]) -> None:
    assert texts(content) == facts


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        pytest.param(
            "Alice: I moved. It is warm.\nBob: I left!", ["Alice: I moved.", "Alice: It is warm.", "Bob: I left!"]
        ),
        pytest.param("[2024-05-01 10:00] Alice: Hello there.", ["Alice: Hello there."], id="dated stamp"),
        pytest.param(
            "[10:00] Alice: Hello there.", ["Alice: [10:00] Hello there."], id="a stamp without a date is kept"
        ),
        pytest.param(
            "**User:** Thanks a ton\n**Assistant**: Done", ["User: Thanks a ton", "Assistant: Done"], id="bold names"
        ),
        pytest.param("Alice:\nI am here.", ["Alice:", "I am here."], id="a lone label"),
        pytest.param(
            "User:\nI am here.\n\nAssistant: So am I.", ["User: I am here.", "Assistant: So am I."], id="own line"
        ),
        pytest.param("小明：我来了。你好吗？", ["小明: 我来了。", "小明: 你好吗？"], id="wide colon"),
        pytest.param(
            "Assistant: We need:\n- two eggs\n- milk\n\nDone.",
            ["Assistant: We need: two eggs", "Assistant: We need: milk", "Assistant: Done."],
            id="a speaker goes on over paragraphs and lists",
        ),
        pytest.param(
            "User: Hi\n\n# Notes\n\nAll is well here.", ["User: Hi", "All is well here."], id="until a heading"
        ),
        pytest.param("Note: I did it.", ["Note: I did it."], id="a label is no speaker"),
    ],
)
def test_spoken_lines_keep_their_speaker(content: str, facts: list[str]) -> None:
    assert texts(content) == facts


def test_a_speaker_is_an_entity_and_a_label_is_not() -> None:
    spoken, answer = extracted("Alice: I moved to Berlin.\nBob: Good weather for you!")
    assert spoken.entities == ("Alice", "Berlin")
    assert answer.entities == ("Bob",)
    (labelled,) = extracted("Status: nothing new")
    assert labelled.entities == ()


def test_a_context_of_conversation_makes_single_words_speak() -> None:
    (fact,) = extracted("Dana: done", context="chat with the team")
    assert fact.entities == ("Dana",)
    (fact,) = extracted("Dana: done")
    assert fact.entities == ()


def test_a_chat_line_happened_when_its_stamp_says_unless_it_names_a_date() -> None:
    moved, nice = extracted("[2024-05-01 10:00] Alice: I moved yesterday. It is nice.")
    assert (moved.occurred_start, moved.occurred_end) == (
        datetime(2024, 4, 30, tzinfo=UTC),
        datetime(2024, 4, 30, 23, 59, 59, 999999, tzinfo=UTC),
    )
    assert nice.occurred_start == nice.occurred_end == datetime(2024, 5, 1, 10, tzinfo=UTC)


def test_relative_dates_count_from_the_item_and_never_from_the_clock() -> None:
    (said,) = extracted("It broke yesterday.")
    assert said.occurred_start == datetime(2024, 5, 14, tzinfo=UTC)
    (unset,) = extracted("It broke yesterday.", timestamp=None)
    assert unset.occurred_start is None
    assert unset.occurred_end is None


@pytest.mark.parametrize(
    ("content", "context", "fact_type"),
    [
        ("Assistant: I booked the flight.", None, "experience"),
        ("AI: We fixed it.", None, "experience"),
        ("assistant: my plan is ready.", None, "experience"),
        ("Assistant: The flight leaves at noon.", None, "world"),
        ("User: I booked the flight.", None, "world"),
        ("I booked the flight.", None, "world"),
        ("I booked the flight.", "assistant log", "experience"),
        ("I booked the flight.", "conversation between user and assistant", "world"),
        ("The flight leaves.", "assistant log", "world"),
        ("User: I left.", "assistant log", "world"),
    ],
)
def test_what_an_assistant_says_of_itself_is_experience(content: str, context: str | None, fact_type: str) -> None:
    assert [fact.fact_type for fact in extracted(content, context=context)] == [fact_type]


def test_entities_of_the_item_are_on_every_fact_first_and_clean() -> None:
    facts = extracted("We saw Bob. It rained.", entities=("Acme\nCorp", " \t ", "acme corp"))
    assert [fact.entities for fact in facts] == [("Acme Corp", "Bob"), ("Acme Corp",)]


def test_a_heading_before_a_fact_brings_its_name_only_when_the_text_knows_it() -> None:
    facts = extracted("## Redis\n\nIt is fast.\n\nWe chose Redis.\n\n## Overview\n\nIt is short.")
    assert [fact.entities for fact in facts] == [("Redis",), ("Redis",), ()]


def test_a_heading_that_says_something_brings_its_names_only_where_it_stands_in_the_fact() -> None:
    _, apart, within = extracted("## We cache with Redis now\n\nNobody else is told.\n\nThey are told by Redis.")
    assert apart.entities == ()
    assert within.entities == ("Redis",)


def test_a_long_sentence_becomes_several_facts_that_keep_their_speaker() -> None:
    facts = texts("User: " + ", ".join(f"and so it went on for the {n}th time" for n in range(90)))
    assert len(facts) > 2
    assert all(text.startswith("User: ") for text in facts)
    assert max(map(len, facts)) <= LONGEST_SENTENCE + len("User: ")


# --- properties -------------------------------------------------------------------------------------------------------

WORDS = st.text(alphabet=st.sampled_from("abcXYZéß我们"), min_size=1, max_size=8).filter(lambda word: word[0].isalpha())
LINES = st.lists(
    st.tuples(
        st.sampled_from(["", "", "", "- ", "  - ", "1. ", "> ", "Bob: ", "User: ", "    "]),
        st.lists(
            st.tuples(WORDS, st.sampled_from(["", "", ".", ",", "!", "?", ":", "。", "..."])), min_size=1, max_size=12
        ),
    ).map(lambda line: line[0] + " ".join(word + mark for word, mark in line[1])),
    max_size=12,
)


@unhurried
@given(LINES, st.sampled_from(["\n", "\n\n", "\r\n"]))
@example(["X", "- 们", "    们"], "\n")
def test_every_word_of_prose_is_in_some_fact(lines: list[str], line_break: str) -> None:
    words = set(re.findall(r"\w+", " ".join(lines))) - {"1"}
    said = texts(line_break.join(lines))
    # A word at the end of a line is a part of a longer one where the script sets no space between words.
    assert [word for word in words if not any(word in text for text in said)] == []


HOSTILE = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("\n\n\n #-*>|:`~[]().!?_=\ud800\u2028\u200d1aA")))


@unhurried
@given(HOSTILE, st.none() | st.text(max_size=20))
def test_no_text_fails_and_facts_are_distinct_lines_with_something_in_them(content: str, context: str | None) -> None:
    facts = texts(content, context=context)
    assert len(set(facts)) == len(facts)
    for text in facts:
        assert any(map(str.isalnum, text))
        assert text == text.strip()
        assert len(text.splitlines()) == 1


@unhurried
@given(HOSTILE)
def test_the_same_item_gives_the_same_facts_whatever_the_clock_and_the_mission_say(content: str) -> None:
    item = RetainItem(content=content, timestamp=SAID)
    early = OfflineFactExtractor().extract(item, steering=RetainSteering(), now=datetime(2000, 1, 1, tzinfo=UTC))
    late = OfflineFactExtractor().extract(
        item, steering=RetainSteering(mission="be brief"), now=datetime(2030, 1, 1, tzinfo=UTC)
    )
    assert early == late
    assert early.calls == ()


# --- time -------------------------------------------------------------------------------------------------------------

HOSTILE_SIZE = 300_000


def much_of(pattern: str) -> str:
    return pattern * (HOSTILE_SIZE // len(pattern))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(
            "\n".join(
                f"In May 2024 Alice told Bob that build {n} was slow, because of the cache." for n in range(14_000)
            ),
            id="a megabyte of prose",
        ),
        pytest.param("x" * 1_000_000, id="one word"),
        pytest.param(much_of("word "), id="one line"),
        pytest.param(much_of("Word. "), id="one line of sentences"),
        pytest.param(much_of(".,;:!?"), id="punctuation"),
        pytest.param(much_of("😀"), id="emoji"),
        pytest.param(much_of("`"), id="backticks"),
        pytest.param(much_of("```x\n"), id="fences that never close"),
        pytest.param(much_of("|"), id="pipes"),
        pytest.param("a|b\n-|-\n" + much_of("1|2\n"), id="a long table"),
        pytest.param(much_of("- a:\n"), id="items"),
        pytest.param("".join(" " * depth + f"- {depth}:\n" for depth in range(800)), id="deep nesting"),
        pytest.param(much_of("A: "), id="colons"),
        pytest.param(much_of("/"), id="slashes"),
        pytest.param(much_of("2024-"), id="half dates"),
        pytest.param(much_of("a\ud800b. "), id="lone surrogates"),
    ],
)
def test_a_large_text_of_anything_is_read_in_seconds(content: str) -> None:
    started = time.process_time()
    extracted(content)
    assert time.process_time() - started < 15  # about 2 s at most on a slow core; quadratic time would be minutes
