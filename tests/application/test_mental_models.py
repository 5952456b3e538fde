"""Use cases of a mental model: all of a request or none of it, and the document as it was at any time."""

from __future__ import annotations

from datetime import datetime, timedelta
from uuid import UUID

import pytest

from domain.bank import BankOpened
from domain.event import Context
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentReverted,
    MentalModelDeleted,
    MentalModelRenamed,
)
from domain.mental_model.trigger import Trigger
from domain.operation import OperationRequested, RefreshAsked
from domain.refusals import InvalidInput, MentalModelAlreadyExists, MentalModelNotFound, StaleVersion, VersionNotFound
from tests.support.examples import BANK, BANK_STREAM, MENTAL_MODEL_STREAM, MODEL, NOW, QUESTION, created, later, written
from tests.support.world import World


def create(world: World, mental_model_id: str | None = MODEL, content: str | None = None) -> tuple[str, UUID]:
    made = world.mental_models.create(
        world.context,
        BANK,
        mental_model_id=mental_model_id,
        name="Charles Bridge",
        source_query=QUESTION,
        tags=(),
        max_tokens=2048,
        trigger=Trigger(),
        content=content,
    )
    return made.mental_model_id, made.operation_id


def test_creating_opens_the_bank_and_asks_for_the_first_refresh_in_one_transaction() -> None:
    world = World()
    model, operation_id = create(world)
    assert (model, world.document()) == (MODEL, [created()])
    assert world.log.of(BANK_STREAM) == [BankOpened(bank_id=BANK, name=BANK)]
    assert world.operation(operation_id) == [
        OperationRequested(
            bank_id=BANK,
            operation_id=operation_id,
            work=RefreshAsked(mental_model_id=MODEL),
            bank_since=world.context.now,
        )
    ]
    assert world.transactions.committed == 1


def test_a_document_to_begin_with_is_recorded_in_the_same_transaction() -> None:
    world = World()
    _, operation_id = create(world, content="# Bridge\n\nOld.\n")
    model, edited = world.document()
    assert model == created()
    assert isinstance(edited, ContentEdited)
    assert (edited.text, len(edited.ids)) == ("# Bridge\n\nOld.\n", 2)
    assert len(world.operation(operation_id)) == 1
    assert world.transactions.committed == 1


def test_an_id_is_minted_when_none_is_given() -> None:
    world = World()
    model, _ = create(world, None)
    assert model == f"mm-{UUID(int=1).hex}"
    assert len(world.document(model)) == 1


def test_creating_it_twice_asks_for_no_second_refresh() -> None:
    world = World()
    create(world)
    with pytest.raises(MentalModelAlreadyExists):
        create(world)
    assert len([stream for stream in world.log.streams if stream.kind == "operation"]) == 1


def test_a_change_with_the_version_that_was_read_is_taken() -> None:
    world = World().has_a_model()
    done = world.mental_models.change(world.context, BANK, MODEL, expected=1, name="Most")
    assert (world.document()[-1], done.version, done.state.name) == (MentalModelRenamed(name="Most"), 2, "Most")


def test_a_change_with_an_older_version_is_refused() -> None:
    world = World().has_a_model(MentalModelRenamed(name="Most"))
    with pytest.raises(StaleVersion, match="read it again"):
        world.mental_models.change(world.context, BANK, MODEL, expected=1, name="Bridge")
    assert len(world.document()) == 2


def test_a_text_written_by_hand_is_a_change_like_others() -> None:
    world = World().has_a_model(written("Text.\n"))
    done = world.mental_models.change(world.context, BANK, MODEL, name="Most", content="By hand.")
    assert [type(event) for event in done.events] == [MentalModelRenamed, ContentEdited]
    assert (done.state.content, done.version) == ("By hand.", 4)
    assert world.mental_models.change(world.context, BANK, MODEL, content="By hand.").events == ()


def test_a_document_goes_back_to_what_it_said() -> None:
    world = World().has_a_model(written("First.\n"), MentalModelRenamed(name="Most"), written("Second.\n"))
    done = world.mental_models.revert(world.context, BANK, MODEL, 3)
    (reverted,) = done.events
    assert isinstance(reverted, ContentReverted)
    assert (reverted.to_version, reverted.text) == (3, "First.\n")
    assert (done.state.content, done.state.name, done.version) == ("First.\n", "Most", 5)
    assert world.mental_models.revert(world.context, BANK, MODEL, 2).events == (), "it says so already"


