"""The edits as they are meant: applied to the page they were proposed for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.offline.documents import extract_document
from domain.document import AppliedOperation, Document, apply, parse
from domain.editing import EditRequest, Grounds, NewFact, RetractedFact
from domain.memory import Fact
from tests.adapters.offline.edit_requests import items, proposed, request, uuids
from tests.adapters.offline.facts_of import SAID, stored, unhurried
from tests.adapters.offline.test_edits_of_any_page import FACTS, PAGES


def applied(asked: EditRequest) -> Document:
    """The document after everything proposed; nothing of it is skipped."""
    after = apply(asked.document, [edit.operation for edit in proposed(asked)])
    assert [result for result in after.results if not isinstance(result, AppliedOperation)] == []
    return after.document


def edited(markdown: str, *facts: Fact | NewFact) -> str:
    return applied(request(markdown, facts)).render()


def test_a_page_written_by_hand_is_extended_and_nothing_else() -> None:
    page = (
        "Title\n=====\n\nWe *know* this:\n\n\n"
        "## Acme\n\n* (2019-01-01) Acme was founded.\n  * by Ann\n\n* (2024-05-12) Acme grew.\n\n"
        "## 我们\n\n| 谁 | 什么 |\n|---|---|\n| 我们 | 茶 |\n\n"
        "## Links\n\n1. <https://a.example>"
    )
    facts = [
        stored(1, "Acme moved.", names=["Acme"], occurred=SAID.replace(year=2020)),
        stored(2, "Acme closed.", names=["Acme"], occurred=SAID),
        stored(3, "我们搬家了。", names=["我们"]),
        stored(4, "我们喝茶。", names=["我们"]),
        stored(5, "It rained."),
        stored(6, "It snowed."),
    ]
    assert edited(page, *facts) == (
        "Title\n=====\n\nWe *know* this:\n\n\n"
        "## Acme\n\n* (2019-01-01) Acme was founded.\n  * by Ann\n\n* (2020-05-15) Acme moved.\n\n"
        "* (2024-05-12) Acme grew.\n\n* (2024-05-15) Acme closed.\n\n"
        "## 我们\n\n| 谁 | 什么 |\n|---|---|\n| 我们 | 茶 |\n\n- 我们搬家了。\n- 我们喝茶。\n\n"
        "## Links\n\n1. <https://a.example>\n\n"
        "## More\n\n- It rained.\n- It snowed."
    )


@pytest.mark.parametrize(
    ("items", "bullet"),
    [
        ("* a\n* b", "* New."),
        ("+ a", "+ New."),
        ("- a\n  - nested\n    more\n- b\n  1. nested", "- New."),
        ("- a\n\n- b", "\n- New."),
        ("- [ ] a", "- New."),
    ],
)
def test_a_bullet_joins_a_list_in_its_form(items: str, bullet: str) -> None:
    assert edited(f"# T\n\n{items}\n\nend\n", stored(9, "New.")) == f"# T\n\n{items}\n{bullet}\n\nend\n"


@pytest.mark.parametrize(
    ("items", "replaced"),
    [
        ("* (2024-05-12) Bob likes tea.", "* (2024-05-15) Bob likes coffee."),
        ("1. a\n2. bob likes **tea**\n3. b", "1. a\n2. (2024-05-15) Bob likes coffee.\n3. b"),
        ("+ Bob likes\n  tea.\n+ b", "+ (2024-05-15) Bob likes coffee.\n+ b"),
    ],
)
def test_what_was_is_replaced_in_the_form_of_its_list(items: str, replaced: str) -> None:
    new = NewFact(stored(9, "Bob likes coffee.", occurred=SAID), was="Bob likes tea.")
    assert edited(f"# T\n\n{items}\n", new) == f"# T\n\n{replaced}\n"


def test_an_extract_grows_to_the_extract_of_all_its_facts() -> None:
    facts = [
        stored(1, "Acme was founded.", names=["Acme"], occurred=SAID.replace(year=2019)),
        stored(2, "Acme grew.", names=["Acme"], occurred=SAID.replace(year=2023)),
        stored(3, "It rained."),
        stored(4, "Acme moved.", names=["Acme"], occurred=SAID.replace(year=2020)),
        stored(5, "It snowed."),
    ]
    before, after = (extract_document("Tea", some, 2048).markdown for some in (facts[:3], facts))
    assert edited(before, *facts) == after


def test_an_empty_document_becomes_one() -> None:
    assert (
        edited("", stored(1, "Ann drinks tea."), stored(2, "Bob does.")) == "# Tea\n\n- Ann drinks tea.\n- Bob does.\n"
    )


def test_what_was_is_replaced_in_its_place() -> None:
    page = "# T\n\n* Ann drinks tea.\n* Bob drinks tea.\n\nEve drinks tea.\n"
    new = [
        NewFact(stored(1, "Ann drinks milk."), was="Ann drinks tea."),
        NewFact(stored(2, "Eve drinks milk."), was="Eve drinks tea."),
        NewFact(stored(3, "Bob drinks tea."), was="Bob drinks tea."),
    ]
    assert edited(page, *new) == "# T\n\n* Ann drinks milk.\n* Bob drinks tea.\n\nEve drinks milk.\n"


def test_retracted_facts_are_gone_and_nothing_else() -> None:
    page = "# T\n\n- Ann drinks tea.\n- Bob drinks tea.\n\nEve drinks tea.\n\n## More\n\n- (2024) Ann drinks tea.\n"
    retracted = [RetractedFact(uuids(1)[0], "Ann drinks tea."), RetractedFact(uuids(2)[0], "Eve drinks tea.")]
    left = applied(request(page, task="retraction", retracted=retracted))
    assert left.render().split() == ["#", "T", "-", "Bob", "drinks", "tea.", "##", "More"]


def test_a_compacted_document_is_within_its_budget_with_its_headings() -> None:
    facts = [stored(number, f"Acme did thing {number}.", names=["Acme"]) for number in range(1, 9)]
    page = extract_document("T", [*facts, stored(9, "It rained.")], 2048).markdown
    grounds = [(item.id, Grounds(SAID, uuids(1))) for item in items(parse(page))[:-2]]
    left = applied(request(page, task="compaction", max_tokens=18, grounds=grounds))
    assert left.render() == "# T\n\n## Acme\n\n- Acme did thing 8.\n\n## More\n\n- It rained.\n"


@unhurried
@given(PAGES, FACTS, st.integers(0, 8))
def test_over_the_parts_of_a_page_no_fact_is_lost(markdown: str, facts: list[Fact], cut: int) -> None:
    """The second part is asked for when the edits of the first are in the document."""
    whole = request(markdown, facts)
    first = [section.id for section in whole.document.sections][:cut]
    after = applied(replace(whole, shown=frozenset(first), last_part=False))
    second = frozenset(section.id for section in after.sections) - frozenset(first)
    after = applied(replace(whole, document=after, shown=second))
    assert proposed(replace(whole, document=after)) == ()


@unhurried
@given(PAGES, FACTS)
def test_any_page_keeps_its_lines_and_says_all_facts_when_they_are_applied(markdown: str, facts: list[Fact]) -> None:
    asked = request(markdown, facts)
    after = applied(asked)
    left = iter(after.render().splitlines())
    assert all(line in left for line in markdown.splitlines() if line.strip())
    assert proposed(replace(asked, document=after)) == ()
