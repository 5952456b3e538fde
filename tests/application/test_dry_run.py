"""The preview of a refresh: the same run, reported instead of recorded."""

from __future__ import annotations

import pytest

from application.dry_run import WOULD_FAIL, DryRuns, Preview
from application.ports import MindFailed
from application.request_costs import RequestCosts
from domain.document import AppendBlock, parse
from domain.event import Context, Event
from domain.mental_model.events import (
    ContentPreservedNoNewFacts,
    ContentUnchanged,
    ContentWritten,
    MentalModelDeleted,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshOutcome,
)
from domain.mental_model.trigger import Trigger
from domain.reflection import Answer
from domain.refusals import MentalModelNotFound
from domain.request import ModelsAsked
from tests.support.examples import BANK, MENTAL_MODEL_STREAM, MODEL, NOW, preserved, window, written
from tests.support.in_memory import NumberedIdentities
from tests.support.scripted_minds import RECALL, answer_from_all, proposal, unusable
from tests.support.world import World

DELTA = Trigger(mode="delta")
STONE = written("Stone.\n", window=window(0))
SECTION = parse(STONE.text).sections[0].id


def preview(world: World, told: list[ModelsAsked] | None = None) -> Preview:
    """A dry run that is checked to write nothing but what it cost, which is added to `told`."""
    before = {stream: list(events) for stream, events in world.log.streams.items()}
    costs = RequestCosts(world.handler, NumberedIdentities())
    try:
        return DryRuns(world.mental_models, world.executor, costs).refresh(Context("user", NOW), BANK, MODEL)
    finally:
        after = {stream: list(events) for stream, events in world.log.streams.items()}
        asked = [events for stream, events in after.items() if stream.kind == "request"]
        assert {stream: events for stream, events in after.items() if stream.kind != "request"} == before
        if told is not None:
            told.extend(each.event for events in asked for each in events)  # type: ignore[misc]


def page(*mind: object, delta: bool = False, **fields: object) -> World:
    trigger = Trigger.model_validate({"mode": "delta" if delta else "full", **fields})
    return World(*mind).knows("Wood.").has_a_model(STONE, trigger=trigger)  # type: ignore[arg-type]


def test_a_document_that_would_be_written_is_shown() -> None:
    found = preview(page(RECALL, answer_from_all))
    assert isinstance(found.outcome, ContentWritten)
    assert (found.would_persist, found.model.content, found.content) == (True, "Stone.\n", "- Wood.\n")
    assert [len(output.facts) for output in found.outputs] == [1]


def test_edits_that_would_be_made_are_shown() -> None:
    world = page(delta=True)
    world.editor.script = [proposal(AppendBlock(section_id=SECTION, text="Wood."), facts=[world.fact(1).id])]
    found = preview(world)
    assert (found.would_persist, found.content) == (True, "Stone.\n\nWood.\n")


@pytest.mark.parametrize(
    ("world", "outcome", "would_persist"),
    [
        (page(RECALL, Answer(markdown="Stone.", used=(), raw="")), ContentUnchanged, True),
        (page(RECALL, Answer(markdown=" ", used=(), raw="")), RefreshFailedEmptyCandidate, False),
        (page(fact_types=["observation"]), ContentPreservedNoNewFacts, False),
    ],
    ids=["unchanged", "empty candidate", "nothing to read"],
)
def test_what_would_not_change_the_document_shows_it_as_it_is(
    world: World, outcome: type[RefreshOutcome], would_persist: bool
) -> None:
    found = preview(world)
    assert isinstance(found.outcome, outcome)
    assert (found.would_persist, found.content) == (would_persist, "Stone.\n")


def test_what_it_cost_is_told_whether_a_document_would_come_of_it_or_not() -> None:
    told: list[ModelsAsked] = []
    preview(page(RECALL, answer_from_all), told)
    with pytest.raises(MindFailed):
        preview(page(RECALL, unusable(transient=True)), told)
    preview(page(fact_types=["observation"]), told)

    assert [(each.request, [call.purpose for call in each.calls]) for each in told] == [
        ("dry_run", ["reflect_1", "embed", "reflect_2"]),
        ("dry_run", ["reflect_1", "embed", "failed"]),
    ]


def test_a_delta_that_would_fail_is_a_preview_of_that() -> None:
    world = page(delta=True)
    world.editor.script = [unusable()]
    found = preview(world)
    assert isinstance(found.outcome, RefreshFailedDeltaNotApplied)
    assert (found.would_persist, found.content) == (False, "Stone.\n")


def test_a_refresh_that_would_fail_by_an_error_has_no_preview() -> None:
    with pytest.raises(MindFailed) as raised:
        preview(page(RECALL, unusable(transient=True)))
    message = WOULD_FAIL.format(reason="unexpected_error", message="the endpoint answered 500")
    assert (str(raised.value), raised.value.reason, raised.value.transient) == (message, "unexpected_error", True)
    assert [each.purpose for each in raised.value.calls] == ["reflect_1", "embed", "failed"]


def test_it_is_asked_for_no_structured_view() -> None:
    schema = {"type": "object", "properties": {"arches": {"type": "integer"}}}
    world = page(RECALL, answer_from_all, response_schema=schema)
    preview(world)
    assert world.structured.read == []


def test_the_outcome_stands_behind_the_events_it_would_follow() -> None:
    found = preview(page(RECALL, answer_from_all))
    *before, last = found.events_with_outcome
    assert before == list(found.events)
    assert (last.stream, last.version, last.event, last.occurred_at) == (MENTAL_MODEL_STREAM, 3, found.outcome, NOW)


@pytest.mark.parametrize("since", [(MentalModelDeleted(),), (preserved(), MentalModelDeleted())])
def test_what_is_not_there_has_no_preview(since: tuple[Event, ...]) -> None:
    with pytest.raises(MentalModelNotFound):
        preview(World().has_a_model(*since))
