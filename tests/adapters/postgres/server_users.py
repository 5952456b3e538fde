"""Processes that use a database server, and what there is to see of servers from outside."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from adapters.postgres.embedded import EmbeddedPostgres
from adapters.postgres.unavailable import DatabaseUnavailable
from tests.support.eventually import eventually
from tests.support.server_folders import server_processes

REPOSITORY = Path(__file__).resolve().parents[3]
AS_ROOT = os.geteuid() == 0


def copy_data(source: Path, target: Path) -> Path:
    """A copy of the data folder of a stopped server, with its owners."""
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)
    return target


only_root = pytest.mark.skipif(not AS_ROOT, reason="needs root")

USER = """
import sys
from pathlib import Path
from adapters.postgres.embedded import EmbeddedPostgres
from adapters.postgres.unavailable import DatabaseUnavailable

postgres = EmbeddedPostgres(Path(sys.argv[1]))
try:
    print(postgres.start(), flush=True)
except DatabaseUnavailable as error:
    print("unavailable:", error, flush=True)
for line in sys.stdin:
    exec(line)
    print("done", flush=True)
postgres.stop()
"""


class User:
    """Another process that uses the server. It obeys lines of Python, and leaves when its input ends."""

    def __init__(self, data_dir: Path, *, python: str = sys.executable, path: str = "", account: str | None = None):
        inherited = os.environ.get("PYTHONPATH")
        self.process = subprocess.Popen(
            [python, "-c", USER, str(data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [path, str(REPOSITORY), inherited]))},
            user=account,
        )

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def obey(self, line: str) -> None:
        self.say(line)
        assert self.answer() == "done"

    def leave(self) -> None:
        self.process.communicate(timeout=60)
        assert self.process.returncode == 0

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


NewUser = Callable[..., User]


def write_row(conninfo: str, text: str) -> None:
    with psycopg.connect(conninfo) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS kept (text text)")
        connection.execute("INSERT INTO kept VALUES (%s)", [text])


def rows(conninfo: str) -> list[str]:
    with psycopg.connect(conninfo) as connection:
        return [text for (text,) in connection.execute("SELECT text FROM kept ORDER BY text")]


def socket_folder_in(conninfo: str) -> Path:
    return Path(str(conninfo_to_dict(conninfo)["host"]))


def postmaster(data_dir: Path) -> int:
    return int((data_dir / "cluster" / "postmaster.pid").read_text().split()[0])


def supervisors(data_dir: Path) -> list[int]:
    return [pid for pid, command in server_processes(data_dir).items() if "supervisor" in command]


def kill_hard(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: not is_running(pid))


def is_running(pid: int) -> bool:
    """Whether there is such a process, and not only its remains."""
    if Path("/proc/self/stat").exists():
        with suppress(OSError):
            return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
        return False
    shown = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(shown.strip()) and not shown.startswith("Z")


def failure_of_start(data_dir: Path, *, unprivileged_user: str | None = None) -> str:
    with pytest.raises(DatabaseUnavailable) as caught:
        EmbeddedPostgres(data_dir, unprivileged_user=unprivileged_user).start()
    message = str(caught.value)
    assert "\n" not in message
    return message


def server_account_of(data_dir: Path) -> int:
    return (data_dir / "cluster").stat().st_uid
