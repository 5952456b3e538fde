"""Real databases for tests: one server a run, one migrated database to copy, a fresh copy for whoever asks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import pytest
from hypothesis import settings
from psycopg import sql
from psycopg.conninfo import make_conninfo

from adapters.postgres.database import Database
from adapters.postgres.embedded import EmbeddedPostgres
from adapters.postgres.migrations import migrate
from tests.support.server_folders import temporary_folder

# Most tests are of something else: banks that make observations of what they are told say so in their config.
os.environ.setdefault("PALIMPSEST_ENABLE_OBSERVATIONS", "false")
# The framework of the console is one for a process: only its own tests serve it.
os.environ.setdefault("PALIMPSEST_CONSOLE_ENABLED", "false")

if TYPE_CHECKING:
    from adapters.service import Service
    from tests.support.memories import BankMemory


# A busy machine is no failure; in CI the same examples are tried every time.
settings.register_profile("unhurried", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("unhurried")


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that every account can enter; no server is left in it at the end."""
    with temporary_folder() as path:
        yield path


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """A PostgreSQL server that lets us create databases: the one that PALIMPSEST_TEST_DATABASE_URL names, else one of
    the test run's own."""
    named = os.environ.get("PALIMPSEST_TEST_DATABASE_URL")
    if named:
        yield named
        return
    with temporary_folder() as folder, EmbeddedPostgres(folder / "data") as embedded:
        yield embedded.wait_ready()


@pytest.fixture(scope="session")
def empty_database(server: str) -> Iterator[str]:
    """A migrated database to make copies of; nobody may be connected to it meanwhile."""
    with _database(server, template=None) as conninfo:
        migrate(conninfo)
        yield conninfo


@pytest.fixture
def conninfo(server: str, empty_database: str) -> Iterator[str]:
    """A migrated database of the test's own."""
    with _database(server, template=empty_database) as conninfo:
        yield conninfo


@pytest.fixture(scope="module")
def shared_conninfo(server: str, empty_database: str) -> Iterator[str]:
    """A migrated database for all tests of a module."""
    with _database(server, template=empty_database) as conninfo:
        yield conninfo


@pytest.fixture
def database(conninfo: str) -> Iterator[Database]:
    with Database(conninfo) as database:
        yield database


@pytest.fixture(scope="module")
def shared_database(shared_conninfo: str) -> Iterator[Database]:
    """Connections to the database of the module; each test keeps to banks of its own."""
    with Database(shared_conninfo) as database:
        yield database


@pytest.fixture
def memory(shared_database: Database) -> BankMemory:
    """An empty bank in the database of the module."""
    from tests.support.memories import BankMemory

    return BankMemory(shared_database)


@pytest.fixture
def service(conninfo: str) -> Iterator[Service]:
    """All use cases over a database of the test's own."""
    from tests.support.services import running_service

    with running_service(conninfo) as service:
        yield service


@contextmanager
def _database(server: str, template: str | None) -> Iterator[str]:
    name = f"test_{uuid4().hex}"
    source = psycopg.conninfo.conninfo_to_dict(template)["dbname"] if template else "template0"
    create = sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(sql.Identifier(name), sql.Identifier(str(source)))
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(create)
        try:
            yield make_conninfo(server, dbname=name)
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
