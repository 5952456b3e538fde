"""A consolidation in its course: what it made so far, what it left alone, and what it cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from threading import Lock
from uuid import UUID

from application.current_operation import report
from application.ports import EmbeddedChanges, MindFailed
from domain.consolidation import Batch, Tags
from domain.memory import Fact
from domain.operation import ConsolidationDone
from domain.usage import ModelCall

CONSOLIDATING = "consolidating"


@dataclass(frozen=True)
class Suspect:
    """Facts that failed for what they say, or because the model cannot be asked at all. `answered` is how often it had
    answered before: another answer since tells that it can."""

    batch: Batch
    failed: MindFailed
    answered: int


@dataclass
class ConsolidationCourse:
    """Safe to share between threads. `total` is how many facts waited when it began; more may come meanwhile."""

    bank_id: str
    scopes: Sequence[Tags] | None
    total: int
    calls: list[ModelCall] = field(default_factory=list)
    answered: int = 0
    """How often the mind answered something of use, or at least something."""
    stumbles: list[Suspect] = field(default_factory=list)
    """Batches to be asked about again, in parts."""
    suspects: list[Suspect] = field(default_factory=list)
    """Single facts that are at fault if others are not."""
    _in_a_row: int = 0
    _done: Counter[str] = field(default_factory=Counter)
    _left_alone: set[UUID] = field(default_factory=set)
    _scopes: dict[Tags, Lock] = field(default_factory=dict)
    _shared: Lock = field(default_factory=Lock)

    @property
    def result(self) -> ConsolidationDone:
        return ConsolidationDone(**{"facts": 0, **self._done}, calls=tuple(self.calls))

    @property
    def left_alone(self) -> list[UUID]:
        """Facts that are not tried again in this consolidation."""
        with self._shared:
            return list(self._left_alone)

    @property
    def settled(self) -> int:
        """Facts that wait no more, or are left alone."""
        with self._shared:
            return self._done["facts"] + self._done["failed"] + len(self._left_alone)

    @property
    def tokens(self) -> int:
        with self._shared:
            return sum(call.input_tokens + call.output_tokens for call in self.calls)

    def proves(self, suspect: Suspect) -> bool:
        """Whether others could be asked about since."""
        return self.answered > suspect.answered

    def paid(self, calls: Sequence[ModelCall]) -> None:
        with self._shared:
            self.calls.extend(calls)

    def wrote(self, facts: Sequence[Fact], changes: Sequence[EmbeddedChanges]) -> None:
        with self._shared:
            self.answered += 1
            self._in_a_row = 0
            self._done["facts"] += len(facts)
            for each in changes:
                created = sum(written.before is None for written in each.changes.written)
                self._done["created"] += created
                self._done["updated"] += len(each.changes.written) - created
                self._done["deleted"] += len(each.changes.dropped)
        self.show()

    def set_aside(self, count: int) -> None:
        with self._shared:
            self.answered += 1
            self._done["failed"] += count
        self.show()

    def stumbled(self, batch: Batch, failed: MindFailed) -> int:
        """It is left for the end. How many batches in a row stumbled."""
        with self._shared:
            self._in_a_row += 1
            self._leave(self.stumbles, Suspect(batch, failed, self.answered))
            return self._in_a_row

    def suspects_too(self, batch: Batch, failed: MindFailed, answered: int) -> Suspect:
        with self._shared:
            return self._leave(self.suspects, Suspect(batch, failed, answered))

    def _leave(self, where: list[Suspect], suspect: Suspect) -> Suspect:
        where.append(suspect)
        self._left_alone.update(fact.id for fact in suspect.batch.facts)
        return suspect

    def show(self) -> None:
        with self._shared:
            done = dict(self._done)
        processed = done.get("facts", 0) + done.get("failed", 0)
        report(CONSOLIDATING, processed, max(self.total, processed), done)

    @contextmanager
    def alone_in(self, scopes: Sequence[Tags]) -> Iterator[None]:
        """No other batch works on one of these scopes meanwhile: it has to see what this one writes."""
        with ExitStack() as held:
            for scope in sorted(scopes):  # in one order, or two could wait for each other
                held.enter_context(self._lock_of(scope))
            yield

    def _lock_of(self, scope: Tags) -> Lock:
        with self._shared:
            return self._scopes.setdefault(scope, Lock())
