"""The service in memory with a job queue, a pool of workers and minds that err: what a seeded simulation runs on.

A mind that is asked lets other things happen meanwhile, other runs among them, so that runs are interleaved as they are
in threads, and the same for the same seed.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

from adapters.llm.paid_once import PaidOnce
from adapters.llm.replies import counted
from application.aggregate import Aggregate
from application.command_handler import MENTAL_MODEL, OPERATION, mental_model_stream
from application.current_operation import current_operation
from application.ports import KeptReplies, Loaded, MindFailed, StreamAppend, Transaction
from domain.editing import EditRequest, Proposal
from domain.event import Context, Event, StreamId
from domain.mental_model.state import MentalModel
from domain.operation import (
    Operation,
    OperationCancelled,
    OperationFolded,
    OperationParked,
    OperationRequested,
    OperationRestarted,
    OperationRetryScheduled,
    RefreshAsked,
)
from domain.reflection import Answer, Mention, ReflectQuestion, Thought, ToolResult
from domain.scheduling import CronSchedule, Failures
from domain.scope import admits, same, staleness_scope
from domain.usage import ModelCall
from tests.application.test_soak_of_changes import ChangingEditor
from tests.support.in_memory import InMemoryEventLog, in_memory, undo_of
from tests.support.scripted_minds import RECALL, ScriptedPolicy
from tests.support.world import UnderWay, World

TOLD = "told"
"""The model that calls of the simulated minds name. Each call has a number, which is its count of input tokens."""


class WorkerDied(BaseException):
    """Nothing in a worker catches it."""


@dataclass
class Job:
    """One job of the queue; jobs of one lock run one after another, in the order of their numbers."""

    number: int
    stream: StreamId
    lock: str
    due: datetime | None
    running: bool = False


class QueueingLog(InMemoryEventLog):
    """Defers jobs for events as the job queue does, and remembers what it folded. `open` are the operations that have
    not ended; `asked` the refreshes that were ever asked for, by model."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs: list[Job] = []
        self.open: dict[StreamId, Operation] = {}
        self.asked: dict[str, list[StreamId]] = {}
        self._folded: dict[StreamId, tuple[Any, int]] = {}
        self._numbers = count(1)

    def load(self, aggregate: Aggregate[Any], stream: StreamId, tx: Transaction | None = None) -> Loaded:
        assert tx is None or stream in in_memory(tx).alone | in_memory(tx).shared
        recorded = self.streams.get(stream, [])
        state, version = self._folded.get(stream, (aggregate.initial, 0))
        for each in recorded[version:]:
            state = aggregate.evolve(state, each)
        self._folded[stream] = state, len(recorded)
        return Loaded(state, len(recorded))

    def append(self, appends: Sequence[StreamAppend], context: Context, tx: Transaction) -> None:
        super().append(appends, context, tx)
        jobs = list(self.jobs)

        def restore() -> None:
            self.jobs = jobs

        undo_of(tx).append(restore)
        for append in appends:
            if append.stream.kind == "operation":
                for event in append.events:
                    self._queue(append.stream, event)
                self._index(append.stream)

    def _cut(self, stream: StreamId, length: int) -> None:
        super()._cut(stream, length)
        self._folded.pop(stream, None)
        if stream.kind == "operation":
            self._index(stream)

    def _index(self, stream: StreamId) -> None:
        state = self.load(OPERATION, stream).state
        self.open.pop(stream, None)
        if isinstance(state, Operation):
            if not state.ended:
                self.open[stream] = state
            if isinstance(state.work, RefreshAsked):
                known = self.asked.setdefault(state.work.mental_model_id, [])
                if stream not in known[-50:]:
                    known.append(stream)

    def _queue(self, stream: StreamId, event: Event) -> None:
        match event:
            case OperationRequested(work=work):
                self._defer(stream, work, None)
            case OperationFolded(work=work, released=True) | OperationRestarted(work=work):
                self._replace(stream, work, None)
            case OperationRetryScheduled(work=work, next_retry_at=due) | OperationParked(work=work, until=due):
                self._replace(stream, work, due)
            case OperationCancelled():
                self._take_out(stream)

    def _replace(self, stream: StreamId, work: Any, due: datetime | None) -> None:
        self._take_out(stream)
        self._defer(stream, work, due)

    def _take_out(self, stream: StreamId) -> None:
        self.jobs = [job for job in self.jobs if job.stream != stream or job.running]

    def _defer(self, stream: StreamId, work: Any, due: datetime | None) -> None:
        lock = work.mental_model_id if isinstance(work, RefreshAsked) else f"document of {stream.name}"
        self.jobs.append(Job(next(self._numbers), stream, lock, due))

    def next_job(self, now: datetime) -> Job | None:
        """The first that is due and has none of its lock running, or waiting in front of it."""
        seen = {job.lock for job in self.jobs if job.running}
        for job in sorted(self.jobs, key=lambda each: each.number):
            if not job.running and job.lock not in seen and (job.due is None or job.due <= now):
                return job
            seen.add(job.lock)
        return None


