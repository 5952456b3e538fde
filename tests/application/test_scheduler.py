"""Documents that refresh themselves: only when there is something to do, and once; none of them stops the others."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from application.command_handler import MENTAL_MODEL, bank_stream, mental_model_stream
from application.scheduler import AFTER_AN_ERROR, Scheduler
from domain.bank import BankDeleted, BankOpened
from domain.event import Context, Event, Recorded
from domain.mental_model.events import ContentEdited, ContentUnchanged, MentalModelDeleted, TriggerChanged
from domain.mental_model.state import MentalModel
from domain.mental_model.trigger import Trigger
from domain.operation import (
    OperationFailed,
    OperationFolded,
    OperationRequested,
    OperationStarted,
    RefreshAsked,
)
from domain.scheduling import FIRST_WAIT, CronSchedule, Failures
from domain.scope import admits, staleness_scope
from tests.support.examples import BANK, BANK_STREAM, MODEL, NOW, created, failed, window, written
from tests.support.scripted_minds import RECALL, Scripted, answer_from_all, unusable
from tests.support.world import World

AT_THREE = Trigger(refresh_cron="0 3 * * *")
FULL_AT_THREE = Trigger(full_refresh_cron="0 3 * * *")
AFTER_WRITES = Trigger(refresh_after_consolidation=True)


def at(time: str, day: int = 3) -> datetime:
    """A time of a day of March 2026; the mental model of the examples was made on the morning of the 2nd."""
    return datetime.fromisoformat(f"2026-03-{day:02}T{time}+00:00")


class ToldByTheLog:
    """Schedules over the world in memory, by the rules of the read models. `asked` counts looks at staleness;
    `broken` is raised for documents, `meanwhile` is called after the next look."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.asked: list[str] = []
        self.broken: dict[str, Exception] = {}
        self.meanwhile: list[Callable[[], None]] = []

    def by_cron(self) -> Sequence[CronSchedule]:
        return [
            CronSchedule(bank, id, version, self._world.memory.position(bank))
            for (bank, id), (model, version) in self._models().items()
            if model.trigger.refresh_cron or model.trigger.full_refresh_cron
        ]

    def after_writes(self, bank_id: str | None = None) -> Sequence[tuple[str, str]]:
        return [
            (bank, id)
            for (bank, id), (model, _) in self._models().items()
            if model.trigger.refresh_after_consolidation and bank_id in (None, bank)
        ]

    def stale(self, bank_id: str, mental_model_ids: Sequence[str]) -> Mapping[str, datetime]:
        self.asked.extend(mental_model_ids)
        found = {}
        for each in mental_model_ids:
            if each in self.broken:
                raise self.broken[each]
            known = self._models().get((bank_id, each))
            if known is not None and self._is_stale(known[0]):
                found[each] = known[0].last_refreshed_at
        while self.meanwhile:
            self.meanwhile.pop()()
        return found

    def waiting(self, bank_id: str, mental_model_ids: Sequence[str]) -> Collection[str]:
        flights = {each: self._world.in_flight(bank_id, each) for each in mental_model_ids}
        return [each for each in flights if any(flight.status == "pending" for flight in flights[each])]

    def failures(self, bank_id: str, mental_model_ids: Sequence[str]) -> Mapping[str, Failures]:
        ends: dict[str, list[datetime]] = defaultdict(list)
        for stream, events in self._world.log.streams.items():
            first = events[0].event
            if stream.kind == "operation" and stream.bank_id == bank_id and isinstance(first, OperationRequested):
                model = self._models().get((bank_id, getattr(first.work, "mental_model_id", "")))
                if model is not None and events[0].occurred_at >= model[0].last_refreshed_at:
                    ends[model[0].mental_model_id] += self._failed(events)
        return {each: Failures(len(ends[each]), max(ends[each])) for each in mental_model_ids if ends[each]}

    def _failed(self, events: Sequence[Recorded]) -> list[datetime]:
        return [each.occurred_at for each in events if isinstance(each.event, OperationFailed)]

    def _models(self) -> dict[tuple[str, str], tuple[MentalModel, int]]:
        models = {}
        for stream in self._world.log.streams:
            loaded = self._world.log.load(MENTAL_MODEL, stream) if stream.kind == "mental_model" else None
            if loaded is not None and isinstance(loaded.state, MentalModel):
                models[stream.bank_id, stream.name] = loaded.state, loaded.version
        return models

    def _is_stale(self, model: MentalModel) -> bool:
        scope = staleness_scope(model.scope)
        return any(
            each.fact.position > model.covered and admits(scope, each.fact.tags, each.fact.fact_type)
            for each in self._world.memory.rows
            if each.bank_id == model.bank_id
        )


