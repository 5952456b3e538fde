"""How far running operations are, on PostgreSQL: a row while an attempt runs, outside of the log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from adapters.postgres.database import Database, connection_of
from application.ports import Progress, Transaction

logger = logging.getLogger(__name__)

STARTING = "starting"
SHOWN_WITHIN_SECONDS = 1.0
"""How long showing may wait for a connection; then this time it is not shown."""

# a row that is held is that of an attempt that begins or ends just now: it is not waited for
_SHOW = (
    "UPDATE operation_progress SET stage = %(stage)s, at = %(at)s, processed = %(processed)s, total = %(total)s,"
    " detail = %(detail)s WHERE (bank_id, operation_id) IN (SELECT bank_id, operation_id FROM operation_progress"
    " WHERE bank_id = %(bank_id)s AND operation_id = %(id)s AND attempt = %(attempt)s FOR UPDATE SKIP LOCKED)"
)


class PostgresProgressBoard:
    """ProgressBoard. `now` tells the time in UTC."""

    def __init__(self, database: Database, now: Callable[[], datetime]) -> None:
        self._database = database
        self._now = now

    def begin(self, bank_id: str, operation_id: UUID, attempt: int, tx: Transaction) -> None:
        connection_of(tx).execute(
            "INSERT INTO operation_progress (bank_id, operation_id, attempt, stage, at)"
            " VALUES (%(bank_id)s, %(id)s, %(attempt)s, %(stage)s, %(at)s) ON CONFLICT (bank_id, operation_id)"
            " DO UPDATE SET attempt = excluded.attempt, stage = excluded.stage, at = excluded.at,"
            " processed = NULL, total = NULL, detail = NULL",
            {"bank_id": bank_id, "id": operation_id, "attempt": attempt, "stage": STARTING, "at": self._now()},
        )

    def show(self, bank_id: str, operation_id: UUID, attempt: int, progress: Progress) -> None:
        """Without the row of its attempt, which goes with the end of it, there is nothing to show it in."""
        try:
            with self._database.pool.connection(timeout=SHOWN_WITHIN_SECONDS) as connection:
                connection.execute(
                    _SHOW,
                    {
                        "bank_id": bank_id,
                        "id": operation_id,
                        "attempt": attempt,
                        "stage": progress.stage,
                        "at": self._now(),
                        "processed": progress.processed,
                        "total": progress.total,
                        "detail": None if progress.detail is None else Jsonb(dict(progress.detail)),
                    },
                )
        except psycopg.Error as error:
            logger.debug("the progress of operation %s is not shown: %s", operation_id, error)

    def clear(self, bank_id: str, operation_id: UUID, tx: Transaction) -> None:
        connection_of(tx).execute(
            "DELETE FROM operation_progress WHERE bank_id = %s AND operation_id = %s", (bank_id, operation_id)
        )
