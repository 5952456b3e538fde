"""What a mind is asked about new facts, and what it proposes to make of them."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from domain.memory import Fact
from domain.usage import ModelCall
from domain.value import Value


class RelatedObservation(Value):
    """An observation that may have to do with new facts, and facts that it rests on (those there was room for)."""

    observation: Fact
    sources: tuple[Fact, ...] = ()


class ConsolidationRequest(Value):
    """New facts of one scope, with what was observed in it so far. `room` is how many observations may be added (None:
    no limit); `asked_at` is what the mind is told the time is."""

    scope: tuple[str, ...]
    facts: tuple[Fact, ...]
    related: tuple[RelatedObservation, ...] = ()
    mission: str | None = None
    room: int | None = None
    asked_at: datetime


class NewObservation(Value):
    """An observation to add, and the facts it rests on."""

    text: str
    source_ids: tuple[UUID, ...]
    reason: str = ""


class ChangedObservation(Value):
    """What an observation is to say from now on, and the facts that it rests on beside those of before."""

    observation_id: UUID
    text: str
    source_ids: tuple[UUID, ...]
    reason: str = ""


class DroppedObservation(Value):
    """An observation that no longer holds, or is part of another one now, which takes over its sources."""

    observation_id: UUID
    merged_into: UUID | None = None
    reason: str = ""


class ConsolidationProposal(Value):
    """What a mind makes of the facts of a request. Facts that nothing names need no observation. Whether the proposal
    can be followed is not the mind's business."""

    creates: tuple[NewObservation, ...] = ()
    updates: tuple[ChangedObservation, ...] = ()
    deletes: tuple[DroppedObservation, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    raw: str = ""
