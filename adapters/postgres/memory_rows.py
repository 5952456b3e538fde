"""Facts as rows: which columns make one, and how a row becomes one again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from domain.memory import Fact

FACT_COLUMNS = (
    "fact_id", "version", "from_position", "text", "fact_type", "tags", "context", "occurred_start", "occurred_end",
    "mentioned_at", "recorded_at", "document_id", "chunk_id", "metadata", "entities",
)  # fmt: skip


def to_fact(row: Mapping[str, Any]) -> Fact:
    """The fact in a row that has FACT_COLUMNS."""
    return Fact(
        id=row["fact_id"],
        version=row["version"],
        position=row["from_position"],
        text=row["text"],
        fact_type=row["fact_type"],
        tags=tuple(row["tags"]),
        context=row["context"],
        occurred_start=_utc(row["occurred_start"]),
        occurred_end=_utc(row["occurred_end"]),
        mentioned_at=_utc(row["mentioned_at"]),
        recorded_at=row["recorded_at"].astimezone(UTC),
        document_id=row["document_id"],
        chunk_id=row["chunk_id"],
        metadata=_pairs(row["metadata"]),
        entities=tuple(row["entities"]),
    )


def _utc(time: datetime | None) -> datetime | None:
    # The server answers in whatever time zone it is set to.
    return None if time is None else time.astimezone(UTC)


def _pairs(metadata: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Metadata by key. Values that are no strings, which only a hand can have put there, become JSON; nulls go."""
    return tuple(
        (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for key, value in sorted(metadata.items())
        if value is not None
    )


def tag_set(sorted_tags: Iterable[str]) -> UUID:
    """The key of a set of tags."""
    return UUID(bytes=hashlib.blake2b(json.dumps(list(sorted_tags)).encode(), digest_size=16).digest())


def lexeme_mark(bank_id: str) -> str:
    """What the lexemes of a bank begin with. Two banks may share it: it saves reading, it decides nothing."""
    return hashlib.blake2b(bank_id.encode(), digest_size=3).hexdigest() + ":"


LEXEME_MARK_LENGTH = 7
