"""Items of asynchronous retains on PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from psycopg.types.json import Jsonb

from adapters.postgres.database import Database, connection_of
from application.ports import Transaction, WaitingItems
from domain.memory import RetainItem
from domain.refusals import OperationIdTaken


class PostgresRetainInbox:
    """RetainInbox. Putting the same operation again keeps the first items; raises OperationIdTaken when another bank's
    items wait under its id."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(
        self,
        operation_id: UUID,
        bank_id: str,
        items: Sequence[RetainItem],
        tx: Transaction,
        places: Sequence[int] | None = None,
    ) -> None:
        kept = connection_of(tx).execute(
            "INSERT INTO retain_inbox (operation_id, bank_id, items, places) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT (operation_id) DO UPDATE SET bank_id = excluded.bank_id"
            " WHERE retain_inbox.bank_id = excluded.bank_id RETURNING 1",
            (operation_id, bank_id, _json(items), list(range(len(items)) if places is None else places)),
        )
        if kept.fetchone() is None:  # another bank waits under this id: its items are not for this one
            raise OperationIdTaken(str(operation_id))

    def take(self, operation_id: UUID) -> WaitingItems | None:
        with self._database.connection() as connection:
            row = connection.execute(
                "SELECT items, asked, places, facts FROM retain_inbox WHERE operation_id = %s", (operation_id,)
            ).fetchone()
        if row is None:
            return None
        items = [RetainItem.model_validate(item) for item in row["items"]]
        return WaitingItems(items, row["asked"], row["places"] or list(range(len(items))), row["facts"])

    def keep(self, operation_id: UUID, bank_id: str, left: WaitingItems, tx: Transaction) -> bool:
        kept = connection_of(tx).execute(
            "UPDATE retain_inbox SET items = %s, places = %s, facts = %s WHERE operation_id = %s AND bank_id = %s",
            (_json(left.items), list(left.places), left.facts, operation_id, bank_id),
        )
        return kept.rowcount > 0

    def drop(self, operation_id: UUID, tx: Transaction, bank_id: str | None = None) -> bool:
        dropped = connection_of(tx).execute(
            "DELETE FROM retain_inbox WHERE operation_id = %s AND bank_id = coalesce(%s, bank_id)",
            (operation_id, bank_id),
        )
        return dropped.rowcount > 0

    def drop_bank(self, bank_id: str, tx: Transaction) -> None:
        connection_of(tx).execute("DELETE FROM retain_inbox WHERE bank_id = %s", (bank_id,))

    def waiting(self, bank_id: str) -> Sequence[tuple[str, ...]]:
        """Items of a retain that failed or was cancelled are kept, for somebody may retry it, but wait for nothing."""
        with self._database.connection() as connection:
            rows = connection.execute(
                "SELECT item -> 'tags' AS tags FROM retain_inbox i, jsonb_array_elements(i.items) AS item"
                " WHERE i.bank_id = %s AND NOT EXISTS (SELECT FROM operations o WHERE o.bank_id = i.bank_id"
                " AND o.operation_id = i.operation_id AND o.status IN ('failed', 'cancelled'))",
                (bank_id,),
            ).fetchall()
        return [tuple(row["tags"]) for row in rows]


def _json(items: Sequence[RetainItem]) -> Jsonb:
    return Jsonb([item.model_dump(mode="json") for item in items])
