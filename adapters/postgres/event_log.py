"""The event log on PostgreSQL: the `eventsourcing` library stores, orders and snapshots; we map, fold and queue.

One append is one transaction: events, read models, and the jobs that events ask for. The library's table lock is kept:
positions become visible in commit order (docs/adr/0005). What is sent while it is held goes in few round trips.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from eventsourcing.persistence import IntegrityError, StoredEvent
from eventsourcing.postgres import (
    ConnectionPool,
    PostgresAggregateRecorder,
    PostgresApplicationRecorder,
    PostgresDatastore,
)
from psycopg import Connection, Cursor, errors
from psycopg.rows import DictRow
from pydantic import TypeAdapter, ValidationError

from adapters.postgres import projector
from adapters.postgres.database import Database, connection_of
from adapters.postgres.event_mapper import to_recorded, to_stored
from application.aggregate import Aggregate
from application.ports import Loaded, StreamAppend, Transaction, Wanted
from domain.event import RECORDED, Context, Recorded, StreamId
from domain.refusals import StaleVersion

WRITES_LOCK = 0x70616C77  # "palw"
"""Held together by all commands under way, alone by a transaction that waits for them to end."""

SNAPSHOT_EVERY = 50
"""A stream's state is kept at every so many events, so that folding a long stream reads few."""

_ALL = (
    "SELECT originator_id, originator_version, topic, state, false AS kept FROM stored_events"
    " WHERE originator_id = %(id)s ORDER BY originator_version"
)
_FROM_SNAPSHOT = (
    "WITH newest AS MATERIALIZED (SELECT originator_version, topic, state FROM snapshots"
    "   WHERE originator_id = %(id)s AND topic = %(kept_as)s ORDER BY originator_version DESC LIMIT 1)"
    " SELECT %(id)s::uuid AS originator_id, originator_version, topic, state, true AS kept FROM newest UNION ALL"
    " SELECT originator_id, originator_version, topic, state, false FROM stored_events WHERE originator_id = %(id)s"
    "   AND originator_version > coalesce((SELECT originator_version FROM newest), 0) ORDER BY originator_version"
)
_LOCK = (
    "SELECT CASE WHEN together THEN pg_advisory_xact_lock_shared(key) ELSE pg_advisory_xact_lock(key) END"
    " FROM unnest(%s::bigint[], %s::boolean[]) AS wanted (key, together)"
)

QueueJobs = Callable[[Connection[DictRow], Sequence[Recorded]], None]


class _Datastore(PostgresDatastore):
    """The library's datastore over our pool of connections."""

    def __init__(self, database: Database) -> None:
        super().__init__(dbname="", host="", port="", user="", password="")
        self.pool = cast(ConnectionPool[Connection[DictRow]], database.pool)


class _Recorder(PostgresApplicationRecorder):
    """Inserts events in a transaction that the caller opened."""

    def insert_within(
        self, connection: Connection[DictRow], stored: Sequence[StoredEvent]
    ) -> tuple[Sequence[int], frozenset[str]]:
        """The log positions of the events, and the read models that are set aside once nobody else appends. Raises
        psycopg.errors.UniqueViolation when a stream has moved on."""
        cursor = connection.cursor()
        with connection.pipeline():  # the insert is the last: what it raises is not hidden by others that were skipped
            self._lock_table(cursor)
            aside = connection.execute(projector.SET_ASIDE)
            PostgresAggregateRecorder._insert_stored_events(self, cursor, stored)
        positions = self._fetch_ids_after_insert_events(cursor, stored) or ()
        return positions, frozenset(row["name"] for row in aside)