class Ticking:
    """A world whose documents refresh themselves."""

    def __init__(self, *mind: Scripted, trigger: Trigger | None = None, at_most: int = 3, **scheduler: Any) -> None:
        self.world = World(*mind, at_most=at_most)
        self.schedules = ToldByTheLog(self.world)
        self.scheduler = self.another(**scheduler)
        if trigger is not None:
            self.world.has_a_model(trigger=trigger)

    def another(self, **options: Any) -> Scheduler:
        """A scheduler as another process has it."""
        world = self.world
        return Scheduler(world.refresh_requests, world.log, world.memory, self.schedules, world.clock, **options)

    def tick(self, now: datetime) -> int:
        self.world.clock.move(now - self.world.clock.now())
        return self.scheduler.tick(now)

    def has_another(self, name: str, trigger: Trigger, bank_id: str = BANK) -> None:
        event = created(bank_id=bank_id, mental_model_id=name, trigger=trigger)
        self.world.log.record(mental_model_stream(bank_id, name), event)

    def happens(self, *events: Event, now: datetime = NOW, name: str = MODEL) -> None:
        self.world.log.record(mental_model_stream(BANK, name), *events, context=Context("worker", now))

    def is_refreshed(self, now: datetime, upto: int | None = None) -> None:
        """It was refreshed in full, and read all there was, or up to a position."""
        read = self.world.memory.position(BANK) if upto is None else upto
        self.happens(written(window=window(read)), now=now)

    def requests(self) -> list[Recorded]:
        """Every operation that was asked for, in order."""
        firsts = [events[0] for stream, events in self.world.log.streams.items() if stream.kind == "operation"]
        return sorted(firsts, key=lambda each: each.position)

    def works(self) -> None:
        """Every operation that was asked for and has not ended runs."""
        for each in self.requests():
            assert isinstance(each.event, OperationRequested)
            self.world.background.run(each.event.bank_id, each.event.operation_id)


def asked(ticking: Ticking) -> list[RefreshAsked]:
    works = [each.event.work for each in ticking.requests() if isinstance(each.event, OperationRequested)]
    assert all(isinstance(work, RefreshAsked) for work in works)
    return works  # type: ignore[return-value]  # as asserted


# --- by the clock -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("now", "new_memory", "queued"),
    [
        (at("02:59:30"), True, 0),
        (at("03:00:00"), True, 1),
        (at("03:00:30"), True, 1),
        (at("02:59:30"), False, 0),
        (at("03:00:00"), False, 0),
        (at("03:00:30"), False, 0),
        (at("05:00:00"), True, 1),
        (at("05:00:00"), False, 0),
        (at("05:00:00", day=17), True, 1),
    ],
)
def test_sc_07_a_stale_model_is_refreshed_once_at_or_after_its_time(
    now: datetime, new_memory: bool, queued: int
) -> None:
    ticking = Ticking(trigger=AT_THREE)
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.is_refreshed(at("02:59"))
    if new_memory:
        ticking.world.knows("The bridge was finished in 1402.")
    assert ticking.tick(now) == queued
    assert asked(ticking) == [RefreshAsked(mental_model_id=MODEL, automatic=True)] * queued


