"""The documents: current markdown, configuration, watermarks and failure of every mental model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from domain.event import Recorded
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentPreservedNoNewFacts,
    ContentReverted,
    ContentUnchanged,
    ContentWritten,
    MentalModelCreated,
    MentalModelDeleted,
    MentalModelRenamed,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    RefreshFailedStructuredOutput,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
)
from domain.mental_model.record import RefreshRecord
from projections.citations import entries_of, grounds_sql
from projections.projection import OLDER, Json, Projection, Query, Row, Statement, model_key, page_reader, page_sql
from projections.reflect_response import UNANSWERED, change, composed

DDL = """
CREATE TABLE documents (
    bank_id text NOT NULL,
    mental_model_id text NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL,
    source_query text NOT NULL,
    tags text[] NOT NULL,
    max_tokens int NOT NULL,
    "trigger" jsonb NOT NULL,
    content text NOT NULL,
    reflect_response jsonb,
    created_at timestamptz NOT NULL,
    last_refreshed_at timestamptz NOT NULL,
    last_memory_seen_at timestamptz,
    last_refresh_failed_at timestamptz,
    last_full_refreshed_at timestamptz,
    PRIMARY KEY (bank_id, mental_model_id)
);
CREATE INDEX documents_newest ON documents (bank_id, last_refreshed_at DESC, mental_model_id DESC);
CREATE INDEX documents_tags ON documents USING gin (tags)"""

HANDLES = (
    MentalModelCreated,
    MentalModelRenamed,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
    ContentWritten,
    ContentUnchanged,
    ContentPreservedNoNewFacts,
    RefreshFailedEmptyCandidate,
    RefreshFailedDeltaNotApplied,
    RefreshFailedStructuredOutput,
    RefreshFailedError,
    ContentEdited,
    ContentReverted,
    ContentCleared,
    MentalModelDeleted,
)

ListMatch = Literal["any", "all", "exact"]
Detail = Literal["metadata", "content", "full"]


class DocumentRow(NamedTuple):
    """A mental model as it is served. `version` is the version of its stream (the ETag).

    A tuple, because a page has a thousand of them."""

    bank_id: str
    mental_model_id: str
    version: int
    name: str
    tags: list[str]
    created_at: datetime
    last_refreshed_at: datetime
    last_memory_seen_at: datetime | None
    last_refresh_failed_at: datetime | None
    last_full_refreshed_at: datetime | None
    is_knowledge_page: bool = False
    source_query: str | None = None
    max_tokens: int | None = None
    trigger: dict[str, Any] | None = None
    content: str | None = None
    reflect_response: dict[str, Any] | None = None


def project(recorded: Recorded) -> Iterable[Statement]:
    at = recorded.occurred_at
    match recorded.event:
        case MentalModelCreated() as event:
            yield _insert(recorded, event)
        case MentalModelRenamed(name=name):
            yield _set(recorded, name=name)
        case SourceQueryChanged(source_query=source_query):
            yield _set(recorded, source_query=source_query)
        case TagsChanged(tags=tags):
            yield _set(recorded, tags=list(tags))
        case TokenBudgetChanged(max_tokens=max_tokens):
            yield _set(recorded, max_tokens=max_tokens)
        case TriggerChanged(trigger=trigger):
            yield _set(recorded, trigger=Json(trigger.model_dump(mode="json", by_alias=True)))
        case ContentWritten(text=text, record=record):
            yield _finished(recorded, record, content=text)
        case ContentUnchanged(record=record) | ContentPreservedNoNewFacts(record=record):
            yield _finished(recorded, record)
        case RefreshFailedEmptyCandidate():
            yield _set(recorded, last_refresh_failed_at=at)
        case (
            RefreshFailedDeltaNotApplied(transient=transient)
            | RefreshFailedStructuredOutput(transient=transient)
            | RefreshFailedError(transient=transient)
        ):
            yield _set(recorded) if transient else _set(recorded, last_refresh_failed_at=at)
        case ContentEdited(text=text) | ContentReverted(text=text):
            yield _set(recorded, content=text, last_refreshed_at=at, last_refresh_failed_at=None)
        case ContentCleared():
            yield _set(recorded, content="", last_refresh_failed_at=None)
        case MentalModelDeleted():
            yield Statement(f"DELETE FROM documents WHERE {OLDER}", model_key(recorded))


def _insert(recorded: Recorded, event: MentalModelCreated) -> Statement:
    return Statement(
        "INSERT INTO documents (bank_id, mental_model_id, version, name, source_query, tags, max_tokens, trigger,"
        " content, created_at, last_refreshed_at) VALUES (%(bank_id)s, %(id)s, %(version)s, %(name)s,"
        " %(source_query)s, %(tags)s, %(max_tokens)s, %(trigger)s, '', %(at)s, %(at)s) ON CONFLICT DO NOTHING",
        {
            **model_key(recorded),
            "name": event.name,
            "source_query": event.source_query,
            "tags": list(event.tags),
            "max_tokens": event.max_tokens,
            "trigger": Json(event.trigger.model_dump(mode="json", by_alias=True)),
            "at": recorded.occurred_at,
        },
    )


def _set(recorded: Recorded, **columns: Any) -> Statement:
    """Sets columns, and what the event changes of the reflect response."""
    newest = "greatest(last_memory_seen_at, %(last_memory_seen_at)s)"
    assignments = [
        f"{column} = {newest if column == 'last_memory_seen_at' else f'%({column})s'}"
        for column in ("version", *columns)
    ]
    params = {**model_key(recorded), **columns}
    changed = change(recorded.event, recorded.occurred_at)
    if changed is not None:
        params["dropped"] = list(changed.dropped)
        kept = "reflect_response - %(dropped)s::text[]"
        if changed.told:
            params["told"] = Json(changed.told)
            kept = f"coalesce({kept}, '{json.dumps(UNANSWERED)}') || %(told)s"
        assignments.append(f"reflect_response = {kept}")
    return Statement(f"UPDATE documents SET {', '.join(assignments)} WHERE {OLDER}", params)


def _finished(recorded: Recorded, record: RefreshRecord, **columns: Any) -> Statement:
    if record.effective_mode == "full":
        columns["last_full_refreshed_at"] = recorded.occurred_at
    return _set(
        recorded,
        last_refreshed_at=recorded.occurred_at,
        last_memory_seen_at=record.window.watermark,
        last_refresh_failed_at=None,
        **columns,
    )


PROJECTION = Projection("documents", 4, "documents", ("bank_id", "mental_model_id"), DDL, HANDLES, project)

_FIELDS: dict[Detail, tuple[str, ...]] = {
    "metadata": DocumentRow._fields[: DocumentRow._fields.index("source_query")],
    "content": DocumentRow._fields[: DocumentRow._fields.index("reflect_response")],
    "full": DocumentRow._fields,
}
_IS_PAGE = (
    "EXISTS (SELECT FROM knowledge_nodes k WHERE k.bank_id = t.bank_id AND k.mental_model_id = t.mental_model_id)"
)
_COLUMNS: dict[Detail, str] = {
    detail: ", ".join(f"{_IS_PAGE} AS {each}" if each == "is_knowledge_page" else each for each in fields)
    for detail, fields in _FIELDS.items()
}


def _grounds(detail: Detail, document: str) -> str:
    """What a document rests on is told with all details only."""
    return f", {grounds_sql(document)} AS grounds" if detail == "full" else ""


def _reader(detail: Detail) -> Callable[[Row], DocumentRow]:
    """Makes a document of a row that tells `detail`."""
    told = itemgetter(*_FIELDS[detail])

    def read(row: Row) -> DocumentRow:
        found = DocumentRow(*told(row))
        if detail != "full":
            return found
        return found._replace(reflect_response=composed(found.reflect_response, entries_of(row["grounds"])))

    return read


def find(bank_id: str, mental_model_id: str, detail: Detail = "full") -> Query[DocumentRow | None]:
    made = _reader(detail)
    return Query(
        f"SELECT {_COLUMNS[detail]}{_grounds(detail, 't')} FROM documents t"
        " WHERE bank_id = %(bank_id)s AND mental_model_id = %(id)s",
        {"bank_id": bank_id, "id": mental_model_id},
        lambda rows: made(rows[0]) if rows else None,
    )


_NEWEST_FIRST = ("last_refreshed_at DESC", "mental_model_id DESC")
_LIST_FILTERS: dict[ListMatch, str] = {
    "any": "tags && %(tags)s::text[]",
    "all": "tags @> %(tags)s::text[]",
    "exact": "tags @> %(tags)s::text[] AND tags <@ %(tags)s::text[]",
}


def page(
    bank_id: str,
    *,
    tags: Sequence[str],
    match: ListMatch,
    detail: Detail,
    limit: int,
    offset: int,
    exclude_pages: bool = False,
    among: Sequence[str] | None = None,
) -> Query[tuple[list[DocumentRow], int]]:
    """Mental models of a bank (or `among` some), last refreshed first, id as the tie-break, and how many match in all.

    No tags, no filter; with tags untagged models never match. `exact` compares as sets, whatever the order."""
    among_these = "" if among is None else " AND mental_model_id = ANY(%(among)s)"
    where = f"bank_id = %(bank_id)s{among_these}{f' AND {_LIST_FILTERS[match]}' if tags else ''}"
    if exclude_pages:
        where = f"{where} AND NOT {_IS_PAGE}"
    made = _reader(detail)

    def read(rows: Sequence[Row]) -> tuple[list[DocumentRow], int]:
        # the row of an empty page tells the total only
        return [made(row) for row in rows if row["mental_model_id"] is not None], rows[0]["total"] if rows else 0

    return Query(
        page_sql("documents", _COLUMNS[detail], where, _NEWEST_FIRST, also=_grounds(detail, "listed")),
        {"bank_id": bank_id, "tags": list(tags), "limit": limit, "offset": offset, "among": list(among or ())},
        read,
    )


def every(detail: Detail = "content") -> Query[list[DocumentRow]]:
    """All documents of all banks, for verification."""
    return Query(
        f"SELECT {_COLUMNS[detail]}{_grounds(detail, 't')} FROM documents t ORDER BY bank_id, mental_model_id",
        {},
        lambda rows: list(map(_reader(detail), rows)),
    )


def tags_page(bank_id: str, pattern: str | None, limit: int, offset: int) -> Query[tuple[list[tuple[str, int]], int]]:
    """Tags of mental models with their counts, most frequent first. `pattern` is a LIKE pattern, lower case."""
    return Query(
        "WITH counted AS (SELECT tag, count(*) AS count FROM documents, unnest(tags) AS tag WHERE bank_id = %(bank_id)s"
        "   AND (%(pattern)s::text IS NULL OR lower(tag) LIKE %(pattern)s) GROUP BY tag),"
        " listed AS (SELECT * FROM counted ORDER BY count DESC, tag LIMIT %(limit)s OFFSET %(offset)s)"
        " SELECT listed.*, (SELECT count(*) FROM counted) AS total FROM (SELECT 1) one LEFT JOIN listed ON true"
        " ORDER BY count DESC, tag",
        {"bank_id": bank_id, "pattern": pattern, "limit": limit, "offset": offset},
        page_reader(lambda tag, count: (tag, count), "tag"),
    )


def ids(bank_id: str) -> Query[list[str]]:
    """Ids of all mental models of a bank."""
    return Query(
        "SELECT mental_model_id FROM documents WHERE bank_id = %(bank_id)s ORDER BY mental_model_id",
        {"bank_id": bank_id},
        lambda rows: [row["mental_model_id"] for row in rows],
    )
