"""Consolidation: facts that wait are made into observations, batch by batch, each on record when it is done.

What a crash, a cancel or a failure leaves undone still waits. Sources: spec of the system of reference, "Observations /
consolidation".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from datetime import datetime

from application.command_handler import CommandHandler, Done, require_bank
from application.consolidation_course import ConsolidationCourse, Suspect
from application.observation_drafts import ObservationDrafts
from application.ports import (
    Consolidator,
    EmbeddedChanges,
    MemoryMovedOn,
    MindFailed,
    ObservationStore,
    Transaction,
)
from domain.bank_config import BankConfig
from domain.consolidation import Batch, Tags, batches_of, resolved_scopes
from domain.event import Context
from domain.memory import Fact, ObservationScopes
from domain.operation import ConsolidationDone
from domain.storable import storable
from domain.usage import ModelCall

ATTEMPTS_OF_A_FACT = 3
"""How often a mind is asked about a fact alone before it is set aside (the system of reference)."""
MOST_FRUITLESS = 3
"""Rounds in a row that come to nothing because memory changed while the mind thought; then the rest waits for another
time."""
MOST_AT_ONCE = 8
"""Batches that one operation works on at a time, whatever its bank says: each needs a connection now and then."""
MOST_SUSPECTS = 3
"""Facts, or batches in a row, that fail without a reply, and none succeeds, until the mind is taken to be at fault."""
MOST_TAKEN_IN = 1000
"""Facts, beside those that waited when it began, that one consolidation takes in: in a bank that is written to without
pause it would never end. What is left is for the next one."""
LONGEST_FAILURE = 1000


@dataclass(frozen=True)
class Assignment:
    """A consolidation to do: of `scopes` only, or of all that waits. `require_wanted` raises a refusal when it is not
    to go on; with a transaction, as that transaction sees it. `tokens` is what it may spend; the batches under way are
    brought to their end. None is no limit."""

    bank_id: str
    scopes: Sequence[Tags] | None
    asked_at: datetime
    context: Callable[[], Context]
    require_wanted: Callable[[Transaction | None], object]
    tokens: int | None = None

    def is_spent(self, course: ConsolidationCourse) -> bool:
        return self.tokens is not None and course.tokens >= self.tokens


class Consolidation:
    """`config_of` gives how a bank is configured."""

    def __init__(
        self,
        handler: CommandHandler,
        observations: ObservationStore,
        drafts: ObservationDrafts,
        mind: Consolidator,
        config_of: Callable[[str], BankConfig],
    ) -> None:
        self._handler = handler
        self._observations = observations
        self._drafts = drafts
        self._mind = mind
        self._config_of = config_of

    def run(self, assignment: Assignment, tell: Callable[[Sequence[ModelCall]], object]) -> ConsolidationDone:
        """Consolidates until nothing waits, in rounds: what is written meanwhile is taken in, so long as it is not too
        much. `tell` is told what was paid for, however it ends. Raises MindFailed, with all that was paid for, when the
        mind cannot be asked."""
        bank_id, scopes = assignment.bank_id, assignment.scopes
        course = ConsolidationCourse(bank_id, scopes, self._observations.count_pending(bank_id, scopes))
        course.show()
        try:
            self._rounds(assignment, course)
            for stumble in course.stumbles:
                if assignment.is_spent(course):
                    break
                self._in_parts(assignment, course, stumble.batch, stumble)
            self._conclude(assignment, course)
        except MindFailed as failed:
            raise MindFailed(
                str(failed),
                reason=failed.reason,
                transient=failed.transient,
                calls=tuple(course.calls),
                raw=failed.raw,
                resume_at=failed.resume_at,
            ) from failed
        finally:
            tell(course.calls)
        return course.result

    def _rounds(self, assignment: Assignment, course: ConsolidationCourse) -> None:
        fruitless = 0
        enough = course.total + MOST_TAKEN_IN
        while fruitless < MOST_FRUITLESS and course.settled < enough and not assignment.is_spent(course):
            config = self._config_of(assignment.bank_id)
            most = config.consolidation_max_memories_per_round
            facts = self._observations.pending(assignment.bank_id, most, assignment.scopes, course.left_alone)
            if not facts:
                return
            of_bank = config.default_observation_scopes
            batches = batches_of(facts, _scopes_of(of_bank), config.consolidation_llm_batch_size)
            before = course.settled
            self._round(assignment, course, config, batches)
            fruitless = fruitless + 1 if course.settled == before else 0

    def _round(
        self, assignment: Assignment, course: ConsolidationCourse, config: BankConfig, batches: Sequence[Batch]
    ) -> None:
        """All batches, some at the same time. The first error ends the round when those under way are done."""
        errors: list[BaseException] = []

        def work(batch: Batch) -> None:
            with course.alone_in(batch.scopes):
                if errors or assignment.is_spent(course):
                    return
                try:
                    self._batch(assignment, course, config, batch)
                except BaseException as error:  # noqa: BLE001 - raised again below, for all
                    errors.append(error)

        at_once = min(config.consolidation_llm_parallelism, MOST_AT_ONCE, len(batches))
        with ThreadPoolExecutor(at_once, "consolidation") as pool:
            for done in [pool.submit(copy_context().run, work, batch) for batch in batches]:
                done.result()
        if errors:
            raise errors[0]

    def _batch(
        self,
        assignment: Assignment,
        course: ConsolidationCourse,
        config: BankConfig,
        batch: Batch,
        attempt: int = 1,
        stumble: Suspect | None = None,
    ) -> None:
        """One batch, or a part of one that failed before. What is no longer as it was read is read again in the next
        round."""
        assignment.require_wanted(None)
        try:
            drafted = self._drafts.make(assignment.bank_id, batch, config, assignment.asked_at, course.paid)
            self._write(assignment, course, batch, drafted)
        except MemoryMovedOn:
            return
        except MindFailed as failed:
            course.paid(failed.calls)
            self._failed(assignment, course, batch, failed, attempt, stumble)

    def _failed(
        self,
        assignment: Assignment,
        course: ConsolidationCourse,
        batch: Batch,
        failed: MindFailed,
        attempt: int,
        stumble: Suspect | None,
    ) -> None:
        """Of a batch that fails each half is tried, down to the facts that are at fault; a failure without a reply may
        be no fault of the fact. One that may pass is looked into when all others are done."""
        if failed.transient and not failed.on_request:
            raise failed
        if failed.transient and stumble is None:
            if course.stumbled(batch, failed) >= MOST_SUSPECTS:
                raise failed
        elif len(batch.facts) > 1:
            self._in_parts(assignment, course, batch, stumble)
        elif (failed.transient or _replied(failed)) and attempt < ATTEMPTS_OF_A_FACT and not self._mind.deterministic:
            self._batch(assignment, course, self._config_of(assignment.bank_id), batch, attempt + 1, stumble)
        elif _replied(failed) and not failed.transient:
            self._set_aside(assignment, course, batch.facts[0], str(failed))
        else:
            suspect = course.suspects_too(batch, failed, stumble.answered if stumble else 0)
            if len(course.suspects) >= MOST_SUSPECTS and not course.proves(suspect):
                raise failed

    def _in_parts(
        self, assignment: Assignment, course: ConsolidationCourse, batch: Batch, stumble: Suspect | None
    ) -> None:
        config = self._config_of(assignment.bank_id)
        for part in batch.halves() if len(batch.facts) > 1 else (batch,):
            self._batch(assignment, course, config, part, stumble=stumble)

    def _conclude(self, assignment: Assignment, course: ConsolidationCourse) -> None:
        """Facts that failed without a reply, where others did not, are at fault themselves."""
        proved = [suspect for suspect in course.suspects if course.proves(suspect)]
        unproved = [suspect.failed for suspect in course.suspects if not course.proves(suspect)]
        for suspect in proved:
            self._set_aside(assignment, course, suspect.batch.facts[0], str(suspect.failed))
        if unproved:
            raise unproved[0]

    def _write(
        self, assignment: Assignment, course: ConsolidationCourse, batch: Batch, drafted: Sequence[EmbeddedChanges]
    ) -> None:
        context = assignment.context()

        def write(tx: Transaction, _results: tuple[Done, ...]) -> None:
            assignment.require_wanted(tx)
            self._observations.write(assignment.bank_id, batch.facts, drafted, context.now, tx)

        self._handler.execute(context, require_bank(assignment.bank_id), within=write)
        course.wrote(batch.facts, drafted)

    def _set_aside(self, assignment: Assignment, course: ConsolidationCourse, fact: Fact, failure: str) -> None:
        context = assignment.context()
        count: list[int] = []

        def set_aside(tx: Transaction, _results: tuple[Done, ...]) -> None:
            assignment.require_wanted(tx)
            told = storable(failure)[:LONGEST_FAILURE]
            count.append(self._observations.set_aside(assignment.bank_id, [fact], told, context.now, tx))

        self._handler.execute(context, require_bank(assignment.bank_id), within=set_aside)
        course.set_aside(count[-1])


def _replied(failed: MindFailed) -> bool:
    """Whether a model said anything; a request that was turned away is a call that cost nothing."""
    return bool(failed.raw) or any(call.input_tokens or call.output_tokens for call in failed.calls)


def _scopes_of(of_bank: ObservationScopes | None) -> Callable[[Fact], frozenset[Tags]]:
    return lambda fact: resolved_scopes(fact.tags, fact.observation_scopes, of_bank)
