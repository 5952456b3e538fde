"""PostgreSQL's own folders: made, checked and configured before each start of the server."""

import os
import subprocess
import sys

from adapters.postgres.binaries import Binaries, copy_binaries
from adapters.postgres.data_folder import DataFolder, write_whole
from adapters.postgres.server_account import Account, first_impassable
from adapters.postgres.unavailable import DatabaseUnavailable

SUPERUSER = "palimpsest"
_INITDB_TIMEOUT = 300  # seconds; it takes less than one, more only on a disk that is overwhelmed
_KEPT_LOGS = 10  # files of at most 10 MB

# Later settings win, so these win over postgresql.conf; ALTER SYSTEM wins over these.
# The logical replication launcher is switched off because nothing here uses it.
_SETTINGS = """\
# Written anew at each start; changes here are lost. Use ALTER SYSTEM instead.
include 'cluster/postgresql.conf'
listen_addresses = ''
port = 5432
unix_socket_directories = {socket_folder}
unix_socket_permissions = 0700
max_connections = 100
shared_buffers = 128MB
max_logical_replication_workers = 0
jit = off
timezone = 'UTC'
log_timezone = 'UTC'
logging_collector = on
log_directory = {log}
log_filename = 'postgresql-%Y%m%d-%H%M%S.log'
log_rotation_age = 0
log_rotation_size = 10MB
"""


def usable_binaries(binaries: Binaries, folder: DataFolder, account: Account | None) -> Binaries:
    """The binaries, or a copy of them when the account cannot use them where they are. Raises OSError."""
    if account is None or account.ask(lambda: first_impassable(binaries.site) or binaries.first_unusable()) is None:
        return binaries
    return copy_binaries(binaries, folder.binaries)


def check_way(folder: DataFolder, account: Account | None) -> None:
    """Raises DatabaseUnavailable when the account cannot reach the data folder."""
    obstacle = account.ask(lambda: first_impassable(folder.path)) if account else None
    if account and obstacle:
        raise DatabaseUnavailable(
            f"PostgreSQL runs as the account {account.name}, which may not pass the folder {obstacle} "
            f"on the way to the data folder {folder.path}. Choose another folder with PALIMPSEST_DATA_DIR, "
            f"or allow it with `chmod o+x {obstacle}`."
        )


def prepare_cluster(folder: DataFolder, binaries: Binaries, account: Account | None) -> bool:
    """Makes the cluster if there is none; true if it did. Raises DatabaseUnavailable, OSError."""
    for name in os.listdir(folder.path):
        if name.startswith("cluster.new-"):  # of an initdb that was killed
            _remove_tree(os.path.join(folder.path, name))
    version_file = os.path.join(folder.cluster, "PG_VERSION")
    if os.path.isfile(version_file):
        _check_version(version_file, folder.cluster, binaries)
        return False
    if os.path.lexists(folder.cluster) and os.listdir(folder.cluster):
        raise DatabaseUnavailable(
            f"The folder {folder.cluster} is not a PostgreSQL cluster (it has no PG_VERSION) and is not empty. "
            "Move it away, or choose another folder with PALIMPSEST_DATA_DIR."
        )
    draft = f"{folder.cluster}.new-{os.urandom(8).hex()}"
    _make_private(draft, account)
    _run_initdb(draft, binaries, account)
    os.rename(draft, folder.cluster)
    return True


def _check_version(version_file: str, cluster: str, binaries: Binaries) -> None:
    with open(version_file, encoding="ascii", errors="replace") as file:
        found = file.read().strip()
    if found != str(binaries.major):
        raise DatabaseUnavailable(
            f"The database in {cluster} was made by PostgreSQL {found}, and this is PostgreSQL {binaries.major}. "
            f"Run the Palimpsest that came with PostgreSQL {found}, move the data with pg_dump, "
            "or choose another folder with PALIMPSEST_DATA_DIR."
        )


