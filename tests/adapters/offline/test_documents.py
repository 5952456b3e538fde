from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from adapters.offline.documents import ExtractDocument, extract_document
from adapters.offline.markdown_text import bullet, heading
from domain.memory import Fact, estimated_tokens
from tests.adapters.offline.facts_of import stored, unhurried

PARSER = MarkdownIt("commonmark").enable("table")
ROOM = 100_000
MAY_12 = datetime(2024, 5, 12, tzinfo=UTC)


def end_of(year: int, month: int, day: int) -> datetime:
    return datetime(year, month, day, 23, 59, 59, 999999, tzinfo=UTC)


def test_facts_stand_under_the_names_they_share_in_order_of_date() -> None:
    document = extract_document(
        "The team",
        [
            stored(1, "Bob likes tea.", names=["Bob"]),
            stored(2, "Acme moved to Berlin.", names=["Acme", "Berlin"], occurred=MAY_12, until=end_of(2024, 5, 12)),
            stored(3, "It rained."),
            stored(4, "Acme was founded.", names=["acme"], occurred=datetime(2019, 1, 1, tzinfo=UTC)),
            stored(5, "Bob joined Acme.", names=["Bob", "ACME"]),
            stored(6, "Eve left.", names=["Eve"]),
        ],
        ROOM,
    )
    assert document.markdown == (
        "# The team\n"
        "\n"
        "## Acme\n"
        "\n"
        "- (2019-01-01) Acme was founded.\n"
        "- (2024-05-12) Acme moved to Berlin.\n"
        "- Bob joined Acme.\n"
        "\n"
        "## More\n"
        "\n"
        "- Bob likes tea.\n"
        "- It rained.\n"
        "- Eve left.\n"
    )
    assert [fact.position for fact in document.facts] == [4, 2, 5, 1, 3, 6]


def test_facts_that_share_no_name_need_no_section() -> None:
    document = extract_document("Weather", [stored(1, "It rained.", names=["Berlin"]), stored(2, "It snowed.")], ROOM)
    assert document.markdown == "# Weather\n\n- It rained.\n- It snowed.\n"


def test_a_fact_whose_section_would_hold_it_alone_moves_to_its_next_name() -> None:
    document = extract_document(
        "T",
        [
            stored(1, "a", names=["Acme"]),
            stored(2, "b", names=["Acme"]),
            stored(3, "c", names=["Acme"]),
            stored(4, "d", names=["Acme", "Bob"]),
            stored(5, "e", names=["Bob", "Carol"]),
            stored(6, "f", names=["Carol"]),
        ],
        ROOM,
    )
    assert document.markdown == "# T\n\n## Acme\n\n- a\n- b\n- c\n- d\n\n## Carol\n\n- e\n- f\n"


@pytest.mark.parametrize(
    ("start", "end", "stamp"),
    [
        (None, None, ""),
        (MAY_12, None, "(2024-05-12) "),
        (MAY_12, MAY_12, "(2024-05-12) "),
        (MAY_12, end_of(2024, 5, 12), "(2024-05-12) "),
        (datetime(2024, 5, 12, 10, 30, tzinfo=UTC), None, "(2024-05-12) "),
        (datetime(2024, 2, 1, tzinfo=UTC), end_of(2024, 2, 29), "(2024-02) "),
        (datetime(2024, 1, 1, tzinfo=UTC), end_of(2024, 12, 31), "(2024) "),
        (datetime(2024, 5, 6, tzinfo=UTC), end_of(2024, 5, 12), "(2024-05-06 to 2024-05-12) "),
        (datetime(2023, 5, 1, tzinfo=UTC), end_of(2024, 5, 31), "(2023-05-01 to 2024-05-31) "),
        (MAY_12, datetime(2020, 1, 1, tzinfo=UTC), "(2024-05-12) "),
    ],
)
def test_a_stamp_is_as_exact_as_the_date_is_known(start: datetime | None, end: datetime | None, stamp: str) -> None:
    document = extract_document("T", [stored(1, "It broke.", occurred=start, until=end)], ROOM)
    assert document.markdown == f"# T\n\n- {stamp}It broke.\n"


def test_a_date_that_the_text_says_in_the_same_form_is_not_said_twice() -> None:
    document = extract_document("T", [stored(1, "On 2024-05-12 it broke.", occurred=MAY_12)], ROOM)
    assert document.markdown == "# T\n\n- On 2024-05-12 it broke.\n"


def test_a_blank_title_leaves_the_title_out() -> None:
    assert extract_document(" \n", [stored(1, "a")], ROOM).markdown == "- a\n"


def test_facts_that_do_not_fit_are_left_out_whole_the_least_relevant_ones_first() -> None:
    facts = [stored(number, f"Fact {number} says something of the same length.") for number in (3, 1, 4, 2)]
    document = extract_document("T", facts, 40)
    assert document.markdown == (
        "# T\n\n- Fact 1 says something of the same length.\n"
        "- Fact 3 says something of the same length.\n"
        "- Fact 4 says something of the same length.\n"
    )
    assert estimated_tokens(document.markdown) <= 40