def test_a_document_does_not_go_back_to_nothing_or_to_what_never_was() -> None:
    world = World().has_a_model(written("First.\n"))
    with pytest.raises(InvalidInput, match="empty at version 1"):
        world.mental_models.revert(world.context, BANK, MODEL, 1)
    with pytest.raises(VersionNotFound, match="version 3"):
        world.mental_models.revert(world.context, BANK, MODEL, 3)
    world.mental_models.delete(world.context, BANK, MODEL)
    with pytest.raises(MentalModelNotFound):
        world.mental_models.revert(world.context, BANK, MODEL, 2)
    assert len(world.document()) == 3


def test_a_document_goes_back_only_from_the_version_that_was_read() -> None:
    world = World().has_a_model(written("First.\n"), written("Second.\n"))
    with pytest.raises(StaleVersion, match="read it again"):
        world.mental_models.revert(world.context, BANK, MODEL, 2, expected=2)
    assert world.mental_models.revert(world.context, BANK, MODEL, 2, expected=3).version == 4


@pytest.mark.parametrize("use", ["clear", "delete", "load", "events"])
def test_a_model_that_is_not_there_is_not_found(use: str) -> None:
    world = World()
    arguments = (BANK, MODEL) if use in ("load", "events") else (world.context, BANK, MODEL)
    with pytest.raises(MentalModelNotFound):
        getattr(world.mental_models, use)(*arguments)
    assert world.log.streams == {}


def test_clearing_and_deleting_leave_everything_in_the_log() -> None:
    world = World().has_a_model(written())
    world.mental_models.clear(world.context, BANK, MODEL)
    world.mental_models.delete(world.context, BANK, MODEL)
    assert world.document() == [created(), written(), ContentCleared(), MentalModelDeleted()]


def lived() -> World:
    """Created at once, written after 10 minutes, renamed after 20, deleted after 30."""
    world = World()
    for minute, event in ((0, created()), (10, written("Text.\n")), (20, MentalModelRenamed(name="Most"))):
        world.log.record(MENTAL_MODEL_STREAM, event, context=Context("user", later(minute)))
    world.log.record(MENTAL_MODEL_STREAM, MentalModelDeleted(), context=Context("user", later(30)))
    return world


@pytest.mark.parametrize(
    ("moment", "version", "content", "name"),
    [
        (1, 1, "", "Charles Bridge"),
        (2, 2, "Text.\n", "Charles Bridge"),
        (3, 3, "Text.\n", "Most"),
        (NOW, 1, "", "Charles Bridge"),
        (later(9), 1, "", "Charles Bridge"),
        (later(10), 2, "Text.\n", "Charles Bridge"),
        (later(29), 3, "Text.\n", "Most"),
    ],
)
def test_it_is_read_as_it_was(moment: int | datetime, version: int, content: str, name: str) -> None:
    was = lived().mental_models.as_of(BANK, MODEL, moment)
    assert (was.version, was.model.content, was.model.name) == (version, content, name)


@pytest.mark.parametrize("moment", [0, 4, 5, NOW - timedelta(seconds=1), later(30), later(99)])
def test_it_is_not_read_as_it_was_when_it_was_not(moment: int | datetime) -> None:
    with pytest.raises(VersionNotFound, match=f"'{MODEL}' did not exist as of"):
        lived().mental_models.as_of(BANK, MODEL, moment)


def test_a_version_that_is_still_to_come_is_not_read() -> None:
    world = World().has_a_model(written("Text.\n"))
    assert world.mental_models.as_of(BANK, MODEL, 2).version == 2
    with pytest.raises(VersionNotFound, match="as of version 3"):
        world.mental_models.as_of(BANK, MODEL, 3)


def test_what_never_existed_has_no_past() -> None:
    with pytest.raises(MentalModelNotFound):
        World().mental_models.as_of(BANK, MODEL, 1)


def test_it_is_loaded_with_its_version() -> None:
    loaded = World().has_a_model(written("Text.\n")).mental_models.load(BANK, MODEL)
    assert (loaded.version, loaded.model.content) == (2, "Text.\n")
