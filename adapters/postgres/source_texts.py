"""The texts that facts were read from, as far as a scope and a position admit all that was read from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from adapters.postgres.database import Database
from domain.memory import Fact
from domain.scope import Scope, admits

_FACTS = (
    " JOIN LATERAL (SELECT coalesce(json_agg(DISTINCT f.tags), '[]') AS tags,"
    " coalesce(max(f.from_position), 0) AS newest FROM fact_versions f"
    " WHERE f.bank_id = d.bank_id AND f.document_id = d.document_id AND f.to_position IS NULL"
    " AND f.fact_type <> 'observation'{part}) AS facts ON true"
)
_CHUNKS = (
    "SELECT c.chunk_id::text AS key, c.text, d.tags AS own, facts.tags, facts.newest"
    " FROM memory_chunks c JOIN memory_documents d USING (bank_id, document_id)"
    + _FACTS.format(part=" AND f.chunk_id = c.chunk_id::text")
    + " WHERE bank_id = %(bank_id)s AND c.chunk_id = ANY(%(keys)s::uuid[]) AND d.text_stored"
)
_DOCUMENTS = (
    "SELECT d.document_id AS key, d.text, d.tags AS own, facts.tags, facts.newest FROM memory_documents d"
    + _FACTS.format(part="")
    + " WHERE d.bank_id = %(bank_id)s AND d.document_id = ANY(%(keys)s) AND d.text_stored"
)


class PostgresSourceTexts:
    """SourceTexts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def chunks(self, bank_id: str, facts: Sequence[Fact], scope: Scope, upto: int | None = None) -> Mapping[UUID, str]:
        keys = {fact.id: fact.chunk_id for fact in facts if fact.chunk_id and _is_uuid(fact.chunk_id)}
        return self._texts(_CHUNKS, bank_id, keys, scope, upto)

    def documents(
        self, bank_id: str, facts: Sequence[Fact], scope: Scope, upto: int | None = None
    ) -> Mapping[UUID, str]:
        keys = {fact.id: fact.document_id for fact in facts if fact.document_id}
        return self._texts(_DOCUMENTS, bank_id, keys, scope, upto)

    def _texts(
        self, query: str, bank_id: str, keys: Mapping[UUID, str], scope: Scope, upto: int | None
    ) -> Mapping[UUID, str]:
        if not keys:
            return {}
        with self._database.connection() as connection:
            rows = connection.execute(query, {"bank_id": bank_id, "keys": sorted(set(keys.values()))}).fetchall()
        visible = scope.model_copy(update={"fact_types": None})
        texts = {
            row["key"]: row["text"]
            for row in rows
            if (upto is None or row["newest"] <= upto)
            and all(admits(visible, tags, "world") for tags in (row["own"], *row["tags"]))
        }
        return {fact_id: texts[key] for fact_id, key in keys.items() if key in texts}


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
