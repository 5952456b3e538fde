"""Banks as they are imported: all rows and events of one, in the transaction of its import."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, TypeVar

import psycopg
from psycopg import Connection
from psycopg.rows import DictRow

from adapters.postgres.database import Database, connection_of
from adapters.postgres.event_log import PostgresEventLog
from adapters.postgres.event_mapper import UnstorableEvent
from adapters.postgres.fact_versions import lock_clock
from adapters.postgres.transfer_memory import MemoryArrival
from adapters.postgres.transfer_source import events_of_life
from application.current_operation import report
from application.ports import Transaction
from application.ports.transfer import Arrival
from domain.bank import BankOpened, BankRenamed
from domain.event import StreamId
from domain.refusals import ArchiveRefused
from domain.transfer import SECTIONS

T = TypeVar("T")

ROWS_AT_ONCE = 500
EVENTS_AT_ONCE = 200

_HAS_MEMORY = (
    "SELECT EXISTS (SELECT FROM fact_versions WHERE bank_id = %(bank_id)s)"
    " OR EXISTS (SELECT FROM memory_documents WHERE bank_id = %(bank_id)s)"
    " OR EXISTS (SELECT FROM retain_inbox WHERE bank_id = %(bank_id)s) AS has"
)


class PostgresBankDestination:
    """BankDestination. `space` names the model whose vectors the memory is searched by."""

    def __init__(self, database: Database, log: PostgresEventLog, space: Callable[[], str]) -> None:
        self._database = database
        self._log = log
        self._space = space

    @property
    def space(self) -> str:
        return self._space()

    def is_empty(self, bank_id: str, tx: Transaction | None = None) -> bool:
        if tx is None:
            with self._database.begin() as own:
                return _is_empty(own.connection, bank_id)
        lock_clock(connection_of(tx), bank_id)
        return _is_empty(connection_of(tx), bank_id)

    def write(self, bank_id: str, arrival: Arrival, tx: Transaction) -> None:
        """Memory first: what the events are told to locks out all other writers until the end."""
        connection = connection_of(tx)
        try:
            self._write_memory(connection, bank_id, arrival)
            self._write_events(connection, arrival, tx)
        except (psycopg.DataError, psycopg.IntegrityError) as error:
            told = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise ArchiveRefused(f"it contradicts itself, or holds what cannot be stored: {told[:300]}") from error
        except UnstorableEvent as error:
            raise ArchiveRefused(str(error)) from error

    def _write_memory(self, connection: Connection[DictRow], bank_id: str, arrival: Arrival) -> None:
        memory = MemoryArrival(connection, bank_id, self.space, arrival.vector_of)
        for section in SECTIONS:
            if section == "events":
                continue
            done = 0
            for batch in _batches(arrival.rows(section), ROWS_AT_ONCE):
                memory.add(section, batch)
                done += len(batch)
                report(f"writing {section.replace('_', ' ')}", done)
        memory.conclude()

    def _write_events(self, connection: Connection[DictRow], arrival: Arrival, tx: Transaction) -> None:
        versions: dict[StreamId, int] = {}

        def next_version(stream: StreamId) -> int:
            if stream not in versions:
                versions[stream] = _version_of(connection, stream)
            versions[stream] += 1
            return versions[stream]

        done = 0
        for batch in _batches(arrival.events(next_version), EVENTS_AT_ONCE):
            self._log.restore(batch, tx)
            done += len(batch)
            report("writing events", done)


def _is_empty(connection: Connection[DictRow], bank_id: str) -> bool:
    memory = connection.execute(_HAS_MEMORY, {"bank_id": bank_id}).fetchone()
    if memory is None or memory["has"]:
        return False
    happened = (each.event for each in events_of_life(connection, bank_id))
    return all(isinstance(event, BankOpened | BankRenamed) for event in happened)


def _version_of(connection: Connection[DictRow], stream: StreamId) -> int:
    row: Any = connection.execute(
        "SELECT coalesce(max(originator_version), 0) AS version FROM stored_events WHERE originator_id = %s",
        (stream.uuid,),
    ).fetchone()
    return int(row["version"])


def _batches(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    waiting = iter(rows)
    while batch := list(islice(waiting, size)):
        yield batch
