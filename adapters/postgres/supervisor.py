"""The small process that owns the embedded server: starts it, starts it again when it dies, stops it at the end.

`python -m adapters.postgres.supervisor DATA_FOLDER SITE VERSION LOCK ACCOUNT` is started by `embedded.py`, whose
docstring has the protocol. LOCK is an inherited descriptor that holds `supervisor.lock`; ACCOUNT may be empty. It uses
the standard library only, so that it starts fast and stays small, and it ends when its last user does: signals that
end other processes do not end this one, except SIGKILL.
"""

import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable

from adapters.postgres import cluster
from adapters.postgres.binaries import Binaries, remove_other_copies
from adapters.postgres.data_folder import LARGEST_SUPERVISOR_LOG, DataFolder
from adapters.postgres.file_lock import FileLock
from adapters.postgres.postmaster import Postmaster, clear_remains, is_ready, living_postmaster
from adapters.postgres.server_account import Account, server_account
from adapters.postgres.unavailable import DatabaseUnavailable

_FIRST_STARTS = 2  # the second is for what clears by itself, such as a server of a killed supervisor that still starts
_LONGEST_PAUSE = 5.0  # seconds between attempts to start a server that has run before
_HOUSEKEEPING = 3600.0  # seconds


class Supervisor:
    """One supervisor of one data folder."""

    def __init__(self, folder: DataFolder, binaries: Binaries, requested_account: str | None) -> None:
        self._folder = folder
        self._binaries = binaries
        self._requested_account = requested_account
        self._account: Account | None = None
        self._users = folder.users_lock()
        self._nobody_left = threading.Event()
        self._wake: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._postmaster: Postmaster | None = None
        self._unsynced = False
        self._log_start = 0

    def run(self) -> None:
        """Serves until nobody uses the server any more, and stops it. Raises DatabaseUnavailable, OSError."""
        self._account = server_account(self._requested_account, self._folder.cluster)
        cluster.check_way(self._folder, self._account)
        self._binaries = cluster.usable_binaries(self._binaries, self._folder, self._account)
        if living_postmaster(self._folder.cluster) is None:
            remove_other_copies(self._binaries, self._folder.binaries)
            self._unsynced = cluster.prepare_cluster(self._folder, self._binaries, self._account)
        # No thread before this line: the questions to the account fork.
        threading.Thread(target=self._wait_until_nobody_is_left, daemon=True).start()
        try:
            self._keep_serving()
        finally:
            self._stop()

    def release(self) -> None:
        self._users.close()

    def _wait_until_nobody_is_left(self) -> None:
        self._users.wait_exclusive()
        self._nobody_left.set()
        self._wake.put(None)

    def _keep_serving(self) -> None:
        failures, ever_ready = 0, False
        # Even if nobody is left already: the last user may have started us just to stop a server without supervisor.
        self._postmaster = self._adopt()
        while not self._nobody_left.is_set():
            self._postmaster = self._postmaster or self._start()
            ready = self._serve(self._postmaster)
            if self._nobody_left.is_set():
                return
            log(f"the server has ended, process {self._postmaster.pid}")
            self._postmaster = None
            failures, ever_ready = (0, True) if ready else (failures + 1, ever_ready)
            if failures >= _FIRST_STARTS and not ever_ready:
                raise DatabaseUnavailable(self._reason())
            if failures:
                self._nobody_left.wait(min(_LONGEST_PAUSE, 0.1 * 2 ** min(failures, 10)))

    def _adopt(self) -> Postmaster | None:
        """The server that outlived its supervisor, if there is one that can be reached."""
        pid = living_postmaster(self._folder.cluster)
        if pid is None:
            return None
        postmaster = Postmaster.adopted(pid, self._folder.cluster, self._wake_up)
        if self._folder.read_socket_note() is None:
            postmaster.stop()
            return None
        log(f"took over the running server, process {pid}")
        return postmaster

    def _start(self) -> Postmaster:
        clear_remains(self._folder.cluster)
        if (left_alone := self._adopt()) is not None:
            return left_alone
        socket_folder = cluster.configure(self._folder, self._account)
        cluster.prune_logs(self._folder)
        self._folder.write_socket_note(socket_folder)
        self._log_start = os.fstat(sys.stderr.fileno()).st_size
        program = self._binaries.program("postgres")
        command = [program, "-D", self._folder.cluster, "-c", f"config_file={self._folder.settings}"]
        process = cluster.start_process(command, self._account)
        log(f"started the server, process {process.pid}")
        return Postmaster.started(process, self._wake_up)

    def _wake_up(self) -> None:
        self._wake.put(None)

    def _serve(self, postmaster: Postmaster) -> bool:
        """Waits until the server has ended or nobody uses it any more. Whether it was ever ready."""
        ready = False
        while not postmaster.ended.is_set() and not self._nobody_left.is_set():
            try:
                self._wake.get(timeout=_HOUSEKEEPING if ready else 0.02)
            except queue.Empty:
                if ready:
                    self._keep_house()
            if not ready and is_ready(postmaster.pid, self._folder.cluster):
                ready = True
                self._sync_once()
        return ready

    def _sync_once(self) -> None:
        # initdb leaves its files to the system's write cache. In the background, because this may take seconds when
        # a whole installation has just been unpacked.
        if self._unsynced:
            self._unsynced = False
            threading.Thread(target=os.sync, daemon=True).start()

    def _keep_house(self) -> None:
        cluster.prune_logs(self._folder)
        if os.fstat(sys.stderr.fileno()).st_size > LARGEST_SUPERVISOR_LOG:
            os.ftruncate(sys.stderr.fileno(), 0)

    def _reason(self) -> str:
        said = cluster.read_end(self._folder.supervisor_log, self._log_start)
        complaint = cluster.first_complaint(said) or cluster.first_complaint(cluster.newest_log(self._folder))
        return (
            f"PostgreSQL does not start in {self._folder.cluster}: {complaint or 'it ended without a word'}. "
            f"See {self._folder.supervisor_log} and {self._folder.log}."
        )

    def _stop(self) -> None:
        if self._postmaster is not None:
            self._postmaster.stop()
            log("the server is stopped")
        socket_folder = self._folder.read_socket_note()
        if socket_folder is not None:
            self._folder.remove_socket_note()
            cluster.remove_socket_folder(socket_folder)