def test_sc_07_the_ticks_of_a_night_queue_one_refresh() -> None:
    ticking = Ticking(RECALL, answer_from_all, trigger=AT_THREE)
    ticking.is_refreshed(at("02:59"))
    ticking.world.knows("The bridge was finished in 1402.")
    queued = [ticking.tick(at(time)) for time in ("02:59:30", "03:00:00", "03:00:01", "03:00:30")]
    assert queued == [0, 1, 0, 0]
    ticking.works()
    assert [ticking.tick(at(time)) for time in ("03:00:31", "03:01:00", "23:59:59")] == [0, 0, 0]


def test_sc_07_memory_written_after_a_time_that_found_the_model_fresh_is_still_read_for_it() -> None:
    ticking = Ticking(trigger=AT_THREE)
    ticking.is_refreshed(at("02:59"))
    assert ticking.tick(at("03:00:00")) == 0
    ticking.world.knows("The bridge was finished in 1402.")
    assert ticking.tick(at("03:00:30")) == 1


def test_sc_07_times_missed_while_nobody_ticked_are_one_refresh() -> None:
    ticking = Ticking(RECALL, answer_from_all, trigger=AT_THREE)
    ticking.is_refreshed(at("02:50"))
    ticking.world.knows("The bridge was finished in 1402.")
    assert ticking.tick(at("05:00", day=20)) == 1
    ticking.works()
    ticking.world.knows("It has 16 arches.")
    assert ticking.tick(at("05:00:01", day=20)) == 0
    assert ticking.tick(at("03:00", day=21)) == 1


def test_a_request_says_who_asked_and_why() -> None:
    ticking = Ticking(trigger=AT_THREE)
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.tick(at("03:00"))
    (request,) = ticking.requests()
    assert (request.actor, request.cause, request.occurred_at) == ("cron", "cron '0 3 * * *'", at("03:00"))


def test_a_full_refresh_by_cron_is_for_a_fresh_model_too_unless_nothing_ran_since_the_last() -> None:
    ticking = Ticking(RECALL, answer_from_all, trigger=FULL_AT_THREE)
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.happens(written(window=window(1), effective_mode="delta"), now=at("02:00"))
    assert ticking.tick(at("03:00")) == 1
    assert asked(ticking) == [RefreshAsked(mental_model_id=MODEL, mode="full", automatic=True)]
    ticking.works()
    assert ticking.tick(at("03:00", day=4)) == 0


def test_when_both_crons_are_due_one_refresh_in_full_is_asked_for() -> None:
    ticking = Ticking(trigger=Trigger(refresh_cron="0 3 * * *", full_refresh_cron="30 2 * * *"))
    ticking.world.knows("The bridge was begun in 1357.")
    assert ticking.tick(at("03:00")) == 1
    assert [work.mode for work in asked(ticking)] == ["full"]
    assert ticking.requests()[0].cause == "cron '30 2 * * *'"


@pytest.mark.parametrize("trigger", [AT_THREE, FULL_AT_THREE, AFTER_WRITES])
def test_rs_12_a_model_with_nothing_to_read_costs_no_operation(trigger: Trigger) -> None:
    ticking = Ticking(trigger=trigger)
    ticking.world.knows("A draft.", tags=("draft",))
    ticking.happens(TriggerChanged(trigger=trigger.model_copy(update={"fact_types": ("observation",)})))
    assert ticking.tick(at("03:00")) + ticking.scheduler.after_write(BANK) + ticking.scheduler.reconcile(NOW) == 0
    assert ticking.requests() == []


def test_ws_02_a_refresh_that_finds_nothing_relevant_is_made_once_until_something_else_is_written() -> None:
    ticking = Ticking(trigger=Trigger(mode="delta", refresh_cron="* * * * *"))
    ticking.is_refreshed(at("02:59"))
    before = ticking.world.document()[-1]
    ticking.world.knows("Unrelated.")
    for minute in range(5):
        ticking.tick(at(f"03:0{minute}"))
        ticking.works()
    assert len(ticking.world.editor.asked) == len(ticking.requests()) == 1
    assert [type(each) for each in ticking.world.document()[-2:]] == [type(before), ContentUnchanged]
    ticking.world.knows("Unrelated, too.")
    assert ticking.tick(at("03:05")) == 1


