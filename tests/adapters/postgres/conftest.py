"""Folders for database servers, and a check that no test leaves a process behind."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from adapters.postgres.embedded import EmbeddedPostgres
from tests.support.eventually import eventually


def server_processes(folder: Path) -> dict[int, str]:
    """The supervisors, servers and initdbs that work below the folder, by process number."""
    listing = subprocess.run(["ps", "-ww", "-axo", "pid=,stat=,command="], capture_output=True, text=True, check=True)
    found = {}
    for line in listing.stdout.splitlines():
        pid, state, command = line.split(maxsplit=2)
        ours = "adapters.postgres.supervisor" in command or "/postgres -D " in command or "/initdb " in command
        if ours and str(folder) in command and not state.startswith("Z"):
            found[int(pid)] = command
    return found


def assert_all_stopped(folder: Path) -> None:
    """No server runs below the folder, and its supervisor has nothing left to do but to vanish."""
    assert not [command for command in server_processes(folder).values() if "supervisor" not in command]
    eventually(lambda: not server_processes(folder))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every account can enter, unlike pytest's own, which root keeps to itself."""
    with _temporary_folder() as path:
        yield path


def _fast_place() -> str | None:
    """Memory for files, where there is enough: a database is a thousand small files, and kills do not lose memory."""
    place = Path("/dev/shm")
    if not place.is_dir():
        return None
    status = os.statvfs(place)
    enough = status.f_bavail * status.f_frsize > 2**30
    return str(place) if enough and not status.f_flag & os.ST_NOEXEC and os.access(place, os.W_OK) else None


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="palimpsest-test-", dir=_fast_place())).resolve()
    path.chmod(0o755)
    try:
        yield path
        eventually(lambda: not server_processes(path), timeout=20)
    finally:
        for pid in server_processes(path):
            os.kill(pid, signal.SIGKILL)
        shutil.rmtree(path)


@pytest.fixture(scope="session")
def used_folder() -> Iterator[Path]:
    """A data folder whose server has run once and is stopped. Only to be copied."""
    with _temporary_folder() as path:
        with EmbeddedPostgres(path / "data"):
            pass
        yield path / "data"


@pytest.fixture
def data_dir(folder: Path, used_folder: Path) -> Path:
    """A data folder of the test's own with a database in it, for starts that need not be the first."""
    subprocess.run(["cp", "-a", str(used_folder), str(folder / "data")], check=True)
    return folder / "data"
