"""Whether the embedded server takes connections: tried by a real one, which also creates our database."""

import os
import stat
from typing import NamedTuple

from adapters.postgres.cluster import SUPERUSER
from adapters.postgres.data_folder import DataFolder

DATABASE = "palimpsest"
_MAINTENANCE_DATABASE = "postgres"
_CONNECT_TIMEOUT = 5  # seconds


class Visit(NamedTuple):
    """How to connect, once that works, else what is in the way."""

    conninfo: str | None
    obstacle: str


def try_database(folder: DataFolder) -> Visit:
    """Connects to the server and creates the database if it is missing. Raises no error of the server."""
    import psycopg  # only here: launching the server should not have to wait for this import
    from psycopg import sql

    socket_folder = _trusted_socket_folder(folder)
    if socket_folder is None:
        return Visit(None, "it has not been started yet")
    try:
        conninfo = _conninfo(socket_folder, _MAINTENANCE_DATABASE)
        with psycopg.connect(conninfo, connect_timeout=_CONNECT_TIMEOUT, autocommit=True) as connection:
            known = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
            if known is None:
                # template0: making a database from template1 fails while anybody is connected to that.
                statement = sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(sql.Identifier(DATABASE))
                connection.execute(statement)
    except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
        return Visit(None, "another process is creating the database")
    except psycopg.Error as error:
        return Visit(None, " ".join(str(error).split()))
    return Visit(_conninfo(socket_folder, DATABASE), "")


def is_recovering(folder: DataFolder) -> bool:
    """Whether the server is there but not ready, as after a crash while it works through its log."""
    from psycopg import pq

    socket_folder = _trusted_socket_folder(folder)
    if socket_folder is None:
        return False
    conninfo = f"{_conninfo(socket_folder, _MAINTENANCE_DATABASE)} connect_timeout={_CONNECT_TIMEOUT}"
    return pq.PGconn.ping(conninfo.encode()) == pq.Ping.REJECT


def _conninfo(socket_folder: str, database: str) -> str:
    from psycopg.conninfo import make_conninfo

    return make_conninfo(host=socket_folder, port=5432, user=SUPERUSER, dbname=database)


def _trusted_socket_folder(folder: DataFolder) -> str | None:
    """The folder in the supervisor's note, if only the server's account could have put a socket there.

    A note can outlive its server, and somebody else can then make the folder if it was among temporary files.
    """
    noted = folder.read_socket_note()
    if noted is None:
        return None
    try:
        found, cluster = os.lstat(noted), os.lstat(folder.cluster)
    except FileNotFoundError:
        return None
    private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o077
    return noted if private and found.st_uid == cluster.st_uid else None