def test_what_is_settled_is_not_looked_at_again_until_something_changes() -> None:
    ticking = Ticking(trigger=AT_THREE)
    ticking.is_refreshed(at("02:59"))
    for second in range(30):
        ticking.tick(at(f"03:00:{second:02}"))
    assert ticking.schedules.asked == [MODEL]
    ticking.world.knows("A draft.", fact_type="experience")
    ticking.tick(at("03:00:31"))
    ticking.happens(TriggerChanged(trigger=Trigger(refresh_cron="1 3 * * *")), now=at("03:00:32"))
    ticking.tick(at("03:01"))
    assert ticking.schedules.asked == [MODEL] * 3


def test_a_model_that_is_not_due_is_not_even_looked_at() -> None:
    ticking = Ticking(trigger=AT_THREE)
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.tick(at("02:00"))
    ticking.tick(at("02:59:59"))
    assert ticking.schedules.asked == []
    assert ticking.tick(at("03:00:00")) == 1


def test_a_refresh_of_somebody_else_that_ended_just_before_is_not_repeated() -> None:
    ticking = Ticking(trigger=AT_THREE)
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.schedules.meanwhile.append(lambda: ticking.is_refreshed(at("03:00")))
    assert ticking.tick(at("03:00")) == 0
    assert ticking.tick(at("03:00:01")) == 0
    assert ticking.requests() == []


def test_two_schedulers_queue_one_refresh() -> None:
    ticking = Ticking(trigger=AT_THREE)
    ticking.world.knows("The bridge was begun in 1357.")
    other = ticking.another()
    assert (ticking.tick(at("03:00")), other.tick(at("03:00"))) == (1, 0)
    assert (ticking.scheduler.counts, other.counts) == ({"queued": 1}, {"folded": 1})
    ticking.world.policy.script += [RECALL, answer_from_all]
    ticking.works()
    assert (ticking.tick(at("03:00:01")), other.tick(at("03:00:01"))) == (0, 0)
    assert len(ticking.requests()) == 1


def test_a_model_is_paused_after_a_failure_until_somebody_writes_it() -> None:
    ticking = Ticking(trigger=AT_THREE)
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.happens(failed(), now=at("02:00"))
    assert ticking.tick(at("03:00")) == 0
    assert ticking.scheduler.counts == {"paused": 1}
    ticking.happens(ContentEdited(text="By hand.\n", sha256="0" * 64, ids=("p-1",)), now=at("02:30"))
    assert ticking.tick(at("03:00:01")) == 1


def test_sc_04_a_refresh_that_always_times_out_is_asked_for_ever_later() -> None:
    """With a tick every second, no retries, and no minimum interval."""
    ticking = Ticking(trigger=Trigger(refresh_cron="* * * * *"), at_most=0)
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.world.policy.script += [unusable("timed out", transient=True)] * 100
    start, asked_at = at("03:00"), []
    for second in range(0, 7200, 10):
        if ticking.tick(start + timedelta(seconds=second)):
            asked_at.append(second)
        ticking.works()
    assert asked_at == [0, 60, 180, 420, 900, 1860, 3780]
    assert ticking.scheduler.counts["waiting"] > 0


@pytest.mark.parametrize(("own", "expected"), [(None, [0, 600, 1200]), (900, [0, 900]), (0, [0, 60, 180, 420, 900])])
def test_a_refresh_that_failed_is_asked_for_again_no_sooner_than_its_bank_allows(
    own: int | None, expected: list[int]
) -> None:
    trigger = Trigger(refresh_cron="* * * * *", min_refresh_interval_seconds=own)
    ticking = Ticking(trigger=trigger, at_most=0, min_interval_of={BANK: 600}.__getitem__)
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.world.policy.script += [unusable("timed out", transient=True)] * 100
    start, asked_at = at("03:00"), []
    for second in range(0, 1500, 60):
        if ticking.tick(start + timedelta(seconds=second)):
            asked_at.append(second)
        ticking.works()
    assert asked_at == expected


