"""Archives of banks as zip files: one entry a section, one JSON object a line, and a manifest.

Nothing of an archive is unpacked to disk, and no name in one is ever a path: its entries are those of the format, or it
is refused. What it unpacks to is bounded before it is read.
"""

from __future__ import annotations

import hashlib
import io
import os
import struct
import tempfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from pydantic import BaseModel, ValidationError

from domain.refusals import ArchiveRefused
from domain.transfer import SECTIONS, Manifest, Section, check_manifest

MANIFEST = "manifest.json"
LARGEST_MANIFEST = 1024 * 1024
LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of one row: a document, or an event with all that a refresh read."""
UNPACKED_TIMES = 32
"""What an archive may unpack to, in units of the largest that is taken."""
IN_MEMORY_BYTES = 8 * 1024 * 1024
"""Files are on disk from this size on."""
BUFFER = 1024 * 1024
_NEVER_CHANGES = (1980, 1, 1, 0, 0, 0)


class ZipArchives:
    """Archives. `max_bytes` is the largest archive that is taken."""

    def __init__(self, max_bytes: int) -> None:
        self._most_unpacked = max_bytes * UNPACKED_TIMES

    @contextmanager
    def file(self) -> Iterator[BinaryIO]:
        with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES) as file:
            yield cast(BinaryIO, file)

    @contextmanager
    def writer(self, file: BinaryIO) -> Iterator[ZipWriter]:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
            yield ZipWriter(packed)

    def reader(self, file: BinaryIO) -> ZipReader:
        try:
            file.seek(0)
            packed = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, ValueError, OSError, struct.error, NotImplementedError) as error:
            raise ArchiveRefused(f"it is no zip file, or not all of one ({str(error)[:200]})") from error
        return ZipReader(packed, self._most_unpacked)

    @contextmanager
    def spool(self) -> Iterator[Spool]:
        with self.file() as file:
            yield Spool(file)


class ZipWriter:
    """ArchiveWriter."""

    def __init__(self, packed: zipfile.ZipFile) -> None:
        self._packed = packed

    def section(self, name: str, rows: Iterable[BaseModel]) -> Section:
        digest, size, count = hashlib.sha256(), 0, 0
        with (
            self._packed.open(_entry(name), "w", force_zip64=True) as packed,
            io.BufferedWriter(cast(Any, packed), BUFFER) as buffered,
        ):
            for row in rows:
                line = row.__pydantic_serializer__.to_json(row, by_alias=True) + b"\n"
                digest.update(line)
                size += len(line)
                count += 1
                buffered.write(line)
        return Section(name=name, rows=count, bytes=size, sha256=digest.hexdigest())

    def finish(self, manifest: Manifest) -> None:
        with self._packed.open(_info(MANIFEST), "w") as packed:
            packed.write(manifest.model_dump_json(indent=2).encode() + b"\n")


class ZipReader:
    """ArchiveReader."""

    def __init__(self, packed: zipfile.ZipFile, most_unpacked: int) -> None:
        self._packed = packed
        _check_entries(packed.infolist(), most_unpacked)
        self.manifest = self._read_manifest()
        sizes = {each.filename: each.file_size for each in packed.infolist()}
        for section in self.manifest.sections:
            if sizes[_name(section.name)] != section.bytes:
                raise ArchiveRefused(f"{_name(section.name)} has another size than its manifest says")

    def _read_manifest(self) -> Manifest:
        try:
            manifest = Manifest.model_validate_json(self._packed.read(MANIFEST))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "its text"
            raise ArchiveRefused(f"{MANIFEST} is not as it should be: {where}: {first['msg']}"[:500]) from error
        except _UNREADABLE as error:
            raise ArchiveRefused(f"{MANIFEST} cannot be read ({str(error)[:200]})") from error
        check_manifest(manifest)
        return manifest

    def rows(self, section: str) -> Iterator[Any]:
        expected = next(each for each in self.manifest.sections if each.name == section)
        digest, count = hashlib.sha256(), 0
        kind = SECTIONS[section]
        for line in self._lines(section):
            digest.update(line)
            count += 1
            try:
                row = kind.model_validate_json(line)
            except ValidationError as error:
                raise ArchiveRefused(_line_problem(section, count, error)) from error
            yield row
        if digest.hexdigest() != expected.sha256 or count != expected.rows:
            raise ArchiveRefused(f"{_name(section)} is not what its manifest says: its digest is another one")

    def _lines(self, section: str) -> Iterator[bytes]:
        try:
            with self._packed.open(_name(section)) as entry, io.BufferedReader(cast(Any, entry), BUFFER) as buffered:
                while line := buffered.readline(LONGEST_LINE + 1):
                    if len(line) > LONGEST_LINE:
                        raise ArchiveRefused(f"{_name(section)} has a line of more than {LONGEST_LINE} bytes")
                    yield line
        except _UNREADABLE as error:
            raise ArchiveRefused(f"{_name(section)} cannot be read ({str(error)[:200]})") from error


_UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, OSError, KeyError, RuntimeError, NotImplementedError)
"""What reading a damaged, encrypted or foreign entry raises."""


class Spool:
    """VectorSpool: as many numbers a vector as it has, then the numbers."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def add(self, vectors: Sequence[Sequence[float]]) -> None:
        self._file.seek(0, os.SEEK_END)
        for vector in vectors:
            self._file.write(struct.pack(f"<I{len(vector)}f", len(vector), *vector))

    def read(self) -> Iterator[Sequence[float]]:
        self._file.seek(0)
        while head := self._file.read(4):
            (length,) = struct.unpack("<I", head)
            yield struct.unpack(f"<{length}f", self._file.read(4 * length))


def _name(section: str) -> str:
    return f"{section}.jsonl"


def _entry(section: str) -> zipfile.ZipInfo:
    return _info(_name(section))


def _info(name: str) -> zipfile.ZipInfo:
    """Without a time of its own: when it was made is in the manifest."""
    info = zipfile.ZipInfo(name, _NEVER_CHANGES)
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def _check_entries(entries: Sequence[zipfile.ZipInfo], most_unpacked: int) -> None:
    """Raises ArchiveRefused unless there are exactly those of the format, plainly packed, of a size that is taken."""
    expected = {MANIFEST, *map(_name, SECTIONS)}
    names = [each.filename for each in entries]
    if unknown := [name for name in names if name not in expected]:
        raise ArchiveRefused(f"it holds {unknown[0][:100]!r}, which is no part of a bank")
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        raise ArchiveRefused(f"it holds {twice[0]!r} more than once")
    if missing := sorted(expected - set(names)):
        raise ArchiveRefused(f"it holds no {missing[0]!r}; is it an archive of a bank, made by transfer/export?")
    for each in entries:
        if each.flag_bits & 0x1 or each.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveRefused(f"{each.filename!r} is encrypted, or packed in a way that is not read")
    if next(each for each in entries if each.filename == MANIFEST).file_size > LARGEST_MANIFEST:
        raise ArchiveRefused(f"its manifest is larger than {LARGEST_MANIFEST} bytes")
    if (size := sum(each.file_size for each in entries)) > most_unpacked:
        raise ArchiveRefused(
            f"it unpacks to {size} bytes, and at most {most_unpacked} are taken; PALIMPSEST_MAX_ARCHIVE_BYTES sets"
            " the limit"
        )


def _line_problem(section: str, line: int, error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{_name(section)}, line {line}: {where or 'the line'}: {first['msg']}"[:500]
