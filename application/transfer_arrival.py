"""A bank in an archive: checked, given vectors of this service's model where it has others, and told under new ids."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from uuid import UUID

from application.current_operation import report
from application.ports import Embedder, MindFailed
from application.ports.transfer import ArchiveReader, VectorSpool
from domain.bank import Bank, BankOpened, BankRenamed, BankState
from domain.event import Recorded, StreamId
from domain.memory import ExtractedFact
from domain.recall.embedded_text import embedded_text
from domain.refusals import ArchiveRefused
from domain.transfer import (
    SECTIONS,
    BankCounts,
    ChunkRow,
    ClockRow,
    FactRow,
    MemoryRow,
    Parts,
    ReadEvent,
    Renaming,
    StreamsRead,
    Tally,
)
from domain.usage import ModelCall

EMBEDDED_AT_ONCE = 100
REPORTED_EVERY = 200
LARGEST = 65504.0
"""Of the numbers of a vector, as it is stored."""
MEMORY = tuple(name for name in SECTIONS if name != "events")


class ArchivedBank:
    """`salt` is what new ids are made from: the same attempt made again comes to the same."""

    def __init__(
        self,
        reader: ArchiveReader,
        target: str,
        salt: UUID,
        parts: Parts,
        read_event: ReadEvent,
        spool: VectorSpool,
    ) -> None:
        self._reader = reader
        self._target = target
        self._salt = salt
        self._read_event = read_event
        self._spool = spool
        manifest = reader.manifest
        self._parts = parts.within(Parts(manifest.include_data, manifest.include_bank_config))
        self._names: frozenset[str] = frozenset()
        self._space, self._dimensions = "", 0
        self.counts = BankCounts()

    def check(self) -> None:
        """Reads all of it once, and counts what goes along. Raises ArchiveRefused."""
        whole, chosen = Tally(), Tally()
        self._check_memory([whole, chosen] if self._parts.data else [whole])
        streams = StreamsRead(self._reader.manifest.bank_id)

        def followed() -> Iterator[Recorded]:
            for recorded in self._events():
                streams.see(recorded)
                whole.see_event(recorded)
                yield recorded

        for number, recorded in enumerate(self._parts.of(followed())):
            chosen.see_event(recorded)
            if number % REPORTED_EVERY == 0:
                report("checking events", number)
        if not streams.has_bank:
            raise ArchiveRefused("it holds no bank")
        if whole.counts != self._reader.manifest.counts:
            raise ArchiveRefused("it holds something else than its manifest counts")
        self._names = streams.names
        self.counts = chosen.counts

    def _check_memory(self, tallies: Sequence[Tally]) -> None:
        clocks = [row.position for row in self._reader.rows("clock") if isinstance(row, ClockRow)]
        if len(clocks) > 1:
            raise ArchiveRefused("it holds more than one clock")
        last = max(clocks, default=0)
        for name in MEMORY[1:]:
            for number, row in enumerate(self._reader.rows(name)):
                for tally in tallies:
                    tally.see_row(row)
                if isinstance(row, FactRow) and max(row.from_position, row.to_position or 0) > last:
                    raise ArchiveRefused(f"fact {row.fact_id} stands at a position that its clock has not reached")
                if number % REPORTED_EVERY == 0:
                    report(f"checking {name.replace('_', ' ')}", number)

    def _events(self) -> Iterator[Recorded]:
        bank_id = self._reader.manifest.bank_id
        for position, event in enumerate(self._reader.rows("events"), start=1):
            yield event.recorded(bank_id, position, self._read_event)

    # --- vectors ---

    def make_vectors(self, embedder: Embedder, space: str) -> list[ModelCall]:
        """Has vectors made for facts that have none of this model. What that cost. Raises MindFailed, with all that
        was paid for."""
        self._space, self._dimensions = space, embedder.dimensions
        calls: list[ModelCall] = []
        texts: list[str] = []
        made = 0

        def embed() -> None:
            nonlocal made
            embedded = embedder.embed(texts)
            calls.extend(embedded.calls)
            self._spool.add(embedded.vectors)
            made += len(texts)
            texts.clear()
            report("embedding", made)

        try:
            for row in self._reader.rows("facts") if self._parts.data else ():
                if self._needs_vector(row):
                    fact = ExtractedFact(text=row.text, occurred_start=row.occurred_start)
                    texts.append(embedded_text(fact, row.mentioned_at))
                if len(texts) == EMBEDDED_AT_ONCE:
                    embed()
            if texts:
                embed()
        except MindFailed as failed:
            raise MindFailed(
                str(failed),
                reason=failed.reason,
                transient=failed.transient,
                calls=(*calls, *failed.calls),
                raw=failed.raw,
                resume_at=failed.resume_at,
            ) from failed
        return calls

    def _needs_vector(self, row: FactRow) -> bool:
        """One without a vector of this model; where all have vectors of this model, it has none by intention."""
        return row.space != self._space and not (row.space is None and self._reader.manifest.space == self._space)

    def into(self, present: BankState) -> Arriving:
        """As it is to be written, beside what the bank is that is there."""
        renaming = Renaming(self._reader.manifest.bank_id, self._target, self._salt, self._names)
        return Arriving(
            rows=self._reader.rows if self._parts.data else lambda _section: iter(()),
            events=lambda: self._parts.of(self._events()),
            renaming=renaming,
            present=present,
            names_bank=self._parts.config,
            vector_of=self._vectors(),
        )

    def _vectors(self) -> Callable[[FactRow], Sequence[float]]:
        made = self._spool.read()

        def vector_of(row: FactRow) -> Sequence[float]:
            if self._needs_vector(row):
                return next(made)
            return self._own_vector(row) if row.vector is not None else ()

        return vector_of

    def _own_vector(self, row: FactRow) -> Sequence[float]:
        """As it was written by the database of the source. Raises ArchiveRefused."""
        try:
            vector = [float(each) for each in json.loads(row.vector or "[]")]
        except (ValueError, TypeError, RecursionError) as error:
            raise ArchiveRefused(f"the vector of fact {row.fact_id} is none") from error
        if len(vector) != self._dimensions or not all(math.isfinite(each) and abs(each) <= LARGEST for each in vector):
            raise ArchiveRefused(f"the vector of fact {row.fact_id} is none of the model that it names")
        return vector


class Arriving:
    """The bank under its new ids. `present` is what is there of it already; `names_bank`: the name goes along."""

    def __init__(
        self,
        *,
        rows: Callable[[str], Iterator[MemoryRow]],
        events: Callable[[], Iterable[Recorded]],
        renaming: Renaming,
        present: BankState,
        names_bank: bool,
        vector_of: Callable[[FactRow], Sequence[float]],
    ) -> None:
        self._rows = rows
        self._events = events
        self._renaming = renaming
        self._present = present
        self._names_bank = names_bank
        self.vector_of = vector_of

    def rows(self, section: str) -> Iterator[MemoryRow]:
        rows = self._rows(section)
        match section:
            case "chunks":
                chunks = (row for row in rows if isinstance(row, ChunkRow))
                for _, of_document in groupby(chunks, key=lambda row: row.document_id):
                    yield from self._renaming.document_chunks(of_document)
            case "facts":
                yield from (self._renaming.fact(row) for row in rows if isinstance(row, FactRow))
            case _:
                yield from map(self._renaming.value, rows)

    def events(self, next_version: Callable[[StreamId], int]) -> Iterator[Recorded]:
        for recorded in self._events():
            told = self._opening(recorded) if isinstance(recorded.event, BankOpened) else recorded
            if told is not None:
                yield self._renaming.recorded(told, next_version(self._renaming.stream(told.stream)))

    def _opening(self, opened: Recorded) -> Recorded | None:
        """A bank is opened once: one that is there gets the name, if that is another."""
        event = opened.event
        assert isinstance(event, BankOpened)
        name = self._renaming.bank_name(event.name)
        if not isinstance(self._present, Bank):
            return replace(opened, event=event.model_copy(update={"name": name}))
        if not self._names_bank or name == self._present.name:
            return None
        return replace(opened, event=BankRenamed(name=name))
