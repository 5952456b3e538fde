"""Replies of language models kept on PostgreSQL, each committed by itself as soon as it has arrived."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Json, Jsonb

from adapters.postgres.database import Database, connection_of
from application.ports import KeptReply, MindFailed, Transaction
from domain.usage import ModelCall

logger = logging.getLogger(__name__)


class PostgresKeptReplies:
    """KeptReplies."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def reply(self, bank_id: str, operation_id: UUID, key: str) -> KeptReply | None:
        """Without the database nothing is asked: what a model answers then could not be recorded either."""
        try:
            with self._database.connection() as connection:
                row = connection.execute(
                    "SELECT payload, counted FROM kept_replies"
                    " WHERE bank_id = %s AND operation_id = %s AND key = %s AND payload IS NOT NULL",
                    (bank_id, operation_id, key),
                ).fetchone()
        except psycopg.Error as error:
            raise MindFailed(
                f"no model was asked, because the database does not tell what it answered before: {_first_line(error)}",
                reason="unexpected_error",
                transient=True,
            ) from error
        return KeptReply(row["payload"], row["counted"]) if row else None

    def keep(self, bank_id: str, operation_id: UUID, key: str, payload: Mapping[str, Any], call: ModelCall) -> bool:
        try:
            with self._database.connection() as connection:
                kept = connection.execute(
                    "INSERT INTO kept_replies (bank_id, operation_id, key, payload, call) VALUES (%s, %s, %s, %s, %s)"
                    " ON CONFLICT DO NOTHING",
                    (bank_id, operation_id, key, Json(dict(payload)), Jsonb(call.model_dump(mode="json"))),
                )
        except psycopg.Error as error:
            logger.warning(
                "a reply for operation %s is not kept, another attempt would pay for it again: %s",
                operation_id,
                _first_line(error),
            )
            return False
        return kept.rowcount > 0

    def uncounted(self, bank_id: str, operation_id: UUID) -> Mapping[str, ModelCall]:
        with self._database.connection() as connection:
            rows = connection.execute(
                "SELECT key, call FROM kept_replies WHERE bank_id = %s AND operation_id = %s AND NOT counted"
                " ORDER BY kept_at, key",
                (bank_id, operation_id),
            ).fetchall()
        return {row["key"]: ModelCall.model_validate(row["call"]) for row in rows}

    def count(self, bank_id: str, operation_id: UUID, keys: Collection[str], tx: Transaction) -> None:
        connection_of(tx).execute(
            "UPDATE kept_replies SET counted = true WHERE bank_id = %s AND operation_id = %s AND key = ANY(%s)",
            (bank_id, operation_id, list(keys)),
        )

    def drop(self, bank_id: str, operation_id: UUID, tx: Transaction) -> None:
        connection_of(tx).execute(
            "DELETE FROM kept_replies WHERE bank_id = %s AND operation_id = %s AND counted", (bank_id, operation_id)
        )

    def drop_bank(self, bank_id: str, tx: Transaction) -> None:
        connection_of(tx).execute("DELETE FROM kept_replies WHERE bank_id = %s AND counted", (bank_id,))
        connection_of(tx).execute("UPDATE kept_replies SET payload = NULL WHERE bank_id = %s", (bank_id,))

    def left_behind(self, before: datetime) -> Sequence[tuple[str, UUID]]:
        with self._database.connection() as connection:
            rows = connection.execute(
                "SELECT DISTINCT bank_id, operation_id FROM kept_replies WHERE kept_at < %s", (before,)
            ).fetchall()
        return [(row["bank_id"], row["operation_id"]) for row in rows]


def _first_line(error: psycopg.Error) -> str:
    return str(error).strip().partition("\n")[0]
