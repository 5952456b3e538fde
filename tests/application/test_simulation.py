"""Days of a bank, drawn from a seed: writes, edits, changed triggers, failures, deaths, cancels and retries.

Whatever happens: one refresh of a model waits at most, none runs beside another, no operation is without its job, no
fact is lost, and in the end every document that refreshes itself is fresh or says why not. The seed is in the name of
the test: a failure replays.
"""

from __future__ import annotations

import logging
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from application.command_handler import MENTAL_MODEL, mental_model_stream
from application.operations import Operations
from application.scheduler import Scheduler
from domain.bank import BankOpened
from domain.document import ids_of
from domain.event import Recorded, StreamId
from domain.memory import RetainItem
from domain.mental_model.events import ContentPreservedNoNewFacts, ContentUnchanged, ContentWritten
from domain.mental_model.record import RefreshRecord
from domain.mental_model.state import Absent, MentalModel, State
from domain.mental_model.trigger import Trigger
from domain.operation import RefreshAsked
from domain.refresh.present import document_of
from domain.refusals import Refusal
from domain.scope import admits
from tests.application.test_soak_of_changes import SCOPES, TAGS, told_in
from tests.support.examples import BANK, BANK_STREAM, created
from tests.support.simulation import (
    TOLD,
    Job,
    Minds,
    QueueingLog,
    SimulatedEditor,
    SimulatedPolicy,
    SimulatedSchedules,
    SimulatedWorld,
    WorkerDied,
)

STEPS = 2500
WORKERS = 3
TRIGGERS = (
    {"mode": "delta", "refresh_after_consolidation": True},
    {"mode": "full", "refresh_after_consolidation": True},
    {"mode": "delta", "refresh_cron": "*/10 * * * *"},
    {"mode": "delta", "refresh_after_consolidation": True, "min_refresh_interval_seconds": 1800},
    {"mode": "delta", "refresh_cron": "0 * * * *", "full_refresh_cron": "30 */6 * * *"},
    {"mode": "delta", "full_refresh_cron": "15 * * * *"},
)