def log(line: str) -> None:
    """Writes a line to the supervisor's log, which is its standard error."""
    text = f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime())} UTC [{os.getpid()}] supervisor: {line}\n"
    os.write(sys.stderr.fileno(), text.encode(errors="backslashreplace"))


def _detach() -> None:
    """Leaves the process that started us, so that it need not wait for our end."""
    if os.fork() != 0:
        os._exit(0)
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(kind, _carry_on)  # not SIG_IGN, which the server would inherit


def _carry_on(_signal: int, _frame: object) -> None:
    return


def _run(folder: DataFolder, supervise: Callable[[], None]) -> int:
    try:
        supervise()
    except DatabaseUnavailable as error:
        failure = error
    except OSError as error:
        failure = folder.unusable(error)
    except Exception as error:  # noqa: BLE001 - whatever it is, those who wait must hear of it
        failure = DatabaseUnavailable(f"The supervisor of {folder.path} failed: {error!r}. Please report this.")
    else:
        return 0
    log(str(failure))
    try:
        folder.write_failure(str(failure))
    except OSError as error:
        log(f"could not write that down for others: {error}")
    return 1


def main(arguments: list[str]) -> None:
    _detach()
    path, site, version, lock, account = arguments
    folder = DataFolder(path)
    own_lock = FileLock(int(lock))
    supervisor = Supervisor(folder, Binaries(site, version), account or None)
    status = _run(folder, supervisor.run)
    # In this order: who gets a place among the users then finds no supervisor and starts one.
    own_lock.close()
    supervisor.release()
    os._exit(status)  # the threads that still wait must not hold us up


if __name__ == "__main__":
    main(sys.argv[1:])
