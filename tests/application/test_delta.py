"""A delta refresh: all that is new is read, worked in by edits, and accounted for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from application.delta import (
    MOST_PAGES,
    NOT_SHORTENED,
    NOTHING_NEW,
    OVER_BUDGET,
    SET_ASIDE,
    SOME_SKIPPED,
    TOO_MUCH_NEW,
    UNREAD,
)
from application.ports import MindFailed
from application.refresh import NO_EXTRACTOR
from application.relevance import Relevance
from domain.document import (
    AppendBlock,
    AppendItem,
    RemoveBlock,
    RemoveItem,
    ReplaceItem,
    ids_of,
    parse,
)
from domain.editing import EditRequest, Proposal, ProposedEdit, RefusedEdit
from domain.memory import Fact, RetainItem
from domain.mental_model.evidence import citation_of
from domain.mental_model.outline import Piece
from domain.mental_model.record import Citation, FactCount, RetractionRecord, Verdict
from domain.mental_model.state import MentalModel, evolve
from domain.mental_model.trigger import Trigger
from domain.refresh import (
    Candidate,
    DeltaFailed,
    Edited,
    NothingToRead,
    RefreshRun,
    RunFailed,
    StructuredOutputFailed,
    decide_outcome,
)
from domain.refresh.retraction import BROKEN_LINKS, DEFERRED, OUT_OF_SCOPE, RETRACTION_FAILED
from domain.scope import EVERYTHING, Scope
from tests.support.examples import BANK, NOW, QUESTION, call, fact_id, later, mental_model, recorded
from tests.support.scripted_minds import RECALL, answer_from_all, proposal, unusable
from tests.support.world import World

TEXT = "# Bridge\n\nBegun in 1357.\n\n- Stone.\n"
DOCUMENT = parse(TEXT)
(SECTION,) = DOCUMENT.sections
PROSE, LIST = SECTION.blocks
(STONE,) = LIST.items
DELTA = Trigger(mode="delta")


def page(*grounds: tuple[str, Fact], text: str = TEXT, **fields: Any) -> MentalModel:
    """A page that answers its question and has read nothing yet; its pieces rest on the facts given."""
    outline = tuple(
        Piece(id=piece, version=2, written_at=NOW, facts=tuple(fact.id for name, fact in grounds if name == piece))
        for piece in ids_of(parse(text))
    )
    evidence = tuple(dict.fromkeys(citation_of(fact) for _, fact in grounds))
    present = {"content": text, "answered_query": QUESTION, "trigger": DELTA, "covered_scope": EVERYTHING}
    return mental_model(**{**present, "outline": outline, "evidence": evidence, **fields})


def refresh(world: World, model: MentalModel) -> RefreshRun:
    return world.executor.execute(model)


def text_of(run: RefreshRun) -> str:
    assert isinstance(run.result, Edited), run.result
    return run.result.markdown


def verdicts(run: RefreshRun) -> dict[int, Verdict]:
    assert run.record.delta is not None
    return {each.position: each.verdict for each in run.record.delta.readings}


def append(text: str = "Sixteen arches.", *numbers: int) -> Callable[[EditRequest], Proposal]:
    """An edit that rests on the facts shown, or on those of them at the given places."""

    def act(request: EditRequest) -> Proposal:
        facts = [new.fact.id for number, new in enumerate(request.facts) if number in numbers or not numbers]
        return proposal(AppendItem(block_id=LIST.id, text=text), facts=facts)

    return act


# --- reading ----------------------------------------------------------------------------------------------------------


def test_one_new_fact_costs_one_call_and_no_search() -> None:
    world = World().knows("It has sixteen arches.")
    world.editor.script = [append()]
    run = refresh(world, page())
    assert text_of(run) == TEXT + "- Sixteen arches.\n"
    record = run.record
    assert [each.purpose for each in record.calls] == ["delta_edit"]
    assert (record.requested_mode, record.effective_mode, record.mode_fallback_reason) == ("delta", "delta", None)
    assert (record.tool_calls, record.reflect_skipped, record.warnings) == ((), None, ())
    assert [(each.fact_id, each.text) for each in record.evidence] == [(world.fact(1).id, "It has sixteen arches.")]
    assert verdicts(run) == {1: "integrated"}
    assert record.retrieved == (FactCount(fact_type="world", count=1),)
    (request,) = world.editor.asked
    assert (request.task, request.name, request.source_query) == ("edit", "Charles Bridge", QUESTION)
    assert (request.document.render(), request.shown, request.last_part) == (TEXT, None, True)


def test_the_window_is_from_what_was_covered_to_the_snapshot() -> None:
    world = World().knows("Old.", "New.")
    run = refresh(world, page(covered=1, last_memory_seen_at=later(1)))
    assert [new.fact.text for new in world.editor.asked[0].facts] == ["New."]
    window = run.record.window
    assert (window.after, window.upto, window.created_after, window.watermark) == (1, 2, later(1), later(2))


def test_a_page_that_saw_no_memory_yet_has_a_window_since_its_last_refresh() -> None:
    window = refresh(World().knows("One.", "Two."), page()).record.window
    assert (window.after, window.created_after, window.watermark) == (0, NOW, later(2))


@pytest.mark.parametrize("keep", [True, False])
def test_whether_a_trace_is_kept_is_on_record(keep: bool) -> None:
    run = refresh(World().knows("New."), page(trigger=Trigger(mode="delta", keep_trace=keep)))
    assert run.record.keep_trace is keep


def test_nothing_new_asks_nobody() -> None:
    world = World().knows("Old.")
    run = refresh(world, page(covered=1))
    assert run.result == NothingToRead()
    assert (world.editor.asked, run.record.calls, run.record.reflect_skipped) == ([], (), "no_sources_in_scope")
    assert run.record.delta is not None
    assert run.record.delta.skipped_reason == "no_new_facts"
    assert run.record.warnings == (NOTHING_NEW,)


def test_old_facts_that_came_into_scope_are_read() -> None:
    world = World().knows("About stone.", tags=("stone",)).knows("About wood.", tags=("wood",)).knows("About both.")
    covered = Scope(tags=("stone",), tags_match="all_strict")
    refresh(world, page(covered=3, covered_scope=covered))
    assert [new.fact.text for new in world.editor.asked[0].facts] == ["About wood.", "About both."]


def test_facts_that_are_pending_are_read_with_the_new_ones() -> None:
    world = World().knows("Pending.", "Read.", "New.")
    refresh(world, page(covered=2, pending=(1,)))
    assert [new.fact.text for new in world.editor.asked[0].facts] == ["Pending.", "New."]


def test_a_large_window_is_read_page_by_page_and_nothing_of_it_is_left_out() -> None:
    world = World().knows(*(f"Fact {number}. " + "x" * 4000 for number in range(60)))
    run = refresh(world, page())
    shown = [new.fact.position for request in world.editor.asked for new in request.facts]
    assert shown == list(range(1, 61))
    assert 2 < len(world.editor.asked) < MOST_PAGES
    assert set(verdicts(run).values()) == {"irrelevant"}
    assert len(verdicts(run)) == 60


def test_later_pages_see_what_earlier_ones_wrote() -> None:
    world = World().knows(*(f"Fact {number}. " + "x" * 60_000 for number in range(3)))
    world.editor.script = [append("First."), append("Second."), append("Third.")]
    run = refresh(world, page())
    assert world.editor.asked[2].document.render() == TEXT + "- First.\n- Second.\n"
    assert text_of(run) == TEXT + "- First.\n- Second.\n- Third.\n"
    assert set(verdicts(run).values()) == {"integrated"}


def test_what_is_beyond_the_pages_of_one_refresh_is_pending_and_says_so() -> None:
    world = World().knows(*("x" * 90_000 for _ in range(MOST_PAGES + 3)))
    run = refresh(world, page())
    assert len(world.editor.asked) == MOST_PAGES
    assert run.record.pending == tuple(range(MOST_PAGES + 1, MOST_PAGES + 4))
    assert run.record.unread == 3
    assert UNREAD.format(count=3) in run.record.warnings


def test_a_document_too_large_for_one_prompt_is_gone_through_part_by_part() -> None:
    text = "".join(f"# Part {number}\n\n{'word ' * 6000}\n\n" for number in range(4))
    world = World().knows("New.")
    refresh(world, page(text=text))
    shown = [request.shown for request in world.editor.asked]
    assert [request.last_part for request in world.editor.asked] == [False] * (len(shown) - 1) + [True]
    assert len(shown) > 1
    sections = [section.id for section in parse(text).sections]
    assert sorted(name for part in shown if part for name in part) == sorted(sections)


# --- a check before any call ------------------------------------------------------------------------------------------


class Check:
    def __init__(self, near: bool) -> None:
        self.near = near
        self.checked: list[list[int]] = []

    def check(self, bank_id: str, name: str, source_query: str, document: object, facts: list[Fact]) -> Relevance:
        assert (bank_id, name, source_query) == (BANK, "Charles Bridge", QUESTION)
        assert document == DOCUMENT
        self.checked.append([fact.position for fact in facts])
        return Relevance(near=self.near, calls=(call("embed"),), nearest=0.1)


def checking(near: bool, *texts: str) -> tuple[World, Check]:
    world, check = World().knows(*texts), Check(near)
    world.deltas._relevance = check  # type: ignore[assignment]
    return world, check


def test_facts_that_have_nothing_to_do_with_the_page_are_set_aside_without_a_call() -> None:
    world, check = checking(False, "It rained.", "It snowed.")
    run = refresh(world, page())
    assert run.result == NothingToRead()
    assert (world.editor.asked, check.checked) == ([], [[1, 2]])
    assert verdicts(run) == {1: "set_aside", 2: "set_aside"}
    assert run.record.pending == (1, 2)
    assert run.record.delta is not None
    assert run.record.delta.skipped_reason == "no_relevant_facts"
    assert run.record.warnings == (SET_ASIDE.format(count=2),)
    assert [each.purpose for each in run.record.calls] == ["embed"]


def test_one_fact_near_the_page_has_all_of_them_read() -> None:
    world, _ = checking(True, "It rained.", "It has arches.")
    run = refresh(world, page())
    assert [new.fact.position for new in world.editor.asked[0].facts] == [1, 2]
    assert run.record.pending == ()


def test_facts_set_aside_are_read_when_they_have_become_many() -> None:
    world, check = checking(False, *(f"It rained on day {day}. " + "x" * 200 for day in range(40)))
    refresh(world, page(covered=39, pending=tuple(range(1, 40))))
    assert check.checked == []
    assert len(world.editor.asked[0].facts) == 40


# --- edits that fail --------------------------------------------------------------------------------------------------

LOST = AppendBlock(section_id="b123", text="Lost.")


def test_rs_01_edits_that_cannot_be_had_leave_everything_as_it_was() -> None:
    world = World().knows("New.")
    world.editor.script = [unusable(transient=True)]
    run = refresh(world, page())
    assert run.result == DeltaFailed("unexpected_error", "the endpoint answered 500", True)
    assert [each.purpose for each in run.record.calls] == ["failed"]
    assert run.record.effective_mode == "delta"


def test_a_reply_that_is_none_is_told_from_a_model_that_could_not_be_asked() -> None:
    world = World().knows("New.")
    world.editor.script = [MindFailed("the reply was cut off", reason="delta_ops_failed", transient=False)]
    assert refresh(world, page()).result == DeltaFailed("delta_ops_failed", "the reply was cut off")


def test_do_02_edits_none_of_which_can_be_applied_are_asked_for_once_more_and_then_fail() -> None:
    world = World().knows("New.")
    world.editor.script = [proposal(LOST), proposal(LOST)]
    run = refresh(world, page())
    assert isinstance(run.result, DeltaFailed)
    assert run.result.reason == "delta_ops_all_skipped"
    assert "unknown section_id: b123" in run.result.message
    first, second = world.editor.asked
    assert first.correction is None
    assert second.correction is not None
    assert second.correction.reply == "{operations}"
    assert "unknown section_id: b123" in second.correction.problems[0]
    assert [each.purpose for each in run.record.calls] == ["delta_edit", "delta_edit"]


def test_do_02_edits_that_were_mended_are_applied() -> None:
    world = World().knows("New.")
    world.editor.script = [proposal(LOST), append("Mended.")]
    run = refresh(world, page())
    assert text_of(run) == TEXT + "- Mended.\n"
    assert verdicts(run) == {1: "integrated"}


def test_a_mended_reply_that_is_worse_is_not_taken() -> None:
    world = World().knows("One.", "Two.")
    good = ProposedEdit(AppendItem(block_id=LIST.id, text="Good."), (world.fact(1).id,))
    both = Proposal((good, ProposedEdit(LOST, (world.fact(2).id,))), raw="first")
    world.editor.script = [both, Proposal((), (RefusedEdit("# Bridge", "is no list of operations"),), raw="second")]
    run = refresh(world, page())
    assert text_of(run) == TEXT + "- Good.\n"
    assert verdicts(run) == {1: "integrated", 2: "pending"}


def test_a_mended_reply_that_is_as_good_is_taken() -> None:
    world = World().knows("One.", "Two.")

    def with_a_lost_one(text: str) -> Proposal:
        good = ProposedEdit(AppendItem(block_id=LIST.id, text=text), (world.fact(1).id,))
        return Proposal((good, ProposedEdit(LOST, (world.fact(2).id,))), raw=text)

    world.editor.script = [with_a_lost_one("First."), with_a_lost_one("Second.")]
    assert text_of(refresh(world, page())) == TEXT + "- Second.\n"


def test_edits_and_entries_that_are_none_are_all_skipped() -> None:
    world = World().knows("New.")
    lost = Proposal((ProposedEdit(LOST, ()),), (RefusedEdit("{}", "op: missing"),), raw="{}")
    world.editor.script = [lost, lost]
    run = refresh(world, page())
    assert isinstance(run.result, DeltaFailed)
    assert run.result.reason == "delta_ops_all_skipped"


def test_what_was_taken_out_gives_its_id_to_nothing_else() -> None:
    world = World()
    gone = a_retracted_fact(world)
    model = covered(world, (STONE.id, gone))
    world.knows("New.")
    world.editor.script = [proposal(AppendBlock(section_id=SECTION.id, text="- Stone."))]
    run = refresh(world, model)
    assert text_of(run) == TEXT
    assert isinstance(run.result, Edited)
    assert STONE.id not in run.result.ids


def test_do_04_what_no_applied_edit_carries_stays_pending() -> None:
    world = World().knows("One.", "Two.")
    edits = (
        ProposedEdit(AppendItem(block_id=LIST.id, text="Good."), (world.fact(1).id,)),
        ProposedEdit(LOST, (world.fact(2).id,)),
    )
    refused = (RefusedEdit('{"op":"move_block"}', "op: unknown"),)
    world.editor.script = [Proposal(edits, refused, "{}")] * 2
    run = refresh(world, page())
    assert text_of(run) == TEXT + "- Good.\n"
    assert run.record.pending == (2,)
    assert run.record.warnings == (SOME_SKIPPED.format(skipped=2, count=3),)


def test_a_deterministic_editor_is_not_asked_again() -> None:
    world = World(deterministic=True).knows("New.")
    world.editor.script = [proposal(LOST)]
    refresh(world, page())
    assert len(world.editor.asked) == 1


def test_do_10_a_document_instead_of_operations_is_a_failure_with_a_name() -> None:
    world = World().knows("New.")
    whole = Proposal((), (RefusedEdit("# Bridge", "a document, not a list of operations"),), "# Bridge")
    world.editor.script = [whole, whole]
    run = refresh(world, page())
    assert isinstance(run.result, DeltaFailed)
    assert run.result.reason == "delta_ops_failed"


def test_an_unexpected_error_is_a_failed_run() -> None:
    world = World().knows("New.")
    world.editor.script = [append("One."), RuntimeError("no such thing")]
    world.knows("x" * 90_000)
    assert refresh(world, page()).result == RunFailed("unexpected_error", "RuntimeError: no such thing")


def test_an_unexpected_error_of_the_first_request_is_not_blamed_on_the_memory() -> None:
    world = World().knows("New.")
    world.editor.script = [RuntimeError("no such thing")]
    assert refresh(world, page()).result == RunFailed("unexpected_error", "RuntimeError: no such thing")


def test_a_memory_that_cannot_be_read_before_an_editor_was_asked_is_to_blame(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> None:
        raise ConnectionError("closed")

    world = World().knows("New.")
    monkeypatch.setattr(world.memory, "standings", breaks)
    run = refresh(world, page((PROSE.id, world.fact(1))))
    told = "the memory could not be read: ConnectionError: closed"
    assert run.result == RunFailed("retrieval_failed", told, transient=True)


def test_a_fact_for_which_there_was_no_operation_but_something_else_stays_pending() -> None:
    world = World().knows("One.", "Two.")
    refused = (RefusedEdit('{"op":"move_block"}', "op: unknown"),)
    good = ProposedEdit(AppendItem(block_id=LIST.id, text="Good."), (world.fact(1).id,))
    world.editor.script = [Proposal((good,), refused, "{}")] * 2
    assert verdicts(refresh(world, page())) == {1: "integrated", 2: "pending"}


def test_a_mind_that_fails_when_asked_to_mend_leaves_both_replies_on_record() -> None:
    world = World().knows("New.")
    world.editor.script = [proposal(LOST), unusable()]
    run = refresh(world, page())
    assert run.result == DeltaFailed("unexpected_error", "the endpoint answered 500")
    assert run.record.delta is not None
    assert run.record.delta.replies == ("{operations}", "<html>")
    assert [each.purpose for each in run.record.calls] == ["delta_edit", "failed"]


# --- facts that say something else now --------------------------------------------------------------------------------


def a_changed_fact(world: World) -> tuple[Fact, Fact]:
    """A fact as it was, and as it is."""
    was = world.memory.add(BANK, "Begun in 1356.")
    world.memory.close(BANK, was)
    return was, world.memory.add(BANK, "Begun in 1357.", id=was.id, version=2)


def test_a_fact_that_says_something_else_is_shown_with_what_it_said_and_cited_anew() -> None:
    world = World()
    was, now = a_changed_fact(world)
    run = refresh(world, page((PROSE.id, was), covered=was.position))
    (new,) = world.editor.asked[0].facts
    assert (new.fact, new.was) == (now, "Begun in 1356.")
    assert [(each.fact_id, each.version) for each in run.record.evidence] == [(now.id, 2)]
    assert (run.record.retraction, verdicts(run)) == (None, {now.position: "irrelevant"})


def test_a_changed_fact_that_stays_pending_is_still_cited_as_it_was() -> None:
    """So the next refresh is shown what it said before."""
    world = World()
    was, now = a_changed_fact(world)
    other = world.memory.add(BANK, "New.")
    edits = (
        ProposedEdit(LOST, (now.id,)),
        ProposedEdit(AppendItem(block_id=LIST.id, text="New."), (other.id,)),
    )
    world.editor.script = [Proposal(edits, raw="{}")] * 2
    run = refresh(world, page((PROSE.id, was), covered=was.position))
    assert verdicts(run) == {now.position: "pending", other.position: "integrated"}
    assert [each.fact_id for each in run.record.evidence] == [other.id]


def test_a_changed_fact_is_never_set_aside() -> None:
    world, check = checking(False)
    was, _ = a_changed_fact(world)
    refresh(world, page((PROSE.id, was), covered=was.position))
    assert (check.checked, len(world.editor.asked)) == ([], 1)


def test_a_change_that_was_read_before_has_nothing_read_that_is_far_from_the_page() -> None:
    """As after a revert to a text that rests on the fact as it was."""
    world, check = checking(False)
    was, now = a_changed_fact(world)
    world.knows("It rained.")
    refresh(world, page((PROSE.id, was), covered=now.position))
    assert (check.checked, world.editor.asked) == ([[now.position + 1]], [])


# --- taking back ------------------------------------------------------------------------------------------------------


def a_retracted_fact(world: World, text: str = "It is of wood.") -> Fact:
    """A fact that was retained and then taken out of its document."""
    world.memories.retain(world.context, BANK, [RetainItem(content=text, document_id="guide")])
    fact = world.fact(world.memory.position(BANK))
    world.memories.retain(world.context, BANK, [RetainItem(content="It is of stone.", document_id="guide")])
    return fact


def covered(world: World, *grounds: tuple[str, Fact], **fields: Any) -> MentalModel:
    return page(*grounds, covered=world.memory.position(BANK), **fields)


def test_what_rests_only_on_retracted_facts_is_removed_without_a_call() -> None:
    world = World()
    gone = a_retracted_fact(world)
    run = refresh(world, covered(world, (STONE.id, gone)))
    assert text_of(run) == "# Bridge\n\nBegun in 1357.\n"
    assert (world.editor.asked, run.record.calls) == ([], ())
    assert run.record.retraction == RetractionRecord(fact_ids=(gone.id,), fact_texts=("It is of wood.",), applied=True)
    assert run.record.delta is not None
    (edit,) = run.record.delta.edits
    assert (edit.edit_pass, edit.facts, edit.before) == ("blame", (gone.id,), "- Stone.")


def test_what_rests_on_other_facts_too_is_asked_about() -> None:
    world = World()
    gone = a_retracted_fact(world)
    other = world.memory.add(BANK, "It stands in Prague.")
    world.editor.script = [proposal(ReplaceItem(block_id=LIST.id, item_id=STONE.id, text="In Prague."))]
    run = refresh(world, covered(world, (STONE.id, gone), (STONE.id, other)))
    (request,) = world.editor.asked
    assert (request.task, [each.text for each in request.retracted]) == ("retraction", ["It is of wood."])
    assert text_of(run) == "# Bridge\n\nBegun in 1357.\n\n- In Prague.\n"
    assert run.record.retraction is not None
    assert run.record.retraction.applied


def test_a_retraction_that_cannot_be_had_is_tried_again_and_holds_up_nothing() -> None:
    world = World()
    gone = a_retracted_fact(world)
    model = page(covered=world.memory.position(BANK), evidence=(citation_of(gone),), outline=())
    world.knows("New.")
    world.editor.script = [unusable(), append("New.")]
    run = refresh(world, model)
    assert text_of(run) == TEXT + "- New.\n"
    assert run.record.retraction is not None
    assert not run.record.retraction.applied
    assert any(warning.startswith(RETRACTION_FAILED) for warning in run.record.warnings)


def test_a_retraction_none_of_whose_edits_can_be_applied_is_tried_again() -> None:
    world = World()
    gone = a_retracted_fact(world)
    world.editor.script = [proposal(LOST), proposal(LOST)]
    run = refresh(world, covered(world, evidence=(citation_of(gone),), outline=()))
    assert run.result == NothingToRead()
    assert run.record.retraction is not None
    assert not run.record.retraction.applied
    assert any(warning.startswith(RETRACTION_FAILED) for warning in run.record.warnings)


def test_what_an_edit_that_was_skipped_was_to_take_back_is_tried_again() -> None:
    world = World()
    one, two = a_retracted_fact(world, "It is of wood."), a_retracted_fact(world, "It is of sand.")
    reply = Proposal(
        (
            ProposedEdit(RemoveItem(block_id=LIST.id, item_id=STONE.id), (one.id,)),
            ProposedEdit(RemoveBlock(section_id="nowhere", block_id="b1"), (two.id,)),
        ),
        raw="{}",
    )
    world.editor.script = [reply, reply]
    run = refresh(world, covered(world, evidence=(citation_of(one), citation_of(two)), outline=()))
    assert text_of(run) == "# Bridge\n\nBegun in 1357.\n"
    assert run.record.retraction is not None
    assert not run.record.retraction.applied


def test_a_retraction_that_changes_nothing_is_done() -> None:
    world = World()
    gone = a_retracted_fact(world)
    run = refresh(world, covered(world, evidence=(citation_of(gone),), outline=()))
    assert (run.result, [request.task for request in world.editor.asked]) == (NothingToRead(), ["retraction"])
    assert run.record.retraction is not None
    assert run.record.retraction.applied


def test_a_retraction_is_shown_all_that_is_new_or_waits_for_the_next_refresh() -> None:
    world = World()
    gone = a_retracted_fact(world)
    model = covered(world, evidence=(citation_of(gone),), outline=())
    world.knows("New.")
    refresh(world, model)
    assert [new.fact.text for new in world.editor.asked[0].facts] == ["New."]
    world.knows(*("x" * 40_000 for _ in range(3)))
    world.editor.asked.clear()
    run = refresh(world, model)
    assert {request.task for request in world.editor.asked} == {"edit"}
    assert run.record.retraction is not None
    assert not run.record.retraction.applied
    assert f"{RETRACTION_FAILED}: {TOO_MUCH_NEW}" in run.record.warnings


def test_what_is_to_be_taken_back_fits_into_the_prompt() -> None:
    """Many facts are gone through in pages, a large document in parts."""
    world = World()
    gone = [a_retracted_fact(world, f"Fact {number}. " + "x" * 8000) for number in range(9)]
    refresh(world, covered(world, evidence=tuple(map(citation_of, gone)), outline=()))
    asked = [[each.text[:6] for each in request.retracted] for request in world.editor.asked]
    assert len(asked) > 1
    assert [each for page in asked for each in page] == [f"Fact {number}" for number in range(9)]
    world.editor.asked.clear()
    text = "".join(f"# Part {number}\n\n{'word ' * 6000}\n\n" for number in range(4))
    refresh(world, covered(world, text=text, evidence=(citation_of(gone[0]),), outline=()))
    assert [request.last_part for request in world.editor.asked][-2:] == [False, True]


def test_taking_back_is_no_substitute_for_the_edits() -> None:
    """What was taken out does not cover what could not be worked in: the window is held."""
    world = World()
    gone = a_retracted_fact(world)
    model = covered(world, (STONE.id, gone))
    world.knows("New.")
    world.editor.script = [unusable()]
    assert isinstance(refresh(world, model).result, DeltaFailed)
    world.editor.script = [proposal(LOST), proposal(LOST)]
    assert isinstance(refresh(world, model).result, DeltaFailed)


def test_rt_02_nothing_is_taken_back_while_something_in_scope_waits_to_be_retained() -> None:
    world = World()
    gone = a_retracted_fact(world)
    with world.transactions.begin() as tx:
        world.inbox.put(fact_id(1), BANK, [RetainItem(content="It is of wood.")], tx)
    run = refresh(world, covered(world, (STONE.id, gone)))
    assert run.result == NothingToRead()
    assert run.record.retraction is not None
    assert run.record.retraction.deferred_reason == DEFERRED.format(count=1)
    assert run.record.warnings == (DEFERRED.format(count=1), NOTHING_NEW)
    assert not run.record.retraction.applied


def test_what_waits_outside_the_scope_defers_nothing() -> None:
    world = World()
    world.memories.retain(world.context, BANK, [RetainItem(content="Wood.", document_id="g", tags=("stone",))])
    gone = world.fact(1)
    world.memories.retain(world.context, BANK, [RetainItem(content="Stone.", document_id="g", tags=("stone",))])
    with world.transactions.begin() as tx:
        world.inbox.put(fact_id(1), BANK, [RetainItem(content="Wood.", tags=("other",))], tx)
    run = refresh(world, covered(world, (STONE.id, gone), tags=("stone",), covered_scope=None))
    assert text_of(run) == "# Bridge\n\nBegun in 1357.\n"


def test_rt_03_facts_that_were_never_here_are_no_retraction() -> None:
    world = World().knows("Here.")
    cited = (Citation(fact_id=fact_id(1), version=1, position=1, fact_type="world"),)
    run = refresh(world, page(covered=1, evidence=cited))
    assert run.result == NothingToRead()
    assert run.record.retraction == RetractionRecord(broken=(fact_id(1),))
    assert BROKEN_LINKS.format(count=1) in run.record.warnings


def test_what_waits_defers_nothing_when_nothing_is_to_be_taken_back() -> None:
    world = World().knows("Here.")
    with world.transactions.begin() as tx:
        world.inbox.put(fact_id(1), BANK, [RetainItem(content="Wood.")], tx)
    cited = (Citation(fact_id=fact_id(1), version=1, position=1, fact_type="world"),)
    run = refresh(world, page(covered=1, evidence=cited))
    assert run.record.retraction == RetractionRecord(broken=(fact_id(1),))


def test_rt_02_a_fact_that_came_back_under_another_id_keeps_its_sentence() -> None:
    world = World()
    gone = a_retracted_fact(world)
    again = world.memory.add(BANK, "It is of wood.")
    run = refresh(world, covered(world, (STONE.id, gone)))
    assert run.result == NothingToRead()
    assert run.record.retraction is not None
    assert [(each.before, each.after.fact_id) for each in run.record.retraction.relinked] == [(gone.id, again.id)]


def test_rs_04_a_scope_that_holds_none_of_the_facts_leaves_the_page_alone() -> None:
    world = World()
    fact = world.memory.add(BANK, "It is of stone.")
    run = refresh(world, covered(world, (STONE.id, fact), tags=("typo",)))
    assert run.result == NothingToRead()
    assert OUT_OF_SCOPE in run.record.warnings


# --- size -------------------------------------------------------------------------------------------------------------

LONG = "# Bridge\n\nBegun in 1357.\n\n- Stone.\n- " + "An old item. " * 40 + "\n"
OLD_LIST = parse(LONG).sections[0].blocks[1]
OLD = OLD_LIST.items[1]


def test_tk_02_a_page_over_its_budget_is_shortened_and_what_is_new_stays() -> None:
    world = World().knows("New.")

    def shorten(request: EditRequest) -> Proposal:
        newest = request.document.sections[0].blocks[1].items[-1]
        return proposal(
            RemoveItem(block_id=OLD_LIST.id, item_id=newest.id), RemoveItem(block_id=OLD_LIST.id, item_id=OLD.id)
        )

    edits = (
        AppendItem(block_id=OLD_LIST.id, text="New."),
        ReplaceItem(block_id=OLD_LIST.id, item_id=OLD_LIST.items[0].id, text="Stone!"),
    )
    world.editor.script = [lambda request: proposal(*edits, facts=[request.facts[0].fact.id]), shorten]
    run = refresh(world, page(text=LONG, max_tokens=100))
    assert [request.task for request in world.editor.asked] == ["edit", "compaction"]
    assert dict(world.editor.asked[1].grounds)[OLD.id].written_at == NOW
    assert OLD_LIST.items[0].id not in dict(world.editor.asked[1].grounds)
    assert text_of(run) == TEXT.replace("Stone.", "Stone!") + "- New.\n"
    assert run.record.delta is not None
    assert run.record.delta.document_tokens == 11
    assert run.record.delta.document_budget == 100


def test_a_page_that_cannot_be_shortened_keeps_its_edits_and_says_so() -> None:
    world = World().knows("New.")
    edit = AppendItem(block_id=OLD_LIST.id, text="New.")
    world.editor.script = [proposal(edit), unusable()]
    run = refresh(world, page(text=LONG, max_tokens=100))
    assert text_of(run) == LONG + "- New.\n"
    assert run.record.warnings == (
        NOT_SHORTENED.format(reason="the endpoint answered 500"),
        OVER_BUDGET.format(tokens=142, budget=100),
    )


def test_a_page_that_nothing_was_added_to_is_not_shortened() -> None:
    world = World().knows("New.")
    refresh(world, page(text=LONG, max_tokens=100))
    assert [request.task for request in world.editor.asked] == ["edit"]


# --- structured view --------------------------------------------------------------------------------------------------

SCHEMA = {"type": "object", "properties": {"arches": {"type": "integer"}}, "required": ["arches"]}
WITH_SCHEMA = Trigger(mode="delta", response_schema=SCHEMA)


def test_the_structured_view_is_read_out_of_the_final_text() -> None:
    world = World().knows("New.")
    world.editor.script = [append("Sixteen arches.")]
    world.structured.script = [{"arches": 16}]
    run = refresh(world, page(trigger=WITH_SCHEMA))
    assert world.structured.read == [TEXT + "- Sixteen arches.\n"]
    assert run.record.structured_output == {"arches": 16}
    assert [each.purpose for each in run.record.calls] == ["delta_edit", "structured_output"]


@pytest.mark.parametrize("mode", ["delta", "full"])
def test_without_a_structured_view_nothing_is_written(mode: str) -> None:
    world = World(RECALL, answer_from_all).knows("New.")
    world.editor.script = [append()]
    failed = MindFailed(
        "no value fits", reason="structured_output_failed", transient=False, calls=(call("structured"),)
    )
    world.structured.script = [failed]
    run = refresh(world, page(trigger=Trigger.model_validate({"mode": mode, "response_schema": SCHEMA})))
    assert type(run.result).__name__ == "StructuredOutputFailed"
    assert run.record.calls[-1].purpose == "structured"


def test_without_a_model_the_document_is_written_without_a_structured_view() -> None:
    world = World().knows("New.")
    world.editor.script = [append()]
    world.executor._structured = None
    run = refresh(world, page(trigger=WITH_SCHEMA))
    assert text_of(run) == TEXT + "- Sixteen arches.\n"
    assert (run.record.warnings, run.record.structured_output) == ((NO_EXTRACTOR,), None)


def test_an_unexpected_error_of_the_structured_view_is_a_failed_run(caplog: pytest.LogCaptureFixture) -> None:
    world = World().knows("New.")
    world.editor.script = [append()]
    world.structured.script = [ZeroDivisionError("bug")]
    run = refresh(world, page(trigger=WITH_SCHEMA))
    assert run.result == StructuredOutputFailed("ZeroDivisionError: bug")
    assert [each.purpose for each in run.record.calls] == ["delta_edit"]
    assert f"{BANK}/" in caplog.text


def test_a_text_that_stays_keeps_its_structured_view_and_costs_no_call() -> None:
    world = World().knows("New.")
    world.structured.script = [{"arches": 16}]
    first = refresh(world, page(trigger=WITH_SCHEMA))
    assert first.record.structured_output == {"arches": 16}
    again = refresh(world, page(trigger=WITH_SCHEMA, structured_schema_sha256=first.record.structured_schema_sha256))
    assert again.record.structured_output is None
    assert len(world.structured.read) == 1


def test_a_preview_reads_no_structured_view() -> None:
    world = World(RECALL, answer_from_all).knows("New.")
    run = world.executor.execute(page(trigger=Trigger(response_schema=SCHEMA)), preview=True)
    assert isinstance(run.result, Candidate)
    assert world.structured.read == []
    assert [len(each.facts) for each in run.outputs] == [1]


def test_a_removed_block_of_a_retraction_is_told_by_its_operation() -> None:
    world = World()
    gone = a_retracted_fact(world)
    run = refresh(world, covered(world, (PROSE.id, gone)))
    assert run.record.delta is not None
    assert run.record.delta.edits[0].operation == RemoveBlock(section_id=SECTION.id, block_id=PROSE.id)


def test_what_a_person_wrote_and_a_delta_extended_outlives_the_fact_it_was_extended_by() -> None:
    world = World().knows("It has sixteen arches.")
    world.editor.script = [
        lambda request: proposal(
            ReplaceItem(block_id=LIST.id, item_id=STONE.id, text="Stone, with sixteen arches."),
            facts=[request.facts[0].fact.id],
        )
    ]
    begun = mental_model(content=TEXT, answered_query=QUESTION, trigger=DELTA, covered_scope=EVERYTHING)
    written = decide_outcome(refresh(world, begun), begun)
    extended = evolve(begun, recorded(written, 3))
    assert isinstance(extended, MentalModel)
    world.memory.close(BANK, world.fact(1))
    world.editor.script = [proposal(ReplaceItem(block_id=LIST.id, item_id=STONE.id, text="Stone."))]
    run = refresh(world, extended)
    assert [request.task for request in world.editor.asked] == ["edit", "retraction"]
    assert text_of(run) == TEXT