class SimulatedWorld(World):
    """A world whose log queues jobs."""

    log: QueueingLog

    def in_flight(self, bank_id: str, mental_model_id: str, tx: Transaction | None = None) -> list[UnderWay]:
        assert tx is None or mental_model_stream(bank_id, mental_model_id) in in_memory(tx).alone
        return [
            UnderWay(str(state.operation_id), state.status)
            for state in self.log.open.values()
            if isinstance(state.work, RefreshAsked) and state.work.mental_model_id == mental_model_id
        ]

    def model(self, stream: StreamId) -> MentalModel:
        state = self.log.load(MENTAL_MODEL, stream).state
        assert isinstance(state, MentalModel)
        return state


class SimulatedSchedules:
    """Schedules over the models of one bank, by the rules of the read models."""

    def __init__(self, world: SimulatedWorld, streams: Sequence[StreamId]) -> None:
        self._world = world
        self._streams = {stream.name: stream for stream in streams}

    def by_cron(self) -> Sequence[CronSchedule]:
        found = []
        for name, stream in self._streams.items():
            loaded = self._world.log.load(MENTAL_MODEL, stream)
            trigger = loaded.state.trigger
            if trigger.refresh_cron or trigger.full_refresh_cron:
                position = self._world.memory.position(stream.bank_id)
                found.append(CronSchedule(stream.bank_id, name, loaded.version, position))
        return found

    def after_writes(self, bank_id: str | None = None) -> Sequence[tuple[str, str]]:
        return [
            (stream.bank_id, name)
            for name, stream in self._streams.items()
            if bank_id in (None, stream.bank_id) and self._world.model(stream).trigger.refresh_after_consolidation
        ]

    def stale(self, bank_id: str, mental_model_ids: Sequence[str]) -> Mapping[str, datetime]:
        models = [self._model(bank_id, each) for each in mental_model_ids]
        return {model.mental_model_id: model.last_refreshed_at for model in models if self.is_stale(model)}

    def waiting(self, bank_id: str, mental_model_ids: Sequence[str]) -> Collection[str]:
        return [
            each
            for each in mental_model_ids
            if any(flight.status == "pending" for flight in self._world.in_flight(bank_id, each))
        ]

    def failures(self, bank_id: str, mental_model_ids: Sequence[str]) -> Mapping[str, Failures]:
        found = {}
        for each in mental_model_ids:
            since = self._model(bank_id, each).last_refreshed_at
            ends = []
            for stream in reversed(self._world.log.asked.get(each, [])):
                state = self._world.log.load(OPERATION, stream).state
                if state.requested_at < since:
                    break
                if state.status == "failed":
                    ends.append(self._world.log.events(stream)[-1].occurred_at)
            if ends:
                found[each] = Failures(len(ends), max(ends))
        return found

    def _model(self, bank_id: str, mental_model_id: str) -> MentalModel:
        stream = self._streams[mental_model_id]
        assert stream.bank_id == bank_id
        return self._world.model(stream)

    def is_stale(self, model: MentalModel) -> bool:
        """New memories in its scope, another scope than it read, or facts it rests on that are gone."""
        scope, strict = model.scope, staleness_scope(model.scope)
        rows = [row for row in self._world.memory.rows if row.bank_id == model.bank_id]
        cited = {(each.fact_id, each.version) for each in model.evidence}
        if model.covered_scope is not None and not same(model.covered_scope, scope):
            return True
        return any(
            row.fact.position > model.covered
            and all(admits(each, row.fact.tags, row.fact.fact_type) for each in (scope, strict))
            for row in rows
        ) or any((row.to_position or 0) > model.covered and (row.fact.id, row.fact.version) in cited for row in rows)


