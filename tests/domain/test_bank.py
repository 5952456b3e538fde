"""What a bank answers to each command, and what each event changes in its state."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from application.command_handler import BANK as BANK_AGGREGATE
from domain.bank import (
    AddDirective,
    ApplyTemplate,
    Bank,
    BankCommand,
    BankConfigured,
    BankDeleted,
    BankOpened,
    BankRenamed,
    BankState,
    ChangeDirective,
    DeleteBank,
    DirectiveAdded,
    DirectiveChanged,
    DirectiveRemoved,
    Disposition,
    DispositionChanged,
    Missions,
    MissionsChanged,
    NoBank,
    OpenBank,
    PutBank,
    RemoveDirective,
    RequireBank,
    ResetConfig,
)
from domain.bank_config import BankSettings
from domain.directives import DIRECTIVES_AT_MOST, Directive
from domain.event import RECORDED, Event
from domain.refusals import BankNotFound, DirectiveNotFound, Refusal, TooManyDirectives
from tests.dsl import fold, given
from tests.support.examples import BANK, NOW

OPENED = BankOpened(bank_id=BANK, name=BANK)
GUIDE = Missions(reflect="Answer as a city guide.", retain="Keep dates.")
GUIDING = {"reflect_mission": "Answer as a city guide.", "retain_mission": "Keep dates."}


def directive(number: int = 1, **fields: Any) -> Directive:
    fields = {"name": "Cite", "content": "Name the source of every date.", **fields}
    return Directive(directive_id=UUID(int=number), **fields)


def configured(**settings: Any) -> BankConfigured:
    return BankConfigured(overrides=BankSettings().changed_by(settings))


# --- open, put, delete ------------------------------------------------------------------------------------------------


def test_opens_at_its_first_write_named_by_its_id() -> None:
    given().when(OpenBank(BANK)).then(OPENED)


def test_opening_an_open_bank_is_nothing() -> None:
    given(OPENED).when(OpenBank(BANK)).then_nothing()


def test_a_deleted_bank_opens_again() -> None:
    given(OPENED, BankDeleted()).when(OpenBank(BANK)).then(OPENED)


def test_what_requires_the_bank_records_nothing() -> None:
    given(OPENED).when(RequireBank(BANK)).then_nothing()


@pytest.mark.parametrize("before", [(), (OPENED, BankDeleted())], ids=["never opened", "deleted"])
@pytest.mark.parametrize(
    "command",
    [
        RequireBank(BANK),
        ResetConfig(BANK),
        ChangeDirective(BANK, UUID(int=1), {"name": "x"}),
        RemoveDirective(BANK, UUID(int=1)),
        DeleteBank(BANK),
    ],
    ids=lambda command: type(command).__name__,
)
def test_what_is_about_a_bank_is_refused_without_it_and_does_not_open_it(
    before: tuple[Event, ...], command: BankCommand
) -> None:
    given(*before).when(command).then_refused(BankNotFound, f"'{BANK}' not found; a bank is created by its first write")


def test_put_opens_a_new_bank_with_all_that_is_given() -> None:
    changes = {**GUIDING, "disposition_skepticism": 5, "retain_chunk_size": 500}
    given().when(PutBank(BANK, "Prague", changes)).then(
        BankOpened(bank_id=BANK, name="Prague"),
        MissionsChanged(missions=GUIDE),
        DispositionChanged(disposition=Disposition(skepticism=5)),
        configured(retain_chunk_size=500),
    )


@pytest.mark.parametrize("name", [None, ""])
def test_put_without_a_name_names_a_new_bank_by_its_id(name: str | None) -> None:
    given().when(PutBank(BANK, name)).then(OPENED)


def test_put_records_only_what_differs() -> None:
    given(OPENED, MissionsChanged(missions=GUIDE)).when(PutBank(BANK, "Prague", GUIDING)).then(
        BankRenamed(name="Prague")
    )


def test_put_keeps_the_missions_it_does_not_name() -> None:
    given(OPENED, MissionsChanged(missions=GUIDE)).when(PutBank(BANK, changes={"retain_mission": "Keep names."})).then(
        MissionsChanged(missions=Missions(reflect="Answer as a city guide.", retain="Keep names."))
    )


def test_put_of_an_empty_mission_empties_it() -> None:
    given(OPENED, MissionsChanged(missions=GUIDE)).when(PutBank(BANK, changes={"retain_mission": ""})).then(
        MissionsChanged(missions=Missions(reflect="Answer as a city guide.", retain=""))
    )


def test_put_of_nothing_changes_nothing() -> None:
    given(OPENED, MissionsChanged(missions=GUIDE)).when(PutBank(BANK)).then_nothing()


def test_put_of_an_empty_name_keeps_the_name() -> None:
    given(BankOpened(bank_id=BANK, name="Prague")).when(PutBank(BANK, "")).then_nothing()


def test_is_deleted() -> None:
    given(OPENED).when(DeleteBank(BANK)).then(BankDeleted())


# --- config -----------------------------------------------------------------------------------------------------------


def test_a_given_trait_changes_and_the_others_stay() -> None:
    one = DispositionChanged(disposition=Disposition(skepticism=5))
    given(OPENED, one).when(PutBank(BANK, changes={"disposition_empathy": 1})).then(
        DispositionChanged(disposition=Disposition(skepticism=5, empathy=1))
    )


def test_a_trait_that_is_set_to_neutral_is_set() -> None:
    given(OPENED).when(PutBank(BANK, changes={"disposition_empathy": 3})).then(
        DispositionChanged(disposition=Disposition(empathy=3))
    )


def test_a_key_that_is_set_to_its_default_is_set() -> None:
    given(OPENED).when(PutBank(BANK, changes={"retain_chunk_size": 3000})).then(configured(retain_chunk_size=3000))
    state = fold(BANK_AGGREGATE, OPENED, configured(retain_chunk_size=3000))
    assert isinstance(state, Bank)
    assert state.config.set_values() == {"retain_chunk_size": 3000}


def test_settings_that_are_not_named_stay() -> None:
    given(OPENED, configured(retain_chunk_size=500)).when(PutBank(BANK, changes={"enable_reranking": False})).then(
        configured(retain_chunk_size=500, enable_reranking=False)
    )


def test_none_takes_away_what_is_set() -> None:
    before = (
        MissionsChanged(missions=GUIDE),
        DispositionChanged(disposition=Disposition(empathy=1)),
        configured(retain_chunk_size=500, enable_reranking=False),
    )
    changes = dict.fromkeys(["retain_mission", "disposition_empathy", "retain_chunk_size"])
    given(OPENED, *before).when(PutBank(BANK, changes=changes)).then(
        MissionsChanged(missions=Missions(reflect="Answer as a city guide.")),
        DispositionChanged(disposition=Disposition()),
        configured(enable_reranking=False),
    )


def test_none_for_what_is_not_set_is_nothing() -> None:
    given(OPENED).when(PutBank(BANK, changes={"retain_chunk_size": None, "retain_mission": None})).then_nothing()


def test_a_reset_takes_all_of_the_config_away_and_keeps_name_and_directives() -> None:
    before = (MissionsChanged(missions=GUIDE), configured(retain_chunk_size=500), DirectiveAdded(directive=directive()))
    given(OPENED, *before).when(ResetConfig(BANK)).then(MissionsChanged(missions=Missions()), configured())
    given(OPENED, DirectiveAdded(directive=directive())).when(ResetConfig(BANK)).then_nothing()


def test_the_config_of_a_bank_is_missions_traits_and_the_rest_as_far_as_they_are_set() -> None:
    state = fold(
        BANK_AGGREGATE,
        OPENED,
        MissionsChanged(missions=GUIDE),
        DispositionChanged(disposition=Disposition(empathy=3)),
        configured(retain_chunk_size=3000),
    )
    assert isinstance(state, Bank)
    assert state.config.set_values() == {**GUIDING, "disposition_empathy": 3, "retain_chunk_size": 3000}


# --- directives -------------------------------------------------------------------------------------------------------


def test_a_directive_opens_the_bank_and_is_added() -> None:
    given().when(AddDirective(BANK, directive())).then(OPENED, DirectiveAdded(directive=directive()))


def test_two_directives_may_have_one_name() -> None:
    given(OPENED, DirectiveAdded(directive=directive(1))).when(AddDirective(BANK, directive(2))).then(
        DirectiveAdded(directive=directive(2))
    )


def test_a_directive_changes_in_what_is_given() -> None:
    change = ChangeDirective(BANK, UUID(int=1), {"priority": 5, "is_active": False})
    given(OPENED, DirectiveAdded(directive=directive(tags=("a",)))).when(change).then(
        DirectiveChanged(directive=directive(tags=("a",), priority=5, is_active=False))
    )


def test_a_directive_that_is_so_already_is_not_changed() -> None:
    change = ChangeDirective(BANK, UUID(int=1), {"name": "Cite"})
    given(OPENED, DirectiveAdded(directive=directive())).when(change).then_nothing()


def test_a_directive_is_removed_once() -> None:
    added, removed = DirectiveAdded(directive=directive()), DirectiveRemoved(directive_id=UUID(int=1))
    given(OPENED, added).when(RemoveDirective(BANK, UUID(int=1))).then(removed)
    given(OPENED, added, removed).when(RemoveDirective(BANK, UUID(int=1))).then_refused(
        DirectiveNotFound, "00000000-0000-0000-0000-000000000001"
    )


def test_a_directive_that_is_not_there_is_not_changed() -> None:
    given(OPENED).when(ChangeDirective(BANK, UUID(int=7), {"name": "x"})).then_refused(DirectiveNotFound, "list its")


def test_a_bank_has_so_many_directives_at_most() -> None:
    many = [DirectiveAdded(directive=directive(number)) for number in range(DIRECTIVES_AT_MOST)]
    last = directive(DIRECTIVES_AT_MOST)
    given(OPENED, *many[1:]).when(AddDirective(BANK, last)).then(DirectiveAdded(directive=last))
    given(OPENED, *many).when(AddDirective(BANK, last)).then_refused(TooManyDirectives, "1000")
    given(OPENED, *many).when(ApplyTemplate(BANK, {}, (directive(0, name="Other"),))).then_refused(TooManyDirectives)


# --- templates --------------------------------------------------------------------------------------------------------


def test_a_template_opens_the_bank_and_applies_all_it_holds() -> None:
    given().when(ApplyTemplate(BANK, {**GUIDING, "retain_chunk_size": 500}, (directive(),))).then(
        OPENED,
        MissionsChanged(missions=GUIDE),
        configured(retain_chunk_size=500),
        DirectiveAdded(directive=directive()),
    )


def test_a_template_changes_a_directive_of_the_same_name_and_keeps_its_id_and_the_others() -> None:
    before = (DirectiveAdded(directive=directive(1)), DirectiveAdded(directive=directive(2, name="Be kind")))
    given(OPENED, *before).when(ApplyTemplate(BANK, {}, (directive(9, priority=3),))).then(
        DirectiveChanged(directive=directive(1, priority=3))
    )


def test_a_template_that_is_applied_already_is_nothing() -> None:
    before = (MissionsChanged(missions=GUIDE), DirectiveAdded(directive=directive(1)))
    given(OPENED, *before).when(ApplyTemplate(BANK, GUIDING, (directive(9),))).then_nothing()


def test_directives_of_one_name_are_matched_by_number() -> None:
    before = (DirectiveAdded(directive=directive(1)), DirectiveAdded(directive=directive(2)))
    template = (directive(8), directive(9, name="Cite (2)", priority=3))
    given(OPENED, *before).when(ApplyTemplate(BANK, {}, template)).then(
        DirectiveChanged(directive=directive(2, priority=3))
    )


# --- state ------------------------------------------------------------------------------------------------------------


def test_the_state_holds_what_the_events_say() -> None:
    state = fold(
        BANK_AGGREGATE,
        OPENED,
        BankRenamed(name="Praha"),
        MissionsChanged(missions=GUIDE),
        DispositionChanged(disposition=Disposition(empathy=1)),
        configured(retain_chunk_size=500),
        DirectiveAdded(directive=directive(1)),
        DirectiveAdded(directive=directive(2)),
        DirectiveAdded(directive=directive(3)),
        DirectiveChanged(directive=directive(2, priority=3)),
        DirectiveRemoved(directive_id=UUID(int=1)),
    )
    assert state == Bank(
        bank_id=BANK,
        name="Praha",
        created_at=NOW,
        missions=GUIDE,
        disposition=Disposition(empathy=1),
        overrides=BankSettings().changed_by({"retain_chunk_size": 500}),
        directives=(directive(2, priority=3), directive(3)),
    )


def test_a_reopened_bank_keeps_nothing_of_the_deleted_one() -> None:
    before = (MissionsChanged(missions=GUIDE), configured(retain_chunk_size=1), DirectiveAdded(directive=directive()))
    state = fold(BANK_AGGREGATE, OPENED, *before, BankDeleted(), OPENED)
    assert isinstance(state, Bank)
    assert state == Bank(bank_id=BANK, name=BANK, created_at=state.created_at)
    assert state.config.set_values() == {}


@pytest.mark.parametrize("trait", ["skepticism", "literalism", "empathy"])
@pytest.mark.parametrize("value", [0, 6])
def test_a_trait_is_from_1_to_5(trait: str, value: int) -> None:
    with pytest.raises(ValidationError):
        Disposition.model_validate({trait: value})


TEXTS = st.text(max_size=8)
MISSIONS = st.builds(Missions, reflect=st.none() | TEXTS, retain=st.none() | TEXTS, observations=st.none() | TEXTS)
DISPOSITIONS = st.builds(Disposition, skepticism=st.none() | st.integers(1, 5))
CHANGES = st.fixed_dictionaries(
    {},
    optional={
        "retain_mission": st.none() | TEXTS,
        "disposition_empathy": st.none() | st.integers(1, 5),
        "retain_chunk_size": st.none() | st.sampled_from([500, 3000]),
        "enable_reranking": st.none() | st.booleans(),
        "default_observation_scopes": st.none() | st.sampled_from(["shared", (("a:*",),)]),
    },
)
DIRECTIVES = st.builds(
    directive, st.integers(1, 4), name=st.sampled_from(["Cite", "Cite (2)", "Be kind"]), priority=st.integers(-1, 1)
)
IDS = st.integers(1, 4).map(lambda number: UUID(int=number))
HISTORIES = st.lists(
    st.one_of(
        st.builds(BankOpened, bank_id=st.just(BANK), name=TEXTS),
        st.builds(BankRenamed, name=TEXTS),
        st.builds(MissionsChanged, missions=MISSIONS),
        st.builds(DispositionChanged, disposition=DISPOSITIONS),
        st.builds(BankConfigured, overrides=st.sampled_from([BankSettings(), BankSettings(retain_chunk_size=3000)])),
        st.builds(DirectiveAdded, directive=DIRECTIVES),
        st.builds(DirectiveChanged, directive=DIRECTIVES),
        st.builds(DirectiveRemoved, directive_id=IDS),
        st.just(BankDeleted()),
    ),
    max_size=8,
)
TWICE_THE_SAME = st.one_of(
    st.sampled_from([OpenBank(BANK), RequireBank(BANK), ResetConfig(BANK)]),
    st.builds(PutBank, st.just(BANK), st.none() | TEXTS, CHANGES),
    st.builds(ChangeDirective, st.just(BANK), IDS, st.just({"priority": 9})),
    st.builds(ApplyTemplate, st.just(BANK), CHANGES, st.lists(DIRECTIVES, unique_by=lambda d: d.name).map(tuple)),
)
COMMANDS = st.one_of(
    TWICE_THE_SAME,
    st.just(DeleteBank(BANK)),
    st.builds(AddDirective, st.just(BANK), DIRECTIVES),
    st.builds(RemoveDirective, st.just(BANK), IDS),
)


@for_all(HISTORIES, COMMANDS)
def test_any_sequence_of_events_folds_and_every_command_is_answered(history: list[Event], command: BankCommand) -> None:
    decided = BANK_AGGREGATE.decide(command, fold(BANK_AGGREGATE, *history))
    if isinstance(decided, Refusal):
        assert isinstance(decided, BankNotFound | DirectiveNotFound)
        return
    after = fold(BANK_AGGREGATE, *history, *decided)
    if isinstance(command, DeleteBank):
        assert after == NoBank()
    else:
        assert isinstance(after, Bank)


@for_all(HISTORIES, TWICE_THE_SAME)
def test_the_same_command_again_changes_nothing(history: list[Event], command: BankCommand) -> None:
    unique = [event for event in history if not isinstance(event, DirectiveAdded)]
    decided = BANK_AGGREGATE.decide(command, fold(BANK_AGGREGATE, *unique))
    if not isinstance(decided, Refusal):
        assert BANK_AGGREGATE.decide(command, fold(BANK_AGGREGATE, *unique, *decided)) == ()


@for_all(HISTORIES)
def test_a_state_comes_back_from_a_snapshot_as_it_was(history: list[Event]) -> None:
    state = fold(BANK_AGGREGATE, *history)
    kept = state.model_dump(mode="json", by_alias=True)
    adapter: TypeAdapter[BankState] = TypeAdapter(BankState)
    again = adapter.validate_python(kept, context=dict(RECORDED))
    assert again == state
    if isinstance(state, Bank):
        assert isinstance(again, Bank)
        assert again.config.set_values() == state.config.set_values()
