"""The time at which a quota is reset: whatever fails for it, the time is told."""

from __future__ import annotations

import pytest

from application.deadline import DeadlinePassed
from application.ports import MindFailed
from domain.memory import RetainItem
from domain.mental_model.trigger import Trigger
from domain.refresh import DeltaFailed, RunFailed, StructuredOutputFailed
from tests.support.examples import BANK, later, mental_model
from tests.support.scripted_minds import RECALL, Scripted, answer_from_all
from tests.support.world import World

RESUME_AT = later(90)
SCHEMA = {"type": "object", "properties": {"year": {"type": "integer"}}}


def used_up() -> MindFailed:
    return MindFailed("used up", reason="unexpected_error", transient=True, resume_at=RESUME_AT)


def knowing(*mind: Scripted) -> World:
    return World(*mind).knows("The bridge was begun in 1357.")


def test_a_reflection_that_meets_a_quota_tells_when_to_resume() -> None:
    run = knowing(RECALL, used_up()).executor.execute(mental_model())
    assert run.result == RunFailed("unexpected_error", "used up", transient=True, resume_at=RESUME_AT)


def test_a_search_that_meets_a_quota_tells_when_to_resume() -> None:
    world = knowing(RECALL)
    world.embedder.broken = used_up()
    run = world.executor.execute(mental_model())
    assert run.result == RunFailed("retrieval_failed", "recall failed: used up", transient=True, resume_at=RESUME_AT)


def test_a_delta_that_meets_a_quota_tells_when_to_resume() -> None:
    world = knowing()
    world.editor.script = [used_up()]
    run = world.executor.execute(mental_model(content="Begun.\n", trigger=Trigger(mode="delta")))
    assert run.result == DeltaFailed("unexpected_error", "used up", transient=True, resume_at=RESUME_AT)


def test_a_structured_view_that_meets_a_quota_tells_when_to_resume() -> None:
    world = knowing(RECALL, answer_from_all)
    world.structured.script = [used_up()]
    run = world.executor.execute(mental_model(trigger=Trigger(response_schema=SCHEMA)))
    assert run.result == StructuredOutputFailed("used up", transient=True, resume_at=RESUME_AT)


def test_a_retain_that_meets_a_quota_tells_when_to_resume() -> None:
    world = World()
    world.extractor.broken = used_up()
    with pytest.raises(MindFailed) as failed:
        world.memories.retain(world.context, BANK, [RetainItem(content="It has 16 arches.")])
    assert failed.value.resume_at == RESUME_AT


def test_a_search_without_time_left_is_no_failed_search() -> None:
    world = knowing(RECALL)
    world.embedder.broken = DeadlinePassed(300)
    run = world.executor.execute(mental_model())
    assert run.result == RunFailed("unexpected_error", "the refresh took longer than 300 s")
