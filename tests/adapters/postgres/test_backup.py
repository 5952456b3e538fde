"""A backup holds everything, is put back as it was or not at all, and is known to be damaged before that."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from adapters.postgres import restore as restoring
from adapters.postgres.backup import back_up
from adapters.postgres.backup_file import BackupUnusable, Listing, reading, writing
from adapters.postgres.migrations import JOB_QUEUE, apply_missing, migrate, migrations
from adapters.postgres.own_objects import drop_all
from adapters.postgres.restore import restore
from adapters.verification import verify
from tests.support.services import define, retain, run_pending, running_service

HOSTILE = "Ada\tsaid: \\N is not \\. the end,\r\nof \u2028 all “names” \\x41 {1,2} 🦉."
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@contextmanager
def new_database(server: str) -> Iterator[str]:
    name = sql.Identifier(f"backup_{uuid4().hex}")
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0").format(name))
        try:
            yield make_conninfo(server, dbname=name.as_string(connection).strip('"'))
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


@pytest.fixture
def other(server: str) -> Iterator[str]:
    """Another database, migrated."""
    with new_database(server) as conninfo:
        migrate(conninfo)
        yield conninfo


def backed_up(conninfo: str, path: Path) -> Listing:
    return back_up(conninfo, path, version="1", now=NOW, progress=lambda _table, _rows: None)


def put_back(conninfo: str, path: Path, *, replace: bool = False) -> Listing:
    return restore(conninfo, path, replace=replace, progress=lambda _table, _rows: None)


def ask(conninfo: str, query: str) -> list[tuple[object, ...]]:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        return connection.execute(query).fetchall()


def tell(conninfo: str, statement: str) -> None:
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(statement)


@pytest.fixture
def filled(conninfo: str) -> str:
    """A database with a document of two facts, and one whose first refresh a worker has begun."""
    with running_service(conninfo) as service:
        retain(service, "b", f"Ada Lovelace works at Acme.\n{HOSTILE}", document_id="d")
        define(service, "b", "ada")
        run_pending(service, "b")
        define(service, "b", "acme")
    tell(conninfo, "UPDATE procrastinate_jobs SET status = 'doing' WHERE status = 'todo'")
    tell(
        conninfo,
        "INSERT INTO transfer_files VALUES ('k', 'b', 'b.zip', 1, '', now());"
        " INSERT INTO transfer_file_parts VALUES ('k', 0, '\\x00')",
    )
    return conninfo


def test_what_was_restored_is_what_was_backed_up(filled: str, other: str, tmp_path: Path) -> None:
    listing = backed_up(filled, tmp_path / "backup")
    assert put_back(other, tmp_path / "backup") == listing
    rows = {each.name: each.rows for each in listing.tables}
    assert rows["fact_versions"] > 1
    assert listing.last_position == ask(filled, "SELECT max(notification_id) FROM stored_events")[0][0]
    with running_service(filled) as before, running_service(other) as after:
        assert after.mental_models.load("b", "ada") == before.mental_models.load("b", "ada")
        assert verify(after.log, after.reader).differences == ()
        assert all(each.same for each in after.read_models.rebuild(check_only=True).comparisons)
    (text,) = ask(other, "SELECT text FROM memory_documents")
    assert HOSTILE in str(text[0])
    again = backed_up(other, tmp_path / "again")
    assert again.tables == listing.tables
    assert again.sequences == listing.sequences


def test_work_that_had_begun_waits_for_a_worker_and_new_work_goes_on(filled: str, other: str, tmp_path: Path) -> None:
    backed_up(filled, tmp_path / "backup")
    put_back(other, tmp_path / "backup")
    begun = ask(filled, "SELECT id FROM procrastinate_jobs WHERE status = 'doing' ORDER BY id")
    assert begun
    assert ask(other, "SELECT id FROM procrastinate_jobs WHERE status = 'todo' ORDER BY id") == begun
    with running_service(other) as service:
        run_pending(service, "b")
        assert service.mental_models.load("b", "acme").model.content
        retain(service, "b", "Carol works at Acme.", document_id="e")
        define(service, "b", "carol")
        run_pending(service, "b")
        assert "Carol" in service.mental_models.load("b", "carol").model.content


def content(conninfo: str, folder: Path) -> object:
    path = folder / uuid4().hex
    return backed_up(conninfo, path).tables


def test_a_damaged_file_is_refused_and_changes_nothing(filled: str, other: str, tmp_path: Path) -> None:
    path = tmp_path / "backup"
    backed_up(filled, path)
    whole = path.read_bytes()
    damages = [whole[:length] for length in (0, 10, 95, len(whole) // 2, len(whole) - 1)]
    for at in (0, 8, len(whole) // 3, len(whole) - 200, len(whole) - 1):
        damages.append(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    damages.append(whole + b"\n")
    before = content(other, tmp_path)
    for damage in damages:
        path.write_bytes(damage)
        with pytest.raises(BackupUnusable, match="damaged, or is not complete"):
            put_back(other, path, replace=True)
    assert content(other, tmp_path) == before


def test_a_database_that_holds_something_is_replaced_only_when_told(filled: str, other: str, tmp_path: Path) -> None:
    backed_up(filled, tmp_path / "backup")
    with running_service(other) as service:
        retain(service, "old", "Something else.")
    tell(other, "CREATE TABLE visitors (name text); INSERT INTO visitors VALUES ('Eve')")
    with pytest.raises(BackupUnusable, match=r"not empty.*--replace"):
        put_back(other, tmp_path / "backup")
    put_back(other, tmp_path / "backup", replace=True)
    assert ask(other, "SELECT DISTINCT bank_id FROM fact_versions") == [("b",)]
    assert ask(other, "SELECT name FROM visitors") == [("Eve",)], "what is not ours is left alone"


def rewritten(path: Path, target: Path, **changes: object) -> None:
    """The same backup with another list of what is in it, sealed like a true one."""
    with reading(path) as (archive, listing), writing(target) as file:
        for name in [each for each in archive.namelist() if each.startswith("tables/")]:
            with file.table(name.removeprefix("tables/").removesuffix(".copy")) as member:
                member.write(archive.read(name))
        file.finish(listing.model_copy(update=changes))


def test_a_restore_that_fails_half_way_leaves_the_old_state(filled: str, other: str, tmp_path: Path) -> None:
    listing = backed_up(filled, tmp_path / "backup")
    with running_service(other) as service:
        retain(service, "old", "Something else.")
    before = content(other, tmp_path)
    *first, last = listing.tables
    rewritten(tmp_path / "backup", tmp_path / "wrong", tables=(*first, last.model_copy(update={"digest": "0" * 32})))
    with pytest.raises(BackupUnusable, match=f"restored of {last.name} is not what was backed up"):
        put_back(other, tmp_path / "wrong", replace=True)
    rewritten(tmp_path / "backup", tmp_path / "later", last_position=listing.last_position + 1)
    with pytest.raises(BackupUnusable, match="restored to position"):
        put_back(other, tmp_path / "later", replace=True)
    assert content(other, tmp_path) == before


def test_a_database_in_use_is_left_alone(
    filled: str, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "OTHERS_LEAVE_WITHIN_SECONDS", 0.0)
    backed_up(filled, tmp_path / "backup")
    with psycopg.connect(other), pytest.raises(BackupUnusable, match="in use"):
        put_back(other, tmp_path / "backup")


def test_a_backup_of_an_older_version_is_migrated(server: str, other: str, tmp_path: Path) -> None:
    ours = [name for name, _ in migrations() if name != JOB_QUEUE]
    then = {*ours[:6], JOB_QUEUE}
    with new_database(server) as old:
        with psycopg.connect(old, autocommit=True) as connection:
            apply_missing(connection, then)
            connection.execute(
                "INSERT INTO memory_documents (bank_id, document_id, text, created_at, updated_at)"
                " VALUES ('b', 'd', 'A text.', now(), now())"
            )
        listing = backed_up(old, tmp_path / "backup")
    assert {each.name for each in listing.migrations} == then
    put_back(other, tmp_path / "backup")
    assert {name for (name,) in ask(other, "SELECT name FROM schema_migrations")} == {*ours, JOB_QUEUE}
    assert ask(other, "SELECT text FROM memory_documents") == [("A text.",)]


def test_a_newer_version_is_told(filled: str, other: str, tmp_path: Path) -> None:
    tell(filled, "INSERT INTO schema_migrations (name, sha256) VALUES ('9999_to_come', '')")
    with pytest.raises(BackupUnusable, match="newer Palimpsest has changed this database"):
        backed_up(filled, tmp_path / "backup")
    tell(filled, "DELETE FROM schema_migrations WHERE name = '9999_to_come'")
    listing = backed_up(filled, tmp_path / "backup")
    newer = listing.migrations[0].model_copy(update={"name": "9999_to_come"})
    rewritten(tmp_path / "backup", tmp_path / "newer", migrations=(*listing.migrations, newer))
    with pytest.raises(BackupUnusable, match="made by a newer Palimpsest"):
        put_back(other, tmp_path / "newer")


def test_a_backup_only_reads_as_a_standby_wants_it(filled: str, tmp_path: Path) -> None:
    standby = make_conninfo(filled, options="-c default_transaction_read_only=on")
    assert backed_up(standby, tmp_path / "backup").rows > 0


def test_a_file_is_there_only_when_it_is_whole(filled: str, tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writing(tmp_path / "backup"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    backed_up(filled, tmp_path / "backup")
    assert (tmp_path / "backup").stat().st_mode & 0o777 == 0o600, "it holds what nobody else may read"
    assert zipfile.is_zipfile(tmp_path / "backup")
    with pytest.raises(BackupUnusable, match="there already"):
        backed_up(filled, tmp_path / "backup")


def test_all_that_is_made_is_known_to_be_ours(filled: str) -> None:
    with psycopg.connect(filled, autocommit=True) as connection:
        drop_all(connection)
        left = connection.execute(
            "SELECT relname::text FROM pg_class c WHERE relnamespace = 'public'::regnamespace"
            " AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('e', 'i'))"
            " UNION ALL SELECT typname FROM pg_type t WHERE typnamespace = 'public'::regnamespace AND typtype <> 'b'"
            " AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = t.oid AND d.deptype = 'e')"
            " UNION ALL SELECT proname FROM pg_proc p WHERE pronamespace = 'public'::regnamespace"
            " AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')"
        ).fetchall()
    assert left == []
