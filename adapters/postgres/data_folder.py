"""The data folder: what lies where, and the notes that supervisor and users leave each other there."""

import os
from typing import BinaryIO

from adapters.postgres.file_lock import FileLock
from adapters.postgres.unavailable import DatabaseUnavailable

SOCKET_NAME = ".s.PGSQL.5432"
LARGEST_SUPERVISOR_LOG = 1_000_000  # bytes
_LONGEST_SOCKET_PATH = 100  # bytes; the kernel's limit is 107 on Linux and 103 on macOS


class DataFolder:
    """The paths under one data folder.

    users.lock       held shared by every process that uses the server
    supervisor.lock  held by the one supervisor as long as it lives
    start.lock       held for an instant by who comes or goes
    socket-folder    note of the supervisor: where the server's socket is
    failure          note of the supervisor: why it could not start the server
    supervisor.log   what the supervisor, initdb and the server before its own log have to say
    cluster/         PostgreSQL's own data folder
    run/             the socket, unless its path would be too long
    log/             PostgreSQL's log
    binaries/        copies of PostgreSQL's programs, where the installed ones cannot be reached
    palimpsest.conf  our settings, written anew at each start
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)
        self.cluster = self._inside("cluster")
        self.log = self._inside("log")
        self.binaries = self._inside("binaries")
        self.settings = self._inside("palimpsest.conf")
        self.supervisor_log = self._inside("supervisor.log")
        self._socket_note = self._inside("socket-folder")
        self._failure_note = self._inside("failure")

    def _inside(self, name: str) -> str:
        return os.path.join(self.path, name)

    def create(self) -> None:
        """Makes the folder and its missing parents. Changes nothing about those that exist. Raises OSError."""
        as_root = os.geteuid() == 0  # then PostgreSQL runs as another account, which must be able to pass
        missing = []
        path = self.path
        while not os.path.isdir(path):
            missing.append(path)
            path = os.path.dirname(path)
        for path in reversed(missing):
            try:
                os.mkdir(path, 0o700)
            except FileExistsError:
                continue  # another process was faster
            if as_root:
                os.chmod(path, 0o711 if path == self.path else 0o755)

    def users_lock(self) -> FileLock:
        return FileLock.open(self._inside("users.lock"))

    def start_lock(self) -> FileLock:
        return FileLock.open(self._inside("start.lock"))

    def try_supervisor_lock(self) -> FileLock | None:
        """The supervisor's lock, if no supervisor lives."""
        lock = FileLock.open(self._inside("supervisor.lock"))
        if lock.try_exclusive():
            return lock
        lock.close()
        return None

    def socket_folder(self) -> str:
        """Where the socket is to be: in the data folder if libpq can name it, else in a folder for temporary files."""
        here = self._inside("run")
        if len(os.fsencode(here)) + 1 + len(SOCKET_NAME) <= _LONGEST_SOCKET_PATH and _libpq_can_name(here):
            return here
        import hashlib  # only here: rarely needed
        import tempfile

        name = hashlib.sha256(os.fsencode(self.path)).hexdigest()[:16]
        return os.path.join(os.path.realpath(tempfile.gettempdir()), f"palimpsest-{name}")

    def read_socket_note(self) -> str | None:
        return _read_note(self._socket_note)

    def read_failure(self) -> str | None:
        return _read_note(self._failure_note)

    def write_socket_note(self, socket_folder: str) -> None:
        write_whole(self._socket_note, socket_folder)

    def write_failure(self, reason: str) -> None:
        write_whole(self._failure_note, reason)

    def remove_failure(self) -> None:
        _remove_note(self._failure_note)

    def remove_socket_note(self) -> None:
        _remove_note(self._socket_note)

    def open_supervisor_log(self) -> BinaryIO:
        """The log, to append to. It starts anew when it has grown large."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        log = os.fdopen(os.open(self.supervisor_log, flags, 0o600), "ab", buffering=0)
        if os.fstat(log.fileno()).st_size > LARGEST_SUPERVISOR_LOG:
            log.truncate(0)
        return log

    def unusable(self, error: OSError) -> DatabaseUnavailable:
        """The error for a data folder that cannot be used."""
        return DatabaseUnavailable(
            f"The data folder {self.path} cannot be used: {error.strerror or error} ({error.filename or self.path}). "
            "Choose a folder that this account can write to with PALIMPSEST_DATA_DIR."
        )


def _libpq_can_name(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return "," not in path  # libpq takes a host with commas for a list of hosts


def _read_note(path: str) -> str | None:
    try:
        with open(path, encoding="utf-8", errors="backslashreplace") as note:
            return note.read() or None
    except FileNotFoundError:
        return None


def _remove_note(path: str) -> None:
    if os.path.lexists(path):
        os.unlink(path)


def write_whole(path: str, text: str) -> None:
    """Writes a file that everybody may read, so that a reader sees all of it or none. For one writer at a time."""
    draft = f"{path}.draft"
    if os.path.lexists(draft):
        os.unlink(draft)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    with open(descriptor, "w", encoding="utf-8", errors="surrogateescape") as file:
        os.fchmod(descriptor, 0o644)
        file.write(text)
    os.replace(draft, path)