class Minds:
    """What all simulated minds share: each call is counted, its reply kept as an endpoint keeps it, and it may fail,
    kill the worker, or let others do something meanwhile. `made` has the operation of each call."""

    def __init__(self, kept: Callable[[], KeptReplies], meanwhile: Callable[[], None], chance: random.Random) -> None:
        self.made: dict[int, UUID] = {}
        self.calm = False
        self._kept = kept
        self._meanwhile = meanwhile
        self._chance = chance

    def ask(self, purpose: str, request: Mapping[str, Any], now: datetime) -> tuple[random.Random, ModelCall]:
        """What the mind draws its answer from, and the call as it is recorded."""
        current = current_operation()
        assert current is not None
        asked = PaidOnce(self._kept()).of(request)
        paid: list[ModelCall] = []
        payload = asked.replayed(purpose, TOLD, paid)
        if payload is None:
            self._trouble(now)
            number = len(self.made) + 1
            self.made[number] = current.operation_id
            payload = {"usage": {"prompt_tokens": number, "completion_tokens": 0}}
            paid.append(counted(payload, purpose=purpose, model=TOLD, seconds=0.0))
            asked.keep(payload, paid[-1])
        if not self.calm:
            if self._chance.random() < 0.02:
                raise WorkerDied
            self._meanwhile()
        return random.Random(payload["usage"]["prompt_tokens"]), paid[0]

    def _trouble(self, now: datetime) -> None:
        drawn = 1.0 if self.calm else self._chance.random()
        if drawn < 0.15:
            later = now + timedelta(minutes=20) if drawn < 0.04 else None
            raise MindFailed(
                "the endpoint answered", reason="unexpected_error", transient=drawn < 0.12, resume_at=later
            )


def _every_fact(results: Sequence[ToolResult]) -> Answer:
    """Each fact is an item, and named at its end."""
    facts = [found.fact for result in results for found in result.facts]
    text, mentions = "", []
    for fact in facts:
        text += f"- {fact.text}\n"
        mentions.append(Mention(fact_id=str(fact.id), offset=len(text) - 1))
    used = tuple(str(fact.id) for fact in facts)
    return Answer(markdown=text, used=used, mentions=tuple(mentions), raw="{...}")


class SimulatedPolicy(ScriptedPolicy):
    """Recalls once, then lists every fact."""

    def __init__(self, ask: Callable[..., tuple[random.Random, ModelCall]]) -> None:
        super().__init__()
        self._ask = ask

    def next_step(self, question: ReflectQuestion, results: Sequence[ToolResult], *, must_finish: bool) -> Thought:
        assert not must_finish
        facts = [str(found.fact.id) for result in results for found in result.facts]
        request = [question.source_query, question.current_content, str(question.asked_at), len(results), *facts]
        _, call = self._ask("reflect", {"told": request})
        return Thought(step=_every_fact(results) if facts else RECALL, calls=(call,))


class SimulatedEditor(ChangingEditor):
    """Edits as the editor of the soak does; what it does follows from the call."""

    def __init__(self, ask: Callable[..., tuple[random.Random, ModelCall]]) -> None:
        super().__init__(random.Random(0))
        self._ask = ask

    def propose(self, request: EditRequest) -> Proposal:
        facts = [str(new.fact.id) for new in request.facts] + [str(each.fact_id) for each in request.retracted]
        again = "" if request.correction is None else request.correction.problems
        told = [request.task, request.document.render(), str(request.asked_at), again, *facts]
        chance, call = self._ask("delta_edit", {"told": told})
        self.chance = chance
        edits = self._take_back(request) if request.task == "retraction" else self._work_in(request)
        return Proposal(tuple(edits), raw="{...}", calls=(call,))
