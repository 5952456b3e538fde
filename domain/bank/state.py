"""What a bank's events add up to."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal, assert_never

from domain.bank.events import (
    BankConfigured,
    BankDeleted,
    BankEvent,
    BankOpened,
    BankRenamed,
    DirectiveAdded,
    DirectiveChanged,
    DirectiveRemoved,
    DispositionChanged,
    MissionsChanged,
    Overrides,
)
from domain.bank.values import Disposition, Missions, set_keys
from domain.bank_config import BankConfig, BankSettings
from domain.directives import Directive
from domain.event import Recorded
from domain.value import Value

STATE_VERSION = 2


class NoBank(Value):
    kind: Literal["absent"] = "absent"


class Bank(Value):
    """`directives` are in the order in which they were added."""

    kind: Literal["present"] = "present"
    bank_id: str
    name: str
    created_at: datetime
    missions: Missions = Missions()
    disposition: Disposition = Disposition()
    overrides: Overrides = BankSettings()
    """What is set beside missions and disposition."""
    directives: tuple[Directive, ...] = ()

    @property
    def config(self) -> BankConfig:
        """All that the bank sets itself, missions and disposition included."""
        return BankConfig().changed_by(self.overrides.set_values() | set_keys(self.missions, self.disposition))


BankState = NoBank | Bank


def evolve(state: BankState, recorded: Recorded) -> BankState:
    """The state after one more event; an event that makes no sense in a state leaves it as it is."""
    event: BankEvent = recorded.event  # type: ignore[assignment]  # the stream holds only these
    if isinstance(event, BankOpened):
        return Bank(bank_id=event.bank_id, name=event.name, created_at=recorded.occurred_at)
    if isinstance(state, NoBank):
        return state
    if isinstance(event, BankDeleted):
        return NoBank()
    return state.model_copy(update=_changes(state, event))


def _changes(
    state: Bank,
    event: BankRenamed
    | MissionsChanged
    | DispositionChanged
    | BankConfigured
    | DirectiveAdded
    | DirectiveChanged
    | DirectiveRemoved,
) -> dict[str, Any]:
    match event:
        case BankRenamed(name=name):
            return {"name": name}
        case MissionsChanged(missions=missions):
            return {"missions": missions}
        case DispositionChanged(disposition=disposition):
            return {"disposition": disposition}
        case BankConfigured(overrides=overrides):
            return {"overrides": overrides}
        case DirectiveAdded(directive=directive):
            return {"directives": (*state.directives, directive)}
        case DirectiveChanged(directive=directive):
            same = directive.directive_id
            return {"directives": tuple(directive if d.directive_id == same else d for d in state.directives)}
        case DirectiveRemoved(directive_id=removed):
            return {"directives": tuple(each for each in state.directives if each.directive_id != removed)}
        case _:
            assert_never(event)
