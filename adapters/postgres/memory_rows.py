"""Facts as rows: which columns make one, and how a row becomes one again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC
from typing import Any
from uuid import UUID

from psycopg import sql
from pydantic import TypeAdapter

from domain.memory import Fact

FACT_COLUMNS = sql.SQL(
    "f.fact_id AS id, f.version, f.from_position AS position, f.text, f.fact_type, f.tags, f.context, f.occurred_start,"
    " f.occurred_end, f.mentioned_at, f.recorded_at, f.document_id, f.chunk_id, f.entities,"
    " nullif(f.metadata, '{}') AS metadata, f.source_ids, f.observation_scopes"
)
"""The columns of a row `f` of fact_versions that make a fact, by the names that it has for them."""

READABLE = (
    "f.bank_id = %(bank_id)s AND f.from_position <= %(upto)s AND (f.to_position IS NULL OR f.to_position > %(upto)s)"
)
"""The condition on a row `f` to be the version of its fact that is current at the position `upto`."""

_FACTS = TypeAdapter(list[Fact])
_TIMES = ("occurred_start", "occurred_end", "mentioned_at", "recorded_at")


def fact_fields(row: dict[str, Any]) -> dict[str, Any]:
    """Makes the row, which has FACT_COLUMNS and no others, the fields of a fact, ready for validation."""
    # The server answers in whatever time zone it is set to.
    for time in _TIMES:
        if row[time] is not None:
            row[time] = row[time].astimezone(UTC)
    row["metadata"] = _pairs(row["metadata"]) if row["metadata"] else ()
    return row


def facts_of(rows: Iterable[dict[str, Any]]) -> list[Fact]:
    """Rows of FACT_COLUMNS as facts. All at once: that takes half as long as one after another."""
    return _FACTS.validate_python([fact_fields(row) for row in rows])


def _pairs(metadata: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Metadata by key. Values that are no strings, which only a hand can have put there, become JSON; nulls go."""
    return tuple(
        (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for key, value in sorted(metadata.items())
        if value is not None
    )


def bigints(numbers: Iterable[int]) -> str:
    """Numbers as a parameter for `::bigint[]`: as a list, each would be looked at by the driver."""
    return "{" + ",".join(map(str, numbers)) + "}"


def tag_set(sorted_tags: Iterable[str]) -> UUID:
    """The key of a set of tags."""
    return UUID(bytes=hashlib.blake2b(json.dumps(list(sorted_tags)).encode(), digest_size=16).digest())


def lexeme_mark(bank_id: str) -> str:
    """What the lexemes of a bank begin with. Two banks may share it: it saves reading, it decides nothing."""
    return hashlib.blake2b(bank_id.encode(), digest_size=3).hexdigest() + ":"


LEXEME_MARK_LENGTH = 7
