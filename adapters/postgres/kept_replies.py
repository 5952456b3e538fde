"""Replies of language models kept on PostgreSQL, each committed by itself as soon as it has arrived."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.types.json import Json

from adapters.postgres.database import Database, connection_of
from application.ports import KeptReply, MindFailed, Transaction

logger = logging.getLogger(__name__)

_DROP = "DELETE FROM kept_replies WHERE operation_id = %s"


class PostgresKeptReplies:
    """KeptReplies."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def reply(self, operation_id: UUID, key: str) -> KeptReply | None:
        """Without the database nothing is asked: what a model answers then could not be recorded either."""
        try:
            with self._database.connection() as connection:
                row = connection.execute(
                    "SELECT payload, counted FROM kept_replies WHERE operation_id = %s AND key = %s",
                    (operation_id, key),
                ).fetchone()
        except psycopg.Error as error:
            raise MindFailed(
                f"no model was asked, because the database does not tell what it answered before: {_first_line(error)}",
                reason="unexpected_error",
                transient=True,
            ) from error
        return KeptReply(row["payload"], row["counted"]) if row else None

    def keep(self, operation_id: UUID, key: str, payload: Mapping[str, Any]) -> None:
        try:
            with self._database.connection() as connection:
                connection.execute(
                    "INSERT INTO kept_replies (operation_id, key, payload) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
                    (operation_id, key, Json(dict(payload))),
                )
        except psycopg.Error as error:
            logger.warning(
                "a reply for operation %s is not kept, another attempt would pay for it again: %s",
                operation_id,
                _first_line(error),
            )

    def count(self, operation_id: UUID, tx: Transaction) -> None:
        connection_of(tx).execute("UPDATE kept_replies SET counted = true WHERE operation_id = %s", (operation_id,))

    def drop(self, operation_id: UUID, tx: Transaction | None = None) -> None:
        if tx is not None:
            connection_of(tx).execute(_DROP, (operation_id,))
            return
        with self._database.connection() as connection:
            connection.execute(_DROP, (operation_id,))

    def drop_before(self, moment: datetime) -> int:
        with self._database.connection() as connection:
            return connection.execute("DELETE FROM kept_replies WHERE kept_at < %s", (moment,)).rowcount


def _first_line(error: psycopg.Error) -> str:
    return str(error).strip().partition("\n")[0]
