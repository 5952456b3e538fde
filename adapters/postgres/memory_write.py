"""Retaining into the memory of a bank: documents are upserted, their facts kept, closed and added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from psycopg import Connection, Cursor
from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from adapters.postgres.document_upsert import Addition, Changes, CurrentFact, Statement, changes_of
from adapters.postgres.document_upsert import metadata_of as metadata_of_document
from adapters.postgres.document_upsert import tags_of as tags_of_document
from adapters.postgres.fact_versions import Closing, NewVersion, VersionWriter, locking_clock, position_of
from adapters.postgres.memory_chunks import chunks_of, keep_chunks, known_chunks
from application.ports import Identities, MemoryWrite, RetainedDocument


class MemoryWriter:
    """Writes into one bank within one transaction."""

    def __init__(
        self, connection: Connection[DictRow], bank_id: str, at: datetime, identities: Identities, space: str
    ) -> None:
        self._connection = connection
        self._bank_id = bank_id
        self._at = at
        self._identities = identities
        self._versions = VersionWriter(connection, bank_id, at, space)

    def write(self, documents: Sequence[RetainedDocument]) -> MemoryWrite:
        """Upserts the documents. Closings get the first positions, additions the next, in their order."""
        with self._connection.pipeline():
            locked = locking_clock(self._connection, self._bank_id)
            facts = self._facts_of(documents)
            chunks = chunks_of(self._connection, self._bank_id, documents)
        before = position_of(locked)
        if not documents:
            return MemoryWrite(position=before, written=0, closed=0)
        known = known_chunks(chunks)
        changes = changes_of(documents, _current(facts), iter(self._identities.new, None))
        closings = [_closing(current) for current in changes.closed]
        additions = [_new_version(addition) for addition in changes.added]
        with self._connection.pipeline():
            self._keep_documents(documents)
            keep_chunks(self._connection, self._bank_id, documents, known, changes.leaning, self._at)
            self._move(changes)
            written = self._versions.apply(before, closings, additions)
            self._keep_causes(changes)
        return written

    def _facts_of(self, documents: Sequence[RetainedDocument]) -> Cursor[DictRow]:
        return self._connection.execute(
            "SELECT document_id, fact_id, from_position, chunk_id, text, fact_type, tags, context, occurred_start,"
            " occurred_end FROM fact_versions WHERE bank_id = %s AND document_id = ANY(%s) AND to_position IS NULL"
            " ORDER BY from_position",
            (self._bank_id, [document.document_id for document in documents]),
        )

    def _keep_documents(self, documents: Sequence[RetainedDocument]) -> None:
        self._connection.cursor().executemany(
            "INSERT INTO memory_documents AS d (bank_id, document_id, text, text_stored, tags, metadata, parts,"
            " retained_with, created_at, updated_at) VALUES (%(bank_id)s, %(document_id)s, %(text)s, %(text_stored)s,"
            " %(tags)s, %(metadata)s, %(parts)s, %(retained_with)s, %(at)s, %(at)s)"
            " ON CONFLICT (bank_id, document_id) DO UPDATE SET text = excluded.text,"
            " text_stored = excluded.text_stored, parts = excluded.parts, retained_with = excluded.retained_with,"
            " updated_at = excluded.updated_at,"
            " revision = nextval('retain_order'),"
            " tags = CASE WHEN %(resets)s THEN excluded.tags"
            "   ELSE ARRAY(SELECT DISTINCT unnest(d.tags || excluded.tags) AS tag ORDER BY tag) END,"
            " metadata = CASE WHEN %(resets)s THEN excluded.metadata ELSE d.metadata || excluded.metadata END",
            [
                {
                    "bank_id": self._bank_id,
                    "document_id": document.document_id,
                    "text": document.text if document.text_stored else "",
                    "text_stored": document.text_stored,
                    "tags": tags_of_document(document),
                    "metadata": Jsonb(metadata_of_document(document)),
                    "parts": Jsonb([part.model_dump() for part in document.parts]),
                    "retained_with": Jsonb(_retained_with(document)),
                    "resets": document.resets,
                    "at": self._at,
                }
                for document in documents
            ],
        )
        self._connection.execute(
            "UPDATE memory_clock SET document_at = %s WHERE bank_id = %s", (self._at, self._bank_id)
        )

    def _move(self, changes: Changes) -> None:
        """Where a fact stands is no statement of it: no version, and nobody has to read it again."""
        if changes.moved:
            self._connection.cursor().executemany(
                "UPDATE fact_versions SET chunk_id = %s WHERE bank_id = %s AND from_position = %s",
                [(chunk_id, self._bank_id, fact.position) for fact, chunk_id in changes.moved],
            )

    def _keep_causes(self, changes: Changes) -> None:
        if changes.causes:
            self._connection.cursor().executemany(
                "INSERT INTO fact_causes (bank_id, fact_id, cause_id) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                [(self._bank_id, fact_id, cause_id) for fact_id, cause_id in changes.causes],
            )


def _current(facts: Cursor[DictRow]) -> Mapping[str, list[CurrentFact]]:
    found: dict[str, list[CurrentFact]] = {}
    for row in facts.fetchall():
        statement = Statement(
            row["text"],
            row["fact_type"],
            tuple(row["tags"]),
            row["context"],
            row["occurred_start"],
            row["occurred_end"],
        )
        current = CurrentFact(row["from_position"], row["fact_id"], statement, row["chunk_id"])
        found.setdefault(row["document_id"], []).append(current)
    return found


def _new_version(addition: Addition) -> NewVersion:
    said, item, embedded = addition.statement, addition.retained.item, addition.embedded
    return NewVersion(
        fact_id=addition.fact_id,
        text=said.text,
        fact_type=said.fact_type,
        tags=said.tags,
        context=said.context,
        occurred_start=said.occurred_start,
        occurred_end=said.occurred_end,
        mentioned_at=item.timestamp,
        document_id=addition.retained.document_id,
        chunk_id=addition.chunk_id,
        metadata=dict(item.metadata),
        entities=tuple(dict.fromkeys((*embedded.fact.entities, *item.entities))),
        observation_scopes=item.observation_scopes,
        vector=embedded.vector,
    )


def _retained_with(document: RetainedDocument) -> dict[str, Any]:
    """The last item but for its text and what the document has itself: with it the document can be read again."""
    ignored = {"content", "document_id", "tags", "metadata", "update_mode"}
    return document.items[-1].item.model_dump(mode="json", exclude=ignored) if document.items else {}


def _closing(current: CurrentFact) -> Closing:
    return Closing(current.position, current.fact_id, current.statement.fact_type, current.statement.tags)
