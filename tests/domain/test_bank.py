"""What a bank answers to each command, and what each event changes in its state."""

from __future__ import annotations

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st
from pydantic import ValidationError

from application.command_handler import BANK as BANK_AGGREGATE
from domain.bank import (
    Bank,
    BankCommand,
    BankDeleted,
    BankOpened,
    BankRenamed,
    DeleteBank,
    Disposition,
    DispositionChanged,
    Missions,
    MissionsChanged,
    NoBank,
    OpenBank,
    PutBank,
    RequireBank,
)
from domain.event import Event
from domain.refusals import BankNotFound, Refusal
from tests.dsl import fold, given
from tests.support.examples import BANK, NOW

OPENED = BankOpened(bank_id=BANK, name=BANK)
GUIDE = Missions(reflect="Answer as a city guide.", retain="Keep dates.")


def test_a_given_trait_changes_and_the_others_stay() -> None:
    one = DispositionChanged(disposition=Disposition(skepticism=5))
    given(OPENED, one).when(PutBank(BANK, traits={"empathy": 1})).then(
        DispositionChanged(disposition=Disposition(skepticism=5, empathy=1))
    )


def test_opens_at_its_first_write_named_by_its_id() -> None:
    given().when(OpenBank(BANK)).then(OPENED)


def test_opening_an_open_bank_is_nothing() -> None:
    given(OPENED).when(OpenBank(BANK)).then_nothing()


def test_a_deleted_bank_opens_again() -> None:
    given(OPENED, BankDeleted()).when(OpenBank(BANK)).then(OPENED)


def test_what_requires_the_bank_records_nothing() -> None:
    given(OPENED).when(RequireBank(BANK)).then_nothing()


@pytest.mark.parametrize("before", [(), (OPENED, BankDeleted())], ids=["never opened", "deleted"])
def test_what_requires_the_bank_is_refused_without_it_and_does_not_open_it(before: tuple[Event, ...]) -> None:
    given(*before).when(RequireBank(BANK)).then_refused(BankNotFound, f"'{BANK}'")


def test_put_opens_a_new_bank_with_all_that_is_given() -> None:
    command = PutBank(BANK, "Prague", GUIDE, {"skepticism": 5})
    given().when(command).then(
        BankOpened(bank_id=BANK, name="Prague"),
        MissionsChanged(missions=GUIDE),
        DispositionChanged(disposition=Disposition(skepticism=5)),
    )


@pytest.mark.parametrize("name", [None, ""])
def test_put_without_a_name_names_a_new_bank_by_its_id(name: str | None) -> None:
    given().when(PutBank(BANK, name)).then(OPENED)


def test_put_of_the_defaults_on_a_new_bank_only_opens_it() -> None:
    given().when(PutBank(BANK, None, Missions(), {"skepticism": 3})).then(OPENED)


def test_put_records_only_what_differs() -> None:
    given(OPENED, MissionsChanged(missions=GUIDE)).when(PutBank(BANK, "Prague", GUIDE, {"empathy": 3})).then(
        BankRenamed(name="Prague")
    )


def test_put_keeps_the_missions_it_does_not_name() -> None:
    given(OPENED, MissionsChanged(missions=GUIDE)).when(PutBank(BANK, missions=Missions(retain="Keep names."))).then(
        MissionsChanged(missions=Missions(reflect="Answer as a city guide.", retain="Keep names."))
    )


def test_put_of_an_empty_mission_empties_it() -> None:
    given(OPENED, MissionsChanged(missions=GUIDE)).when(PutBank(BANK, missions=Missions(retain=""))).then(
        MissionsChanged(missions=Missions(reflect="Answer as a city guide.", retain=""))
    )


def test_put_of_nothing_changes_nothing() -> None:
    given(OPENED, MissionsChanged(missions=GUIDE)).when(PutBank(BANK)).then_nothing()


def test_put_of_an_empty_name_keeps_the_name() -> None:
    given(BankOpened(bank_id=BANK, name="Prague")).when(PutBank(BANK, "")).then_nothing()


def test_is_deleted() -> None:
    given(OPENED).when(DeleteBank(BANK)).then(BankDeleted())


@pytest.mark.parametrize("before", [(), (OPENED, BankDeleted())], ids=["never opened", "deleted"])
def test_a_bank_that_is_not_there_is_not_deleted(before: tuple[Event, ...]) -> None:
    given(*before).when(DeleteBank(BANK)).then_refused(BankNotFound, "created by its first write")


def test_the_state_holds_what_the_events_say() -> None:
    state = fold(
        BANK_AGGREGATE,
        OPENED,
        BankRenamed(name="Praha"),
        MissionsChanged(missions=GUIDE),
        DispositionChanged(disposition=Disposition(empathy=1)),
    )
    assert state == Bank(bank_id=BANK, name="Praha", created_at=NOW, missions=GUIDE, disposition=Disposition(empathy=1))


def test_a_reopened_bank_keeps_nothing_of_the_deleted_one() -> None:
    state = fold(BANK_AGGREGATE, OPENED, MissionsChanged(missions=GUIDE), BankDeleted(), OPENED)
    assert (state.missions, state.disposition) == (Missions(), Disposition())


@pytest.mark.parametrize("trait", ["skepticism", "literalism", "empathy"])
@pytest.mark.parametrize("value", [0, 6])
def test_a_trait_is_from_1_to_5(trait: str, value: int) -> None:
    with pytest.raises(ValidationError):
        Disposition.model_validate({trait: value})


TEXTS = st.text(max_size=8)
MISSIONS = st.builds(Missions, reflect=st.none() | TEXTS, retain=st.none() | TEXTS, observations=st.none() | TEXTS)
TRAITS = st.dictionaries(st.sampled_from(["skepticism", "literalism", "empathy"]), st.integers(1, 5))
DISPOSITIONS = st.builds(Disposition, skepticism=st.integers(1, 5))
HISTORIES = st.lists(
    st.one_of(
        st.builds(BankOpened, bank_id=st.just(BANK), name=TEXTS),
        st.builds(BankRenamed, name=TEXTS),
        st.builds(MissionsChanged, missions=MISSIONS),
        st.builds(DispositionChanged, disposition=DISPOSITIONS),
        st.just(BankDeleted()),
    ),
    max_size=8,
)
COMMANDS = st.one_of(
    st.sampled_from([OpenBank(BANK), RequireBank(BANK), DeleteBank(BANK)]),
    st.builds(PutBank, st.just(BANK), st.none() | TEXTS, MISSIONS, TRAITS),
)


@for_all(HISTORIES, COMMANDS)
def test_any_sequence_of_events_folds_and_every_command_is_answered(history: list[Event], command: BankCommand) -> None:
    decided = BANK_AGGREGATE.decide(command, fold(BANK_AGGREGATE, *history))
    if isinstance(decided, Refusal):
        assert isinstance(decided, BankNotFound)
        return
    after = fold(BANK_AGGREGATE, *history, *decided)
    if isinstance(command, DeleteBank):
        assert after == NoBank()
    else:
        assert BANK_AGGREGATE.decide(command, after) == (), "the same again changes nothing"
