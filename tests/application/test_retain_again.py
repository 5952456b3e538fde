"""A retain that is attempted again asks a mind the same as before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from application.command_handler import OPERATION as OPERATION_AGGREGATE
from application.command_handler import Step
from application.ports import Extraction, Transaction
from domain.memory import RetainItem
from domain.operation import CompleteOperation, OperationStarted, RetainDone
from domain.usage import ModelCall
from tests.support.examples import BANK, NOW, OPERATION, OPERATION_STREAM
from tests.support.scripted_minds import LineExtractor
from tests.support.world import World

ITEM = RetainItem(content="It has 16 arches.", document_id="guide")


class TimedExtractor(LineExtractor):
    """Keeps what time it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[datetime] = []

    def extract(self, item: RetainItem, *, mission: str | None, now: datetime) -> Extraction:
        self.told.append(now)
        return super().extract(item, mission=mission, now=now)


def finish(facts: int, calls: Sequence[ModelCall]) -> Step:
    done = CompleteOperation(BANK, OPERATION, RetainDone(facts=facts, calls=tuple(calls)))
    return Step(OPERATION_AGGREGATE, OPERATION_STREAM, done)


def nothing(_tx: Transaction) -> None:
    """Nothing goes along."""


def test_a_mind_is_told_when_the_retain_was_asked_for_and_the_facts_are_of_when_they_were_written() -> None:
    world = World()
    world.memories.retain_later(world.context, BANK, [ITEM], OPERATION)
    world.log.record(OPERATION_STREAM, OperationStarted(attempt=1))
    extractor = world.memories._extractor = TimedExtractor()
    world.clock.move(timedelta(hours=1))

    world.memories.finish_retain(world.context, BANK, [ITEM], finish, nothing, asked_at=NOW)

    assert extractor.told == [NOW]
    assert [row.fact.recorded_at for row in world.memory.rows] == [NOW + timedelta(hours=1)]


def test_a_retain_at_once_is_asked_for_now() -> None:
    world = World()
    extractor = world.memories._extractor = TimedExtractor()

    world.memories.retain(world.context, BANK, [ITEM])

    assert extractor.told == [NOW]
