"""Banks as they are exported: the log and the memory of one moment, row by row."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from eventsourcing.persistence import StoredEvent
from psycopg import Connection
from psycopg.rows import DictRow

from adapters.postgres.database import Database
from adapters.postgres.event_mapper import to_recorded
from application.command_handler import bank_stream
from domain.event import Recorded
from domain.transfer import SECTIONS, MemoryRow, is_carried
from domain.transfer.events import STAY_BEHIND

ROWS_AT_ONCE = 500
LONGEST_BEGINNING = 200
"""Characters of an envelope before its bank, and some more."""

QUERIES = {
    "clock": "SELECT position, written_at, document_at, consolidated_at FROM memory_clock WHERE bank_id = %s",
    "documents": "SELECT document_id, text, text_stored, tags, metadata, parts, retained_with, created_at, updated_at"
    " FROM memory_documents WHERE bank_id = %s ORDER BY document_id",
    "chunks": "SELECT document_id, chunk_id, number, text, read_with, created_at FROM memory_chunks WHERE bank_id = %s"
    " ORDER BY document_id, number, chunk_id",
    "facts": "SELECT f.fact_id, f.version, f.from_position, f.to_position, f.fact_type, f.tags, f.text, f.context,"
    " f.occurred_start, f.occurred_end, f.mentioned_at, f.document_id, f.chunk_id, f.metadata, f.entities,"
    " f.source_ids, f.observation_scopes, f.recorded_at, v.space, v.embedding::text AS vector FROM fact_versions f"
    " LEFT JOIN fact_vectors v USING (bank_id, from_position) WHERE f.bank_id = %s ORDER BY f.from_position",
    "causes": "SELECT fact_id, cause_id FROM fact_causes WHERE bank_id = %s ORDER BY fact_id, cause_id",
    "set_aside": "SELECT fact_id, version, position, reason, invalidated_at, tags, observation_scopes"
    " FROM invalidated_facts WHERE bank_id = %s ORDER BY position, fact_id",
    "consolidation": "SELECT fact_id, consolidated_at, failed_at, failure FROM consolidation WHERE bank_id = %s"
    " ORDER BY position, fact_id",
    "entities": "SELECT name, first_seen, last_seen FROM memory_entities WHERE bank_id = %s ORDER BY first_seen, name",
    "scopes": "SELECT tags, fact_type, position FROM scope_clock WHERE bank_id = %s ORDER BY position, fact_type, tags",
}

_LIFE = (
    "SELECT max(notification_id) FILTER (WHERE topic = 'bank.opened') AS opened,"
    " max(notification_id) FILTER (WHERE topic = 'bank.deleted') AS deleted"
    " FROM stored_events WHERE originator_id = %s AND topic IN ('bank.opened', 'bank.deleted')"
)
_EVENTS = (
    "SELECT originator_id, originator_version, topic, state, notification_id FROM stored_events"
    " WHERE notification_id >= %(opened)s AND split_part(topic, '.', 1) <> ALL(%(behind)s)"
    " AND position(%(mark)s::bytea IN substring(state FROM 1 FOR %(length)s)) > 0 ORDER BY notification_id"
)


class PostgresBankSource:
    """BankSource."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def snapshot(self, bank_id: str) -> Iterator[PostgresBankSnapshot]:
        with self._database.connection() as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            connection.execute("SET LOCAL TimeZone = 'UTC'")
            yield PostgresBankSnapshot(connection, bank_id)


class PostgresBankSnapshot:
    """BankSnapshot, within a transaction."""

    def __init__(self, connection: Connection[DictRow], bank_id: str) -> None:
        self._connection = connection
        self._bank_id = bank_id

    def events(self) -> Iterator[Recorded]:
        return events_of_life(self._connection, self._bank_id)

    def rows(self, section: str) -> Iterator[MemoryRow]:
        kind: Any = SECTIONS[section]
        for row in _streamed(self._connection, QUERIES[section], (self._bank_id,)):
            yield kind.model_validate(row)


def events_of_life(connection: Connection[DictRow], bank_id: str) -> Iterator[Recorded]:
    """The events of a bank since it was last opened, of all streams that go with it, whatever kinds there are; none of
    a bank that is not there. The connection is in a transaction.

    The log is read through from there: banks are told by the beginnings of its rows, of which few are unpacked."""
    life = connection.execute(_LIFE, (bank_stream(bank_id).uuid,)).fetchone()
    if life is None or life["opened"] is None or (life["deleted"] or 0) > life["opened"]:
        return
    mark = f'"bank_id":{json.dumps(bank_id, ensure_ascii=False)},"name":'.encode()
    chosen = {
        "opened": life["opened"],
        "behind": list(STAY_BEHIND),
        "mark": mark,
        "length": LONGEST_BEGINNING + len(mark),
    }
    for row in _streamed(connection, _EVENTS, chosen):
        stored = StoredEvent(row["originator_id"], row["originator_version"], row["topic"], bytes(row["state"]))
        recorded = to_recorded(stored, row["notification_id"])
        if recorded.stream.bank_id == bank_id and is_carried(recorded.stream.kind):
            yield recorded


def _streamed(connection: Connection[DictRow], sql: str, params: Any) -> Iterator[DictRow]:
    """Rows of a cursor of the server: a whole bank is never in memory."""
    with connection.cursor("transfer") as cursor:
        cursor.itersize = ROWS_AT_ONCE
        cursor.execute(sql, params)
        yield from cursor
