"""The bank: the memory of one agent or person, with its missions and disposition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal, assert_never

from pydantic import Field

from domain.event import Event, Recorded
from domain.refusals import BankNotFound, Refusal
from domain.value import Value

STATE_VERSION = 1


class Disposition(Value):
    """How the bank's mind reads: each trait from 1 to 5, 3 is neutral."""

    skepticism: int = Field(default=3, ge=1, le=5)
    literalism: int = Field(default=3, ge=1, le=5)
    empathy: int = Field(default=3, ge=1, le=5)


class Missions(Value):
    """What the bank is for, in its owner's words: for answering, for reading facts, for observations."""

    reflect: str | None = None
    retain: str | None = None
    observations: str | None = None


def _name_follows_id(payload: Any) -> dict[str, Any]:
    """Shape 1 had no name: a bank was called by its id."""
    return {**payload, "name": payload["bank_id"]}


class BankOpened(Event):
    """The bank came to be, by its first write or by PUT."""

    TOPIC: ClassVar[str] = "bank.opened"
    SCHEMA: ClassVar[int] = 2
    UPCASTS: ClassVar = {1: _name_follows_id}

    bank_id: str
    name: str


class BankRenamed(Event):
    """Its display name changed."""

    TOPIC: ClassVar[str] = "bank.renamed"

    name: str


class MissionsChanged(Event):
    """Its missions changed; all of them after the change."""

    TOPIC: ClassVar[str] = "bank.missions_changed"

    missions: Missions


class DispositionChanged(Event):
    """Its disposition changed; all traits after the change."""

    TOPIC: ClassVar[str] = "bank.disposition_changed"

    disposition: Disposition


class BankDeleted(Event):
    """It was deleted with its memory and its mental models; its id may be used again."""

    TOPIC: ClassVar[str] = "bank.deleted"


BankEvent = BankOpened | BankRenamed | MissionsChanged | DispositionChanged | BankDeleted


class NoBank(Value):
    kind: Literal["absent"] = "absent"


class Bank(Value):
    kind: Literal["present"] = "present"
    bank_id: str
    name: str
    created_at: datetime
    missions: Missions = Missions()
    disposition: Disposition = Disposition()


BankState = NoBank | Bank


@dataclass(frozen=True)
class OpenBank:
    """Makes the bank exist; already so is no event."""

    bank_id: str


@dataclass(frozen=True)
class RequireBank:
    """Records nothing; refused when the bank is not there."""

    bank_id: str


@dataclass(frozen=True)
class PutBank:
    """Creates or updates; None keeps what is there."""

    bank_id: str
    name: str | None = None
    missions: Missions = field(default_factory=Missions)
    traits: Mapping[str, int] = field(default_factory=dict)
    """The traits of the disposition that are given, each from 1 to 5."""


@dataclass(frozen=True)
class DeleteBank:
    bank_id: str


BankCommand = OpenBank | RequireBank | PutBank | DeleteBank


def evolve(state: BankState, recorded: Recorded) -> BankState:
    """The state after one more event; an event that makes no sense in a state leaves it as it is."""
    event: BankEvent = recorded.event  # type: ignore[assignment]  # the stream holds only these
    if isinstance(event, BankOpened):
        return Bank(bank_id=event.bank_id, name=event.name, created_at=recorded.occurred_at)
    if isinstance(state, NoBank):
        return state
    match event:
        case BankRenamed():
            return state.model_copy(update={"name": event.name})
        case MissionsChanged():
            return state.model_copy(update={"missions": event.missions})
        case DispositionChanged():
            return state.model_copy(update={"disposition": event.disposition})
        case BankDeleted():
            return NoBank()
        case _:
            assert_never(event)


def decide(command: BankCommand, state: BankState) -> Sequence[Event] | Refusal:
    """The events a command causes in a state."""
    match command:
        case OpenBank(bank_id=bank_id):
            return () if isinstance(state, Bank) else (BankOpened(bank_id=bank_id, name=bank_id),)
        case RequireBank(bank_id=bank_id):
            return () if isinstance(state, Bank) else BankNotFound(bank_id)
        case PutBank():
            return _put(command, state)
        case DeleteBank(bank_id=bank_id):
            return (BankDeleted(),) if isinstance(state, Bank) else BankNotFound(bank_id)
        case _:
            assert_never(command)


def _put(command: PutBank, state: BankState) -> Sequence[Event]:
    events: list[Event] = []
    if isinstance(state, NoBank):
        events.append(BankOpened(bank_id=command.bank_id, name=command.name or command.bank_id))
        missions, disposition = Missions(), Disposition()
    else:
        missions, disposition = state.missions, state.disposition
        if command.name and command.name != state.name:
            events.append(BankRenamed(name=command.name))
    changed = missions.model_copy(update=command.missions.model_dump(exclude_none=True))
    if changed != missions:
        events.append(MissionsChanged(missions=changed))
    wanted = disposition.model_copy(update=dict(command.traits))
    if wanted != disposition:
        events.append(DispositionChanged(disposition=wanted))
    return tuple(events)
