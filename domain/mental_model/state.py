"""The state of a mental model, folded from its events: what its decisions need, and the document."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, assert_never

from domain.event import Recorded
from domain.mental_model.events import (
    ContentCleared,
    ContentPreservedNoNewFacts,
    ContentUnchanged,
    ContentWritten,
    MentalModelCreated,
    MentalModelDeleted,
    MentalModelEvent,
    MentalModelRenamed,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
)
from domain.mental_model.record import Evidence, RefreshRecord
from domain.mental_model.trigger import Trigger
from domain.scope import Scope, refresh_scope
from domain.value import Value

STATE_VERSION = 1
"""Version of the shape below: a snapshot of another version is ignored."""


class Absent(Value):
    """Never created, or deleted."""

    kind: Literal["absent"] = "absent"


class MentalModel(Value):
    """A mental model as it stands. Times are shown, not compared; `covered` is a position of its bank's clock."""

    kind: Literal["present"] = "present"
    bank_id: str
    mental_model_id: str
    name: str
    source_query: str
    tags: tuple[str, ...]
    max_tokens: int
    trigger: Trigger
    created_at: datetime
    content: str = ""
    evidence: tuple[Evidence, ...] = ()
    covered: int = 0
    covered_scope: Scope | None = None
    answered_query: str | None = None
    last_refreshed_at: datetime
    last_memory_seen_at: datetime | None = None
    last_refresh_failed_at: datetime | None = None
    last_full_refreshed_at: datetime | None = None

    @property
    def scope(self) -> Scope:
        """What it reads now."""
        return refresh_scope(self.tags, self.trigger.tags_match, self.trigger.tag_groups, self.trigger.fact_types)


State = Absent | MentalModel


def evolve(state: State, recorded: Recorded) -> State:
    """The state after one more event. Total: an event that makes no sense in a state leaves it as it is."""
    event: MentalModelEvent = recorded.event  # type: ignore[assignment]  # the stream holds only these
    if isinstance(event, MentalModelCreated):
        return _created(event, recorded.occurred_at)
    if isinstance(state, Absent):
        return state
    match event:
        case MentalModelRenamed():
            return state.model_copy(update={"name": event.name})
        case SourceQueryChanged():
            return state.model_copy(update={"source_query": event.source_query})
        case TagsChanged():
            return state.model_copy(update={"tags": event.tags})
        case TokenBudgetChanged():
            return state.model_copy(update={"max_tokens": event.max_tokens})
        case TriggerChanged():
            return state.model_copy(update={"trigger": event.trigger})
        case ContentWritten():
            finished = _finished(state, event.record, recorded.occurred_at)
            return finished.model_copy(update={"content": event.text, "evidence": event.record.evidence})
        case ContentUnchanged():
            return _finished(state, event.record, recorded.occurred_at).model_copy(
                update={"evidence": event.record.evidence}
            )
        case ContentPreservedNoNewFacts():
            kept = state.answered_query if state.content else event.record.source_query
            return _finished(state, event.record, recorded.occurred_at).model_copy(update={"answered_query": kept})
        case RefreshFailedError(transient=True):
            return state
        case RefreshFailedEmptyCandidate() | RefreshFailedError():
            return state.model_copy(update={"last_refresh_failed_at": recorded.occurred_at})
        case ContentCleared():
            return state.model_copy(
                update={"content": "", "evidence": (), "answered_query": None, "last_refresh_failed_at": None}
            )
        case MentalModelDeleted():
            return Absent()
        case _:
            assert_never(event)


def _created(event: MentalModelCreated, at: datetime) -> MentalModel:
    return MentalModel(
        bank_id=event.bank_id,
        mental_model_id=event.mental_model_id,
        name=event.name,
        source_query=event.source_query,
        tags=event.tags,
        max_tokens=event.max_tokens,
        trigger=event.trigger,
        created_at=at,
        last_refreshed_at=at,
    )


def _finished(state: MentalModel, record: RefreshRecord, at: datetime) -> MentalModel:
    """What every finished run stamps: the watermark never moves back, the answered query is the one the run read."""
    newest = max((time for time in (state.last_memory_seen_at, record.window.watermark) if time), default=None)
    return state.model_copy(
        update={
            "covered": max(state.covered, record.window.upto),
            "covered_scope": record.scope.scope,
            "answered_query": record.source_query,
            "last_refreshed_at": at,
            "last_memory_seen_at": newest,
            "last_refresh_failed_at": None,
            "last_full_refreshed_at": at if record.effective_mode == "full" else state.last_full_refreshed_at,
        }
    )
