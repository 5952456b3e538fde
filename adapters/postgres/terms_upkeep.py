"""Stored search terms made anew when the rule that makes them has changed (domain/terms.py).

Done before anything is served, in batches that each change a bank under its clock: a process that is stopped meanwhile
leaves every bank readable, and the next one goes on where it was. Terms are no part of what a fact says: no position
moves.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from datetime import UTC

from psycopg import Connection
from psycopg.rows import DictRow

from adapters.postgres.database import Database
from adapters.postgres.fact_versions import lock_clock
from adapters.postgres.memory_rows import LEXEME_MARK_LENGTH, lexeme_mark
from domain.terms import TERMS_RULE, fact_terms

logger = logging.getLogger(__name__)

ADVISORY_LOCK = 0x70616C74  # "palt"
BATCH = 1_000


def keep_terms_current(database: Database, *, batch: int = BATCH) -> int:
    """Makes the terms of all stored facts anew, of past versions too, unless they are of the present rule; returns how
    many facts it went through. Of processes that start together one does it, the others wait for it."""
    if _rule(database) == TERMS_RULE:
        return 0
    done = 0
    with database.connection() as holder:
        holder.execute("SELECT pg_advisory_lock(%s)", (ADVISORY_LOCK,))
        try:
            if _rule(database) != TERMS_RULE:
                logger.info("the search terms of stored facts are made anew; this happens once")
                while more := _next_batch(database, batch):
                    done += more
        finally:
            holder.execute("SELECT pg_advisory_unlock(%s)", (ADVISORY_LOCK,))
    return done


def _rule(database: Database) -> int:
    with database.connection() as connection:
        row = connection.execute("SELECT rule FROM memory_terms_rule").fetchone()
    assert row is not None  # the migration that makes the table fills it
    return int(row["rule"])


def _next_batch(database: Database, batch: int) -> int:
    """The next facts by bank and position; 0 when there were none left, and the rule is the present one now."""
    with database.begin() as tx:
        connection = tx.connection
        bank_id, position = _come_to(connection)
        following = connection.execute(
            "SELECT bank_id FROM fact_versions WHERE (bank_id, from_position) > (%s, %s)"
            " ORDER BY bank_id, from_position LIMIT 1",
            (bank_id, position),
        ).fetchone()
        if following is None:
            connection.execute(
                "UPDATE memory_terms_rule SET rule = %s, next_rule = NULL, next_bank_id = NULL, next_position = NULL",
                (TERMS_RULE,),
            )
            return 0
        if following["bank_id"] != bank_id:
            bank_id, position = following["bank_id"], 0
        lock_clock(connection, bank_id)
        facts = connection.execute(
            "SELECT from_position, text, entities, occurred_start, occurred_end, to_position IS NULL AS current,"
            " tsvector_to_array(terms) AS lexemes FROM fact_versions WHERE bank_id = %s AND from_position > %s"
            " ORDER BY from_position LIMIT %s",
            (bank_id, position, batch),
        ).fetchall()
        _make_anew(connection, bank_id, facts)
        last = facts[-1]["from_position"] if facts else 0
        connection.execute(
            "UPDATE memory_terms_rule SET next_rule = %s, next_bank_id = %s, next_position = %s",
            (TERMS_RULE, bank_id, last),
        )
    # A bank forgotten while its clock was waited for leaves no facts, but there may be other banks.
    return max(1, len(facts))


def _come_to(connection: Connection[DictRow]) -> tuple[str, int]:
    row = connection.execute("SELECT next_rule, next_bank_id, next_position FROM memory_terms_rule").fetchone()
    if row is None or row["next_rule"] != TERMS_RULE:
        return "", 0
    return row["next_bank_id"], row["next_position"]


def _make_anew(connection: Connection[DictRow], bank_id: str, facts: Sequence[DictRow]) -> None:
    mark, counts = lexeme_mark(bank_id), Counter[str]()
    changed: list[tuple[list[str], str, int]] = []
    for fact in facts:
        # The server answers in whatever time zone it is set to.
        dates = [each.astimezone(UTC) for each in (fact["occurred_start"], fact["occurred_end"]) if each is not None]
        terms = fact_terms(fact["text"], fact["entities"], *dates)
        lexemes = [mark + term for term in terms]
        if set(lexemes) != set(fact["lexemes"]):
            changed.append((lexemes, bank_id, fact["from_position"]))
            if fact["current"]:
                counts.update(terms)
                counts.subtract(lexeme[LEXEME_MARK_LENGTH:] for lexeme in fact["lexemes"])
    connection.cursor().executemany(
        "UPDATE fact_versions SET terms = array_to_tsvector(%s::text[]) WHERE bank_id = %s AND from_position = %s",
        changed,
    )
    different = {term: change for term, change in counts.items() if change}
    connection.execute(
        "INSERT INTO memory_terms AS t (bank_id, term, facts)"
        " SELECT %s, term, facts FROM unnest(%s::text[], %s::bigint[]) AS n(term, facts)"
        " ON CONFLICT (bank_id, term) DO UPDATE SET facts = t.facts + excluded.facts",
        (bank_id, list(different), list(different.values())),
    )
