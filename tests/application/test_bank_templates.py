"""Bank templates: what an import records, in one transaction, and what happens when the bank moves meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from application.bank_templates import BankTemplates, Imported
from application.command_handler import ATTEMPTS, mental_model_stream, operation_stream
from application.ports import Transaction
from domain.bank import BankConfigured, BankOpened, BankRenamed, DirectiveAdded, MissionsChanged
from domain.bank_template import BankTemplate, MentalModelTemplate
from domain.directives import DIRECTIVES_AT_MOST, Rule
from domain.event import Event
from domain.mental_model.events import MentalModelCreated, MentalModelDeleted, MentalModelRenamed
from domain.mental_model.trigger import Trigger
from domain.operation import OperationFolded, OperationRequested, OperationStarted, RefreshAsked
from domain.refusals import BankNotFound, InvalidSetting, InvalidTemplate, TemplateConflict, TooManyDirectives
from tests.support.examples import BANK, BANK_STREAM, MENTAL_MODEL_STREAM, MODEL, OPERATION, OPERATION_STREAM, QUESTION
from tests.support.in_memory import NumberedIdentities
from tests.support.world import UnderWay, World

CITE = Rule(name="Cite", content="Name sources.", priority=5)


def model(mental_model_id: str = MODEL, **fields: Any) -> MentalModelTemplate:
    given = {"name": "Charles Bridge", "source_query": QUESTION, "tags": (), "max_tokens": 2048, "trigger": Trigger()}
    return MentalModelTemplate.model_validate({"mental_model_id": mental_model_id, **given, **fields})


def template(*models: MentalModelTemplate, directives: tuple[Rule, ...] = (), **config: Any) -> BankTemplate:
    return BankTemplate(config, models, directives)


def templates(world: World) -> BankTemplates:
    return BankTemplates(
        world.handler, world.log, NumberedIdentities(), world.banks, world.mental_models_of, world.in_flight
    )


def put_in(world: World, given: BankTemplate) -> Imported:
    return templates(world).import_(world.context, BANK, given)


def of_bank(world: World) -> list[type[Event]]:
    return [type(event) for event in world.log.of(BANK_STREAM)]


FULL = template(model(), model("vltava"), directives=(CITE,), retain_mission="Keep dates.", retain_chunk_size=500)


def test_a_template_makes_a_bank_in_one_transaction() -> None:
    world = World()
    imported = put_in(world, FULL)
    assert world.transactions.begun == 1
    assert of_bank(world) == [BankOpened, MissionsChanged, BankConfigured, DirectiveAdded]
    for each, operation_id in zip((MODEL, "vltava"), imported.operation_ids, strict=True):
        assert [type(event) for event in world.document(each)] == [MentalModelCreated]
        (asked,) = world.operation(operation_id)
        assert isinstance(asked, OperationRequested)
        assert asked.work == RefreshAsked(mental_model_id=each)
        assert asked.bank_since == world.clock.now()
    assert imported == Imported(True, (MODEL, "vltava"), (), ("Cite",), (), imported.operation_ids)


def test_the_same_again_records_nothing() -> None:
    world = World()
    put_in(world, FULL)
    before = {stream: len(events) for stream, events in world.log.streams.items()}
    assert put_in(world, FULL) == Imported(False, (), (), (), ())
    assert {stream: len(events) for stream, events in world.log.streams.items()} == before


def test_a_dry_run_begins_no_transaction() -> None:
    world = World()
    planned = templates(world).import_(world.context, BANK, FULL, dry_run=True)
    assert (world.transactions.begun, world.log.of(BANK_STREAM)) == (0, [])
    assert planned == Imported(True, (MODEL, "vltava"), (), ("Cite",), ())


def test_what_comes_out_goes_in_as_it_was() -> None:
    world = World()
    put_in(world, FULL)
    assert templates(world).export(BANK) == FULL
    with pytest.raises(BankNotFound):
        templates(world).export("vienna")


# --- refreshes --------------------------------------------------------------------------------------------------------


def test_an_updated_model_whose_refresh_waits_folds_into_it() -> None:
    world = World().has_a_model().is_asked_to_refresh()
    imported = put_in(world, template(model(name="Karlův most")))
    assert world.document()[1:] == [MentalModelRenamed(name="Karlův most")]
    assert (imported.mental_models_updated, imported.operation_ids) == ((MODEL,), (OPERATION,))
    assert all(isinstance(event, OperationRequested | OperationFolded) for event in world.operation())


def test_an_updated_model_whose_refresh_runs_is_refreshed_again() -> None:
    world = World().has_a_model().is_asked_to_refresh()
    world.log.record(OPERATION_STREAM, OperationStarted(attempt=1))
    (operation_id,) = put_in(world, template(model(name="Karlův most"))).operation_ids
    assert operation_id != OPERATION
    assert isinstance(world.operation(operation_id)[0], OperationRequested)


def test_a_deleted_model_is_created_anew() -> None:
    world = World().has_a_model(MentalModelDeleted())
    assert put_in(world, template(model())).mental_models_created == (MODEL,)
    assert isinstance(world.document()[-1], MentalModelCreated)


# --- the bank moves meanwhile -----------------------------------------------------------------------------------------


def a_model_comes(world: World) -> None:
    world.log.record(mental_model_stream(BANK, "vltava"), *World().has_a_model(mental_model_id="vltava").document())


def the_bank_is_renamed(world: World) -> None:
    world.log.record(BANK_STREAM, BankRenamed(name="Praha"))


def a_model_goes(world: World) -> None:
    world.log.record(MENTAL_MODEL_STREAM, MentalModelDeleted())


CHANGED = template(model(name="Karlův most"), model("vltava"), retain_chunk_size=500)


@pytest.mark.parametrize("happens", [a_model_comes, the_bank_is_renamed, a_model_goes], ids=lambda f: f.__name__)
def test_a_bank_that_moved_is_looked_at_again(happens: Callable[[World], None]) -> None:
    world = World().has_a_model()
    world.log.meanwhile.append(lambda: happens(world))
    put_in(world, CHANGED)
    assert world.banks.config(BANK).retain_chunk_size == 500
    assert [each.name for each in templates(world).export(BANK).mental_models] == ["Karlův most", "Charles Bridge"]


def test_a_refresh_that_is_asked_for_meanwhile_takes_that_of_the_import_in() -> None:
    world = World().has_a_model()

    def in_flight(bank_id: str, mental_model_id: str, tx: Transaction | None = None) -> list[UnderWay]:
        if tx is not None and not world.operation():
            world.is_asked_to_refresh()
        return world.in_flight(bank_id, mental_model_id, tx)

    racing = BankTemplates(
        world.handler, world.log, NumberedIdentities(), world.banks, world.mental_models_of, in_flight
    )
    assert racing.import_(world.context, BANK, template(model(name="Karlův most"))).operation_ids == (OPERATION,)
    assert world.document()[1:] == [MentalModelRenamed(name="Karlův most")]
    assert len(world.in_flight(BANK, MODEL)) == 1


def test_a_bank_that_never_stands_still_is_a_conflict_and_nothing_is_imported() -> None:
    world = World().has_a_model()
    world.log.meanwhile.extend([lambda: the_bank_is_renamed(world)] * ATTEMPTS)
    with pytest.raises(TemplateConflict, match="nothing was imported: repeat the request"):
        put_in(world, CHANGED)
    assert world.banks.config(BANK).retain_chunk_size == 3000


# --- refusals ---------------------------------------------------------------------------------------------------------

MANY = tuple(Rule(name=f"rule {number}", content="x") for number in range(DIRECTIVES_AT_MOST + 1))


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(
    ("given", "refusal"),
    [
        (template(model(), model()), InvalidTemplate),
        (template(directives=(CITE, CITE)), InvalidTemplate),
        (template(model(), retain_default_strategy="mail"), InvalidSetting),
        (template(model(), directives=MANY), TooManyDirectives),
    ],
    ids=["a model twice", "a directive twice", "a rule that spans keys", "too many directives"],
)
def test_a_refused_template_changes_nothing(given: BankTemplate, refusal: type[Exception], dry_run: bool) -> None:
    world = World()
    with pytest.raises(refusal):
        templates(world).import_(world.context, BANK, given, dry_run=dry_run)
    assert world.log.of(BANK_STREAM) == []
    assert world.document() == []
    assert world.log.of(operation_stream(BANK, UUID(int=1))) == []
