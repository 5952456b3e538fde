"""The database server of a process: the external one that is named, else the embedded one. Light to import, so that the
server starts while the rest of the program is still being imported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from adapters.settings import Settings


@contextmanager
def database_server(settings: Settings, *, migrates: bool = True) -> Iterator[Callable[[], str]]:
    """Starts the server, or joins it, and yields a function that waits until it is up and, unless told not to, migrated
    and gives its connection string. At the end the embedded server is left; the last process to leave stops it.

    Raises DatabaseUnavailable."""
    from adapters.postgres.embedded import EmbeddedPostgres

    if settings.database_url:
        url = settings.database_url
        yield lambda: _checked(url, migrates)
        return
    server = EmbeddedPostgres(settings.data_dir, unprivileged_user=settings.postgres_user)
    server.launch()
    try:
        yield lambda: _migrated(server.wait_ready(), migrates)
    finally:
        server.stop()


def _checked(url: str, migrates: bool) -> str:
    from adapters.postgres.external import check_server

    check_server(url)
    return _migrated(url, migrates)


def _migrated(conninfo: str, migrates: bool) -> str:
    if migrates:
        from adapters.postgres.migrations import migrate

        migrate(conninfo)
    return conninfo
