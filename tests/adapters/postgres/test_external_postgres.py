"""The check of a server of one's own: what is wrong is said in one line, and the password never."""

import glob
import os
import pwd
import shutil
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from adapters.postgres.embedded import EmbeddedPostgres
from adapters.postgres.external import check_server
from adapters.postgres.unavailable import DatabaseUnavailable
from tests.adapters.postgres.server_users import copy_data
from tests.support.eventually import eventually
from tests.support.server_folders import temporary_folder

SECRET = "s3cretly"


@pytest.fixture(scope="module")
def second_server(used_folder: Path) -> Iterator[str]:
    """A real second server; role `guarded` needs a password there, role `shutout` may not come in."""
    with temporary_folder() as folder, EmbeddedPostgres(copy_data(used_folder, folder / "data")) as postgres:
        rules = folder / "data" / "cluster" / "pg_hba.conf"
        usual = rules.read_text()
        rules.write_text(f"local all guarded scram-sha-256\nlocal all shutout reject\n{usual}")
        conninfo = postgres.wait_ready()
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE guarded LOGIN PASSWORD '{SECRET}'")
            connection.execute("CREATE ROLE shutout LOGIN")
            connection.execute("CREATE ROLE plain LOGIN")
            connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
            connection.execute("SELECT pg_reload_conf()")
        yield conninfo


@pytest.fixture
def place(second_server: str) -> str:
    return str(conninfo_to_dict(second_server)["host"])


def complaint(conninfo: str) -> str:
    with pytest.raises(DatabaseUnavailable) as caught:
        check_server(conninfo)
    message = str(caught.value)
    assert "\n" not in message
    assert SECRET not in message
    assert caught.value.__cause__ is None or SECRET not in repr(caught.value.__cause__)
    return message


def test_a_good_server_passes_and_is_left_as_it_was(second_server: str) -> None:
    check_server(second_server)
    with psycopg.connect(second_server) as connection:
        assert connection.execute("SELECT count(*) FROM pg_extension WHERE extname = 'vector'").fetchone() == (0,)


def test_a_good_password_passes_with_the_extension_installed(place: str, second_server: str) -> None:
    with psycopg.connect(second_server, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION vector")
        try:
            eventually(lambda: "password" in complaint(f"postgresql://guarded@/palimpsest?host={place}"))
            check_server(f"postgresql://guarded:{SECRET}@/palimpsest?host={place}")
        finally:
            connection.execute("DROP EXTENSION vector")


def test_a_wrong_password_is_named_but_not_shown(place: str) -> None:
    message = complaint(f"postgresql://guarded:x{SECRET}@/palimpsest?host={place}")
    assert "refuses user guarded: wrong password or no such user" in message


def test_a_missing_password_is_asked_for(place: str) -> None:
    assert "asks user guarded for a password" in complaint(f"postgresql://guarded@/palimpsest?host={place}")


def test_a_user_that_is_shut_out_is_told_where_to_be_let_in(place: str) -> None:
    assert "pg_hba.conf" in complaint(f"postgresql://shutout:{SECRET}@/palimpsest?host={place}")


def test_an_unknown_user_is_named(place: str) -> None:
    assert "refuses user nobodyknown" in complaint(f"postgresql://nobodyknown:{SECRET}@/palimpsest?host={place}")


def test_an_unknown_database_is_named(place: str) -> None:
    message = complaint(f"host={place} user=palimpsest password={SECRET} dbname=elsewhere")
    assert "has no database elsewhere. Create it" in message


def test_a_user_that_may_not_create_the_extension_is_told_who_can(place: str) -> None:
    message = complaint(f"host={place} user=plain dbname=palimpsest")
    assert "user plain may not create the extension vector in the database palimpsest" in message


def test_a_database_that_cannot_hold_every_character_is_refused(place: str) -> None:
    assert "stores text as LATIN1" in complaint(f"host={place} user=palimpsest dbname=latin")


def test_a_server_that_is_not_there_is_named_with_its_port() -> None:
    with socket.socket() as taken:  # bound but not listening: nobody else can answer on it
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        message = complaint(f"postgresql://me:{SECRET}@127.0.0.1:{port}/things")
    assert f"127.0.0.1:{port} cannot be reached" in message
    assert "refused" in message


def test_a_server_that_never_answers_is_given_up(place: str) -> None:
    del place
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"postgresql://me:{SECRET}@127.0.0.1:{silent.getsockname()[1]}/things?connect_timeout=2"
        assert "cannot be reached" in complaint(url)


def test_a_host_without_an_address_is_named() -> None:
    assert "The host nowhere.invalid" in complaint(f"postgresql://me:{SECRET}@nowhere.invalid/things")


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://me:a@{SECRET}@host/things",
        f"postgresql://me:a/{SECRET}@host/things",
        f"postgresql://me:1/{SECRET}@host/things",
        f"postgresql://me:a%{SECRET}@host/things",
        f"postgresql://me:{SECRET}@host:70000/things",
        f"postgresql://me:{SECRET}@host/things?connect_timeout=soon",
        f"postgresql://me:{SECRET}@host/things?no_such_option=1",
        f"me {SECRET} host",
    ],
)
def test_a_malformed_address_is_explained_without_showing_any_of_it(url: str) -> None:
    assert "not a well-formed address" in complaint(url)


