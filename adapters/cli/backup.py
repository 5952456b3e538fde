"""Backup and restore, with their progress, as an operator runs them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from adapters.cli.unusable import Unusable
from adapters.database_server import database_server
from adapters.postgres.backup import Progress as Told
from adapters.postgres.backup import back_up
from adapters.postgres.backup_file import BackupUnusable, Listing, reading
from adapters.postgres.restore import restore as put_back
from adapters.settings import Settings
from adapters.version import own_version

console = Console()


def backup(settings: Settings, path: Path) -> None:
    """Writes the file while the service runs. Raises Unusable, DatabaseUnavailable."""
    with _usable(path), database_server(settings, migrates=False) as ready, _progress("backing up") as told:
        listing = back_up(ready(), path, version=own_version(), now=datetime.now(UTC), progress=told)
    size = path.stat().st_size / 1e6
    console.print(f"{_contents(listing)} in {path} ({size:.1f} MB)", markup=False, highlight=False)


def restore(settings: Settings, path: Path, *, replace: bool) -> None:
    """Puts the backup into the database, and makes the read models. Raises Unusable, DatabaseUnavailable."""
    with _usable(path), reading(path):  # before a server is started for a file that is not whole
        pass
    with database_server(settings) as ready, _usable(path):
        conninfo = ready()
        with _progress("restoring") as told:
            listing = put_back(conninfo, path, replace=replace, progress=told)
        _make_read_models(settings, conninfo)
    table = Table("table", "rows", title=f"restored from the backup of {listing.made_at:%Y-%m-%d %H:%M:%S} UTC")
    for each in listing.tables:
        table.add_row(each.name, str(each.rows))
    console.print(table)
    console.print(f"{_contents(listing)}: as recorded", markup=False, highlight=False)


def _make_read_models(settings: Settings, conninfo: str) -> None:
    from adapters.app import build
    from adapters.service import opened

    with console.status("folding read models from the log"), opened(build(settings, conninfo)):
        pass


def _contents(listing: Listing) -> str:
    return f"{listing.rows} rows of {len(listing.tables)} tables, events to position {listing.last_position}"


@contextmanager
def _usable(path: Path) -> Iterator[None]:
    try:
        yield
    except BackupUnusable as error:
        raise Unusable(str(error)) from error
    except OSError as error:
        raise Unusable(f"{error.filename or path} cannot be used: {error.strerror or error}") from error


@contextmanager
def _progress(doing: str) -> Iterator[Told]:
    quiet = not console.is_terminal
    bar = Progress(
        TextColumn(doing), TextColumn("{task.fields[told]}"), TimeElapsedColumn(), transient=True, disable=quiet
    )
    with bar:
        task = bar.add_task(doing, total=None, told="")
        yield lambda table, rows: bar.update(task, told=f"{table}: {rows} rows")
