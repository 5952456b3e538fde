"""What became of the facts that a document cites: as they were cited, as they are now, and who else says the same."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from uuid import UUID

from psycopg import Connection, sql
from psycopg.rows import DictRow

from adapters.postgres.memory_rows import FACT_COLUMNS, READABLE, facts_of
from domain.memory import Fact, Standing
from domain.mental_model.record import Citation

_VERSIONS = """
SELECT {columns}, {readable} AS is_now FROM fact_versions f
WHERE f.bank_id = %(bank_id)s AND f.fact_id = ANY(%(fact_ids)s::uuid[]) AND ({readable} OR (f.fact_id, f.version) IN
  (SELECT c.fact_id, c.version FROM unnest(%(fact_ids)s::uuid[], %(versions)s::int[]) AS c(fact_id, version)))"""
# No index has the texts: all facts of the bank are read, which is seldom and takes some 10 ms in 20,000 of them.
_SAME_TEXTS = """
SELECT DISTINCT ON (f.text) {columns} FROM fact_versions f WHERE {readable} AND f.text = ANY(%(texts)s::text[])
ORDER BY f.text, f.from_position DESC"""


def standings(connection: Connection[DictRow], bank_id: str, cited: Sequence[Citation], upto: int) -> list[Standing]:
    """One for each citation, in their order. Texts are only looked up when a cited fact is gone."""
    if not cited:
        return []
    versions, now = _versions(connection, bank_id, cited, upto)
    texts = {fact.text for (fact_id, _), fact in versions.items() if fact_id not in now}
    same = _same_texts(connection, bank_id, texts, upto) if texts else {}
    found = []
    for citation in cited:
        fact, current = versions.get((citation.fact_id, citation.version)), now.get(citation.fact_id)
        same_text = same.get(fact.text) if fact is not None and current is None else None
        standing = Standing(
            fact_id=citation.fact_id, version=citation.version, cited=fact, now=current, same_text=same_text
        )
        found.append(standing)
    return found


def _versions(
    connection: Connection[DictRow], bank_id: str, cited: Sequence[Citation], upto: int
) -> tuple[dict[tuple[UUID, int], Fact], dict[UUID, Fact]]:
    """The versions cited, and perhaps others, by id and version; those that are current at `upto`, by id."""
    rows = connection.execute(
        sql.SQL(_VERSIONS).format(columns=FACT_COLUMNS, readable=sql.SQL(READABLE)),
        {
            "bank_id": bank_id,
            "upto": upto,
            "fact_ids": [citation.fact_id for citation in cited],
            "versions": [citation.version for citation in cited],
        },
        prepare=False,
    ).fetchall()
    are_now = [row.pop("is_now") for row in rows]
    facts = facts_of(rows)
    versions = {(fact.id, fact.version): fact for fact in facts}
    return versions, {fact.id: fact for fact in compress(facts, are_now)}


def _same_texts(connection: Connection[DictRow], bank_id: str, texts: set[str], upto: int) -> dict[str, Fact]:
    """The newest fact current at `upto` that says it, by text."""
    rows = connection.execute(
        sql.SQL(_SAME_TEXTS).format(columns=FACT_COLUMNS, readable=sql.SQL(READABLE)),
        {"bank_id": bank_id, "upto": upto, "texts": list(texts)},
        prepare=False,
    ).fetchall()
    return {fact.text: fact for fact in facts_of(rows)}
