"""The one event that a run becomes: a row for every guard and outcome."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from domain.digest import sha256_of
from domain.document import (
    AddSection,
    AppendBlock,
    AppendItem,
    RemoveBlock,
    RemoveSection,
    RenameSection,
    ReplaceBlock,
    identified,
    ids_of,
    parse,
)
from domain.editing import ProposedEdit
from domain.memory import estimated_tokens
from domain.mental_model.events import (
    ContentPreservedNoNewFacts,
    ContentUnchanged,
    ContentWritten,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    RefreshFailedStructuredOutput,
    RefreshOutcome,
)
from domain.mental_model.outline import Piece
from domain.mental_model.record import (
    DeltaRecord,
    Edit,
    EditPass,
    FactCount,
    FactReading,
    FailureReason,
    PieceGrounds,
    RetractionRecord,
    Verdict,
)
from domain.mental_model.state import MentalModel
from domain.reflection import Mention
from domain.refresh import (
    OUTCOME_NAMES,
    Candidate,
    DeltaFailed,
    Edited,
    NothingToRead,
    RefreshRun,
    RunFailed,
    RunResult,
    StructuredOutputFailed,
    decide_outcome,
    failure_of,
    outcome_name,
)
from domain.refresh.coverage import pending_of
from domain.refresh.editing import carry_out
from domain.refresh.outcome import EMPTIED, EMPTY_CANDIDATE, GROUNDLESS, GUARDS, LOST_GROUNDING, SHRANK
from domain.refresh.present import CLEARED_MEANWHILE, REBASED
from domain.refresh.retraction import RETRACTION_FAILED
from tests.support.examples import (
    NOW,
    evidence,
    fact_id,
    failed,
    mental_model,
    preserved,
    refresh_record,
    unchanged,
    written,
)

READ = (FactCount(fact_type="world", count=2),)
RECORD = refresh_record(retrieved=READ)
EMPTY = RefreshFailedEmptyCandidate(record=RECORD)


def failure(reason: FailureReason, message: str, transient: bool) -> RefreshFailedError:
    return RefreshFailedError(failure_reason=reason, error_message=message, transient=transient, record=RECORD)


def not_applied(reason: FailureReason, message: str, transient: bool = False) -> RefreshFailedDeltaNotApplied:
    return RefreshFailedDeltaNotApplied(
        failure_reason=reason, error_message=message, transient=transient, record=RECORD
    )


def decided(result: RunResult, current: str = "", **fields: Any) -> RefreshOutcome:
    return decide_outcome(RefreshRun(RECORD, result), mental_model(content=current, **fields))


@pytest.mark.parametrize(
    ("result", "current", "outcome"),
    [
        (RunFailed("no_answer", "nothing found"), "", failure("no_answer", "nothing found", False)),
        (RunFailed("retrieval_failed", "down", True), "Stone.\n", failure("retrieval_failed", "down", True)),
        (
            StructuredOutputFailed("no value", True),
            "Stone.\n",
            RefreshFailedStructuredOutput(error_message="no value", transient=True, record=RECORD),
        ),
        (NothingToRead(), "", preserved(retrieved=READ)),
        (NothingToRead(), "Stone.\n", preserved(retrieved=READ)),
        (Candidate(""), "", EMPTY),
        (Candidate(" \u200b\n"), "Stone.\n", EMPTY),
        (Candidate("# Bridge\n\n## Arches\n"), "Stone.\n", EMPTY),
        (DeltaFailed("delta_ops_failed", "no JSON"), "Stone.\n", not_applied("delta_ops_failed", "no JSON")),
        (DeltaFailed("delta_ops_failed", "429", True), "Stone.\n", not_applied("delta_ops_failed", "429", True)),
        (Candidate("Stone.\n"), "Stone.\n", unchanged(retrieved=READ)),
        (Candidate("\n Stone."), "Stone.\n", unchanged(retrieved=READ)),
    ],
    ids=[
        "failed run without a document",
        "rs-03 failed run keeps the document",
        "no structured view of a text",
        "nothing readable without a document",
        "nothing readable keeps the document",
        "empty text where there was none",
        "rs-02 blank text never replaces a document",
        "headings alone never replace a document",
        "rs-01 edits that could not be had",
        "edits that may be had later",
        "the same text",
        "the same text but for the space around it",
    ],
)
def test_every_run_that_writes_nothing_has_its_outcome(
    result: RunResult, current: str, outcome: RefreshOutcome
) -> None:
    assert decided(result, current) == outcome


@pytest.mark.parametrize(
    ("answer", "text"),
    [("New.", "New.\n"), ("New.\n", "New.\n"), ("New.\n\n", "New.\n\n"), ("  indented", "  indented\n")],
)
def test_another_text_is_written_with_a_final_newline_and_otherwise_as_it_came(answer: str, text: str) -> None:
    outcome = decided(Candidate(answer), "Stone.\n")
    assert isinstance(outcome, ContentWritten)
    assert (outcome.text, outcome.sha256) == (text, sha256_of(text))


@pytest.mark.parametrize("current", ["", "Stone.\n"])
@pytest.mark.parametrize(
    "answer",
    [
        "No answer provided.",
        "Generating content...",
        "I cannot find any information about the bridge.",
        '{"answer": "The bridge.", "memory_ids": []}',
    ],
)
def test_rs_02_rs_10_what_is_no_document_is_never_written(answer: str, current: str) -> None:
    outcome = decided(Candidate(answer), current)
    assert isinstance(outcome, RefreshFailedError)
    assert outcome.failure_reason == "no_answer"
    assert "the present document was kept" in outcome.error_message


def test_rs_04_an_answer_that_rests_on_nothing_read_never_replaces_what_rests_on_facts() -> None:
    run = RefreshRun(refresh_record(), Candidate("The bridge is old.\n"))
    grounded = mental_model(content="Stone.\n", evidence=(evidence(),))
    assert failure_of(decide_outcome(run, grounded)) == ("no_answer", GROUNDLESS, False)
    assert isinstance(decide_outcome(run, mental_model(content="Stone.\n")), ContentWritten)
    emptied = decide_outcome(run, mental_model(content="", evidence=(evidence(),)))
    assert isinstance(emptied, ContentWritten)
    assert emptied.record.warnings == ()


def test_what_a_person_should_know_of_a_rewrite_comes_after_what_the_run_told() -> None:
    run = RefreshRun(refresh_record(retrieved=READ, warnings=("told",)), Candidate("Wood.\n"))
    outcome = decide_outcome(run, mental_model(content="Stone.\n", evidence=(evidence(),)))
    assert outcome.record.warnings == ("told", LOST_GROUNDING.format(before=1))


def test_a_rewrite_that_lost_its_grounding_says_so() -> None:
    outcome = decided(Candidate("The bridge is old.\n"), "Stone.\n", evidence=(evidence(1), evidence(2)))
    assert outcome.record.warnings == (LOST_GROUNDING.format(before=2),)


def test_a_rewrite_that_left_little_of_a_large_page_says_so() -> None:
    large = "The bridge is long. " * 150
    outcome = decided(Candidate("The bridge is old.\n"), large)
    assert outcome.record.warnings == (SHRANK.format(before=750, after=5),)
    assert decided(Candidate(large[: len(large) // 2]), large).record.warnings == ()
    assert decided(Candidate("Old.\n"), "The bridge is long. " * 20).record.warnings == ()


# --- edits ------------------------------------------------------------------------------------------------------------

PAGE = "# Bridge\n\nBegun in 1357.\n\n- Stone.\n"
DOCUMENT = parse(PAGE)
SECTION = DOCUMENT.sections[0]
PROSE, LIST = SECTION.blocks


def page(**fields: Any) -> MentalModel:
    """A page whose pieces rest on facts 1 and 2."""
    facts = {PROSE.id: (fact_id(1),), LIST.items[0].id: (fact_id(2),)}
    outline = tuple(
        Piece(id=piece, version=2, written_at=NOW, facts=facts.get(piece, ())) for piece in ids_of(DOCUMENT)
    )
    return mental_model(content=PAGE, outline=outline, **fields)


def edited(*proposed: ProposedEdit, edit_pass: EditPass = "edit", text: str = PAGE) -> RefreshRun:
    """A delta that carried out these edits on the page."""
    carried = carry_out(parse(text), proposed, edit_pass)
    delta = DeltaRecord(baseline_sha256=sha256_of(text), edits=carried.edits)
    result = Edited(carried.document.render(), ids_of(carried.document))
    return RefreshRun(refresh_record(requested_mode="delta", effective_mode="delta", delta=delta), result)


APPENDED = ProposedEdit(AppendItem(block_id=LIST.id, text="Sixteen arches."), (fact_id(3),))
REPLACED = ProposedEdit(
    ReplaceBlock(section_id=SECTION.id, block_id=PROSE.id, text="Begun in 1357 and finished in 1402."), (fact_id(4),)
)
NOTHING_LEFT = [
    ProposedEdit(RemoveBlock(section_id=SECTION.id, block_id=block.id), (fact_id(1),)) for block in SECTION.blocks
]


def test_edits_that_changed_something_are_written_with_the_facts_they_rest_on() -> None:
    outcome = decide_outcome(edited(APPENDED, REPLACED), page())
    assert isinstance(outcome, ContentWritten)
    assert outcome.text == "# Bridge\n\nBegun in 1357 and finished in 1402.\n\n- Stone.\n- Sixteen arches.\n"
    document = identified(outcome.text, outcome.ids)
    prose, listed = document.sections[0].blocks
    assert (prose.id, listed.id, listed.items[0].id) == (PROSE.id, LIST.id, LIST.items[0].id)
    assert set(outcome.pieces) == {
        PieceGrounds(id=listed.items[1].id, facts=(fact_id(3),)),
        PieceGrounds(id=prose.id, facts=(fact_id(1), fact_id(4))),
    }


def test_do_06_edits_that_came_to_the_same_text_are_unchanged() -> None:
    same = ProposedEdit(ReplaceBlock(section_id=SECTION.id, block_id=PROSE.id, text="Begun in 1357."), (fact_id(1),))
    assert isinstance(decide_outcome(edited(), page()), ContentUnchanged)
    assert isinstance(decide_outcome(edited(same), page()), ContentUnchanged)


def test_edits_that_changed_only_the_space_around_the_text_are_written() -> None:
    run = edited()
    assert isinstance(
        decide_outcome(RefreshRun(run.record, Edited(PAGE + "\n", ids_of(DOCUMENT))), page()), ContentWritten
    )


@pytest.mark.parametrize("edit_pass", ["edit", "compaction"])
def test_edits_never_leave_a_page_of_headings(edit_pass: EditPass) -> None:
    outcome = decide_outcome(edited(*NOTHING_LEFT, edit_pass=edit_pass), page())
    assert failure_of(outcome) == ("delta_not_applied", EMPTIED, False)


def test_edits_may_leave_headings_of_what_was_only_headings() -> None:
    text = "# Bridge\n\n## Arches\n"
    arches = parse(text).sections[1]
    run = edited(ProposedEdit(RemoveSection(section_id=arches.id), (fact_id(1),)), text=text)
    outcome = decide_outcome(run, mental_model(content=text))
    assert isinstance(outcome, ContentWritten)
    assert outcome.text.strip() == "# Bridge"


@pytest.mark.parametrize("edit_pass", ["blame", "retraction"])
def test_taking_back_what_is_no_longer_true_may_leave_a_page_of_headings(edit_pass: EditPass) -> None:
    outcome = decide_outcome(edited(*NOTHING_LEFT, edit_pass=edit_pass), page())
    assert isinstance(outcome, ContentWritten)
    assert outcome.text.strip() == "# Bridge"


def test_edits_for_a_text_that_changed_meanwhile_are_carried_out_on_the_present_one() -> None:
    by_hand = PAGE + "\nWritten meanwhile.\n"
    present = parse(by_hand, DOCUMENT)
    outline = tuple(Piece(id=piece, version=3, written_at=NOW) for piece in ids_of(present))
    outcome = decide_outcome(edited(APPENDED), mental_model(content=by_hand, outline=outline))
    assert isinstance(outcome, ContentWritten)
    assert outcome.text == "# Bridge\n\nBegun in 1357.\n\n- Stone.\n- Sixteen arches.\n\nWritten meanwhile.\n"
    assert outcome.record.delta is not None
    assert outcome.record.delta.baseline_sha256 == sha256_of(by_hand)
    assert outcome.record.warnings == ()


def test_edits_for_pieces_that_are_gone_change_nothing() -> None:
    outcome = decide_outcome(edited(APPENDED), mental_model(content="By hand.\n"))
    assert isinstance(outcome, RefreshFailedDeltaNotApplied)
    assert outcome.failure_reason == "delta_ops_all_skipped"
    assert [edit.skipped for edit in edits_of(outcome)] == [f"unknown block_id: {LIST.id}"]


ADDED = ProposedEdit(AddSection(heading="News", blocks=("Closed today.",)), (fact_id(3),))


@pytest.mark.parametrize("run", [(APPENDED,), (ADDED,), ()], ids=["an edit", "one that needs no text", "no edits"])
def test_a_document_that_was_cleared_meanwhile_is_not_begun_with_edits_for_the_old_one(
    run: tuple[ProposedEdit, ...],
) -> None:
    """It will be written anew from all facts, not only from those of one window."""
    outcome = decide_outcome(edited(*run), mental_model(content=""))
    assert failure_of(outcome) == ("delta_not_applied", CLEARED_MEANWHILE, True)


def with_readings(run: RefreshRun, *readings: FactReading, unread: tuple[int, ...] = (), **changes: Any) -> RefreshRun:
    assert run.record.delta is not None
    record = run.record.model_copy(
        update={
            "delta": run.record.delta.model_copy(update={"readings": readings}),
            "evidence": tuple(evidence(each.position) for each in readings if each.verdict == "integrated"),
            "pending": (*pending_of(readings), *unread),
            "unread": len(unread),
            **changes,
        }
    )
    return RefreshRun(record, run.result)


SHORTER = ProposedEdit(RenameSection(section_id=SECTION.id, new_heading="Bridge"), (fact_id(4),))


def with_sizes(run: RefreshRun, more: tuple[Edit, ...]) -> RefreshRun:
    """A run that shortened the page too."""
    delta = run.record.delta
    assert delta is not None
    sized = delta.model_copy(update={"edits": (*delta.edits, *more), "document_tokens": 9999, "document_budget": 100})
    return RefreshRun(run.record.model_copy(update={"delta": sized}), run.result)


def read(number: int, verdict: Verdict) -> FactReading:
    return FactReading(fact_id=fact_id(number), version=1, position=number, verdict=verdict)


def rewritten_by_hand(text: str) -> MentalModel:
    """The page with another text that somebody wrote meanwhile."""
    present = parse(text, DOCUMENT)
    return mental_model(
        content=text, outline=tuple(Piece(id=each, version=3, written_at=NOW) for each in ids_of(present))
    )


def test_facts_whose_edits_do_not_fit_the_present_text_stay_pending_and_are_no_evidence() -> None:
    """The paragraph was rewritten by hand meanwhile, the list was not."""
    run = with_readings(
        with_sizes(edited(APPENDED, REPLACED), carry_out(DOCUMENT, [SHORTER], "compaction").edits),
        read(3, "integrated"),
        read(4, "integrated"),
        read(5, "irrelevant"),
        unread=(9,),
    )
    outcome = decide_outcome(run, rewritten_by_hand(PAGE.replace("Begun in 1357.", "By hand.")))
    assert isinstance(outcome, ContentWritten)
    assert outcome.text == "# Bridge\n\nBy hand.\n\n- Stone.\n- Sixteen arches.\n"
    assert outcome.record.delta is not None
    assert outcome.record.delta.readings == (read(3, "integrated"), read(4, "pending"), read(5, "irrelevant"))
    assert (outcome.record.pending, outcome.record.unread) == ((4, 9), 1)
    assert [each.position for each in outcome.record.evidence] == [3]
    assert outcome.record.delta.document_tokens == estimated_tokens(outcome.text)
    assert REBASED.format(skipped=1, count=3) in outcome.record.warnings


REMOVED = ProposedEdit(RemoveBlock(section_id=SECTION.id, block_id=PROSE.id), (fact_id(1),))


@pytest.mark.parametrize(
    ("present", "before", "after"),
    [
        (PAGE + "\nMore.\n", True, True),
        (PAGE.replace("- Stone.", "Stone."), True, True),
        (PAGE.replace("1357", "1356"), True, False),
        (PAGE.replace("1357", "1356"), False, False),
    ],
    ids=["nothing is lost", "only another edit is lost", "the removal is lost", "it was not all taken back before"],
)
def test_what_could_not_be_taken_back_from_the_present_text_is_tried_again(
    present: str, before: bool, after: bool
) -> None:
    blamed = edited(REMOVED, edit_pass="blame")
    assert blamed.record.delta is not None
    both = carry_out(parse(PAGE), [REMOVED, APPENDED], "edit")
    edits = (blamed.record.delta.edits[0], both.edits[1])
    record = blamed.record.model_copy(
        update={
            "delta": blamed.record.delta.model_copy(update={"edits": edits}),
            "retraction": RetractionRecord(fact_ids=(fact_id(1),), fact_texts=("Begun.",), applied=before),
        }
    )
    run = RefreshRun(record, Edited(both.document.render(), ids_of(both.document)))
    outcome = decide_outcome(run, rewritten_by_hand(present))
    assert isinstance(outcome, ContentWritten)
    assert outcome.record.retraction is not None
    assert outcome.record.retraction.applied is after
    assert (RETRACTION_FAILED in outcome.record.warnings) is (before and not after)


def edits_of(outcome: RefreshOutcome) -> tuple[Edit, ...]:
    assert outcome.record.delta is not None
    return outcome.record.delta.edits


def test_of_edits_some_of_which_were_skipped_the_others_are_written() -> None:
    wrong = ProposedEdit(AppendBlock(section_id="no-such-section", text="Lost."), (fact_id(5),))
    outcome = decide_outcome(edited(wrong, APPENDED), page())
    assert isinstance(outcome, ContentWritten)
    assert [edit.skipped for edit in edits_of(outcome)] == ["unknown section_id: no-such-section", None]


# --- grounds of a rewrite ---------------------------------------------------------------------------------------------


def test_a_rewrite_keeps_the_ids_of_what_it_kept_and_names_the_facts_of_what_is_new() -> None:
    answer = "# Bridge\n\nBegun in 1357.\n\n- Stone.\n- Sixteen arches.\n"
    mentions = (Mention(offset=answer.index("arches.") + 7, fact_id=str(fact_id(3))),)
    outcome = decide_outcome(RefreshRun(RECORD, Candidate(answer, mentions)), page())
    assert isinstance(outcome, ContentWritten)
    document = identified(outcome.text, outcome.ids)
    prose, listed = document.sections[0].blocks
    assert (prose.id, listed.items[0].id) == (PROSE.id, LIST.items[0].id)
    assert PieceGrounds(id=listed.items[1].id, facts=(fact_id(3),)) in outcome.pieces
    assert prose.id not in {piece.id for piece in outcome.pieces}


def test_a_rewrite_keeps_ids_that_do_not_come_from_the_text() -> None:
    """As of a block that an edit gave another text."""
    ids = tuple("b0000" if piece == PROSE.id else piece for piece in ids_of(DOCUMENT))
    outline = tuple(Piece(id=piece, version=2, written_at=NOW) for piece in ids)
    outcome = decided(Candidate(PAGE + "- Sixteen arches.\n"), PAGE, outline=outline)
    assert isinstance(outcome, ContentWritten)
    assert outcome.ids[:2] == ids[:2]


# --- every run --------------------------------------------------------------------------------------------------------

RESULTS: st.SearchStrategy[RunResult] = st.one_of(
    st.just(NothingToRead()),
    st.text().map(Candidate),
    st.builds(RunFailed, st.sampled_from(["no_answer", "retrieval_failed"]), st.text(), st.booleans()),
    st.builds(DeltaFailed, st.sampled_from(["delta_ops_failed", "delta_ops_all_skipped"]), st.text(), st.booleans()),
    st.builds(StructuredOutputFailed, st.text(), st.booleans()),
)


@for_all(RESULTS, st.text())
def test_any_run_becomes_exactly_one_outcome_that_loses_nothing(result: RunResult, current: str) -> None:
    outcome = decided(result, current)
    assert (failure_of(outcome) is None) == outcome_name(outcome).startswith("content_")
    if isinstance(outcome, ContentWritten):
        assert isinstance(result, Candidate)
        assert outcome.text in (result.markdown, result.markdown + "\n")
        assert outcome.sha256 == hashlib.sha256(outcome.text.encode()).hexdigest()
        assert ids_of(identified(outcome.text, outcome.ids)) == outcome.ids
    else:
        assert outcome.record == RECORD


@for_all(st.text())
def test_writing_what_was_written_is_unchanged(markdown: str) -> None:
    outcome = decided(Candidate(markdown))
    if isinstance(outcome, ContentWritten):
        assert isinstance(decided(Candidate(markdown), outcome.text), ContentUnchanged)


def test_guards_are_asked_in_this_order() -> None:
    assert [guard.__name__ for guard in GUARDS] == [
        "failed_run",
        "no_structured_output",
        "no_sources",
        "empty_candidate",
        "no_document",
        "groundless",
        "delta_not_applied",
        "same_text",
    ]


@pytest.mark.parametrize(
    ("outcome", "name", "expected"),
    [
        (written(), "content_written", None),
        (unchanged(), "content_unchanged", None),
        (preserved(), "content_preserved_no_new_facts", None),
        (EMPTY, "refresh_failed_empty_candidate", ("empty_candidate", EMPTY_CANDIDATE, False)),
        (
            not_applied("delta_ops_all_skipped", "all skipped"),
            "refresh_failed_delta_not_applied",
            ("delta_ops_all_skipped", "all skipped", False),
        ),
        (
            RefreshFailedStructuredOutput(error_message="no value", transient=True, record=RECORD),
            "refresh_failed_structured_output",
            ("structured_output_failed", "no value", True),
        ),
        (
            failed(transient=True),
            "refresh_failed_error",
            ("unexpected_error", "the endpoint answered 500", True),
        ),
    ],
)
def test_every_outcome_has_its_public_name_and_its_failure(
    outcome: RefreshOutcome, name: str, expected: tuple[str, str, bool] | None
) -> None:
    assert (outcome_name(outcome), failure_of(outcome)) == (name, expected)


def test_no_outcome_is_without_a_name() -> None:
    assert set(OUTCOME_NAMES) == {
        ContentWritten,
        ContentUnchanged,
        ContentPreservedNoNewFacts,
        RefreshFailedEmptyCandidate,
        RefreshFailedDeltaNotApplied,
        RefreshFailedStructuredOutput,
        RefreshFailedError,
    }
    assert len(set(OUTCOME_NAMES.values())) == len(OUTCOME_NAMES)
