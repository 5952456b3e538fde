"""Asking for a refresh: at most one waits for each model."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Literal
from uuid import UUID

import pytest

from application.refresh_requests import Asked
from domain.mental_model.state import MentalModel
from domain.mental_model.trigger import Trigger
from domain.operation import (
    OperationFolded,
    OperationParked,
    OperationRequested,
    OperationStarted,
    RefreshAsked,
)
from domain.refusals import BankNotFound, MentalModelNotFound
from tests.support.examples import BANK, MODEL, NOW, OPERATION, failed, written
from tests.support.world import World

AUTOMATIC = RefreshAsked(mental_model_id=MODEL, automatic=True)


def ask(world: World, mode: Literal["full"] | None = None, **how: Any) -> Asked:
    return world.refresh_requests.refresh(world.context, BANK, MODEL, mode, **how)


def waiting(*since: Any, work: RefreshAsked | None = None) -> World:
    """A model whose refresh was asked for, and what happened to that since."""
    world = World().has_a_model(written())
    requested = OperationRequested(
        bank_id=BANK, operation_id=OPERATION, work=work or RefreshAsked(mental_model_id=MODEL)
    )
    world.log.record(world.stream_of(OPERATION), requested, *since)
    return world


def test_a_request_is_an_operation_of_its_own_while_none_waits() -> None:
    world = World().has_a_model(written())
    asked = ask(world, "full")
    assert asked.status == "queued"
    assert isinstance(asked.operation_id, UUID)
    (event,) = world.operation(asked.operation_id)
    assert isinstance(event, OperationRequested)
    assert event.work == RefreshAsked(mental_model_id=MODEL, mode="full")


def test_sc_01_any_number_of_requests_are_one_operation_while_it_waits() -> None:
    world = waiting()
    assert [ask(world) for _ in range(13)] == [Asked(OPERATION, "folded")] * 13
    assert len(world.operation()) == 1


def test_sc_01_an_explicit_request_while_one_runs_waits_behind_it_and_takes_in_the_next() -> None:
    world = waiting(OperationStarted(attempt=1))
    behind = ask(world)
    assert (behind.status, behind.operation_id != OPERATION) == ("queued", True)
    assert ask(world) == Asked(behind.operation_id, "folded")


def test_an_automatic_request_is_taken_in_by_one_that_runs() -> None:
    world = waiting(OperationStarted(attempt=1))
    assert ask(world, automatic=True) == Asked(OPERATION, "folded")
    assert len(world.operation()) == 2


def test_a_request_in_full_makes_the_waiting_one_full() -> None:
    world = waiting()
    ask(world, "full")
    assert world.operation()[-1] == OperationFolded(
        work=RefreshAsked(mental_model_id=MODEL, mode="full"), released=False
    )


def parked() -> World:
    until = NOW + timedelta(minutes=10)
    return waiting(OperationParked(work=AUTOMATIC, reason="min_interval", until=until), work=AUTOMATIC)


def test_sc_03_an_explicit_request_releases_one_that_was_parked() -> None:
    world = parked()
    assert ask(world) == Asked(OPERATION, "folded")
    assert world.operation()[-1] == OperationFolded(work=RefreshAsked(mental_model_id=MODEL), released=True)


def test_sc_03_an_automatic_request_leaves_one_that_was_parked_as_it_is() -> None:
    world = parked()
    assert ask(world, automatic=True) == Asked(OPERATION, "folded")
    assert len(world.operation()) == 2


def test_a_waiting_operation_that_begins_meanwhile_takes_nothing_in() -> None:
    world = waiting()
    world.log.before_lock.append(lambda: None)
    world.log.before_lock.append(lambda: world.log.record(world.stream_of(OPERATION), OperationStarted(attempt=1)))
    asked = ask(world)
    assert (asked.status, asked.operation_id != OPERATION) == ("queued", True)


def test_a_paused_model_is_refreshed_only_when_somebody_asks() -> None:
    world = World().has_a_model(written(), failed())
    assert ask(world, automatic=True) == Asked(None, "paused")
    assert ask(world).status == "queued"


def test_a_request_that_is_no_longer_wanted_under_the_lock_is_none() -> None:
    world = World().has_a_model(written(), trigger=Trigger(mode="delta"))
    seen: list[MentalModel] = []

    def no_longer(model: MentalModel) -> bool:
        seen.append(model)
        return False

    assert ask(world, automatic=True, wanted=no_longer) == Asked(None, "not_wanted")
    assert [model.trigger.mode for model in seen] == ["delta"]
    assert [stream for stream in world.log.streams if stream.kind == "operation"] == []


def test_a_model_that_is_not_there_is_not_found() -> None:
    with pytest.raises(MentalModelNotFound):
        ask(World())


def test_a_model_of_a_bank_that_is_gone_is_not_refreshed() -> None:
    world = World().has_a_model(written())
    world.log.streams = {stream: events for stream, events in world.log.streams.items() if stream.kind != "bank"}
    with pytest.raises(BankNotFound):
        ask(world)
