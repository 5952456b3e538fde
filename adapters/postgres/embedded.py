"""The embedded PostgreSQL server, for the processes that use it.

How several processes share one server, and how nothing is left behind whoever is killed:

* Every user holds `users.lock` shared from before it looks for a supervisor until it leaves. The kernel frees it when
  the process ends, however it ends.
* At most one supervisor per data folder lives: it holds `supervisor.lock` exclusively. A user who finds that lock free
  takes it and starts a supervisor that *inherits* it, so there is no instant in which two could start one. The server
  and other programs do not inherit it.
* The supervisor waits for `users.lock` exclusively. Once it gets it nobody is left: it stops the server, and until it
  has, whoever comes waits for a place among the users. It frees `supervisor.lock` first and `users.lock` last, so that
  the newcomer finds no supervisor and starts the next one. A user that comes before the supervisor gets the lock just
  keeps it waiting.
* A supervisor that cannot start the server leaves its reason in the note `failure` and ends. Users that wait see its
  lock free, and raise the reason. With no reason left (it was killed) they start another one.
* If the server dies, the supervisor starts it again as long as there are users.
* If the supervisor is killed, the server lives on. Every user looks twice a second and starts another supervisor,
  which takes over the running server. If the last user leaves before that, it starts one to stop the server.
* If all are killed the next user's supervisor takes over or stops what is left, and clears pid files: it trusts a pid
  only if that process is a PostgreSQL working in this cluster.
* Users come and go one at a time, under `start.lock`, held for an instant: only so can one that leaves know whether it
  was the last and has to wait for the end of the server.
* A forked child has no part in its parent's locks; it must start for itself.
"""

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from adapters.postgres.binaries import installed_binaries
from adapters.postgres.cluster import plain_environment
from adapters.postgres.data_folder import DataFolder
from adapters.postgres.file_lock import FileLock
from adapters.postgres.postmaster import living_postmaster
from adapters.postgres.readiness import is_recovering, try_database
from adapters.postgres.unavailable import DatabaseUnavailable

_START_TIMEOUT = 60.0  # seconds without a sign of life from the server
_RECOVERY_TIMEOUT = 900.0  # seconds; after a crash with much unfinished work
_STOP_TIMEOUT = 90.0  # seconds; a little more than the supervisor takes at worst
_POLL = 0.01  # seconds
_WATCH = 0.5  # seconds
_LONGEST_WATCH = 30.0  # seconds, while supervisors keep ending
_MOST_REPLACEMENTS = 3  # of a supervisor, in one wait
# The search path for our own modules comes last, so that nothing beside them can hide the standard library.
_SUPERVISE = (
    "import sys; sys.path.append(sys.argv[1]); from adapters.postgres.supervisor import main; main(sys.argv[2:])"
)

_logger = logging.getLogger(__name__)


