"""The server process: one we started, or one that outlived the supervisor that started it."""

import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable

# Seconds for each, harder, way of stopping: fast (rolls back, writes a checkpoint), immediate (the next start
# recovers from the log), and killing. Each keeps everything that was committed.
_STOPS = ((signal.SIGINT, 60.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0))
_PATIENCE_WITH_ORPHANS = 1.0  # seconds; backends notice within milliseconds that their server is gone, unless they work


class Postmaster:
    """A server process, watched by a thread. `ended` is set as soon as it is gone."""

    def __init__(self, pid: int, wait: Callable[[], object], on_end: Callable[[], None]) -> None:
        self.pid = pid
        self.ended = threading.Event()
        self._wait = wait
        self._on_end = on_end
        threading.Thread(target=self._watch, daemon=True).start()

    @classmethod
    def started(cls, process: "subprocess.Popen[bytes]", on_end: Callable[[], None]) -> "Postmaster":
        return cls(process.pid, process.wait, on_end)

    @classmethod
    def adopted(cls, pid: int, cluster: str, on_end: Callable[[], None]) -> "Postmaster":
        return cls(pid, lambda: _wait_for_stranger(pid, cluster), on_end)

    def _watch(self) -> None:
        self._wait()
        self.ended.set()
        self._on_end()

    def stop(self) -> None:
        """Stops the server, gently if it lets us."""
        for kind, patience in _STOPS:
            if self.ended.is_set():
                return
            try:
                os.kill(self.pid, kind)
            except ProcessLookupError:
                return
            self.ended.wait(patience)


def _wait_for_stranger(pid: int, cluster: str) -> None:
    """Returns when a process that is not our child has ended."""
    try:
        descriptor = os.pidfd_open(pid)  # Linux only
    except ProcessLookupError:
        return
    except (AttributeError, OSError):
        while serves(pid, cluster):
            time.sleep(0.2)
        return
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    poll.poll()
    os.close(descriptor)


def living_postmaster(cluster: str) -> int | None:
    """The process that runs the server of this cluster, if there is one."""
    pid = _pid_in(os.path.join(cluster, "postmaster.pid"))
    return pid if pid and serves(pid, cluster) else None


def is_ready(pid: int, cluster: str) -> bool:
    """Whether the server with this process has said, in its pid file, that it takes connections."""
    lines = _read_lines(os.path.join(cluster, "postmaster.pid"))
    return len(lines) > 7 and lines[0].strip() == str(pid) and lines[7].strip() == "ready"


def serves(pid: int, cluster: str) -> bool:
    """Whether the process is a PostgreSQL of this cluster, and not one that got the same number later."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as name:
            return name.read().strip() == "postgres" and os.path.samefile(f"/proc/{pid}/cwd", cluster)
    except OSError:
        if os.path.isdir("/proc/self"):
            return False
    command = ["ps", "-ww", "-o", "command=", "-p", str(pid)]  # systems without /proc
    shown = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False).stdout
    return "postgres" in shown and cluster in shown


def clear_remains(cluster: str) -> None:
    """Clears what a killed server left behind and the next one would stumble over. Returns at once if one lives.

    PostgreSQL itself replaces a pid file whose process is gone, but not one whose number a stranger has got since,
    and it refuses to start while orphaned backends use the shared memory.
    """
    patience = time.monotonic() + _PATIENCE_WITH_ORPHANS
    while (orphans := _processes_of(cluster)) and not living_postmaster(cluster):
        if time.monotonic() > patience:
            for pid in orphans:
                _kill(pid)
        time.sleep(0.01)
    pid_file = os.path.join(cluster, "postmaster.pid")
    named = _pid_in(pid_file)
    if os.path.lexists(pid_file) and (named is None or (_is_alive(named) and not serves(named, cluster))):
        os.unlink(pid_file)


def _processes_of(cluster: str) -> list[int]:
    # Empty on systems without /proc, where starting the server is tried again instead.
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc/self") else []
    return [pid for pid in pids if serves(pid, cluster)]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _pid_in(path: str) -> int | None:
    first = next(iter(_read_lines(path)), "").strip()
    return int(first) if first.isdecimal() and int(first) > 0 else None


def _read_lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
