"""What happens to a bank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import PlainSerializer

from domain.bank.values import NEUTRAL, Disposition, Missions
from domain.bank_config import BankSettings
from domain.directives import Directive
from domain.event import Event

Overrides = Annotated[BankSettings, PlainSerializer(lambda config: config.wire(only_set=True), return_type=dict)]
"""What a bank has set itself: only fields that are set are kept, so that they show which they are."""


def _name_follows_id(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Shape 1 had no name: a bank was called by its id."""
    return {**payload, "name": payload["bank_id"]}


def _neutral_was_not_set(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Shape 1 held every trait: neutral ones were mostly those that nobody had set."""
    traits = payload["disposition"].items()
    return {**payload, "disposition": {trait: value for trait, value in traits if value != NEUTRAL}}


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
    """Its disposition changed; all traits after the change, null for those that are not set."""

    TOPIC: ClassVar[str] = "bank.disposition_changed"
    SCHEMA: ClassVar[int] = 2
    UPCASTS: ClassVar = {1: _neutral_was_not_set}

    disposition: Disposition


class BankConfigured(Event):
    """Its config changed, missions and disposition aside; all keys that it sets itself after the change."""

    TOPIC: ClassVar[str] = "bank.configured"

    overrides: Overrides


class DirectiveAdded(Event):
    """A rule for answers was added."""

    TOPIC: ClassVar[str] = "bank.directive_added"

    directive: Directive


class DirectiveChanged(Event):
    """A directive changed; all of it after the change."""

    TOPIC: ClassVar[str] = "bank.directive_changed"

    directive: Directive


class DirectiveRemoved(Event):
    """A directive was removed."""

    TOPIC: ClassVar[str] = "bank.directive_removed"

    directive_id: UUID


class BankDeleted(Event):
    """It was deleted with its memory and its mental models; its id may be used again."""

    TOPIC: ClassVar[str] = "bank.deleted"


BankEvent = (
    BankOpened
    | BankRenamed
    | MissionsChanged
    | DispositionChanged
    | BankConfigured
    | DirectiveAdded
    | DirectiveChanged
    | DirectiveRemoved
    | BankDeleted
)
