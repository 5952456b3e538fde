"""How a recall is carried out, decided from a few counts before it searches.

Measured: a fact costs 0.45 us in an exact scan and 12 us in the vector graph (256 dimensions); a word costs 1.5 us for
each fact it is in. So small banks, narrow scopes and narrow windows are scanned, which finds every near fact; words in
too many facts to tell them apart are left out when rarer ones are asked for.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection, sql
from psycopg.rows import DictRow

from adapters.postgres.memory_rows import lexeme_mark
from adapters.postgres.scope_sql import ScopeCondition
from adapters.postgres.vector_index import EXACT_NUMBERS, index_name
from domain.memory import RecallQuery
from domain.scope import EVERYTHING
from domain.terms import possible_name_terms, terms

GRAPH_COST = 30
"""What a visit in the vector graph costs, in comparisons of an exact scan."""
MOST_ASKED_TERMS = 64
MOST_TERMS = 16
"""Terms looked up of those asked for, the rarest first (spec: at most 16)."""
MOST_MATCHES = 2_000
"""Facts read for the terms of a query in all, unless its rarest term alone is in more."""
MOST_GRAPH_SEARCH = 1_000
"""The largest `hnsw.ef_search`."""
GRAPH_REACH = 1.5
"""Vectors visited in the graph for each that is wanted: 0.99 of the nearest are found (docs/recall.md)."""


@dataclass(frozen=True)
class RecallPlan:
    """`position` and `facts` are the bank's; `named` the names, as terms, that the query has in common with the bank;
    `reach` is how many vectors the graph visits (0: compare all); `past` says that the query looks at a past
    position."""

    position: int
    facts: int
    lexemes: Sequence[tuple[str, float]]
    named: frozenset[str]
    reach: int
    iterative: bool
    past: bool


_COUNTS = """
SELECT c.position, c.facts, {scope_facts} AS scope_facts,
  (SELECT jsonb_object_agg(t.term, t.facts) FROM memory_terms t
    WHERE t.bank_id = c.bank_id AND t.term = ANY(%(terms)s) AND t.facts > 0) AS term_facts,
  pg_stat_get_live_tuples('fact_vectors'::regclass) AS rows,
  coalesce((SELECT i.indisvalid FROM pg_index i WHERE i.indexrelid = to_regclass(%(index)s)), false) AS indexed,
  (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector_version
FROM memory_clock c WHERE c.bank_id = %(bank_id)s"""
_SCOPE_FACTS = "(SELECT sum(s.facts) FROM scope_clock s WHERE s.bank_id = c.bank_id AND {condition})"


def plan_recall(
    connection: Connection[DictRow], query: RecallQuery, condition: ScopeCondition, dimensions: int
) -> RecallPlan | None:
    """None when the bank has no memory. `dimensions` is 0 when there is no vector to search with."""
    asked = terms(query.text)[:MOST_ASKED_TERMS] if query.by_word else ()
    names = possible_name_terms(query.text) if query.by_links else ()
    scope_facts: sql.Composable = sql.SQL("c.facts")
    if query.scope != EVERYTHING:
        scope_facts = sql.SQL(_SCOPE_FACTS).format(condition=condition.on("s"))
    row = connection.execute(
        sql.SQL(_COUNTS).format(scope_facts=scope_facts),
        {"bank_id": query.bank_id, "terms": [*asked, *names], "index": index_name(dimensions), **condition.parameters},
    ).fetchone()
    if row is None:
        return None
    past = query.window is not None and query.window.upto < row["position"]
    scope_count = int(row["scope_facts"] or 0)
    version = _version(row["vector_version"])
    counts = row["term_facts"] or {}
    return RecallPlan(
        position=row["position"],
        facts=row["facts"],
        lexemes=_chosen(query.bank_id, asked, counts, row["facts"], past),
        named=frozenset(names if past else counts.keys() & set(names)),
        reach=_reach(query, row, scope_count, dimensions, version >= (0, 8)),
        iterative=version >= (0, 8),
        past=past,
    )


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())


def _chosen(
    bank_id: str, asked: Sequence[str], counts: Mapping[str, int], facts: int, past: bool
) -> list[tuple[str, float]]:
    """The terms to look up, as lexemes with their weights (those of BM25). A past position may have terms that no
    current fact has."""
    mark, matches = lexeme_mark(bank_id), 0
    chosen: list[tuple[str, float]] = []
    known = sorted((term for term in asked if term in counts), key=lambda term: counts[term])
    for term in known[:MOST_TERMS]:
        matches += counts[term]
        if chosen and matches > MOST_MATCHES:
            break
        chosen.append((mark + term, _weight(counts[term], facts)))
    if past:
        gone = [term for term in asked if term not in counts]
        chosen.extend((mark + term, _weight(0, facts)) for term in gone[: MOST_TERMS - len(chosen)])
    return chosen


def _weight(matches: int, facts: int) -> float:
    return math.log1p(max(0.0, facts - matches + 0.5) / (matches + 0.5))


def _reach(query: RecallQuery, row: DictRow, scope_facts: int, dimensions: int, iterative: bool) -> int:
    candidates: int = min(row["facts"], scope_facts)
    if query.window is not None:
        # Positions are gapless: a window holds no more facts than positions.
        candidates = min(candidates, query.window.upto - query.window.after)
    if not row["indexed"] or candidates * dimensions <= EXACT_NUMBERS:
        return 0
    share = candidates / max(row["rows"], row["facts"], candidates)
    reach = math.ceil(GRAPH_REACH * query.limit / share)
    # Without iterative scans the graph gives no more than its first finds, before any is filtered out.
    if reach * GRAPH_COST > candidates or not (iterative or reach <= MOST_GRAPH_SEARCH):
        return 0
    return int(reach)


def graph_settings(plan: RecallPlan) -> dict[str, Any]:
    """Settings for a search of the vector graph: how wide it looks, and that it goes on until enough facts pass."""
    settings: dict[str, Any] = {"hnsw.ef_search": min(MOST_GRAPH_SEARCH, max(100, plan.reach))}
    if not plan.iterative:
        return settings
    return settings | {
        "hnsw.iterative_scan": "relaxed_order",
        "hnsw.max_scan_tuples": max(20_000, 4 * plan.reach),
        "hnsw.scan_mem_multiplier": 8,
    }
