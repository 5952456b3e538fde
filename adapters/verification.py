"""Verification: the fold of every stream equals what is served, byte for byte, and every text its recorded hash."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

from adapters.postgres.event_log import PostgresEventLog
from adapters.postgres.reader import Reader
from domain.digest import sha256_of
from domain.event import Recorded, StreamId
from domain.mental_model.events import ContentEdited, ContentReverted, ContentWritten
from domain.mental_model.state import Absent, MentalModel, State, evolve
from projections import documents
from projections.documents import DocumentRow

BATCH = 1000

Progress = Callable[[int], None]


WRITES = (ContentWritten, ContentEdited, ContentReverted)
"""The events that hold a whole text."""


@dataclass(frozen=True)
class Difference:
    """A document that is not what its events say, and where."""

    bank_id: str
    mental_model_id: str
    where: str


@dataclass(frozen=True)
class Verified:
    documents: int
    events: int
    differences: tuple[Difference, ...]


def verify(log: PostgresEventLog, reader: Reader, progress: Progress | None = None) -> Verified:
    """Folds all streams of mental models and compares with the documents served. Run it while nothing writes, or take a
    difference in a document that was just written with a grain of salt and run it again."""
    states: dict[StreamId, tuple[State, int]] = {}
    differences: list[Difference] = []
    events = 0
    for recorded in _mental_model_events(log):
        events += 1
        event = recorded.event
        if isinstance(event, WRITES) and sha256_of(event.text) != event.sha256:
            where = f"the text of version {recorded.version} does not have its recorded sha256"
            differences.append(Difference(recorded.stream.bank_id, recorded.stream.name, where))
        state, _ = states.get(recorded.stream, (Absent(), 0))
        states[recorded.stream] = evolve(state, recorded), recorded.version
        if progress is not None and events % BATCH == 0:
            progress(events)
    served = {(row.bank_id, row.mental_model_id): row for row in reader.ask(documents.every())}
    folded = {
        (stream.bank_id, stream.name): (state, version)
        for stream, (state, version) in states.items()
        if isinstance(state, MentalModel)
    }
    for key in sorted(served.keys() | folded.keys()):
        where_different = _compare(served.get(key), *folded.get(key, (None, 0)))
        differences.extend(Difference(*key, where) for where in where_different)
    return Verified(len(folded), events, tuple(differences))


def _mental_model_events(log: PostgresEventLog) -> Iterator[Recorded]:
    position = 0
    while batch := log.after(position, limit=BATCH):
        yield from (recorded for recorded in batch if recorded.stream.kind == "mental_model")
        position = batch[-1].position


def _compare(row: DocumentRow | None, model: MentalModel | None, version: int) -> list[str]:
    if row is None:
        return ["not served"]
    if model is None:
        return ["served, but its events say it does not exist"]
    pairs = {
        "version": (row.version, version),
        "name": (row.name, model.name),
        "source_query": (row.source_query, model.source_query),
        "tags": (tuple(row.tags), model.tags),
        "max_tokens": (row.max_tokens, model.max_tokens),
        "trigger": (row.trigger, model.trigger.model_dump(mode="json", by_alias=True)),
        "created_at": (row.created_at, model.created_at),
        "last_refreshed_at": (row.last_refreshed_at, model.last_refreshed_at),
        "last_memory_seen_at": (row.last_memory_seen_at, model.last_memory_seen_at),
        "last_refresh_failed_at": (row.last_refresh_failed_at, model.last_refresh_failed_at),
        "last_full_refreshed_at": (row.last_full_refreshed_at, model.last_full_refreshed_at),
    }
    found = [
        f"{field}: served {served!r}, recorded {told!r}" for field, (served, told) in pairs.items() if served != told
    ]
    if row.content != model.content:
        found.append(_first_different_line(row.content or "", model.content))
    return found


def _first_different_line(served: str, recorded: str) -> str:
    lines = zip_longest(served.split("\n"), recorded.split("\n"))
    number, (here, there) = next((n, pair) for n, pair in enumerate(lines, start=1) if pair[0] != pair[1])
    return f"content, line {number}: served {here!r}, recorded {there!r}"
