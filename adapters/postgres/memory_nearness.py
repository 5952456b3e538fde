"""How near facts are to given vectors."""

from __future__ import annotations

from collections.abc import Sequence

from psycopg import Connection, sql
from psycopg.rows import DictRow

from adapters.postgres.vectors import Vector

# The distance to a vector without direction is no number, which the server takes for the largest of all.
_NEARNESS = """
SELECT f.from_position, 1 - min(nullif(f.embedding <=> v.vector, 'NaN')) AS nearness
FROM fact_vectors f CROSS JOIN (VALUES {vectors}) AS v(vector)
WHERE f.bank_id = %(bank_id)s AND f.from_position = ANY(%(positions)s::bigint[]) AND f.space = %(space)s
GROUP BY f.from_position HAVING min(nullif(f.embedding <=> v.vector, 'NaN')) IS NOT NULL"""


def nearness(
    connection: Connection[DictRow],
    bank_id: str,
    positions: Sequence[int],
    vectors: Sequence[Sequence[float]],
    space: str,
) -> dict[int, float]:
    """The largest cosine similarity by position. All vectors are of `space`, and there is at least one."""
    given = {f"vector_{number}": Vector(vector) for number, vector in enumerate(vectors)}
    values = sql.SQL(", ").join(sql.SQL("({}::vector::halfvec)").format(sql.Placeholder(name, "b")) for name in given)
    parameters = {"bank_id": bank_id, "positions": list(positions), "space": space, **given}
    rows = connection.execute(sql.SQL(_NEARNESS).format(vectors=values), parameters, prepare=False).fetchall()
    return {row["from_position"]: row["nearness"] for row in rows}