class PostgresEventLog:
    """EventLog. `queue_jobs` defers the jobs that events ask for, on the connection of the append."""

    def __init__(self, database: Database, queue_jobs: QueueJobs) -> None:
        self._database = database
        self._queue_jobs = queue_jobs
        datastore = _Datastore(database)
        self._recorder = _Recorder(datastore)
        self._snapshots = PostgresAggregateRecorder(datastore, events_table_name="snapshots")
        datastore.register_type_adapters()

    def load(self, aggregate: Aggregate[Any], stream: StreamId, tx: Transaction | None = None) -> Loaded:
        """The stream folded, from its newest usable snapshot on. Raises UnreadableEvent."""
        if tx is not None:
            return self._load(aggregate, stream, connection_of(tx))
        with self._database.connection() as connection:
            return self._load(aggregate, stream, connection)

    def _load(self, aggregate: Aggregate[Any], stream: StreamId, connection: Connection[DictRow]) -> Loaded:
        return _loaded(aggregate, stream, _select(aggregate, stream, connection), connection)

    def events(self, stream: StreamId, *, upto: int | None = None) -> Sequence[Recorded]:
        """The events of a stream, in order. Raises UnreadableEvent."""
        return [to_recorded(stored) for stored in self._recorder.select_events(stream.uuid, lte=upto)]

    def after(self, position: int, *, limit: int) -> Sequence[Recorded]:
        """The events of the whole log after a position, in order, `limit` at most."""
        notifications = self._recorder.select_notifications(position, limit, inclusive_of_start=False)
        return [to_recorded(each, each.id) for each in notifications]

    def hold(self, wanted: Sequence[Wanted], tx: Transaction) -> Sequence[Loaded]:
        """Locks and reads in one round trip. Raises UnreadableEvent."""
        connection = connection_of(tx)
        with connection.pipeline():
            self.lock(
                [each.stream for each in wanted if not each.shared],
                [each.stream for each in wanted if each.shared],
                tx,
            )
            found = [_select(each.aggregate, each.stream, connection) for each in wanted]
        return [
            _loaded(each.aggregate, each.stream, rows, connection) for each, rows in zip(wanted, found, strict=True)
        ]

    def lock(self, alone: Sequence[StreamId], shared: Sequence[StreamId], tx: Transaction) -> None:
        """Advisory locks, taken in one order by everybody and before all other locks."""
        streams = [(_lock_key(stream), False) for stream in alone] + [(_lock_key(stream), True) for stream in shared]
        keys = [(WRITES_LOCK, True), *sorted(streams)]
        connection_of(tx).execute(_LOCK, ([key for key, _ in keys], [together for _, together in keys]))

    def hold_off_writers(self, connection: Connection[DictRow]) -> None:
        """Until the transaction on `connection` ends nothing is appended: commands under way have ended, others wait.

        The table lock alone would come too late for a command that has read a read model and is about to append: it
        would wait for the table, and a swap of read models for it."""
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (WRITES_LOCK,))
        connection.execute("LOCK TABLE stored_events IN EXCLUSIVE MODE")

    def append(self, appends: Sequence[StreamAppend], context: Context, tx: Transaction) -> None:
        """Records events, folds read models and queues jobs, all in `tx`. Raises StaleVersion."""
        connection = connection_of(tx)
        stored = [
            to_stored(append.stream, append.expected + offset, event, context)
            for append in appends
            for offset, event in enumerate(append.events, start=1)
        ]
        as_read = [to_recorded(event) for event in stored]  # before the table is locked
        with _stale_version(appends):
            positions, aside = self._recorder.insert_within(connection, stored)
        recorded = [replace(event, position=at) for event, at in zip(as_read, positions, strict=True)]
        projector.fold(connection, recorded, aside)
        self._queue_jobs(connection, recorded)
        self._keep_snapshots(connection, appends)

    def restore(self, recorded: Sequence[Recorded], tx: Transaction) -> None:
        """Records events that happened before, or elsewhere, with their own times and causes, at their versions, and
        folds read models; no job is queued. Whoever calls it holds their bank. Raises UnstorableEvent."""
        stored = [
            to_stored(each.stream, each.version, each.event, context)
            for each in recorded
            for context in (Context(each.actor, each.occurred_at, each.operation_id, each.cause),)
        ]
        as_read = [to_recorded(event) for event in stored]
        positions, aside = self._recorder.insert_within(connection_of(tx), stored)
        events = [replace(event, position=at) for event, at in zip(as_read, positions, strict=True)]
        projector.fold(connection_of(tx), events, aside)

    def _keep_snapshots(self, connection: Connection[DictRow], appends: Sequence[StreamAppend]) -> None:
        for append in appends:
            version = append.expected + len(append.events)
            if version // SNAPSHOT_EVERY > append.expected // SNAPSHOT_EVERY:
                topic = _snapshot_topic(append.stream.kind, append.state_version)
                state = json.dumps(append.state.model_dump(mode="json", by_alias=True), ensure_ascii=False).encode()
                with connection.cursor() as cursor:
                    self._snapshots._insert_stored_events(
                        cursor, [StoredEvent(append.stream.uuid, version, topic, state)]
                    )


def _select(aggregate: Aggregate[Any], stream: StreamId, connection: Connection[DictRow]) -> Cursor[DictRow]:
    """The newest snapshot of the shape this code has, and the events after it."""
    kept_as = _snapshot_topic(aggregate.kind, aggregate.state_version)
    return connection.execute(_FROM_SNAPSHOT, {"id": stream.uuid, "kept_as": kept_as})


def _loaded(
    aggregate: Aggregate[Any], stream: StreamId, rows: Iterable[DictRow], connection: Connection[DictRow]
) -> Loaded:
    try:
        return _folded(aggregate, rows)
    except ValidationError:  # a snapshot that this code cannot read
        return _folded(aggregate, connection.execute(_ALL, {"id": stream.uuid}))


def _folded(aggregate: Aggregate[Any], rows: Iterable[DictRow]) -> Loaded:
    """Raises ValidationError for a snapshot that cannot be read."""
    state, version = aggregate.initial, 0
    for row in rows:
        if row["kept"]:
            state = TypeAdapter(aggregate.state_type).validate_json(bytes(row["state"]), context=dict(RECORDED))
        else:
            state = aggregate.evolve(state, to_recorded(_stored(row)))
        version = row["originator_version"]
    return Loaded(state, version)


def _stored(row: DictRow) -> StoredEvent:
    return StoredEvent(row["originator_id"], row["originator_version"], row["topic"], bytes(row["state"]))


def _lock_key(stream: StreamId) -> int:
    return stream.uuid.int % 2**63


def _snapshot_topic(kind: str, state_version: int) -> str:
    return f"{kind}.state.{state_version}"


@contextmanager
def _stale_version(appends: Sequence[StreamAppend]) -> Iterator[None]:
    try:
        yield
    except (errors.UniqueViolation, IntegrityError) as error:
        raise StaleVersion(" or ".join(f"'{append.stream.name}'" for append in appends)) from error