def _run_initdb(target: str, binaries: Binaries, account: Account | None) -> None:
    command = [
        *(binaries.program("initdb"), "--pgdata", target, "--username", SUPERUSER, "--encoding", "UTF8"),
        # Sorted by code point; letters of every script are letters, which full text search needs; the same everywhere.
        *("--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"),
        # Whoever reaches the socket may log in: its folder is open to the server's account (and root) only.
        *("--auth-local", "trust", "--auth-host", "reject"),
        *("--no-sync", "--no-instructions"),  # the supervisor syncs once the server is up
    ]
    process = start_process(command, account, stdout=subprocess.PIPE)
    try:
        output, _ = process.communicate(timeout=_INITDB_TIMEOUT)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
    if process.returncode != 0:
        _remove_tree(target)
        os.write(sys.stderr.fileno(), output)
        said = output.decode(errors="replace").strip()
        complaint = first_complaint(said) or said.rpartition("\n")[2] or f"initdb ended with {process.returncode}"
        raise DatabaseUnavailable(
            f"PostgreSQL could not make a database in {os.path.dirname(target)}: {complaint}. "
            "Mend that, or choose another folder with PALIMPSEST_DATA_DIR."
        )


def start_process(
    command: list[str], account: Account | None, *, stdout: int | None = None
) -> "subprocess.Popen[bytes]":
    """Starts a program of PostgreSQL as the account, with no descriptor and no environment of ours."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.STDOUT if stdout else None,
        cwd="/",
        env=plain_environment(),
        umask=0o077,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )


def plain_environment() -> dict[str, str]:
    """What a program needs to run. Not our secrets, and nothing that changes what PostgreSQL does (PGPORT, LC_ALL)."""
    kept = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR")
    return {name: os.environ[name] for name in kept if name in os.environ} | {"LC_ALL": "C", "TZ": "UTC"}


def configure(folder: DataFolder, account: Account | None) -> str:
    """Makes the folders of the socket and the log, and writes the settings. Returns the socket's folder.

    For when no server runs. Raises OSError.
    """
    socket_folder = folder.socket_folder()
    _remove_flat(socket_folder)  # with what a killed server left in it
    _make_private(socket_folder, account)
    if not os.path.isdir(folder.log):
        _make_private(folder.log, account)
    listed = '"' + socket_folder.replace('"', '""') + '"'
    write_whole(folder.settings, _SETTINGS.format(socket_folder=_quoted(listed), log=_quoted(folder.log)))
    return socket_folder


def _make_private(path: str, account: Account | None) -> None:
    os.mkdir(path, 0o700)  # fails where somebody else has put something, as they can among temporary files
    if account:
        account.own(path)


def _remove_flat(folder: str) -> None:
    if os.path.isdir(folder) and not os.path.islink(folder):
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    elif os.path.lexists(folder):
        os.unlink(folder)


def _quoted(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "''").replace("\n", "\\n") + "'"


def remove_socket_folder(socket_folder: str) -> None:
    """Removes the socket's folder after the server has stopped."""
    _remove_flat(socket_folder)


def prune_logs(folder: DataFolder) -> None:
    """Removes all but the newest files of the server's log."""
    logs = sorted(name for name in os.listdir(folder.log) if name.startswith("postgresql-"))
    for name in logs[:-_KEPT_LOGS]:
        os.unlink(os.path.join(folder.log, name))


def newest_log(folder: DataFolder) -> str:
    """The end of the newest file of the server's log."""
    logs = sorted(name for name in os.listdir(folder.log) if name.startswith("postgresql-"))
    return read_end(os.path.join(folder.log, logs[-1])) if logs else ""


def read_end(path: str, start: int = 0) -> str:
    """The last few kB of a file, without what lies before `start`."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(start, size - 8192))
        return file.read().decode(errors="replace")


def first_complaint(output: str) -> str | None:
    """What a program of PostgreSQL says went wrong first; what follows are the consequences."""
    for line in output.splitlines():
        for mark in ("PANIC: ", "FATAL: ", "ERROR: ", "error: "):
            if mark in line:
                return line.split(mark, 1)[1].strip().rstrip(".")
    return None


def _remove_tree(path: str) -> None:
    import shutil  # only here: rarely needed, and the supervisor stays small without it

    shutil.rmtree(path, ignore_errors=True)
