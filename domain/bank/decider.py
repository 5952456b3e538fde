"""What a bank answers to a command: events, or a refusal. Pure and total."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, assert_never
from uuid import UUID

from domain.bank.events import (
    BankConfigured,
    BankDeleted,
    BankOpened,
    BankRenamed,
    DirectiveAdded,
    DirectiveChanged,
    DirectiveRemoved,
    DispositionChanged,
    MissionsChanged,
)
from domain.bank.state import Bank, BankState
from domain.bank.values import MISSION_KEYS, TRAIT_KEYS, Disposition, Missions, set_keys
from domain.bank_config import BankConfig, BankSettings
from domain.directives import DIRECTIVES_AT_MOST, Directive, by_told_name
from domain.event import Event
from domain.refusals import BankNotEmpty, BankNotFound, DirectiveNotFound, Refusal, TooManyDirectives


@dataclass(frozen=True)
class OpenBank:
    """Makes the bank exist; already so is no event."""

    bank_id: str


@dataclass(frozen=True)
class RequireBank:
    """Records nothing; refused when the bank is not there."""

    bank_id: str


@dataclass(frozen=True)
class RequireEmptyBank:
    """Records nothing; refused when there is a bank that anything was set or added of."""

    bank_id: str


@dataclass(frozen=True)
class PutBank:
    """Creates or updates. `changes` are keys of the config with valid values, None takes one away; keys that are not
    given, and a name that is None, stay."""

    bank_id: str
    name: str | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ResetConfig:
    """Takes away all that the bank has set, missions and disposition included."""

    bank_id: str


@dataclass(frozen=True)
class AddDirective:
    """Opens the bank if need be."""

    bank_id: str
    directive: Directive


@dataclass(frozen=True)
class ChangeDirective:
    """`changes` are fields of the directive."""

    bank_id: str
    directive_id: UUID
    changes: Mapping[str, Any]


@dataclass(frozen=True)
class RemoveDirective:
    bank_id: str
    directive_id: UUID


@dataclass(frozen=True)
class ApplyTemplate:
    """Creates or updates: the config as PutBank, and directives by the names they are told by. One of the bank keeps
    its id."""

    bank_id: str
    changes: Mapping[str, Any]
    directives: tuple[Directive, ...]


@dataclass(frozen=True)
class DeleteBank:
    bank_id: str


BankCommand = (
    OpenBank
    | RequireBank
    | RequireEmptyBank
    | PutBank
    | ResetConfig
    | AddDirective
    | ChangeDirective
    | RemoveDirective
    | ApplyTemplate
    | DeleteBank
)


def decide(command: BankCommand, state: BankState) -> Sequence[Event] | Refusal:
    """The events a command causes in a state."""
    bank = state if isinstance(state, Bank) else None
    match command:
        case OpenBank():
            return _opened(command.bank_id, bank)
        case RequireEmptyBank():
            return () if bank is None or _is_empty(bank) else BankNotEmpty(command.bank_id)
        case PutBank():
            return _put(command, bank)
        case AddDirective():
            opened = _opened(command.bank_id, bank)
            return _within_limit(bank, (*opened, DirectiveAdded(directive=command.directive)))
        case ApplyTemplate():
            put = _put(PutBank(command.bank_id, changes=command.changes), bank)
            return _within_limit(bank, (*put, *_applied(command.directives, bank)))
        case RequireBank() | ResetConfig() | ChangeDirective() | RemoveDirective() | DeleteBank():
            return BankNotFound(command.bank_id) if bank is None else _on_a_bank(command, bank)
        case _:
            assert_never(command)


def _is_empty(bank: Bank) -> bool:
    return not (bank.directives or bank.overrides.set_values() or set_keys(bank.missions, bank.disposition))


def _on_a_bank(
    command: RequireBank | ResetConfig | ChangeDirective | RemoveDirective | DeleteBank, bank: Bank
) -> Sequence[Event] | Refusal:
    match command:
        case RequireBank():
            return ()
        case ResetConfig():
            return tuple(_configured(bank, dict.fromkeys(BankConfig.model_fields)))
        case ChangeDirective() | RemoveDirective():
            return _on_a_directive(command, bank)
        case DeleteBank():
            return (BankDeleted(),)
        case _:
            assert_never(command)


def _on_a_directive(command: ChangeDirective | RemoveDirective, bank: Bank) -> Sequence[Event] | Refusal:
    found = next((each for each in bank.directives if each.directive_id == command.directive_id), None)
    if found is None:
        return DirectiveNotFound(command.bank_id, str(command.directive_id))
    if isinstance(command, RemoveDirective):
        return (DirectiveRemoved(directive_id=command.directive_id),)
    changed = found.model_copy(update=dict(command.changes))
    return () if changed == found else (DirectiveChanged(directive=changed),)


def _opened(bank_id: str, bank: Bank | None, name: str | None = None) -> tuple[Event, ...]:
    return () if bank is not None else (BankOpened(bank_id=bank_id, name=name or bank_id),)


def _put(command: PutBank, bank: Bank | None) -> tuple[Event, ...]:
    events = [*_opened(command.bank_id, bank, command.name), *_configured(bank, command.changes)]
    if bank is not None and command.name and command.name != bank.name:
        events.insert(0, BankRenamed(name=command.name))
    return tuple(events)


def _configured(bank: Bank | None, changes: Mapping[str, Any]) -> Iterator[Event]:
    """One event for each of missions, disposition and the rest that is another after the changes."""
    missions = bank.missions if bank else Missions()
    if (wanted := missions.model_copy(update=_of(changes, MISSION_KEYS))) != missions:
        yield MissionsChanged(missions=wanted)
    disposition = bank.disposition if bank else Disposition()
    if (traits := disposition.model_copy(update=_of(changes, TRAIT_KEYS))) != disposition:
        yield DispositionChanged(disposition=traits)
    rest = {key: value for key, value in changes.items() if key not in MISSION_KEYS and key not in TRAIT_KEYS}
    overrides = bank.overrides if bank else BankSettings()
    after = overrides.changed_by(rest)
    if after.set_values() != overrides.set_values():
        yield BankConfigured(overrides=after)


def _of(changes: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {name: changes[key] for key, name in names.items() if key in changes}


def _applied(directives: Sequence[Directive], bank: Bank | None) -> Iterator[Event]:
    there = by_told_name(bank.directives if bank else ())
    for wanted in directives:
        found = there.get(wanted.name)
        if found is None:
            yield DirectiveAdded(directive=wanted)
            continue
        changed = wanted.model_copy(update={"directive_id": found.directive_id, "name": found.name})
        if changed != found:
            yield DirectiveChanged(directive=changed)


def _within_limit(bank: Bank | None, events: Sequence[Event]) -> Sequence[Event] | Refusal:
    """A bank's directives are all read for every answer."""
    added = sum(isinstance(each, DirectiveAdded) for each in events)
    if added and len(bank.directives if bank else ()) + added > DIRECTIVES_AT_MOST:
        return TooManyDirectives(DIRECTIVES_AT_MOST)
    return events