def test_behind_a_fact_that_does_not_fit_nothing_is_taken_unless_there_is_nothing_yet() -> None:
    large, small, smaller = stored(1, "long " * 100), stored(2, "short"), stored(3, "s")
    assert [fact.position for fact in extract_document("T", [small, large, smaller], 20).facts] == [2]
    assert [fact.position for fact in extract_document("T", [large, small, smaller], 20).facts] == [2, 3]


def test_facts_of_one_day_stand_as_they_were_stored_and_those_of_no_day_before_them() -> None:
    noon, midnight = datetime(2024, 5, 12, 12, tzinfo=UTC), MAY_12
    facts = [
        stored(1, "said at noon", mentioned=noon),
        stored(2, "happened that day", occurred=midnight, until=end_of(2024, 5, 12)),
        stored(3, "of no day", mentioned=None),
        stored(4, "the day before", mentioned=datetime(2024, 5, 11, 23, tzinfo=UTC)),
    ]
    assert [fact.position for fact in extract_document("T", facts, ROOM).facts] == [3, 4, 1, 2]


def test_when_no_fact_fits_the_best_one_stands_alone() -> None:
    document = extract_document("T", [stored(1, "long " * 100), stored(2, "longer " * 100)], 20)
    assert [fact.position for fact in document.facts] == [1]


@pytest.mark.parametrize("names", [["Acme"], ["Bob"], ["Acme", "Eve"], ["Zoe"], []])
def test_one_more_fact_adds_one_line_and_moves_no_other(names: list[str]) -> None:
    shared = [["Acme"], ["Bob"], ["Acme", "Bob"], ["Acme"], []]
    facts = [stored(number, f"Fact {number}.", names=shared[number % 5]) for number in range(1, 21)]
    more = stored(21, "A new fact.", names=names, occurred=MAY_12)
    before = extract_document("T", facts, ROOM).markdown.splitlines()
    after = extract_document("T", [more, *facts], ROOM).markdown.splitlines()
    assert len(after) == len(before) + 1
    assert [line for line in after if "A new fact." not in line] == before


# --- properties -------------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["Acme", "acme", "Bob", "C #", "<b>", "# x", "a\nb", "  ", "More", "我们", "1."])
TEXTS = st.text(alphabet=st.sampled_from("`<>!/?-#*_+.)1[]():~=|\\&\"' \n\tabé我"), min_size=1, max_size=30).filter(
    lambda text: bool(text.strip())
)
DATES = st.none() | st.datetimes(datetime(2000, 1, 1), datetime(2030, 1, 1), timezones=st.just(UTC))
FACTS = st.lists(st.tuples(TEXTS, st.lists(NAMES, max_size=3), DATES, DATES), min_size=1, max_size=12).map(
    lambda rows: [
        stored(number, text, names=names, occurred=occurred, mentioned=mentioned)
        for number, (text, names, occurred, mentioned) in enumerate(rows, 1)
    ]
)


def outline(markdown: str) -> list[tuple[str, list[str]]]:
    """Headings of a document with the bullets below each, as a parser sees them; fails for any other block."""
    sections: list[tuple[str, list[str]]] = []
    allowed = {"heading", "bullet_list", "list_item", "paragraph"}
    inside = ""
    for token in PARSER.parse(markdown):
        if token.type == "inline":
            assert not any(child.type == "html_inline" for child in token.children or ())
            if inside == "heading":
                sections.append((token.content, []))
            else:
                sections[-1][1].append(token.content)
        else:
            assert token.type.removesuffix("_open").removesuffix("_close") in allowed
            inside = token.type.removesuffix("_open") if token.nesting == 1 else ""
    return sections


def expected_bullets(document: ExtractDocument) -> list[str]:
    return sorted(
        bullet(fact.text, "" if not fact.occurred_start else f"{fact.occurred_start:%Y-%m-%d}")[2:]
        for fact in document.facts
    )


@unhurried
@given(FACTS, TEXTS)
def test_any_facts_are_parsed_back_as_the_sections_and_bullets_meant(facts: list[Fact], title: str) -> None:
    document = extract_document(title, facts, ROOM)
    sections = outline(document.markdown)
    assert f"# {sections[0][0]}" == heading(1, title)
    assert sorted(fact.id for fact in document.facts) == sorted(fact.id for fact in facts)
    assert sorted(line for _, lines in sections for line in lines) == expected_bullets(document)
    assert all(lines for _, lines in sections[1:])
    assert bool(sections[0][1]) == (len(sections) == 1)


@unhurried
@given(FACTS.flatmap(lambda facts: st.tuples(st.just(facts), st.permutations(facts))))
def test_the_same_facts_give_the_same_bytes_in_whatever_order_they_are_found(orders: tuple[list[Fact], ...]) -> None:
    first, other = orders
    assert extract_document("T", first, ROOM) == extract_document("T", other, ROOM)


@unhurried
@given(FACTS, st.integers(min_value=1, max_value=120))
def test_a_document_is_never_longer_than_asked_unless_it_is_one_bullet(facts: list[Fact], max_tokens: int) -> None:
    document = extract_document("T", facts, max_tokens)
    assert document.facts
    assert estimated_tokens(document.markdown) <= max_tokens or len(document.facts) == 1
