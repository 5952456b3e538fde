"""On which facts each piece of a document rests."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from domain.document import Block, Document, RemoveBlock, Section, ids_of, parse
from domain.mental_model.outline import Piece
from domain.mental_model.record import Edit, PieceGrounds
from domain.reflection import Mention
from domain.refresh.grounds import grounds_of_edits, grounds_of_rewrite, leaves
from tests.support.examples import NOW, fact_id

TEXT = "# Bridge\n\nBegun in 1357.\n\n- Stone.\n- Sixteen arches.\n\n| when | what |\n|---|---|\n| 1402 | done |\n"
DOCUMENT = parse(TEXT)
(SECTION,) = DOCUMENT.sections
PROSE, LIST, TABLE = SECTION.blocks
ONE, TWO = fact_id(1), fact_id(2)


def named(*places: tuple[str, UUID]) -> dict[str, tuple[UUID, ...]]:
    """The facts of each piece, when each of these is named behind a place of the text."""
    mentions = [Mention(offset=TEXT.index(place) + len(place), fact_id=str(fact)) for place, fact in places]
    found = grounds_of_rewrite(DOCUMENT, (), mentions)
    return {piece.id: piece.facts for piece in found if piece.facts}


def test_the_pieces_are_headings_blocks_without_items_and_items() -> None:
    ends = dict(leaves(DOCUMENT))
    assert list(ends) == [SECTION.id, PROSE.id, LIST.items[0].id, LIST.items[1].id, TABLE.items[0].id]
    assert [TEXT[:end].rpartition("\n")[2] for end in ends.values()] == [
        "# Bridge",
        "Begun in 1357.",
        "- Stone.",
        "- Sixteen arches.",
        "| 1402 | done |",
    ]


@for_all(st.text(st.sampled_from("ab #-|\n\t>`1."), max_size=80))
def test_pieces_end_in_order_and_inside_the_text(text: str) -> None:
    ends = [end for _, end in leaves(parse(text))]
    assert ends == sorted(ends)
    assert all(0 < end <= len(text) for end in ends)


def test_a_mention_speaks_for_the_piece_it_stands_in_or_directly_behind() -> None:
    assert named(("# Bri", ONE)) == {SECTION.id: (ONE,)}
    assert named(("in 1357.", ONE)) == {PROSE.id: (ONE,)}
    assert named(("Stone.", ONE), ("Sixteen arches.", TWO)) == {LIST.items[0].id: (ONE,), LIST.items[1].id: (TWO,)}
    assert named(("| 1402 ", TWO), ("1402 | done |", ONE)) == {TABLE.items[0].id: (TWO, ONE)}


def test_a_fact_named_twice_for_a_piece_is_one() -> None:
    assert named(("Begun", ONE), ("in 1357.", ONE)) == {PROSE.id: (ONE,)}


def test_a_mention_behind_all_pieces_speaks_for_none() -> None:
    assert named((TEXT, ONE)) == {}


def test_a_piece_that_stayed_is_told_only_when_facts_are_named_for_it() -> None:
    mention = Mention(offset=TEXT.index("1357.") + 5, fact_id=str(ONE))
    found = grounds_of_rewrite(DOCUMENT, [PROSE.id, SECTION.id, LIST.items[0].id, TABLE.items[0].id], [mention])
    assert found == (
        PieceGrounds(id=PROSE.id, facts=(ONE,), kept=True),
        PieceGrounds(id=LIST.items[1].id),
    )


def edit(*wrote: str, facts: tuple[UUID, ...] = (ONE,), skipped: str | None = None) -> Edit:
    return Edit(
        edit_pass="edit",
        operation=RemoveBlock(section_id="s", block_id="b"),
        facts=facts,
        skipped=skipped,
        wrote=wrote,
    )


def document(*ids: str) -> Document:
    """One whose blocks have these ids."""
    blocks = tuple(Block(identity, identity, "\n\n", "paragraph") for identity in ids)
    return Document("", (Section("s", None, blocks),))


def piece(identity: str, *facts: UUID, partly: bool = False) -> Piece:
    return Piece(id=identity, version=2, written_at=NOW, facts=facts, partly=partly)


@pytest.mark.parametrize(
    "before", [piece("a"), piece("a", TWO, partly=True), None], ids=["not at all", "in part", "never recorded"]
)
def test_what_an_edit_adds_to_a_piece_of_unknown_grounds_leaves_them_unknown_in_part(before: Piece | None) -> None:
    (grounds,) = grounds_of_edits([edit("a")], document("a"), [before] if before else [], ["a"])
    assert (grounds.facts, grounds.partly) == ((*(before.facts if before else ()), ONE), True)


def test_what_an_edit_wrote_rests_on_its_facts_and_on_what_it_rested_on_before() -> None:
    edits = [edit("a"), edit("b", facts=(TWO,)), edit("a", facts=(TWO, ONE))]
    assert grounds_of_edits(edits, document("a", "c"), [piece("a", TWO), piece("c", ONE)], ["a", "b", "c"]) == (
        PieceGrounds(id="a", facts=(TWO, ONE)),
        PieceGrounds(id="b", facts=(TWO,)),
    )


def test_what_was_skipped_or_is_no_longer_there_has_no_grounds() -> None:
    assert grounds_of_edits([edit("a", skipped="unknown"), edit("b")], document("a"), [], ["a"]) == ()


def test_ids_stand_in_the_order_of_the_text() -> None:
    assert ids_of(DOCUMENT) == (
        SECTION.id,
        PROSE.id,
        LIST.id,
        *(item.id for item in LIST.items),
        TABLE.id,
        TABLE.items[0].id,
    )
