"""The names that a bank knows, by their spelling."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from psycopg import Connection
from psycopg.rows import DictRow

from application.ports import Spelling
from domain.entities import LEAST_NEARNESS

COMPARED_AT_MOST = 100
"""Names of a request that are compared with all there are; each costs some milliseconds in a bank of 50,000 names."""
CANDIDATES = 5
"""Names looked at for one spelling, the nearest; more than one that may be meant is none."""

_NEAR = """
    SELECT n.name AS asked, e.name, e.nearness
    FROM unnest(%(names)s::text[]) AS n(name) CROSS JOIN LATERAL (
        SELECT e.name, similarity(e.folded, left(lower(n.name), 300)) AS nearness FROM memory_entities e
        WHERE e.bank_id = %(bank_id)s AND e.facts > 0 AND e.folded %% left(lower(n.name), 300)
        ORDER BY nearness DESC, e.facts DESC, e.folded LIMIT %(candidates)s
    ) e"""
_SAME = """
    SELECT n.name AS asked, e.name, 1::real AS nearness FROM unnest(%(names)s::text[]) AS n(name)
    JOIN memory_entities e ON e.bank_id = %(bank_id)s AND e.folded = left(lower(n.name), 300) AND e.facts > 0"""


def same(connection: Connection[DictRow], bank_id: str, names: Sequence[str]) -> dict[str, list[Spelling]]:
    """Names that are known but for case; they are looked up by key."""
    rows = connection.execute(_SAME, {"bank_id": bank_id, "names": list(dict.fromkeys(names))})
    return {row["asked"]: [Spelling(row["name"], 1.0)] for row in rows}


def near(connection: Connection[DictRow], bank_id: str, names: Sequence[str]) -> dict[str, list[Spelling]]:
    """Names spelled nearly so; labels are compared with nothing. The connection is in a transaction."""
    found: dict[str, list[Spelling]] = defaultdict(list)
    asked = list(dict.fromkeys(name for name in names if ":" not in name))[:COMPARED_AT_MOST]
    with connection.pipeline():
        connection.execute(f"SET LOCAL pg_trgm.similarity_threshold = {LEAST_NEARNESS}")
        rows = connection.execute(_NEAR, {"bank_id": bank_id, "names": asked, "candidates": CANDIDATES})
    for row in rows:
        found[row["asked"]].append(Spelling(row["name"], row["nearness"]))
    return dict(found)
