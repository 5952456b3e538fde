"""Use cases of a bank: put, and delete with all that is in it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from application.command_handler import ATTEMPTS, mental_model_stream
from domain.bank import BankDeleted, BankOpened, Disposition, DispositionChanged, Missions, MissionsChanged
from domain.memory import RetainItem
from domain.mental_model.events import MentalModelDeleted
from domain.operation import OperationFailed
from domain.refusals import BankNotFound, StaleVersion
from tests.support.examples import BANK, BANK_STREAM, MENTAL_MODEL_STREAM, MODEL, created
from tests.support.world import World


def test_put_gives_the_bank_as_it_is_afterwards() -> None:
    world = World()
    bank = world.banks.put(world.context, BANK, "Prague", Missions(retain="Keep dates."), Disposition(empathy=5))
    assert (bank.name, bank.missions.retain, bank.disposition.empathy) == ("Prague", "Keep dates.", 5)
    assert world.log.of(BANK_STREAM) == [
        BankOpened(bank_id=BANK, name="Prague"),
        MissionsChanged(missions=Missions(retain="Keep dates.")),
        DispositionChanged(disposition=Disposition(empathy=5)),
    ]


def test_put_of_what_is_already_so_gives_the_bank_and_records_nothing() -> None:
    world = World().has_a_model()
    assert world.banks.put(world.context, BANK, None, Missions(), {}).name == BANK
    assert len(world.log.of(BANK_STREAM)) == 1


def test_a_bank_that_is_not_there_has_no_missions() -> None:
    assert World().banks.missions(BANK) == Missions()


def test_a_deleted_bank_takes_its_models_and_its_memory_with_it() -> None:
    world = World().has_a_model().knows("It has 16 arches.", "It has 30 statues.")
    assert world.banks.delete(world.context, BANK) == 2
    assert world.log.of(BANK_STREAM)[-1] == BankDeleted()
    assert world.document(MODEL) == [created(), MentalModelDeleted()]
    assert (world.memory.rows, world.transactions.begun) == ([], 1)
    assert world.log.locked == [((BANK_STREAM, MENTAL_MODEL_STREAM), ())]


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
    world.banks.put(world.context, BANK, "Prague", Missions(), {})
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
