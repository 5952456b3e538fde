"""The index of pages on PostgreSQL: their words are a read model, their vectors a table of their own.

Pages of a bank are few (thousands at most), so that all of them are compared with a query, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from adapters.postgres.database import Database
from adapters.postgres.reader import Reader
from adapters.postgres.vectors import Vector
from application.ports.pages import PageMatch, PageOrigin, PageText
from domain.reflection import PageFound
from domain.scope import Scope
from projections import search, staleness

_MATCHES = """
WITH asked AS MATERIALIZED (SELECT term, quote_literal(term)::tsquery AS query FROM unnest(%(terms)s::text[]) AS term)
SELECT s.mental_model_id, d.tags, t.made_in, s.plain_text = '' AS empty,
    ARRAY(SELECT asked.term FROM asked WHERE s.terms @@ asked.query) AS terms,
    {semantic} AS semantic, v.version IS NOT DISTINCT FROM s.version AS current
FROM document_search s
JOIN documents d USING (bank_id, mental_model_id)
JOIN staleness t USING (bank_id, mental_model_id)
LEFT JOIN page_vectors v ON v.bank_id = s.bank_id AND v.mental_model_id = s.mental_model_id AND v.space = %(space)s
WHERE s.bank_id = %(bank_id)s"""
_SEMANTIC = "1 - (v.embedding <=> %(vector)b::vector::halfvec)"


class PostgresPageIndex:
    """PageIndex. `embedding_model` makes the vectors it is given; `observations`: banks make some that do not say
    otherwise."""

    def __init__(
        self, database: Database, *, embedding_model: str, dimensions: Callable[[], int], observations: bool
    ) -> None:
        self._database = database
        self._reader = Reader(database)
        self._embedding_model = embedding_model
        self._dimensions = dimensions
        self._observations = observations

    @property
    def space(self) -> str:
        return f"{self._embedding_model}/{self._dimensions()}"

    def matches(self, bank_id: str, terms: Sequence[str], vector: Sequence[float]) -> Sequence[PageMatch]:
        """A vector of an older text still counts: it says more than none."""
        params: dict[str, Any] = {"bank_id": bank_id, "terms": list(terms), "space": self.space}
        if vector:
            params["vector"] = Vector(vector)
        query = _MATCHES.format(semantic=_SEMANTIC if vector else "NULL")
        with self._database.connection() as connection:
            rows = connection.execute(query, params).fetchall()
        return [
            PageMatch(
                mental_model_id=row["mental_model_id"],
                tags=tuple(row["tags"]),
                semantic=row["semantic"],
                terms=frozenset(row["terms"]),
                is_empty=row["empty"],
                made_in=_scopes(row["made_in"]),
                vector_is_current=row["current"],
            )
            for row in rows
        ]

    def origins(self, bank_id: str) -> Mapping[str, PageOrigin]:
        rows = self._reader.ask(search.origins(bank_id))
        return {row["mental_model_id"]: PageOrigin(tuple(row["tags"]), _scopes(row["made_in"])) for row in rows}

    def read(self, bank_id: str, mental_model_ids: Sequence[str]) -> Mapping[str, PageFound]:
        if not mental_model_ids:
            return {}
        rows = self._reader.ask(search.pages(bank_id, mental_model_ids))
        ids = [row["mental_model_id"] for row in rows]
        stale = self._reader.ask(staleness.of_models(bank_id, ids, observations=self._observations))
        return {
            row["mental_model_id"]: PageFound(
                mental_model_id=row["mental_model_id"],
                name=row["name"],
                content=row["content"],
                version=row["version"],
                tags=tuple(row["tags"]),
                updated_at=row["last_refreshed_at"],
                made_in=_scopes(row["made_in"]),
                stale_because=stale[row["mental_model_id"]].reasons if row["mental_model_id"] in stale else (),
            )
            for row in rows
        }

    def pending(self, bank_id: str) -> int:
        """Pages whose vector is still to be made."""
        return self._reader.ask(search.pending_vectors(bank_id, self.space))

    def without_vector(self, bank_id: str | None, limit: int) -> Sequence[PageText]:
        with self._database.connection() as connection:
            rows = connection.execute(
                "SELECT bank_id, mental_model_id, version, name, plain_text AS text FROM document_search s"
                f" WHERE (%(bank_id)s::text IS NULL OR bank_id = %(bank_id)s) AND {search.WITHOUT_VECTOR}"
                " ORDER BY bank_id, mental_model_id LIMIT %(limit)s",
                {"bank_id": bank_id, "space": self.space, "limit": limit},
            ).fetchall()
        return [PageText(**row) for row in rows]

    def keep_vectors(self, vectors: Sequence[tuple[PageText, Sequence[float]]]) -> None:
        with self._database.connection() as connection:
            for page, vector in vectors:
                connection.execute(
                    "INSERT INTO page_vectors (bank_id, mental_model_id, version, space, embedding)"
                    " SELECT bank_id, mental_model_id, version, %(space)s, %(vector)b::vector::halfvec"
                    " FROM document_search"
                    " WHERE bank_id = %(bank_id)s AND mental_model_id = %(id)s AND version = %(version)s"
                    " ON CONFLICT (bank_id, mental_model_id) DO UPDATE SET version = excluded.version,"
                    " space = excluded.space, embedding = excluded.embedding"
                    " WHERE page_vectors.version <= excluded.version OR page_vectors.space <> excluded.space",
                    {
                        "bank_id": page.bank_id,
                        "id": page.mental_model_id,
                        "version": page.version,
                        "space": self.space,
                        "vector": Vector(vector) if vector else None,
                    },
                )

    def forget_gone(self) -> None:
        with self._database.connection() as connection:
            connection.execute(
                "DELETE FROM page_vectors v WHERE NOT EXISTS (SELECT FROM document_search s"
                " WHERE s.bank_id = v.bank_id AND s.mental_model_id = v.mental_model_id)"
            )


def _scopes(stored: Sequence[str]) -> tuple[Scope, ...]:
    return tuple(map(_scope, stored))


@lru_cache(maxsize=4096)
def _scope(stored: str) -> Scope:
    return Scope.model_validate_json(stored)
