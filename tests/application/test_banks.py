"""Use cases of a bank: put, and delete with all that is in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from application.banks import Banks
from application.command_handler import ATTEMPTS, mental_model_stream
from application.directives import Directives
from domain.bank import BankDeleted, BankOpened, Disposition, DispositionChanged, Missions, MissionsChanged
from domain.bank_config import BankConfig, RetainStrategy
from domain.memory import RetainItem
from domain.mental_model.events import MentalModelDeleted
from domain.operation import OperationFailed
from domain.refusals import BankNotFound, InvalidSetting, StaleVersion
from tests.support.examples import BANK, BANK_STREAM, KNOWLEDGE_BASE_STREAM, MENTAL_MODEL_STREAM, MODEL, created
from tests.support.in_memory import NumberedIdentities
from tests.support.world import World


def test_put_gives_the_bank_as_it_is_afterwards() -> None:
    world = World()
    changes = {"retain_mission": "Keep dates.", "disposition_empathy": 5}
    bank = world.banks.put(world.context, BANK, "Prague", changes)
    assert (bank.name, bank.missions.retain, bank.disposition.empathy) == ("Prague", "Keep dates.", 5)
    assert world.log.of(BANK_STREAM) == [
        BankOpened(bank_id=BANK, name="Prague"),
        MissionsChanged(missions=Missions(retain="Keep dates.")),
        DispositionChanged(disposition=Disposition(empathy=5)),
    ]


def test_put_of_what_is_already_so_gives_the_bank_and_records_nothing() -> None:
    world = World().has_a_model()
    assert world.banks.put(world.context, BANK, None).name == BANK
    assert len(world.log.of(BANK_STREAM)) == 1


def test_a_bank_that_is_not_there_has_no_missions_no_directives_and_the_config_of_the_server() -> None:
    world = World()
    assert world.banks.missions(BANK) == Missions()
    assert world.banks.config_and_directives(BANK)[1] == ()
    assert world.banks.config(BANK) == BankConfig()
    assert world.log.of(BANK_STREAM) == []


def with_server(**settings: Any) -> World:
    """A world whose server sets something for all banks."""
    world = World()
    defaults = BankConfig().changed_by(settings)
    world.banks = Banks(
        world.handler, world.log, world.memory, world.inbox, world.kept, world.mental_models_of, defaults
    )
    return world


def test_the_servers_config_counts_where_the_bank_sets_nothing() -> None:
    world = with_server(retain_mission="All dates.", reflect_mission="Be short.", retain_chunk_size=500)
    changes = {"retain_mission": "Keep names.", "recall_max_tokens": 7}
    assert world.banks.missions(BANK) == Missions(retain="All dates.", reflect="Be short.")
    world.banks.put(world.context, BANK, changes=changes)
    config = world.banks.config(BANK)
    assert (config.retain_mission, config.reflect_mission) == ("Keep names.", "Be short.")
    assert (config.retain_chunk_size, config.recall_max_tokens, config.enable_reranking) == (500, 7, True)
    assert world.banks.missions(BANK) == Missions(retain="Keep names.", reflect="Be short.")
    world.banks.reset_config(world.context, BANK)
    assert world.banks.config(BANK) == world.banks.config("another bank")


def test_a_rule_that_spans_keys_is_asked_of_what_would_count() -> None:
    world = with_server(retain_strategies={"mail": RetainStrategy()})
    world.banks.put(world.context, BANK, changes={"retain_default_strategy": "mail"})
    with pytest.raises(InvalidSetting, match="it has: mail"):
        world.banks.put(world.context, BANK, changes={"retain_default_strategy": "post"})
    with pytest.raises(InvalidSetting, match="it has: none"):
        world.banks.put(world.context, BANK, changes={"retain_strategies": {}})
    assert world.banks.config(BANK).retain_default_strategy == "mail"


def test_what_is_about_a_bank_that_is_not_there_is_refused() -> None:
    world = World()
    for about in (world.banks.bank, lambda bank: world.banks.reset_config(world.context, bank)):
        with pytest.raises(BankNotFound):
            about(BANK)


def test_the_active_directives_of_a_bank_are_told_by_priority_with_their_tags() -> None:
    world = World()
    directives = Directives(world.handler, NumberedIdentities())
    last = directives.add(world.context, BANK, "Be kind", "Be kind.", {})
    first = directives.add(world.context, BANK, "Cite", "Name sources.", {"priority": 5, "tags": ("a",)})
    off = directives.add(world.context, BANK, "Off", "Nothing.", {"is_active": False})
    gone = directives.add(world.context, BANK, "Gone", "Nothing.", {})
    directives.remove(world.context, BANK, gone)
    assert [(each.directive_id, each.tags) for each in world.banks.config_and_directives(BANK)[1]] == [
        (first, ("a",)),
        (last, ()),
    ]
    directives.change(world.context, BANK, off, {"is_active": True, "priority": 9})
    assert [each.directive_id for each in world.banks.config_and_directives(BANK)[1]] == [off, first, last]


def test_a_deleted_bank_takes_its_models_and_its_memory_with_it() -> None:
    world = World().has_a_model().knows("It has 16 arches.", "It has 30 statues.")
    assert world.banks.delete(world.context, BANK) == 2
    assert world.log.of(BANK_STREAM)[-1] == BankDeleted()
    assert world.document(MODEL) == [created(), MentalModelDeleted()]
    assert (world.memory.rows, world.transactions.begun) == ([], 1)
    assert world.log.locked == [((BANK_STREAM, KNOWLEDGE_BASE_STREAM, MENTAL_MODEL_STREAM), ())]


def test_a_deleted_bank_takes_its_waiting_retains_with_it_and_leaves_those_of_others() -> None:
    world = World()
    waiting = [RetainItem(content="It has 16 arches.")]
    of_prague = world.memories.retain_later(world.context, BANK, waiting)
    of_vienna = world.memories.retain_later(world.context, "vienna", waiting)
    world.banks.delete(world.context, BANK)
    assert list(world.inbox.items) == [of_vienna]
    world.works(of_prague)
    end = world.operation(of_prague)[-1]
    assert isinstance(end, OperationFailed)
    assert f"'{BANK}' not found" in end.error_message
    assert world.log.of(BANK_STREAM)[-1] == BankDeleted(), "it is not opened again"


def test_a_waiting_retain_of_a_deleted_bank_fails_without_a_retry_also_when_the_bank_is_there_again() -> None:
    world = World()
    waiting = world.memories.retain_later(world.context, BANK, [RetainItem(content="It has 16 arches.")])
    world.banks.delete(world.context, BANK)
    world.banks.put(world.context, BANK, "Prague")
    world.works(waiting)
    assert isinstance(world.operation(waiting)[-1], OperationFailed)
    assert (world.memory.rows, world.extractor.read) == ([], [])


def test_a_model_created_while_its_bank_is_being_deleted_is_deleted_with_it() -> None:
    world = World().has_a_model().knows("It has 16 arches.")
    late = mental_model_stream(BANK, "late")
    world.log.before_lock.append(lambda: world.log.record(late, created(mental_model_id="late")))
    assert world.banks.delete(world.context, BANK) == 1
    assert world.mental_models_of(BANK) == []
    assert world.log.of(late)[-1] == MentalModelDeleted()
    assert world.log.of(BANK_STREAM).count(BankDeleted()) == 1
    assert world.transactions.committed == 1


def test_a_model_deleted_while_its_bank_is_being_deleted_does_not_keep_the_bank() -> None:
    world = World().has_a_model().knows("It has 16 arches.")
    world.log.before_lock.append(lambda: world.log.record(MENTAL_MODEL_STREAM, MentalModelDeleted()))
    assert world.banks.delete(world.context, BANK) == 1
    assert world.document() == [created(), MentalModelDeleted()]
    assert world.log.of(BANK_STREAM)[-1] == BankDeleted()


def test_a_bank_whose_models_never_stop_changing_is_kept_whole() -> None:
    world = World().has_a_model().knows("It has 16 arches.")

    def one_more(number: int) -> Callable[[], None]:
        name = f"late-{number}"
        return lambda: world.log.record(mental_model_stream(BANK, name), created(mental_model_id=name))

    world.log.before_lock.extend(map(one_more, range(ATTEMPTS)))
    with pytest.raises(StaleVersion, match=f"'{BANK}' was changed by someone else"):
        world.banks.delete(world.context, BANK)
    assert world.transactions.committed == 0
    assert (len(world.memory.rows), len(world.mental_models_of(BANK))) == (1, ATTEMPTS + 1)


def test_a_bank_that_is_not_there_is_not_deleted_and_nothing_is_erased() -> None:
    world = World().knows("It has 16 arches.")
    with pytest.raises(BankNotFound):
        world.banks.delete(world.context, BANK)
    assert len(world.memory.rows) == 1


def test_a_conflict_erases_the_memory_once_and_tells_how_much() -> None:
    world = World().has_a_model().knows("It has 16 arches.")
    world.log.meanwhile.append(lambda: world.log.record(BANK_STREAM, MissionsChanged(missions=Missions(retain="x"))))
    assert world.banks.delete(world.context, BANK) == 1
    assert world.log.of(BANK_STREAM)[-1] == BankDeleted()
