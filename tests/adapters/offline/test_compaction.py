from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from domain.document import Operation, RemoveBlock, RemoveItem, parse
from domain.editing import EditRequest, Grounds
from domain.memory import estimated_tokens
from tests.adapters.offline.edit_requests import block_id, item_id, items, proposed, request, uuids
from tests.adapters.offline.facts_of import SAID, unhurried


def since(days: int | None, *facts: int) -> Grounds:
    """Written so many days after the first, resting on facts of these numbers."""
    return Grounds(None if days is None else SAID + timedelta(days), uuids(*facts))


def compaction(markdown: str, max_tokens: int, grounds: Iterable[tuple[str, Grounds]]) -> EditRequest:
    return request(markdown, task="compaction", max_tokens=max_tokens, grounds=grounds)


PAGE = """\
# Team

Written by hand.

- Bob drinks tea.
- Ann drinks coffee.
- By hand.

Eve drinks water.

| who | what |
| --- | --- |
| Ann | milk |
| 我们 | 茶 |
"""
LIST, TABLE, EVE = (block_id(PAGE, text) for text in ("- Bob", "| who", "Eve"))
BOB, ANN, MILK = (item_id(PAGE, text) for text in ("- Bob drinks tea.", "- Ann drinks coffee.", "| Ann | milk |"))
GROUNDS = [(BOB, since(3, 1)), (ANN, since(1, 2, 3)), (EVE, since(1, 4)), (MILK, since(0, 5)), (LIST, since(0, 9))]


def test_what_was_written_first_goes_first_then_what_stands_first() -> None:
    edits = proposed(compaction(PAGE, 1, GROUNDS))
    assert [(edit.operation, edit.facts) for edit in edits] == [
        (RemoveItem(block_id=TABLE, item_id=MILK), uuids(5)),
        (RemoveItem(block_id=LIST, item_id=ANN), uuids(2, 3)),
        (RemoveBlock(section_id="team", block_id=EVE), uuids(4)),
        (RemoveItem(block_id=LIST, item_id=BOB), uuids(1)),
    ]


def test_what_is_of_unknown_age_counts_as_oldest() -> None:
    grounds = [(BOB, since(None, 1)), (MILK, since(0, 5))]
    assert [edit.facts for edit in proposed(compaction(PAGE, 1, grounds))] == [uuids(1), uuids(5)]


def test_it_stops_when_the_document_is_within_its_budget() -> None:
    size, without_milk = estimated_tokens(PAGE), estimated_tokens(PAGE.replace("| Ann | milk |\n", ""))
    for max_tokens, removals in ((size, 0), (size - 1, 1), (without_milk, 1), (without_milk - 1, 2)):
        assert len(proposed(compaction(PAGE, max_tokens, GROUNDS))) == removals


def test_without_known_grounds_everything_stays() -> None:
    assert proposed(compaction(PAGE, 1, [(identity, since(0)) for identity, _ in GROUNDS])) == ()
    assert proposed(compaction("", 1, [])) == ()


def test_what_a_newer_piece_says_in_the_same_words_goes_before_all_else() -> None:
    markdown = "# T\n\n- Old.\n- Bob drinks tea.\n\nbob drinks **tea**\n\n- (2024) Bob drinks tea.\n- Bob drinks tea\n"
    old, newest, dated, middle = (
        item_id(markdown, text)
        for text in ("- Old.", "- Bob drinks tea.", "- (2024) Bob drinks tea.", "- Bob drinks tea")
    )
    prose = block_id(markdown, "bob")
    days = {old: 0, newest: 9, prose: 2, dated: 1, middle: 3}
    grounds = [(identity, since(day, day + 1)) for identity, day in days.items()]
    assert [edit.facts for edit in proposed(compaction(markdown, 1, grounds))] == [
        *[uuids(3), uuids(4)],  # said again
        *[uuids(1), uuids(2), uuids(10)],
    ]


def test_only_what_is_shown_goes() -> None:
    markdown = "# T\n\n- a\n\n## More\n\n- b\n"
    grounds = [(item_id(markdown, "- a"), since(0, 1)), (item_id(markdown, "- b"), since(0, 2))]
    edits = proposed(request(markdown, task="compaction", max_tokens=1, grounds=grounds, shown=["more"]))
    assert [edit.facts for edit in edits] == [uuids(2)]


TEXTS = st.text(alphabet="ab我🎉 ", min_size=1, max_size=20).map(lambda text: f"x{text}x")


@unhurried
@given(st.lists(TEXTS, min_size=1, max_size=8, unique=True), st.data())
def test_no_more_goes_than_the_budget_asks_for(texts: list[str], data: st.DataObject) -> None:
    markdown = "# T\n\n" + "".join(f"- {text}\n" for text in texts) + "\nend\n"
    grounded = [item for item in items(parse(markdown)) if data.draw(st.booleans())]
    max_tokens = data.draw(st.integers(1, estimated_tokens(markdown) + 2))
    edits = proposed(compaction(markdown, max_tokens, [(item.id, since(0, 1)) for item in grounded]))
    sizes = [estimated_tokens(left) for left in remains(markdown, [edit.operation for edit in edits])]
    assert all(size > max_tokens for size in sizes[:-1])
    assert sizes[-1] <= max_tokens or len(edits) == len(grounded)


def remains(markdown: str, removals: Iterable[Operation]) -> list[str]:
    """The text before, and after each removal of a line."""
    lines = {item.id: f"{item.source}\n" for item in items(parse(markdown))}
    texts = [markdown]
    for removal in removals:
        assert isinstance(removal, RemoveItem)
        texts.append(texts[-1].replace(lines[removal.item_id], "", 1))
    return texts
