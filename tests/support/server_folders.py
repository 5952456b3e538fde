"""Folders for database servers that leave no process behind, and what there is to see of servers from outside."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.eventually import eventually


def server_processes(folder: Path) -> dict[int, str]:
    """The supervisors, servers and initdbs that work below the folder, by process number."""
    found = {}
    for pid, command in _running():
        ours = "adapters.postgres.supervisor" in command or "/postgres -D " in command or "/initdb " in command
        if ours and str(folder) in command:
            found[pid] = command
    return found


def _running() -> Iterator[tuple[int, str]]:
    """Number and command line of every process that is not a zombie; from /proc where there is one, else from ps."""
    if Path("/proc/self/cmdline").exists():
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdecimal():
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
                    yield int(entry.name), command.decode(errors="replace")
        return
    listing = subprocess.run(["ps", "-ww", "-axo", "pid=,stat=,command="], capture_output=True, text=True, check=True)
    for line in listing.stdout.splitlines():
        pid, state, command = line.split(maxsplit=2)
        if not state.startswith("Z"):
            yield int(pid), command


def assert_all_stopped(folder: Path) -> None:
    """No server runs below the folder, and its supervisor has nothing left to do but to vanish."""
    assert not [command for command in server_processes(folder).values() if "supervisor" not in command]
    eventually(lambda: not server_processes(folder))


def _fast_place() -> str | None:
    """Memory for files, where there is enough: a database is a thousand small files, and kills do not lose memory."""
    place = Path("/dev/shm")
    if not place.is_dir():
        return None
    status = os.statvfs(place)
    enough = status.f_bavail * status.f_frsize > 2**30
    return str(place) if enough and not status.f_flag & os.ST_NOEXEC and os.access(place, os.W_OK) else None


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that every account can enter, unlike pytest's own, which root keeps to itself. Leaves no process."""
    path = Path(tempfile.mkdtemp(prefix="palimpsest-test-", dir=_fast_place())).resolve()
    path.chmod(0o755)
    try:
        yield path
        eventually(lambda: not server_processes(path), timeout=20)
    finally:
        for pid in server_processes(path):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(path)
