"""Commands of a mental model: the imperative of its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from domain.mental_model.state import MentalModel
from domain.mental_model.trigger import Trigger
from domain.refresh.run import RefreshRun
from domain.scope import TagGroup


@dataclass(frozen=True)
class CreateMentalModel:
    bank_id: str
    mental_model_id: str
    name: str
    source_query: str
    tags: tuple[str, ...]
    max_tokens: int
    trigger: Trigger
    content: str | None = None
    """The document to begin with, written by hand."""
    earlier: tuple[str, ...] = ()
    """What the document said before that, oldest first: for its history."""
    held_to: tuple[TagGroup, ...] = ()
    """Of the caller: the document reads nothing but what all of them admit."""


@dataclass(frozen=True)
class ChangeMentalModel:
    """None keeps a field; `tags=()` clears the tags; `trigger` holds the fields that were given, null included."""

    bank_id: str
    mental_model_id: str
    name: str | None = None
    source_query: str | None = None
    tags: tuple[str, ...] | None = None
    max_tokens: int | None = None
    trigger: Mapping[str, Any] | None = field(default=None)
    content: str | None = None
    """The document, written by hand."""
    held_to: tuple[TagGroup, ...] = ()
    """Of the caller: the document reads nothing but what all of them admit."""


@dataclass(frozen=True)
class RecordRefresh:
    """`created_at` is of the model the run was made for: one created anew under the same id meanwhile is another."""

    bank_id: str
    mental_model_id: str
    created_at: datetime
    run: RefreshRun


@dataclass(frozen=True)
class RevertContent:
    """Puts the document back to what it said at an earlier version, at which it stood as `then`."""

    bank_id: str
    mental_model_id: str
    to_version: int
    then: MentalModel


@dataclass(frozen=True)
class ClearContent:
    bank_id: str
    mental_model_id: str


@dataclass(frozen=True)
class RequireMentalModel:
    """It is there; nothing happens to it."""

    bank_id: str
    mental_model_id: str


@dataclass(frozen=True)
class DeleteMentalModel:
    bank_id: str
    mental_model_id: str


Command = (
    CreateMentalModel
    | ChangeMentalModel
    | RecordRefresh
    | RevertContent
    | ClearContent
    | RequireMentalModel
    | DeleteMentalModel
)
