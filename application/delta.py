"""A delta refresh: the facts a document has not read, worked in by edits; what no longer stands, taken out before.

Nothing is written here. The order of the passes: retraction by blame, retraction by asking, edits page by page, and a
shortening when the document is over its budget. Sources: spec of the system of reference, refresh pipeline, phases 4
and 5; it reads the best of a window, this reads all of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal

from application.current_operation import check_deadline, report
from application.delta_observations import SaidAgain, ToConsolidate, leave_out_told, unmade_of
from application.delta_run import DeltaRun, older
from application.ports import DocumentEditor, MemoryStore, MindFailed, RetainInbox
from application.relevance import RelevanceCheck
from domain.document import ids_of
from domain.editing import Correction, EditRequest, NewFact, RetractedFact, Task
from domain.memory import Fact, estimated_tokens
from domain.mental_model.evidence import evidence_of
from domain.mental_model.record import Edit, EditPass, RetractionRecord
from domain.mental_model.state import MentalModel
from domain.persona import NOBODY, Persona
from domain.refresh.coverage import may_wait, pages, reading, readings, unread_query
from domain.refresh.editing import CarriedOut, all_skipped, carry_out, not_done
from domain.refresh.present import document_of
from domain.refresh.prompt_room import facts_room, parts_of
from domain.refresh.representation import represented
from domain.refresh.retraction import (
    BROKEN_LINKS,
    OUT_OF_SCOPE,
    RETRACTION_FAILED,
    Retraction,
    grounds_of,
    left_to_ask,
    removals,
    retraction_of,
)
from domain.refresh.run import DeltaFailed, Edited
from domain.storable import storable

MOST_PAGES = 20
"""Pages of facts that one refresh reads; what is left is pending, and the document stale by it."""

TOO_MUCH_NEW = "there is too much new to see it beside them"
NOTHING_NEW = "nothing new is readable in the scope; the document was left as it is"
SET_ASIDE = "{count} new fact(s) seem to have nothing to do with the document; the next refresh that reads, reads them"
SOME_SKIPPED = "{skipped} of {count} operations were not applied; the facts they rest on stay pending"
UNREAD = "{count} facts of the window are left for the next refresh"
OVER_BUDGET = "the document has {tokens} tokens, over its budget of {budget}"
NOT_SHORTENED = "the document could not be shortened: {reason}"


class DeltaRefresh:
    """Runs deltas. Without a `relevance` check every new fact is read. `persona_of` tells who writes for a bank."""

    def __init__(
        self,
        memory: MemoryStore,
        inbox: RetainInbox,
        editor: DocumentEditor,
        relevance: RelevanceCheck | None,
        persona_of: Callable[[str], Persona] = lambda _bank_id: NOBODY,
        to_consolidate: ToConsolidate = lambda _bank_id, _fact_ids: 0,
    ) -> None:
        self._memory = memory
        self._said_again = SaidAgain(inbox, to_consolidate)
        self._editor = editor
        self._relevance = relevance
        self._persona_of = persona_of

    def begin(self, model: MentalModel, upto: int, asked_at: datetime) -> DeltaRun:
        """Reads all that is new to the document, as of a position."""
        persona = self._persona_of(model.bank_id).asked_in(model.scope)
        run = DeltaRun(model, upto, asked_at, document_of(model), persona)
        run.facts = self._memory.unread(unread_query(model, upto))
        return run

    def finish(self, run: DeltaRun) -> None:
        """Takes back, works in, shortens. A mind that fails is a result; what else goes wrong is raised."""
        retraction = self._standing(run)
        self._take_back(run, retraction)
        leave_out_told(self._memory, run, retraction)
        if not run.facts:
            run.skipped = "no_new_facts"
            run.warnings.append(NOTHING_NEW)
        elif not self._concerned(run, retraction):
            run.skipped = "no_relevant_facts"
            run.read.extend(reading(fact, "set_aside") for fact in run.facts)
            run.warnings.append(SET_ASIDE.format(count=len(run.facts)))
        else:
            self._work_in(run, retraction)
            if isinstance(run.result, DeltaFailed):
                return
            self._shorten(run)
        if run.skipped is None or run.applied("blame", "retraction"):
            run.result = Edited(run.document.render(), ids_of(run.document))

    # --- taking back --------------------------------------------------------------------------------------------------

    def _standing(self, run: DeltaRun) -> Retraction:
        cited = run.model.evidence
        if not cited:
            return Retraction()
        standings = self._memory.standings(run.model.bank_id, cited, run.upto)
        run.unmade = unmade_of(standings)
        return retraction_of(standings, run.model.scope)

    def _take_back(self, run: DeltaRun, retraction: Retraction) -> None:
        if retraction.out_of_scope:
            run.warnings.append(OUT_OF_SCOPE)
        if retraction.broken:
            run.warnings.append(BROKEN_LINKS.format(count=len(retraction.broken)))
        if not (retraction.gone or retraction.broken or retraction.relinked):
            return
        deferred = self._said_again.why_to_wait(run) if retraction.gone else None
        if deferred:
            run.warnings.append(deferred)
        run.retraction = RetractionRecord(
            fact_ids=tuple(each.fact_id for each in retraction.gone),
            fact_texts=tuple(each.text for each in retraction.gone),
            applied=bool(retraction.gone) and not deferred and self._unsay(run, retraction),
            deferred_reason=deferred,
            broken=retraction.broken,
            relinked=retraction.relinked,
        )

    def _unsay(self, run: DeltaRun, retraction: Retraction) -> bool:
        """Whether all that rested on the facts gone was dealt with."""
        grounds = grounds_of(run.model.outline)
        cited = {citation.fact_id for citation in run.model.evidence}
        gone = {each.fact_id for each in retraction.gone}
        to_ask = left_to_ask(run.document, grounds, retraction.gone, cited)
        by_blame = carry_out(run.document, removals(run.document, grounds, gone), "blame")
        run.take(by_blame)
        skipped = {fact_id for edit in by_blame.edits if edit.skipped is not None for fact_id in edit.facts}
        to_ask = tuple(each for each in retraction.gone if each in to_ask or each.fact_id in skipped)
        fault = self._ask_to_unsay(run, to_ask) if to_ask else None
        if fault is not None:
            run.warnings.append(f"{RETRACTION_FAILED}: {storable(fault)}")
        return fault is None

    def _ask_to_unsay(self, run: DeltaRun, retracted: Sequence[RetractedFact]) -> str | None:
        """Has what the facts say taken out; returns why that failed. What the new facts say again is to stay, so all of
        them must be seen with each request."""
        report("retracting")
        room = facts_room(run.document) // 2
        if len(pages(run.facts, room)) > 1:
            return TOO_MUCH_NEW
        standing = tuple(NewFact(fact) for fact in run.facts)
        edits: list[Edit] = []
        try:
            for page in pages(retracted, room):
                edits += self._part_by_part(run, "retraction", facts=standing, retracted=page)
        except MindFailed as failed:
            return str(failed)
        return not_done(edits)

    # --- working in ---------------------------------------------------------------------------------------------------

    def _concerned(self, run: DeltaRun, retraction: Retraction) -> bool:
        """Whether any of the new facts may change the document. In doubt, yes."""
        if self._relevance is None or not may_wait(run.facts):
            return True
        if any(fact.id in retraction.changed for fact in run.facts):
            return True
        report("checking", total=len(run.facts))
        model = run.model
        found = self._relevance.check(model.bank_id, model.name, model.source_query, run.document, run.facts)
        run.calls.extend(found.calls)
        return found.near

    def _work_in(self, run: DeltaRun, retraction: Retraction) -> None:
        shown = represented(run.facts, unless=retraction.changed)
        divided = pages(shown.read, facts_room(run.document))
        for number, page in enumerate(divided[:MOST_PAGES]):
            report("editing", number, min(len(divided), MOST_PAGES), {"facts": len(page)})
            facts = tuple(NewFact(fact, retraction.changed.get(fact.id)) for fact in page)
            try:
                edits = self._part_by_part(run, "edit", facts=facts)
            except MindFailed as failed:
                run.result = DeltaFailed(failed.reason, storable(str(failed)), failed.transient, failed.resume_at)
                return
            run.read.extend(shown.with_those(readings(page, edits)))
        unread = shown.with_facts(fact for page in divided[MOST_PAGES:] for fact in page)
        self._conclude(run, shown.read, unread, retraction)

    def _conclude(self, run: DeltaRun, read: Sequence[Fact], unread: Sequence[Fact], retraction: Retraction) -> None:
        edits = [edit for edit in run.edits if edit.edit_pass == "edit"]
        skipped = [edit for edit in edits if edit.skipped is not None]
        if skipped and len(skipped) == len(edits):
            unreadable = all(edit.operation is None for edit in edits)
            reason: Literal["delta_ops_failed", "delta_ops_all_skipped"] = (
                "delta_ops_failed" if unreadable else "delta_ops_all_skipped"
            )
            run.result = DeltaFailed(reason, storable(all_skipped(edits)))
            return
        if skipped:
            run.warnings.append(SOME_SKIPPED.format(skipped=len(skipped), count=len(edits)))
        if unread:
            run.unread = tuple(fact.position for fact in unread)
            run.warnings.append(UNREAD.format(count=len(unread)))
        integrated = {each.fact_id for each in run.read if each.verdict == "integrated"}
        # one that is pending is still shown with its text before, which the old citation has
        seen_again = {
            each.fact_id for each in run.read if each.verdict != "pending" and each.fact_id in retraction.changed
        }
        run.evidence = tuple(evidence_of(fact) for fact in read if fact.id in integrated | seen_again)

    # --- shortening ---------------------------------------------------------------------------------------------------

    def _shorten(self, run: DeltaRun) -> None:
        budget = run.model.max_tokens
        written = {piece for edit in run.applied("edit") for piece in edit.wrote}
        if run.applied("edit") and estimated_tokens(run.document.render()) > budget:
            report("shortening")
            try:
                request = replace(self._request(run, "compaction"), grounds=older(run.model, written))
                run.take(self._asked(run, request, "compaction", protected=written))
            except MindFailed as failed:
                run.warnings.append(NOT_SHORTENED.format(reason=storable(str(failed))))
        tokens = estimated_tokens(run.document.render())
        run.sizes = tokens, budget
        if tokens > budget:
            run.warnings.append(OVER_BUDGET.format(tokens=tokens, budget=budget))

    # --- asking -------------------------------------------------------------------------------------------------------

    def _part_by_part(self, run: DeltaRun, task: Literal["edit", "retraction"], **told: Any) -> list[Edit]:
        """Asks, and carries out what is proposed; a document too large for one prompt is gone through in parts."""
        edits: list[Edit] = []
        parts = parts_of(run.document)
        for number, shown in enumerate(parts, start=1):
            request = replace(self._request(run, task), shown=shown, last_part=number == len(parts), **told)
            carried = self._asked(run, request, task)
            run.take(carried)
            edits.extend(carried.edits)
        return edits

    def _request(self, run: DeltaRun, task: Task) -> EditRequest:
        model = run.model
        return EditRequest(
            task=task,
            name=model.name,
            source_query=model.source_query,
            document=run.document,
            max_tokens=model.max_tokens,
            document_tokens=estimated_tokens(run.document.render()),
            asked_at=run.asked_at,
            persona=run.persona,
        )

    def _asked(
        self, run: DeltaRun, request: EditRequest, edit_pass: EditPass, protected: Collection[str] = ()
    ) -> CarriedOut:
        """The edits that an editor proposes, carried out. What cannot be done it is asked to mend once; the better of
        both replies counts, the second when they are as good. Raises MindFailed."""
        first = self._proposed(run, request, edit_pass, protected)
        if not first.problems or self._editor.deterministic:
            return first
        mended = replace(request, correction=Correction(run.replies[-1], first.problems))
        second = self._proposed(run, mended, edit_pass, protected)
        return second if len(second.applied) >= len(first.applied) else first

    def _proposed(
        self, run: DeltaRun, request: EditRequest, edit_pass: EditPass, protected: Collection[str]
    ) -> CarriedOut:
        run.asked = True
        try:
            check_deadline()
            proposal = self._editor.propose(request)
        except MindFailed as failed:
            run.calls.extend(failed.calls)
            run.replies.append(failed.raw)
            raise
        run.calls.extend(proposal.calls)
        run.replies.append(proposal.raw)
        had = {identity for edit in run.edits for identity in edit.removed}
        return carry_out(
            run.document,
            proposal.edits,
            edit_pass,
            refused=proposal.refused,
            protected=protected,
            reserved=had,
        )
