"""Taking back what rested on facts that no longer stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from domain.document import RemoveBlock, RemoveItem, RemoveSection, parse
from domain.editing import ProposedEdit, RetractedFact
from domain.memory import Fact, Standing
from domain.mental_model.evidence import citation_of
from domain.mental_model.outline import Piece
from domain.mental_model.record import Relink
from domain.refresh.retraction import Retraction, grounds_of, left_to_ask, removals, retraction_of
from domain.scope import EVERYTHING, Scope
from tests.support.examples import NOW, fact, fact_id

STONE = Scope(tags=("stone",), tags_match="all_strict")
ONE, TWO, THREE = fact_id(1), fact_id(2), fact_id(3)


def standing(cited: Fact | None, now: Fact | None = None, same_text: Fact | None = None) -> Standing:
    return Standing(fact_id=ONE, version=1, cited=cited, now=now, same_text=same_text)


def stands(number: int = 2, **changes: object) -> Standing:
    there = fact(number, **changes)
    return Standing(fact_id=there.id, version=there.version, cited=there, now=there)


GONE = Retraction(gone=(RetractedFact(ONE, fact(1).text),))


# --- what became of a cited fact --------------------------------------------------------------------------------------


def test_a_fact_that_stands_is_not_taken_back() -> None:
    assert retraction_of([stands()], EVERYTHING) == Retraction()


def test_a_fact_that_was_closed_is_gone_even_when_it_was_the_only_one() -> None:
    assert retraction_of([standing(fact(1))], EVERYTHING) == GONE


def test_rt_03_facts_this_memory_never_had_are_broken_links_however_many() -> None:
    broken = [Standing(fact_id=each, version=1) for each in (ONE, TWO)]
    assert retraction_of(broken, EVERYTHING) == Retraction(broken=(ONE, TWO))
    assert retraction_of([*broken, stands(3)], EVERYTHING) == Retraction(broken=(ONE, TWO))


def test_rt_02_a_fact_that_another_says_in_the_same_words_is_linked_to_that() -> None:
    other = fact(2, fact(1).text)
    expected = Retraction(relinked=(Relink(before=ONE, after=citation_of(other)),))
    assert retraction_of([standing(fact(1), same_text=other)], EVERYTHING) == expected


def test_a_fact_said_again_outside_the_scope_is_gone_all_the_same() -> None:
    assert retraction_of([standing(fact(1), same_text=fact(2, fact(1).text))], STONE) == GONE


def test_a_fact_with_another_text_is_changed_and_not_gone() -> None:
    changed = standing(fact(1, "Begun in 1356."), now=fact(1, "Begun in 1357.", version=2))
    assert retraction_of([changed], EVERYTHING) == Retraction(changed={ONE: "Begun in 1356."})


def test_a_fact_that_left_the_scope_is_gone_while_others_stand_in_it() -> None:
    left = standing(fact(1), now=fact(1))
    assert retraction_of([left, stands(2, tags=("stone",))], STONE) == GONE


def test_a_fact_that_left_the_scope_is_told_as_it_was_cited_or_as_it_is() -> None:
    stands_there = stands(2, tags=("stone",))
    told = standing(fact(1, "Begun in 1356."), now=fact(1, "Begun in 1357."))
    assert retraction_of([told, stands_there], STONE).gone == (RetractedFact(ONE, "Begun in 1356."),)
    unknown = standing(None, now=fact(1, "Begun in 1357."))
    assert retraction_of([unknown, stands_there], STONE).gone == (RetractedFact(ONE, "Begun in 1357."),)


def test_rs_04_a_scope_in_which_none_of_the_facts_is_takes_nothing_back() -> None:
    left = standing(fact(1), now=fact(1))
    assert retraction_of([left, left], STONE) == Retraction(out_of_scope=True)


def test_what_was_retracted_is_gone_in_whatever_scope() -> None:
    found = retraction_of([standing(fact(1)), stands(2)], STONE)
    assert (found.gone, found.out_of_scope) == (GONE.gone, True)


# --- by blame, and by asking ------------------------------------------------------------------------------------------

TEXT = "# Bridge\n\nBegun in 1357.\n\n- Stone.\n- Sixteen arches.\n\n| when | what |\n|---|---|\n| 1402 | done |\n"
DOCUMENT = parse(TEXT)
(SECTION,) = DOCUMENT.sections
PROSE, LIST, TABLE = SECTION.blocks
STONES, ARCHES = LIST.items
(ROW,) = TABLE.items


def removed(grounds: Mapping[str, Sequence[UUID]], *gone: UUID) -> list[ProposedEdit]:
    return list(removals(DOCUMENT, grounds, set(gone)))


def asked(grounds: Mapping[str, Sequence[UUID]], *gone: UUID, uncited: UUID | None = None) -> list[UUID]:
    facts = [RetractedFact(each, "text") for each in gone]
    cited = {*gone, *(each for named in grounds.values() for each in named)} - {uncited}
    return [each.fact_id for each in left_to_ask(DOCUMENT, grounds, facts, cited)]


ALL_KNOWN = {PROSE.id: [ONE], STONES.id: [TWO], ARCHES.id: [THREE], ROW.id: [THREE]}


def test_what_rests_only_on_facts_that_are_gone_is_removed_without_asking() -> None:
    assert removed(ALL_KNOWN, ONE) == [ProposedEdit(RemoveBlock(section_id=SECTION.id, block_id=PROSE.id), (ONE,))]
    assert removed(ALL_KNOWN, THREE) == [
        ProposedEdit(RemoveItem(block_id=LIST.id, item_id=ARCHES.id), (THREE,)),
        ProposedEdit(RemoveItem(block_id=TABLE.id, item_id=ROW.id), (THREE,)),
    ]
    assert asked(ALL_KNOWN, ONE, THREE) == []


def test_what_rests_on_a_fact_that_stands_too_is_asked_about() -> None:
    mixed = {**ALL_KNOWN, STONES.id: [TWO, ONE]}
    assert [each.operation for each in removed(mixed, ONE)] == [RemoveBlock(section_id=SECTION.id, block_id=PROSE.id)]
    assert asked(mixed, ONE) == [ONE]
    assert asked(mixed, ONE, TWO) == []


def test_what_has_no_grounds_is_asked_about_only_for_facts_without_a_place() -> None:
    some_unknown = {PROSE.id: [ONE], ARCHES.id: [TWO]}
    assert asked(some_unknown, ONE) == []
    assert asked(some_unknown, THREE) == [THREE]
    assert asked({}, ONE) == [ONE]


def test_a_fact_that_no_piece_rests_on_needs_no_asking_when_all_grounds_are_known() -> None:
    assert removed(ALL_KNOWN, fact_id(9)) == []
    assert asked(ALL_KNOWN, fact_id(9)) == []


def test_grounds_that_are_no_longer_cited_are_not_known() -> None:
    """A rewrite that came to the same text on other facts tells not of which of them a piece is."""
    assert asked(ALL_KNOWN, fact_id(9), uncited=ONE) == [fact_id(9)]


def test_a_fact_that_a_heading_rests_on_is_asked_about() -> None:
    assert asked({**ALL_KNOWN, SECTION.id: [fact_id(9)]}, fact_id(9)) == [fact_id(9)]
    assert asked({**ALL_KNOWN, SECTION.id: [ONE]}, ONE) == [ONE]
    assert removed({**ALL_KNOWN, SECTION.id: [ONE]}, ONE)[0].operation == ALL_REMOVED[0]


ALL_REMOVED = [
    RemoveBlock(section_id=SECTION.id, block_id=PROSE.id),
    RemoveItem(block_id=LIST.id, item_id=STONES.id),
    RemoveItem(block_id=LIST.id, item_id=ARCHES.id),
    RemoveItem(block_id=TABLE.id, item_id=ROW.id),
]


def test_a_section_of_which_nothing_is_left_goes_with_its_heading() -> None:
    grounds = {**ALL_KNOWN, SECTION.id: [ONE, TWO]}
    assert removed(grounds, ONE, TWO, THREE) == [
        ProposedEdit(RemoveSection(section_id=SECTION.id), (ONE, TWO, THREE)),
    ]
    assert asked(grounds, ONE, TWO, THREE) == []


def test_a_heading_that_rests_on_nothing_known_or_on_facts_that_stand_stays() -> None:
    assert [each.operation for each in removed(ALL_KNOWN, ONE, TWO, THREE)] == ALL_REMOVED
    mixed = {**ALL_KNOWN, SECTION.id: [ONE, fact_id(9)]}
    assert [each.operation for each in removed(mixed, ONE, TWO, THREE)] == ALL_REMOVED
    assert asked(mixed, ONE, TWO, THREE) == [ONE]


def test_a_section_that_heads_deeper_ones_is_not_removed() -> None:
    document = parse("# Bridge\n\nBegun.\n\n## Arches\n\nSixteen.\n\n# Tower\n\nTall.\n")
    bridge, arches, tower = document.sections
    grounds = {each: [ONE] for section in (bridge, arches, tower) for each in (section.id, section.blocks[0].id)}
    del grounds[arches.blocks[0].id]
    assert [each.operation for each in removals(document, grounds, {ONE})] == [
        RemoveBlock(section_id=bridge.id, block_id=bridge.blocks[0].id),
        RemoveSection(section_id=tower.id),
    ]


def test_a_fact_outside_the_scope_that_the_cited_one_went_over_to_stands_in_no_scope() -> None:
    left = standing(fact(1), now=fact(1))
    other = Standing(fact_id=TWO, version=1, cited=fact(2), same_text=fact(3, fact(2).text, tags=("stone",)))
    found = retraction_of([left, other], STONE)
    assert (found.gone, [each.before for each in found.relinked], found.out_of_scope) == (GONE.gone, [TWO], False)


def test_what_is_known_in_part_is_never_removed_by_blame_but_asked_about() -> None:
    outline = [
        Piece(id=piece, version=2, written_at=NOW, facts=(ONE,), partly=piece == PROSE.id)
        for piece in (SECTION.id, PROSE.id, STONES.id, ARCHES.id, ROW.id)
    ]
    grounds = grounds_of(outline)
    assert RemoveBlock(section_id=SECTION.id, block_id=PROSE.id) not in [
        each.operation for each in removed(grounds, ONE)
    ]
    assert asked(grounds, ONE) == [ONE]
