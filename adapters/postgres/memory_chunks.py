"""Documents as they are stored: their texts, the parts and chunks they are made of, and when they last changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from psycopg import Connection, Cursor
from psycopg.rows import DictRow

from adapters.postgres.fact_versions import locking_clock
from application.ports import RetainedDocument, StoredChunk, StoredDocument
from domain.digest import sha256_of
from domain.retain import Part, PartItem, leaning


def document_text(connection: Connection[DictRow], bank_id: str, document_id: str) -> str | None:
    row = connection.execute(
        "SELECT text FROM memory_documents WHERE bank_id = %s AND document_id = %s AND text_stored",
        (bank_id, document_id),
    ).fetchone()
    return row["text"] if row else None


def stored_documents(
    connection: Connection[DictRow], bank_id: str, document_ids: Sequence[str]
) -> dict[str, StoredDocument]:
    """One statement, so that a document and its chunks are of the same moment."""
    rows = connection.execute(
        "SELECT d.document_id, d.text, d.text_stored, d.revision, d.parts, d.tags, d.metadata, c.chunks"
        " FROM memory_documents d"
        " CROSS JOIN LATERAL (SELECT coalesce(json_agg(json_build_array(chunk_id::text, number, text, read_with)"
        "   ORDER BY number), '[]') AS chunks FROM memory_chunks c"
        "   WHERE c.bank_id = d.bank_id AND c.document_id = d.document_id) c"
        " WHERE d.bank_id = %s AND d.document_id = ANY(%s)",
        (bank_id, list(document_ids)),
    ).fetchall()
    return {
        row["document_id"]: StoredDocument(
            text=row["text"] if row["text_stored"] else None,
            revision=row["revision"],
            parts=[Part.model_validate(part) for part in row["parts"]] or _as_one_part(row),
            chunks=[
                StoredChunk(chunk_id, row["document_id"], number, text, read_with)
                for chunk_id, number, text, read_with in row["chunks"]
            ],
        )
        for row in rows
    }


def _as_one_part(row: DictRow) -> list[Part]:
    """A document stored before there were parts: given with what it has itself."""
    if not row["text_stored"]:
        return []
    given = {"tags": row["tags"], "metadata": list(row["metadata"].items())}
    length = len(row["text"])
    item = PartItem(length=length, given={name: value for name, value in given.items() if value})
    return [Part(asked=0, length=length, chunks=len(row["chunks"]), replaces=True, items=(item,))]


def locked_revisions(connection: Connection[DictRow], bank_id: str, document_ids: Sequence[str]) -> dict[str, int]:
    """The whole memory of the bank is locked: a document that does not exist yet has no row."""
    with connection.pipeline():
        locking_clock(connection, bank_id)
        rows = connection.execute(
            "SELECT document_id, revision FROM memory_documents WHERE bank_id = %s AND document_id = ANY(%s)",
            (bank_id, list(document_ids)),
        )
    return {row["document_id"]: row["revision"] for row in rows}


def chunks(connection: Connection[DictRow], bank_id: str, chunk_ids: Sequence[str]) -> dict[str, StoredChunk]:
    rows = connection.execute(
        "SELECT chunk_id::text AS chunk_id, document_id, number, text, read_with FROM memory_chunks"
        " WHERE bank_id = %s AND chunk_id = ANY(%s::uuid[])",
        (bank_id, [chunk_id for chunk_id in chunk_ids if _is_uuid(chunk_id)]),
    ).fetchall()
    return {row["chunk_id"]: StoredChunk(**row) for row in rows}


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


Known = Mapping[str, Mapping[UUID, tuple[int, str]]]
"""By document the chunks it has: their numbers, and what they were read with."""


def keep_chunks(
    connection: Connection[DictRow],
    bank_id: str,
    documents: Sequence[RetainedDocument],
    known: Known,
    leaning_on: Mapping[str, Collection[str]],
    at: datetime,
) -> None:
    """The documents have these chunks from now on; only rows that change are written. `leaning_on` are the chunks that
    one leans on which was read now (`domain.retain.leaning`)."""
    changed: list[tuple[str, str, UUID, int, str, str, datetime]] = []
    gone: list[tuple[str, str, UUID]] = []
    for document in documents:
        before = known.get(document.document_id, {})
        now = {chunk.chunk_id for chunk in document.chunks}
        gone.extend((bank_id, document.document_id, chunk_id) for chunk_id in before if chunk_id not in now)
        for chunk in document.chunks:
            on = leaning_on.get(str(chunk.chunk_id))
            read_with = leaning(chunk.read_with, on) if on else chunk.read_with
            if before.get(chunk.chunk_id) != (chunk.number, read_with):
                changed.append((bank_id, document.document_id, chunk.chunk_id, chunk.number, chunk.text, read_with, at))
    cursor = connection.cursor()
    if gone:
        cursor.executemany("DELETE FROM memory_chunks WHERE bank_id = %s AND document_id = %s AND chunk_id = %s", gone)
    if changed:
        cursor.executemany(
            "INSERT INTO memory_chunks (bank_id, document_id, chunk_id, number, text, sha256, read_with, created_at)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (bank_id, document_id, chunk_id)"
            " DO UPDATE SET number = excluded.number, read_with = excluded.read_with",
            [(*row[:5], sha256_of(row[4]), *row[5:]) for row in changed],
        )


def chunks_of(connection: Connection[DictRow], bank_id: str, documents: Sequence[RetainedDocument]) -> Cursor[DictRow]:
    """Rows for `known_chunks`; not fetched yet, so that a pipeline can go on."""
    return connection.execute(
        "SELECT document_id, chunk_id, number, read_with FROM memory_chunks"
        " WHERE bank_id = %s AND document_id = ANY(%s)",
        (bank_id, [document.document_id for document in documents]),
    )


def known_chunks(rows: Cursor[DictRow]) -> Known:
    known: dict[str, dict[UUID, tuple[int, str]]] = defaultdict(dict)
    for row in rows:
        known[row["document_id"]][row["chunk_id"]] = row["number"], row["read_with"]
    return known