def test_sc_04_a_refresh_that_always_times_out_keeps_its_interval() -> None:
    trigger = Trigger(refresh_cron="*/5 * * * *", min_refresh_interval_seconds=7200)
    ticking = Ticking(trigger=trigger, at_most=0)
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.world.policy.script += [unusable("timed out", transient=True)] * 100
    for minute in range(0, 4 * 60, 5):
        ticking.tick(at("12:00") + timedelta(minutes=minute))
        ticking.works()
    assert len(ticking.world.policy.asked) == 2


# --- after memory was written -----------------------------------------------------------------------------------------


def test_after_a_write_the_stale_models_that_want_it_are_refreshed() -> None:
    ticking = Ticking(trigger=AFTER_WRITES)
    ticking.has_another("by-hand", Trigger())
    ticking.has_another("nightly", AT_THREE)
    ticking.has_another("of-drafts", AFTER_WRITES)
    ticking.happens(written(window=window(9)), name="of-drafts")
    ticking.has_another("elsewhere", AFTER_WRITES, bank_id="brno")
    ticking.world.knows("The bridge was begun in 1357.")
    assert ticking.scheduler.after_write(BANK) == 1
    assert asked(ticking) == [RefreshAsked(mental_model_id=MODEL, automatic=True)]
    (request,) = ticking.requests()
    assert (request.actor, request.cause) == ("consolidation", "memory was written")


def test_writes_while_a_refresh_waits_or_runs_are_taken_in() -> None:
    ticking = Ticking(trigger=AFTER_WRITES)
    for number in range(3):
        ticking.world.knows(f"Arch {number}.")
        ticking.scheduler.after_write(BANK)
    assert ticking.world.transactions.begun == 1, "what waits is seen without a lock"
    (request,) = ticking.requests()
    ticking.world.log.record(request.stream, OperationStarted(attempt=1))
    ticking.world.knows("Arch 4.")
    assert ticking.scheduler.after_write(BANK) == 0
    assert len(ticking.requests()) == 1
    assert ticking.scheduler.counts == {"queued": 1, "folded": 3}


def test_an_automatic_request_changes_nothing_of_an_explicit_one() -> None:
    ticking = Ticking(trigger=AFTER_WRITES)
    asked_for = ticking.world.refresh_requests.refresh(ticking.world.context, BANK, MODEL, "full").operation_id
    assert asked_for is not None
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.scheduler.after_write(BANK)
    assert not [each for each in ticking.world.operation(asked_for) if isinstance(each, OperationFolded)]


def test_a_model_that_is_still_stale_after_a_refresh_that_ended_meanwhile_is_judged_anew() -> None:
    ticking = Ticking(trigger=AFTER_WRITES)
    ticking.world.knows("The bridge was begun in 1357.", "The bridge was finished in 1402.")
    ticking.schedules.meanwhile.append(lambda: ticking.is_refreshed(at("03:00"), upto=1))
    assert ticking.scheduler.after_write(BANK) == 1
    assert ticking.scheduler.counts == {"not_wanted": 1, "queued": 1}


def test_a_model_that_a_refresh_made_fresh_meanwhile_is_left_alone() -> None:
    ticking = Ticking(trigger=AFTER_WRITES)
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.schedules.meanwhile.append(lambda: ticking.is_refreshed(at("03:00")))
    assert ticking.scheduler.after_write(BANK) == 0
    assert ticking.requests() == []


@pytest.mark.parametrize("change", [TriggerChanged(trigger=Trigger()), MentalModelDeleted()])
def test_a_model_that_stopped_wanting_it_meanwhile_is_left_alone(change: Event) -> None:
    ticking = Ticking(trigger=AFTER_WRITES)
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.schedules.meanwhile.append(lambda: ticking.happens(change))
    assert ticking.scheduler.after_write(BANK) == 0
    assert ticking.requests() == []


def test_a_bank_deleted_meanwhile_is_no_error() -> None:
    ticking = Ticking(trigger=AFTER_WRITES)
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.schedules.meanwhile.append(lambda: ticking.world.log.record(BANK_STREAM, BankDeleted()))
    assert ticking.scheduler.after_write(BANK) == 0
    assert ticking.scheduler.counts["failed"] == 0


