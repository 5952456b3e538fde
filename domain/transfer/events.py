"""The events of a bank in an archive, and what must hold of them before they are believed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any
from uuid import UUID

from pydantic import AwareDatetime, ConfigDict, Field

from domain.bank import BankDeleted, BankOpened
from domain.digest import sha256_of
from domain.event import Actor, Event, Recorded, StreamId
from domain.mental_model.events import ContentEdited, ContentReverted, ContentWritten
from domain.refusals import ArchiveRefused
from domain.value import Value

CARRIED = ("bank", "mental_model", "knowledge_base")
"""Kinds of streams that are a part of their bank; no others are taken from an archive."""
STAY_BEHIND = ("operation", "request", "api_key")
"""Kinds that are not: work that was done and what requests cost are the past of the service that did it, and its keys
are its own."""

ReadEvent = Callable[[str, int, Mapping[str, Any]], Event]
"""The event of a topic, the version of its shape, and its payload."""


def is_carried(kind: str) -> bool:
    """Whether streams of a kind go with their bank."""
    return kind in CARRIED


class ArchivedEvent(Value):
    """An event with its envelope, but for the key that a user came with; `version` counts in its stream."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    stream: str
    name: str
    version: Annotated[int, Field(ge=1, lt=2**31)]
    topic: str
    shape: Annotated[int, Field(alias="schema")]
    actor: Actor
    operation_id: UUID | None
    cause: str
    occurred_at: AwareDatetime
    payload: dict[str, Any]

    @classmethod
    def of(cls, recorded: Recorded) -> ArchivedEvent:
        event = recorded.event
        return cls(
            stream=recorded.stream.kind,
            name=recorded.stream.name,
            version=recorded.version,
            topic=event.TOPIC,
            shape=type(event).SCHEMA,
            actor=recorded.actor,
            operation_id=recorded.operation_id,
            cause=recorded.cause,
            occurred_at=recorded.occurred_at,
            payload=event.model_dump(mode="json", by_alias=True),
        )

    def recorded(self, bank_id: str, position: int, read: ReadEvent) -> Recorded:
        """As it stood in the log of the bank. Raises ArchiveRefused for one that cannot be read."""
        try:
            event = read(self.topic, self.shape, self.payload)
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            raise ArchiveRefused(f"event {position} ({self.topic[:80]}) cannot be read: {str(error)[:300]}") from error
        return Recorded(
            stream=StreamId(self.stream, bank_id, self.name),  # type: ignore[arg-type]  # StreamsRead checks it
            version=self.version,
            position=position,
            event=event,
            actor=self.actor,
            operation_id=self.operation_id,
            cause=self.cause,
            occurred_at=self.occurred_at,
        )


class StreamsRead:
    """Follows the events of one bank in order. `has_bank`: it was opened."""

    def __init__(self, bank_id: str) -> None:
        self.has_bank = False
        self._bank_id = bank_id
        self._versions: dict[tuple[str, str], int] = {}

    @property
    def names(self) -> frozenset[str]:
        """Of the streams that were seen."""
        return frozenset(name for _, name in self._versions)

    def see(self, recorded: Recorded) -> None:
        """Raises ArchiveRefused for an event that cannot come now, or does not belong there."""
        stream, event, where = recorded.stream, recorded.event, f"event {recorded.position}"
        if stream.kind != event.TOPIC.partition(".")[0] or not is_carried(stream.kind):
            raise ArchiveRefused(f"{where} ({event.TOPIC}) stands in a stream of the kind '{str(stream.kind)[:80]}'")
        self._see_version(recorded, where)
        if stream.kind == "bank":
            self._see_bank(recorded, where)
        elif not self.has_bank:
            raise ArchiveRefused(f"{where} comes before its bank was opened")
        if getattr(event, "bank_id", self._bank_id) != self._bank_id:
            raise ArchiveRefused(f"{where} is of another bank")
        if stream.kind == "mental_model" and getattr(event, "mental_model_id", stream.name) != stream.name:
            raise ArchiveRefused(f"{where} is of another mental model than its stream")
        if (
            isinstance(event, ContentWritten | ContentEdited | ContentReverted)
            and sha256_of(event.text) != event.sha256
        ):
            raise ArchiveRefused(f"{where} holds another text than was recorded: its sha256 is another one")

    def _see_version(self, recorded: Recorded, where: str) -> None:
        """A stream may begin later than at 1: what was before belongs to an earlier life of the bank."""
        key = (recorded.stream.kind, recorded.stream.name)
        before = self._versions.get(key)
        if before is not None and recorded.version != before + 1:
            raise ArchiveRefused(f"{where} has version {recorded.version} in its stream after version {before}")
        self._versions[key] = recorded.version

    def _see_bank(self, recorded: Recorded, where: str) -> None:
        """It is opened first, and once; it is not deleted."""
        opens = isinstance(recorded.event, BankOpened)
        if recorded.stream.name != self._bank_id:
            raise ArchiveRefused(f"{where} is of another bank")
        if isinstance(recorded.event, BankDeleted) or opens == self.has_bank:
            raise ArchiveRefused(f"{where} ({recorded.event.TOPIC}) does not begin the life of the bank, or ends it")
        self.has_bank = True