class Simulation:
    """One bank with six models."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.minds = Minds(lambda: self.world.kept, self.meanwhile, self.chance)
        self.log = QueueingLog()
        self.world = SimulatedWorld(log=self.log, policy=SimulatedPolicy(self.ask))
        self.world.deltas._editor = SimulatedEditor(self.ask)
        self.log.record(BANK_STREAM, BankOpened(bank_id=BANK, name=BANK))
        self.streams = [mental_model_stream(BANK, f"m{number}") for number in range(len(TRIGGERS))]
        for stream, trigger in zip(self.streams, TRIGGERS, strict=True):
            tags = self.chance.choice(SCOPES)
            event = created(
                mental_model_id=stream.name, tags=tags, max_tokens=100_000, trigger=Trigger.model_validate(trigger)
            )
            self.log.record(stream, event)
        self.schedules = SimulatedSchedules(self.world, self.streams)
        world = self.world
        self.scheduler = Scheduler(world.refresh_requests, world.log, world.memory, self.schedules, world.clock)
        self.operations = Operations(
            world.handler,
            world.log,
            world.inbox,
            lambda _time, _most: (),
            world.in_flight,
            world.kept,
            world.progress,
        )
        world.memories._written = world.background._refreshed = self._follow
        self.follows = 0.9
        """How often what follows a write or a refresh is still done."""
        self.running: list[Job] = []
        self.known: list[str] = []
        """Documents of the memory."""
        self.learned = 0
        self.taken_out: dict[str, set[str]] = {stream.name: set() for stream in self.streams}
        """By a person, for each model."""
        self.seen: dict[StreamId, tuple[State, int]] = {stream: (Absent(), 0) for stream in self.streams}

    def ask(self, purpose: str, request: dict[str, Any]) -> Any:
        running = Counter(job.lock for job in self.running)
        assert max(running.values()) == 1, "two runs of a model overlap"
        return self.minds.ask(purpose, request, self.world.clock.now())

    # --- what may happen ----------------------------------------------------------------------------------------------

    def learn(self) -> None:
        self._retain(f"document {self.learned}", self._something_new())

    def replace(self) -> None:
        if self.known:
            self._retain(self.chance.choice(self.known), self._something_new())

    def forget(self) -> None:
        if self.known:
            self._retain(self.known.pop(self.chance.randrange(len(self.known))), "")

    def retain_later(self) -> None:
        tags = self.chance.choice(TAGS)
        item = RetainItem(content=self._something_new(), document_id=f"document {self.learned}", tags=tags)
        self.known.append(f"document {self.learned}")
        self.world.memories.retain_later(self.world.context, BANK, [item])

    def _something_new(self) -> str:
        self.learned += 1
        return f"F{self.learned}."

    def _retain(self, document: str, text: str) -> None:
        item = RetainItem(content=text, document_id=document, tags=self.chance.choice(TAGS))
        if text and document not in self.known:
            self.known.append(document)
        self.world.memories.retain(self.world.context, BANK, [item])

    def _follow(self, bank_id: str) -> None:
        """After a write or a refresh; a process may die before it does this."""
        if self.chance.random() < self.follows:
            self.scheduler.after_write(bank_id)

    def write_by_hand(self) -> None:
        name = self._any().name
        lines = self._model(name).content.splitlines(keepends=True)
        if (
            not lines
        ):  # a text by hand in place of an empty one is what a delta goes on from: what was cleared stays out
            self.taken_out[name] |= {f"F{number}." for number in range(1, self.learned + 1)}
        places = [place for place, line in enumerate(lines) if line.startswith("- ")]
        if places and self.chance.random() < 0.5:
            self.taken_out[name] |= told_in(lines.pop(self.chance.choice(places)))
        else:
            lines.append(f"\nBy hand {self.chance.randrange(1000)}\n")
        if text := "".join(lines).strip():
            self._change(name, content=f"{text}\n")

    def clear(self) -> None:
        self.world.mental_models.clear(self.world.context, BANK, self._any().name)

    def change_scope(self) -> None:
        self._change(self._any().name, tags=self.chance.choice(SCOPES))

    def change_trigger(self) -> None:
        none = {"refresh_cron": None, "refresh_after_consolidation": False, "full_refresh_cron": None}
        self._change(self._any().name, trigger={**none, **self.chance.choice(TRIGGERS)})

    def _change(self, name: str, **changes: Any) -> None:
        with suppress(Refusal):
            self.world.mental_models.change(self.world.context, BANK, name, **changes)

    def refresh(self) -> None:
        """Often of a model that is being refreshed."""
        mode = "full" if self.chance.random() < 0.1 else None
        begun = [job.lock for job in self.running if self.chance.random() < 0.3]
        name = begun[0] if begun and begun[0] in self.taken_out else self._any().name
        self.world.refresh_requests.refresh(self.world.context, BANK, name, mode)

    def time_passes(self) -> None:
        self.world.clock.move(timedelta(seconds=self.chance.choice([1, 20, 60, 300, 900])))
        self.scheduler.tick(self.world.clock.now())
        if self.chance.random() < 0.2:
            self.scheduler.reconcile(self.world.clock.now())

    def cancel(self) -> None:
        if self.log.open:
            operation = self.chance.choice(list(self.log.open.values()))
            if isinstance(operation.work, RefreshAsked):
                self.operations.cancel(self.world.context, BANK, operation.operation_id)

    def retry(self) -> None:
        known = self.log.asked.get(self._any().name, [])[-4:]
        if known:
            with suppress(Refusal):
                self.operations.retry(self.world.context, BANK, UUID(self.chance.choice(known).name))

    def work(self) -> None:
        """A free worker takes the next job."""
        job = self.log.next_job(self.world.clock.now()) if len(self.running) < WORKERS else None
        if job is None:
            return
        job.running = True
        self.running.append(job)
        operation_id = UUID(job.stream.name)
        if not self.minds.calm and self.chance.random() < 0.02:
            # at the start of the attempt, at its end, or in between
            self.log.meanwhile.extend([_go_on] * self.chance.randrange(3) + [_die])
        try:
            self.world.background.run(BANK, operation_id)
            self.log.jobs = [each for each in self.log.jobs if each is not job]
        except WorkerDied:
            job.running = False
        finally:
            self.running.remove(job)
            self.log.meanwhile.clear()

    def step(self) -> None:
        self.world.clock.move(timedelta(milliseconds=self.chance.randrange(1, 900)))
        usual: list[Callable[[], None]] = [self.learn] * 3 + [self.forget] * 2 + [self.replace] + [self.work] * 9
        usual += [self.time_passes, self.time_passes, self.refresh, self.refresh]
        rare = [self.write_by_hand] * 3 + [self.clear, self.change_scope, self.change_trigger, self.retain_later]
        rare += [self.cancel] * 2 + [self.retry] * 2
        self.chance.choice(rare if self.chance.random() < 0.2 else usual)()
        self.check()

    def meanwhile(self) -> None:
        """While a mind thinks; what goes wrong here is no failure of the mind."""
        while self.chance.random() < 0.4:
            try:
                self.step()
            except Exception as error:
                raise Broken from error

    def _any(self) -> StreamId:
        return self.chance.choice(self.streams)

    def _model(self, name: str) -> MentalModel:
        return self.world.model(mental_model_stream(BANK, name))

    # --- what holds ---------------------------------------------------------------------------------------------------

    def check(self) -> None:
        waiting: Counter[str] = Counter()
        begun: Counter[str] = Counter()
        for operation in self.log.open.values():
            if isinstance(operation.work, RefreshAsked):
                counts = waiting if operation.status == "pending" else begun
                counts[operation.work.mental_model_id] += 1
        assert max(waiting.values(), default=0) <= 1, "two refreshes of a model wait"
        assert max(begun.values(), default=0) <= 1, "two refreshes of a model run"
        jobs = Counter(job.stream for job in self.log.jobs if not job.running)
        assert max(jobs.values(), default=0) <= 1, "two jobs of an operation wait"
        assert set(self.log.open) <= {job.stream for job in self.log.jobs}, "an operation has no job"
        for stream in self.streams:
            for model, recorded in self._new_events(stream):
                if isinstance(recorded.event, ContentWritten | ContentUnchanged | ContentPreservedNoNewFacts):
                    self._is_accounted_for(model, recorded.event.record)

    def _new_events(self, stream: StreamId) -> Iterator[tuple[MentalModel, Recorded]]:
        state, version = self.seen[stream]
        for recorded in self.log.events(stream)[version:]:
            state = MENTAL_MODEL.evolve(state, recorded)
            self.seen[stream] = state, recorded.version
            assert isinstance(state, MentalModel)
            yield state, recorded

    def _is_accounted_for(self, model: MentalModel, record: RefreshRecord) -> None:
        """What was known in the scope of a refresh when it began is in the text, pending, or taken out by a person."""
        current = self.world.memory._current_at(BANK, record.window.upto)
        known = [fact for fact in current if admits(record.scope.scope, fact.tags, fact.fact_type)]
        pending = {fact.text for fact in known if fact.position in model.pending}
        lost = {fact.text for fact in known} - told_in(model.content) - pending - self.taken_out[model.mental_model_id]
        assert not lost, f"{model.mental_model_id} lost {lost}"
        assert tuple(piece.id for piece in model.outline) == ids_of(document_of(model))

    # --- the end ------------------------------------------------------------------------------------------------------

    def calms_down(self) -> None:
        """No failures any more: all that waits is done. Then writes and changes that nobody is told of, and a day."""
        self.minds.calm = True
        self._hours_pass(24)
        self.follows = 0.0
        for _ in range(10):
            self.learn()
            self.change_scope()
        self._hours_pass(24)

    def _hours_pass(self, hours: int) -> None:
        for _ in range(hours):
            self.world.clock.move(timedelta(hours=1))
            self.scheduler.reconcile(self.world.clock.now())
            self.scheduler.tick(self.world.clock.now())
            while self.log.next_job(self.world.clock.now()) is not None:
                self.work()
                self.check()

    def days_later(self) -> None:
        """What is kept of operations that nobody works on any more is settled."""
        now = self.world.clock.now()
        self.operations.settle_replies(now, now)

    def recorded_calls(self) -> Counter[int]:
        """How often each call of a mind is told by an event."""
        found: Counter[int] = Counter()
        for events in self.log.streams.values():
            for recorded in events:
                record = getattr(recorded.event, "record", recorded.event)
                for call in getattr(record, "calls", ()):
                    if call.model == TOLD and call.input_tokens:
                        found[call.input_tokens] += 1
        return found


class Broken(BaseException):
    """The simulation itself found a fault, or has one."""


def _go_on() -> None:
    """Nothing happens."""


def _die() -> None:
    raise WorkerDied


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """Thousands of failures on purpose are not worth a line each."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_happens_documents_are_fresh_in_the_end_or_say_why_not(seed: int) -> None:
    simulation = Simulation(seed)
    for _ in range(STEPS):
        simulation.step()
    simulation.calms_down()
    for stream in simulation.streams:
        model = simulation.world.model(stream)
        if model.trigger.refresh_after_consolidation or model.trigger.refresh_cron:
            waits = simulation.world.in_flight(BANK, stream.name)
            paused = model.last_refresh_failed_at is not None
            assert not simulation.schedules.is_stale(model) or waits or paused, f"{stream.name} is stale for ever"
    recorded = simulation.recorded_calls()
    assert max(recorded.values()) == 1, "a call is told twice"
    simulation.days_later()
    recorded = simulation.recorded_calls()
    assert max(recorded.values()) == 1, "a call is told twice"
    assert set(recorded) == set(simulation.minds.made), "a call is told by no event"
    assert simulation.world.kept.replies == {}, "a reply is kept for nobody"
    assert simulation.world.progress.shown.keys() <= {(BANK, UUID(each.name)) for each in simulation.log.open}