@pytest.mark.parametrize("scheme", ["postgresql+psycopg", "mysql"])
def test_an_address_of_something_else_is_refused_by_its_scheme(scheme: str) -> None:
    message = complaint(f"{scheme}://me:{SECRET}@host/things")
    assert f"{scheme}://" in message
    assert "postgresql://user:password@host:5432/database" in message


def test_an_empty_address_is_refused() -> None:
    assert "empty" in complaint(" ")


def test_a_server_that_is_too_old_is_refused_with_both_versions() -> None:
    with _server_that_says_it_is("14.9") as port:
        message = complaint(f"host=127.0.0.1 port={port} user=me password={SECRET} sslmode=disable gssencmode=disable")
    assert "is PostgreSQL 14.9, and 15 or newer is needed" in message


@contextmanager
def _server_that_says_it_is(version: str) -> Iterator[int]:
    """Old versions are not at hand, so this speaks just enough of the protocol to present itself as one."""
    listener = socket.create_server(("127.0.0.1", 0))

    def message(kind: bytes, body: bytes) -> bytes:
        return kind + struct.pack("!i", len(body) + 4) + body

    def greet() -> None:
        client, _ = listener.accept()
        with client:
            client.recv(4096)
            named = f"server_version\0{version}\0".encode()
            client.sendall(message(b"R", struct.pack("!i", 0)) + message(b"S", named) + message(b"Z", b"I"))
            client.recv(4096)

    thread = threading.Thread(target=greet)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        thread.join(timeout=10)
        listener.close()


def test_a_server_without_the_extension_is_told_to_install_it(folder: Path) -> None:
    with _server_without_vector(folder) as conninfo:
        message = complaint(conninfo)
    assert "has no pgvector. Install it there" in message


@contextmanager
def _server_without_vector(folder: Path) -> Iterator[str]:
    """A PostgreSQL of the system's own, of those versions that we take."""
    for programs in map(Path, sorted(glob.glob("/usr/lib/postgresql/*/bin"))):
        version = programs.parent.name
        if int(version) >= 15 and not Path(f"/usr/share/postgresql/{version}/extension/vector.control").exists():
            break
    else:
        pytest.skip("no system PostgreSQL without pgvector here")
    account = None
    if os.geteuid() == 0:
        account = pwd.getpwnam("nobody").pw_uid
        os.chown(folder, account, -1)
    cluster = str(folder / "system")
    initdb = [str(programs / "initdb"), "-D", cluster, "-U", "palimpsest", "-A", "trust", "-E", "UTF8", "--no-sync"]
    subprocess.run([*initdb, "--locale=C"], user=account, check=True, capture_output=True)
    settings = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}"]
    process = subprocess.Popen(
        [str(programs / "postgres"), "-D", cluster, *settings], user=account, stderr=subprocess.DEVNULL
    )
    try:
        eventually(lambda: (folder / ".s.PGSQL.5432.lock").exists() and _answers(str(folder)))
        yield f"host={folder} user=palimpsest dbname=postgres"
    finally:
        process.terminate()
        process.wait(timeout=20)
        shutil.rmtree(cluster)


def _answers(place: str) -> bool:
    try:
        psycopg.connect(f"host={place} user=palimpsest dbname=postgres").close()
    except psycopg.OperationalError:
        return False
    return True
