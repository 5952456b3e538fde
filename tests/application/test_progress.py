"""How far an operation says it is: always when it does something else, and not with every item it has done."""

from __future__ import annotations

from application.current_operation import REPORTS_AT_ONCE, report, working_on
from application.ports import Progress
from domain.memory import RetainItem
from domain.operation import OperationCancelled, OperationCompleted, OperationRetryScheduled
from tests.support.examples import BANK, OPERATION
from tests.support.scripted_minds import RECALL, answer_from_all, unusable
from tests.support.world import World


class Stopwatch:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_outside_of_an_operation_nothing_is_shown() -> None:
    report("reading", 1, 2)


def test_a_report_is_shown_as_it_was_made() -> None:
    shown: list[Progress] = []
    with working_on(OPERATION, show=shown.append):
        report("asking", 1, 2, {"iteration": 3})
    assert shown == [Progress("asking", 1, 2, {"iteration": 3})]


def test_of_many_reports_of_a_stage_one_a_second_is_shown() -> None:
    shown: list[Progress] = []
    stopwatch = Stopwatch()
    with working_on(OPERATION, show=shown.append, stopwatch=stopwatch):
        for number in range(1000):
            report("reading", number, 1000)
            stopwatch.seconds += 0.01
    assert REPORTS_AT_ONCE <= len(shown) <= REPORTS_AT_ONCE + 10
    assert shown[-1].processed is not None
    assert shown[-1].processed > 880


def test_another_stage_is_always_shown_and_the_same_report_only_once() -> None:
    shown: list[Progress] = []
    with working_on(OPERATION, show=shown.append, stopwatch=Stopwatch()):
        for number in range(100):
            report("reading", number)
        report("storing")
        report("storing")
    assert shown[-1] == Progress("storing")
    assert len(shown) == REPORTS_AT_ONCE + 1


def test_a_refresh_tells_what_it_does_until_it_ends() -> None:
    world = World(RECALL, answer_from_all).has_a_model().knows("It was begun in 1357.").is_asked_to_refresh()
    world.works()
    assert isinstance(world.operation()[-1], OperationCompleted)
    stages = [progress.stage for progress in world.progress.told]
    assert list(dict.fromkeys(stages)) == ["reading", "reflecting", "writing"]
    assert [each.processed for each in world.progress.told if each.stage == "reflecting"] == [1, 2]
    assert world.progress.shown == {}


def test_a_retain_tells_how_many_items_it_has_read() -> None:
    world = World()
    items = [RetainItem(content=f"It has {number} arches.") for number in range(3)]
    operation_id = world.memories.retain_later(world.context, BANK, items)
    world.works(operation_id)
    told = [(each.stage, each.processed, each.total) for each in world.progress.told]
    assert told == [
        ("reading", 0, 3),
        ("reading", 1, 3),
        ("reading", 2, 3),
        ("embedding", None, 3),
        ("storing", None, None),
    ]
    assert world.progress.shown == {}


def test_an_attempt_that_waits_to_be_made_again_shows_nothing() -> None:
    world = World(unusable(transient=True)).has_a_model().knows("New.").is_asked_to_refresh()
    world.works()
    assert isinstance(world.operation()[-1], OperationRetryScheduled)
    assert world.progress.shown == {}


def test_the_next_attempt_shows_nothing_of_one_whose_worker_died() -> None:
    world = World(RECALL, answer_from_all).has_a_model().knows("New.").is_asked_to_refresh()
    shown: list[str] = []
    world.progress.shown[BANK, OPERATION] = 7, Progress("editing", 3, 4)
    world.memory.meanwhile.append(lambda: shown.append(world.progress.shown[BANK, OPERATION][1].stage))
    world.works()
    assert shown == ["reading"]


def test_an_attempt_that_goes_on_after_a_cancel_shows_nothing() -> None:
    world = World(RECALL, answer_from_all).has_a_model().knows("New.").is_asked_to_refresh()

    def cancelled_meanwhile() -> None:
        world.log.record(world.stream_of(OPERATION), OperationCancelled())
        with world.transactions.begin() as tx:
            world.progress.clear(BANK, OPERATION, tx)

    world.memory.meanwhile.append(cancelled_meanwhile)
    world.works()
    assert world.progress.shown == {}
