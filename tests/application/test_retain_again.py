"""A retain that is attempted again asks a mind the same as before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from application.command_handler import OPERATION as OPERATION_AGGREGATE
from application.command_handler import Done, Step
from application.ports import Extraction, RetainSteering, Transaction, WaitingItems
from application.retain_reading import Reading
from domain.memory import Chunk, RetainItem
from domain.operation import CompleteOperation, OperationStarted, RetainDone
from tests.support.examples import BANK, NOW, OPERATION, OPERATION_STREAM
from tests.support.scripted_minds import LineExtractor
from tests.support.world import World

ITEM = RetainItem(content="It has 16 arches.", document_id="guide")


class TimedExtractor(LineExtractor):
    """Keeps what time it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[datetime] = []

    def extract(
        self, item: RetainItem, *, steering: RetainSteering, now: datetime, chunks: Sequence[Chunk] | None = None
    ) -> Extraction:
        self.told.append(now)
        return super().extract(item, steering=steering, now=now, chunks=chunks)


def finish(read: Reading) -> Step:
    done = CompleteOperation(BANK, OPERATION, RetainDone(facts=read.facts, calls=tuple(read.calls)))
    return Step(OPERATION_AGGREGATE, OPERATION_STREAM, done)


def nothing(_tx: Transaction, _results: tuple[Done, ...]) -> None:
    """Nothing goes along."""


def test_a_mind_is_told_when_the_retain_was_asked_for_and_the_facts_are_of_when_they_were_written() -> None:
    extractor = TimedExtractor()
    world = World(extractor=extractor)
    world.memories.retain_later(world.context, BANK, [ITEM], OPERATION)
    world.log.record(OPERATION_STREAM, OperationStarted(attempt=1))
    world.clock.move(timedelta(hours=1))

    world.memories.finish_retain(world.context, BANK, WaitingItems([ITEM], 1, [0]), finish, nothing, asked_at=NOW)

    assert extractor.told == [NOW]
    assert [row.fact.recorded_at for row in world.memory.rows] == [NOW + timedelta(hours=1)]


def test_a_retain_at_once_is_asked_for_now() -> None:
    extractor = TimedExtractor()
    world = World(extractor=extractor)

    world.memories.retain(world.context, BANK, [ITEM])

    assert extractor.told == [NOW]
