"""Other ids for a bank that is copied: every internal id becomes another one, and all that refers to it with it.

What is an internal id is told by types: a UUID in an event or a row is one, wherever it stands, also in a field that is
added tomorrow. What is known by its name within its bank (a mental model, a document, a page, a section) keeps it.
The exceptions are named below; a test fails for a field of an event that looks like an id and is in none of the sets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeVar
from uuid import UUID, uuid5

from pydantic import BaseModel

from domain.event import Recorded, StreamId
from domain.retain import chunk_ids, digest_in, leaned_on, leaning
from domain.transfer.rows import ChunkRow, FactRow

M = TypeVar("M", bound=BaseModel)

BANK_FIELDS = frozenset({"bank_id"})
"""The bank itself: the copy has another name."""
IDS_IN_TEXT = frozenset({("ToolCallRecord", "ids")})
"""Texts that are ids as a mind asked for them: a UUID in them is an internal id unless it is the name of a stream."""
OWN_STREAM_VERSIONS = frozenset({("ContentReverted", "to_version")})
"""Versions of the stream that the event stands in."""
PAGE_VERSIONS = frozenset({("PageEvidence", "version")})
"""Versions of the stream of the mental model that is named beside them."""

NAMES_IN_A_BANK = frozenset(
    {"mental_model_id", "exclude_mental_model_ids", "document_id", "folder_id", "page_id", "node_id", "node_ids"}
    | {"parent_id"}
)
"""Fields of names that are known within one bank only."""
NAMES_IN_A_DOCUMENT = frozenset(
    {"section_id", "after_section_id", "block_id", "after_block_id", "item_id", "after_item_id", "new_id"}
    | {"assigned_id", "merged_into_block_id"}
)
"""Fields of the ids of sections, blocks and items: short words, made of the text."""
PIECES = frozenset(
    {("PieceGrounds", "id"), ("ContentWritten", "ids"), ("ContentEdited", "ids"), ("ContentReverted", "ids")}
)
"""The same, under shorter names."""
OTHER_VERSIONS = frozenset(
    {("Citation", "version"), ("Evidence", "version"), ("FactReading", "version"), ("RefreshRecord", "parser_version")}
)
"""Versions that stay: those of facts, which go on as they are, and of the parser."""


class Renaming:
    """From one bank to another. `salt` is the namespace of the new ids: with the same they are the same again. `names`
    are those of the streams that go along."""

    def __init__(self, source: str, target: str, salt: UUID, names: Collection[str] = ()) -> None:
        self._source = source
        self._target = target
        self._salt = salt
        self._names = names
        self._chunks: dict[str, str] = {}
        self._shifts: dict[str, int] = {}

    def id(self, before: UUID) -> UUID:
        """The new one of an internal id; the same for the same."""
        return uuid5(self._salt, before.hex)

    def bank_name(self, before: str) -> str:
        """A bank that nobody named is called by its id."""
        return self._target if before == self._source else before

    # --- events ---

    def stream(self, before: StreamId) -> StreamId:
        """A stream that is named as its bank is named as the other one."""
        of_bank = before.kind != "mental_model" and before.name == self._source
        return StreamId(before.kind, self._target, self._target if of_bank else before.name)

    def recorded(self, before: Recorded, version: int) -> Recorded:
        """The event in the stream of the other bank, at a version of that. Events come in the order of the log."""
        if before.stream.kind == "mental_model":
            self._shifts[before.stream.name] = version - before.version
        event = before.event.model_copy(update=self._changes(before.event, before.stream.name))
        return replace(
            before,
            stream=self.stream(before.stream),
            version=version,
            event=event,
            operation_id=self.id(before.operation_id) if before.operation_id is not None else None,
        )

    def value(self, before: M, stream: str = "") -> M:
        """A value with other ids wherever it has ids; it is that value itself where it has none."""
        changes = self._changes(before, stream)
        return before.model_copy(update=changes) if changes else before

    def _changes(self, model: BaseModel, stream: str) -> Mapping[str, Any]:
        changes = {}
        for name in type(model).model_fields:
            before = getattr(model, name)
            after = self._field(model, name, before, stream)
            if after is not before:
                changes[name] = after
        return changes

    def _field(self, model: BaseModel, name: str, before: Any, stream: str) -> Any:
        field = (type(model).__name__, name)
        if name in BANK_FIELDS and before == self._source:
            return self._target
        if field in IDS_IN_TEXT:
            return tuple(self._asked_for(each) for each in before)
        if field in OWN_STREAM_VERSIONS:
            return self._version(stream, before)
        if field in PAGE_VERSIONS:
            return self._version(model.mental_model_id, before)  # type: ignore[attr-defined]
        return self._any(before, stream)

    def _any(self, before: Any, stream: str) -> Any:
        if isinstance(before, UUID):
            return self.id(before)
        if isinstance(before, BaseModel):
            return self.value(before, stream)
        if isinstance(before, tuple):
            after = tuple(self._any(each, stream) for each in before)
            return after if any(new is not old for new, old in zip(after, before, strict=True)) else before
        return before

    def _version(self, stream: str, before: int) -> int:
        shift = self._shifts.get(stream, 0)
        return max(1, before + shift) if shift else before

    def _asked_for(self, told: str) -> str:
        known = None if told in self._names else _uuid_of(told)
        return told if known is None else str(self.id(known))

    # --- memory ---

    def document_chunks(self, chunks: Iterable[ChunkRow]) -> list[ChunkRow]:
        """The chunks of a document, in their order. Their ids follow from their bank and their text, so that the
        document is known again when it is retained again."""
        before = list(chunks)
        if not before:
            return []
        ids = chunk_ids(self._target, before[0].document_id, (each.text for each in before))
        self._chunks.update((str(each.chunk_id), str(new)) for each, new in zip(before, ids, strict=True))
        return [
            each.model_copy(update={"chunk_id": new, "read_with": self._read_with(each.read_with)})
            for each, new in zip(before, ids, strict=True)
        ]

    def _read_with(self, before: str) -> str:
        on = leaned_on(before)
        return leaning(digest_in(before), map(self.chunk, on)) if on else before

    def chunk(self, before: str) -> str:
        """Of a chunk that is gone, the id that nobody has."""
        known = _uuid_of(before)
        return self._chunks.get(before) or (before if known is None else str(self.id(known)))

    def fact(self, before: FactRow) -> FactRow:
        """Chunks come before facts."""
        chunk_id = before.chunk_id if before.chunk_id is None else self.chunk(before.chunk_id)
        return self.value(before).model_copy(update={"chunk_id": chunk_id})


def _uuid_of(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
