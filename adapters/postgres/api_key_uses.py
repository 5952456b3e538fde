"""When API keys were last used, on PostgreSQL: a row a key, outside of the log."""

from __future__ import annotations

import logging
from datetime import datetime

import psycopg

from adapters.postgres.database import Database

logger = logging.getLogger(__name__)

WRITTEN_WITHIN_SECONDS = 1.0
"""How long a note may wait for a connection; then this time nothing is noted."""


class PostgresKeyUses:
    def __init__(self, database: Database) -> None:
        self._database = database

    def note(self, key_id: str, at: datetime) -> None:
        """A failure is not the request's: it is logged, and the next minute tries again."""
        try:
            with self._database.pool.connection(timeout=WRITTEN_WITHIN_SECONDS) as connection:
                connection.execute(
                    "INSERT INTO api_key_uses (key_id, last_used_at) VALUES (%(id)s, %(at)s)"
                    " ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at"
                    " WHERE api_key_uses.last_used_at < excluded.last_used_at",
                    {"id": key_id, "at": at},
                )
        except psycopg.Error as error:
            logger.debug("the use of API key %s is not noted: %s", key_id, error)