class EmbeddedPostgres:
    """This process's share in the PostgreSQL server of a data folder.

    The first user starts the server, the last one stops it. `unprivileged_user` is the account the server runs as when
    we are root and the folder has no database yet; by default `postgres`, else `nobody`.
    """

    def __init__(self, data_dir: Path, *, unprivileged_user: str | None = None) -> None:
        self._folder = DataFolder(os.fspath(data_dir))
        self._unprivileged_user = unprivileged_user
        self._users: FileLock | None = None
        self._starter: subprocess.Popen[bytes] | None = None
        self._leaving = threading.Event()
        self._watcher: threading.Thread | None = None

    def start(self) -> str:
        """Joins or starts the server. Returns how to connect, as libpq wants it. Raises DatabaseUnavailable."""
        self.launch()
        return self.wait_ready()

    def launch(self) -> None:
        """Joins or starts the server without waiting for it. Raises DatabaseUnavailable."""
        if self._joined:
            return
        self._starter = self._watcher = None  # in a forked child these are remains of its parent
        with self._left_on_error():
            self._folder.create()
            self._users = self._join()
            if (lock := self._folder.try_supervisor_lock()) is not None:
                self._starter = self._begin_supervisor(lock)

    def wait_ready(self) -> str:
        """Waits until the server launched before takes connections. Returns how to connect, as libpq wants it.

        Creates the database if it is missing. Raises DatabaseUnavailable, and has left the server then.
        """
        if not self._joined:
            raise RuntimeError("wait_ready() comes after launch()")
        with self._left_on_error():
            conninfo = self._wait_for_database()
        if self._watcher is None:
            self._leaving.clear()
            self._watcher = threading.Thread(target=self._watch, name="embedded-postgres-watcher", daemon=True)
            self._watcher.start()
        return conninfo

    def stop(self) -> None:
        """Leaves the server. If nobody else uses it, returns when it is down, or after 90 s. Safe to repeat."""
        if not self._joined:
            return
        try:
            self._release()
            self._wait_until_down()
        except FileNotFoundError:
            return  # somebody removed the data folder; the supervisor keeps its own locks open and ends by them

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def _joined(self) -> bool:
        return self._users is not None and not self._users.closed

    @contextmanager
    def _left_on_error(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self._release()
            raise self._folder.unusable(error) from error
        except BaseException:
            self._release()
            raise

    def _release(self) -> None:
        self._leaving.set()
        if self._watcher is not None:
            self._watcher.join()
            self._watcher = None
        if self._starter is not None:
            self._starter.wait()
            self._starter = None
        if self._users is not None:
            self._users.close()

    def _join(self) -> FileLock:
        users = self._folder.users_lock()
        try:
            deadline = time.monotonic() + _STOP_TIMEOUT
            while not self._at_the_door(users.try_shared):
                if time.monotonic() > deadline:
                    raise DatabaseUnavailable(
                        f"The previous server of {self._folder.path} is still shutting down after {_STOP_TIMEOUT:.0f} "
                        f"seconds. Look into {self._folder.supervisor_log}, and start again when it is down."
                    )
                time.sleep(_POLL)
        except BaseException:
            users.close()
            raise
        return users

    def _at_the_door(self, action: Callable[[], bool]) -> bool:
        """Does something short while nobody else comes or goes."""
        with self._folder.start_lock() as door:
            door.wait_exclusive()
            return action()

    def _start_supervisor(self, lock: FileLock) -> None:
        """Starts a supervisor that owns the lock from now on. Raises DatabaseUnavailable, OSError."""
        self._check_begun(self._begin_supervisor(lock))

    def _begin_supervisor(self, lock: FileLock) -> "subprocess.Popen[bytes]":
        """The first half of starting a supervisor: the process that parts from us as soon as the supervisor runs."""
        with lock, self._folder.open_supervisor_log() as output:
            self._folder.remove_failure()
            binaries = installed_binaries()
            code = str(Path(__file__).resolve().parents[2])
            place = [self._folder.path, binaries.site, binaries.version, str(lock.descriptor)]
            try:
                return subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _SUPERVISE, code, *place, self._unprivileged_user or ""],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    cwd="/",
                    env=plain_environment(),
                    start_new_session=True,  # an interrupt from the terminal is for us only
                    pass_fds=(lock.descriptor,),
                )
            except OSError as error:
                raise self._no_supervisor(error.strerror or str(error)) from error

    def _check_begun(self, starter: "subprocess.Popen[bytes]") -> None:
        if starter.wait() > 0:  # below zero it was killed: no reason not to try again
            raise self._no_supervisor(f"see {self._folder.supervisor_log}")

    def _no_supervisor(self, reason: str) -> DatabaseUnavailable:
        return DatabaseUnavailable(
            f"The supervisor of the database does not start with the Python {sys.executable!r}: {reason}. "
            "Install Palimpsest anew, or name a PostgreSQL server in DATABASE_URL."
        )

    def _wait_for_database(self) -> str:
        if self._starter is not None:
            self._check_begun(self._starter)
        began = time.monotonic()
        replaced = 0
        while True:
            visit = try_database(self._folder)
            if visit.conninfo:
                return visit.conninfo
            if (lock := self._folder.try_supervisor_lock()) is not None:
                replaced += 1
                self._replace_supervisor(lock, replaced)
            waited = time.monotonic() - began
            if waited > _START_TIMEOUT and not (waited < _RECOVERY_TIMEOUT and is_recovering(self._folder)):
                raise DatabaseUnavailable(
                    f"The database in {self._folder.path} takes no connections after {waited:.0f} seconds "
                    f"({visit.obstacle}). See {self._folder.supervisor_log} and {self._folder.log}."
                )
            time.sleep(_POLL)

    def _replace_supervisor(self, lock: FileLock, replaced: int) -> None:
        with lock:
            failure = self._folder.read_failure()
            if failure is None and replaced > _MOST_REPLACEMENTS:
                failure = f"The supervisor of the database ends at once. See {self._folder.supervisor_log}."
            if failure is not None:
                raise DatabaseUnavailable(failure)
            self._start_supervisor(lock)

    def _watch(self) -> None:
        """Replaces a supervisor that was killed, as long as we use the server."""
        pause = _WATCH
        while not self._leaving.wait(pause):
            try:
                if (lock := self._folder.try_supervisor_lock()) is None:
                    pause = _WATCH
                    continue
                _logger.warning("the supervisor of the database in %s has ended; starting another", self._folder.path)
                self._start_supervisor(lock)
            except (OSError, DatabaseUnavailable) as error:
                _logger.error("cannot start a supervisor for the database in %s: %s", self._folder.path, error)
            pause = min(_LONGEST_WATCH, 2 * pause)

    def _wait_until_down(self) -> None:
        deadline = time.monotonic() + _STOP_TIMEOUT
        while time.monotonic() < deadline and self._at_the_door(self._nobody_is_left):
            if (lock := self._folder.try_supervisor_lock()) is not None:
                with lock:
                    if living_postmaster(self._folder.cluster) is None:
                        return
                    self._start_supervisor(lock)  # the last one was killed, and somebody must stop its server
            time.sleep(_POLL)

    def _nobody_is_left(self) -> bool:
        with self._folder.users_lock() as users:
            # Not even shared: then it is the supervisor that has the lock, and it stops the server.
            return users.try_exclusive() or not users.try_shared()