def test_sc_04_writes_do_not_repeat_a_refresh_that_failed_just_now() -> None:
    ticking = Ticking(unusable("timed out", transient=True), trigger=AFTER_WRITES, at_most=0)
    queued = []
    for _ in range(5):
        ticking.world.knows("Another arch.")
        queued.append(ticking.scheduler.after_write(BANK))
        ticking.works()
    assert queued == [1, 0, 0, 0, 0]
    assert ticking.scheduler.counts == {"queued": 1, "waiting": 4}
    ticking.world.clock.move(FIRST_WAIT)
    assert ticking.scheduler.reconcile(ticking.world.clock.now()) == 1


# --- what was lost ----------------------------------------------------------------------------------------------------


def test_what_a_crash_between_a_write_and_its_refresh_lost_is_found_in_every_bank() -> None:
    ticking = Ticking(trigger=AFTER_WRITES)
    ticking.world.log.record(mental_model_stream("brno", "castle"), created(bank_id="brno", mental_model_id="castle"))
    ticking.has_another("square", AFTER_WRITES, bank_id="brno")
    ticking.world.log.record(bank_stream("brno"), BankOpened(bank_id="brno", name="brno"))
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.world.memory.add("brno", "The square is old.")
    assert ticking.scheduler.reconcile(at("03:00")) == 2
    assert [(each.actor, each.cause) for each in ticking.requests()] == [
        ("consolidation", "a look for stale documents")
    ] * 2
    assert ticking.scheduler.reconcile(at("03:05")) == 0


def test_a_cron_refresh_that_was_lost_is_asked_for_after_the_next_reconciliation() -> None:
    ticking = Ticking(trigger=AT_THREE, at_most=0)
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.tick(at("03:00"))
    (request,) = ticking.requests()
    ticking.world.log.record(request.stream, OperationFailed(error_message="its worker died"))
    assert ticking.tick(at("03:04")) == 0
    ticking.scheduler.reconcile(at("03:05"))
    assert ticking.tick(at("03:05")) == 1


# --- errors -----------------------------------------------------------------------------------------------------------


def test_an_error_of_one_model_is_logged_once_a_minute_and_does_not_stop_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ticking = Ticking(trigger=AT_THREE)
    ticking.has_another("castle", AT_THREE)
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.schedules.broken[MODEL] = ValueError("no such scope")
    with caplog.at_level(logging.ERROR):
        queued = [ticking.tick(at(f"03:00:{second:02}")) for second in range(30)]
    assert sum(queued) == 1
    assert asked(ticking) == [RefreshAsked(mental_model_id="castle", automatic=True)]
    assert [record.getMessage() for record in caplog.records] == [
        f"mental model {MODEL} of bank {BANK} could not be refreshed automatically"
    ]
    ticking.schedules.broken.clear()
    assert ticking.tick(at("03:00:00") + AFTER_AN_ERROR) == 1


def test_an_error_of_one_bank_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    ticking = Ticking(trigger=AFTER_WRITES)
    ticking.has_another("square", AFTER_WRITES, bank_id="brno")
    ticking.world.log.record(bank_stream("brno"), BankOpened(bank_id="brno", name="brno"))
    ticking.world.knows("The bridge was begun in 1357.")
    ticking.world.memory.add("brno", "The square is old.")
    ticking.schedules.broken[MODEL] = ValueError("no such scope")
    with caplog.at_level(logging.ERROR):
        assert ticking.scheduler.reconcile(NOW) == 1
    assert len(caplog.records) == 1


def test_an_error_of_the_database_ends_the_look() -> None:
    ticking = Ticking(trigger=AT_THREE, broken=(ConnectionError,))
    ticking.schedules.broken[MODEL] = ConnectionError("the server is gone")
    with pytest.raises(ConnectionError):
        ticking.tick(at("03:00"))
    ticking.happens(TriggerChanged(trigger=AFTER_WRITES))
    for look in (lambda: ticking.scheduler.after_write(BANK), lambda: ticking.scheduler.reconcile(NOW)):
        with pytest.raises(ConnectionError):
            look()
