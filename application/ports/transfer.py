"""Banks that are exported, imported and copied: where they are read and written, and how archives are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Protocol

from pydantic import BaseModel

from application.ports.log import Transaction
from domain.event import Recorded, StreamId
from domain.transfer import FactRow, Manifest, MemoryRow, Section


class BankSnapshot(Protocol):
    """A bank at one moment: its log and its memory are of the same."""

    def events(self) -> Iterator[Recorded]:
        """The events of its present life, in the order of the log, without those that stay behind
        (`domain.transfer.is_carried`); none when there is no such bank."""
        ...

    def rows(self, section: str) -> Iterator[MemoryRow]:
        """The rows of a section of its memory, chunks by document and number, facts by position."""
        ...


class BankSource(Protocol):
    def snapshot(self, bank_id: str) -> AbstractContextManager[BankSnapshot]: ...


class Arrival(Protocol):
    """What a bank is made of, under its new ids."""

    def rows(self, section: str) -> Iterator[MemoryRow]:
        """The rows of a section, which is asked for once, in the order of `domain.transfer.SECTIONS`."""
        ...

    def vector_of(self, row: FactRow) -> Sequence[float]:
        """The vector of a fact, asked for as the facts come; empty for none."""
        ...

    def events(self, next_version: Callable[[StreamId], int]) -> Iterator[Recorded]:
        """The events, each at the version that is next in its stream."""
        ...


class BankDestination(Protocol):
    @property
    def space(self) -> str:
        """The model whose vectors banks are searched by here, and their dimensions."""
        ...

    def is_empty(self, bank_id: str, tx: Transaction | None = None) -> bool:
        """Whether it has no memory, nothing waits to be retained, and nothing but its own opening and naming happened
        in its present life. With a transaction nobody writes to its memory until the end of that."""
        ...

    def write(self, bank_id: str, arrival: Arrival, tx: Transaction) -> None:
        """Writes all of it, and has read models told. No job is queued. Raises ArchiveRefused for what contradicts
        itself."""
        ...


class ArchiveWriter(Protocol):
    """Writes an archive, section by section, and the manifest at last."""

    def section(self, name: str, rows: Iterable[BaseModel]) -> Section: ...

    def finish(self, manifest: Manifest) -> None: ...


class ArchiveReader(Protocol):
    """Reads an archive whose manifest was checked."""

    manifest: Manifest

    def rows(self, section: str) -> Iterator[Any]:
        """The rows of a section. Raises ArchiveRefused for one that is no such row and, at the end, when they are not
        those that the manifest tells of."""
        ...


class VectorSpool(Protocol):
    """Vectors that were made, to be had again in the order in which they were added."""

    def add(self, vectors: Sequence[Sequence[float]]) -> None: ...

    def read(self) -> Iterator[Sequence[float]]: ...


class Archives(Protocol):
    """Archives on the disk of this process; what is made here is gone at the end of the block."""

    def file(self) -> AbstractContextManager[BinaryIO]:
        """A new empty file."""
        ...

    def writer(self, file: BinaryIO) -> AbstractContextManager[ArchiveWriter]: ...

    def reader(self, file: BinaryIO) -> ArchiveReader:
        """Raises ArchiveRefused for a file that is no archive, or one that is larger unpacked than is taken."""
        ...

    def spool(self) -> AbstractContextManager[VectorSpool]: ...


@dataclass(frozen=True)
class KeptFile:
    key: str
    byte_size: int
    sha256: str
    expires_at: datetime


class TransferFiles(Protocol):
    """Archives that wait to be fetched, or to be imported, where every process can reach them."""

    def new_key(self) -> str:
        """One that nobody can guess."""
        ...

    def put(self, key: str, bank_id: str, filename: str, file: BinaryIO, tx: Transaction) -> KeptFile:
        """The file is read from its beginning."""
        ...

    def fetch(self, key: str, file: BinaryIO) -> None:
        """Writes what is kept into a file. Raises ArchiveNotFound."""
        ...

    def drop(self, key: str, tx: Transaction) -> None: ...
