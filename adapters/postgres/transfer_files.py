"""Archives of banks in the database, part by part, until they expire."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import BinaryIO

from adapters.postgres.database import Database, connection_of
from adapters.postgres.reader import AsyncReader
from application.ports import Transaction
from application.ports.transfer import KeptFile
from domain.refusals import ArchiveNotFound
from projections.projection import Query

PART_BYTES = 512 * 1024
KEY_BYTES = 32


@dataclass(frozen=True)
class FileToFetch:
    key: str
    bank_id: str
    filename: str
    byte_size: int
    sha256: str


class PostgresTransferFiles:
    """TransferFiles. Files are kept for `hours` from when they are put; after that nobody gets them, and `prune` erases
    them."""

    def __init__(self, database: Database, now: Callable[[], datetime], hours: float) -> None:
        self._database = database
        self._now = now
        self._kept_for = timedelta(hours=hours)

    def new_key(self) -> str:
        return secrets.token_urlsafe(KEY_BYTES)

    def put(self, key: str, bank_id: str, filename: str, file: BinaryIO, tx: Transaction) -> KeptFile:
        connection, expires_at = connection_of(tx), self._now() + self._kept_for
        digest, size, number = hashlib.sha256(), 0, 0
        connection.execute(
            "INSERT INTO transfer_files (key, bank_id, filename, byte_size, sha256, expires_at)"
            " VALUES (%s, %s, %s, 0, '', %s)",
            (key, bank_id, filename, expires_at),
        )
        file.seek(0)
        while part := file.read(PART_BYTES):
            digest.update(part)
            size += len(part)
            connection.execute(
                "INSERT INTO transfer_file_parts (key, number, bytes) VALUES (%s, %s, %b)", (key, number, part)
            )
            number += 1
        connection.execute(
            "UPDATE transfer_files SET byte_size = %s, sha256 = %s WHERE key = %s", (size, digest.hexdigest(), key)
        )
        return KeptFile(key, size, digest.hexdigest(), expires_at)

    def fetch(self, key: str, file: BinaryIO) -> None:
        with self._database.connection() as connection:
            known = connection.execute(_FIND, {"key": key, "now": self._now()}).fetchone()
            number = 0
            while known and (row := connection.execute(_PART, {"key": key, "number": number}).fetchone()):
                file.write(row["bytes"])
                number += 1
        if known is None or file.tell() != known["byte_size"]:
            raise ArchiveNotFound
        file.seek(0)

    def drop(self, key: str, tx: Transaction) -> None:
        connection_of(tx).execute("DELETE FROM transfer_files WHERE key = %s", (key,))

    def prune(self) -> int:
        """Erases what has expired; how many files."""
        with self._database.connection() as connection:
            return connection.execute("DELETE FROM transfer_files WHERE expires_at <= %s", (self._now(),)).rowcount


_FIND = (
    "SELECT key, bank_id, filename, byte_size, sha256 FROM transfer_files WHERE key = %(key)s AND expires_at > %(now)s"
)
_PART = "SELECT bytes FROM transfer_file_parts WHERE key = %(key)s AND number = %(number)s"


def find(key: str, now: datetime) -> Query[FileToFetch | None]:
    """The file of a key, if it is still kept. Keys are looked up, not compared: a guess learns nothing from the time
    it takes but what it could have guessed of 256 random bits."""
    return Query(_FIND, {"key": key, "now": now}, lambda rows: FileToFetch(**rows[0]) if rows else None)


async def parts(reader: AsyncReader, key: str) -> AsyncIterator[bytes]:
    """The bytes of a file; no connection is held between two parts, as whoever fetches it may be slow."""
    number = 0
    while part := await reader.ask(_part(key, number)):
        yield part
        number += 1


def _part(key: str, number: int) -> Query[bytes]:
    return Query(_PART, {"key": key, "number": number}, lambda rows: rows[0]["bytes"] if rows else b"")
