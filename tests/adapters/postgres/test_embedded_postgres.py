"""The embedded server: shared, stopped by the last user, and whole again after any kill. All with real processes."""

import glob
import os
import signal
import stat
import subprocess
from pathlib import Path

import psycopg
import pytest

from adapters.postgres.embedded import EmbeddedPostgres
from tests.adapters.postgres.server_users import (
    AS_ROOT,
    NewUser,
    is_running,
    kill_hard,
    postmaster,
    rows,
    server_account_of,
    supervisors,
    write_row,
)
from tests.support.eventually import eventually
from tests.support.server_folders import assert_all_stopped, server_processes


def test_the_data_of_a_first_start_is_there_after_the_second(folder: Path) -> None:
    with EmbeddedPostgres(folder / "deep" / "data") as postgres:
        write_row(postgres.wait_ready(), "first")
    assert_all_stopped(folder)
    with EmbeddedPostgres(folder / "deep" / "data") as postgres:
        assert rows(postgres.wait_ready()) == ["first"]


def test_the_same_object_starts_again_after_it_has_stopped_and_stops_only_once(data_dir: Path, folder: Path) -> None:
    postgres = EmbeddedPostgres(data_dir)
    postgres.stop()
    conninfo = postgres.start()
    assert postgres.start() == conninfo
    postgres.stop()
    postgres.stop()
    assert_all_stopped(folder)
    postgres.launch()
    assert postgres.wait_ready() == conninfo
    postgres.stop()


def test_waiting_before_launching_is_a_mistake_of_the_caller(folder: Path) -> None:
    with pytest.raises(RuntimeError, match="launch"):
        EmbeddedPostgres(folder / "data").wait_ready()


def test_vectors_and_letters_of_every_script_work(embedded: EmbeddedPostgres) -> None:
    with psycopg.connect(embedded.wait_ready()) as connection:
        connection.execute("CREATE EXTENSION vector")
        assert connection.execute("SELECT '[1,2]'::vector <-> '[1,4]'").fetchone() == (2.0,)
        assert connection.execute("SELECT lower('ÜBER ПРИВЕТ')").fetchone() == ("über привет",)
        words = connection.execute("SELECT to_tsvector('simple', 'ÜBER') @@ to_tsquery('simple', 'über')").fetchone()
        assert words == (True,)


def test_the_settings_are_safe_for_a_service(embedded: EmbeddedPostgres) -> None:
    with psycopg.connect(embedded.wait_ready()) as connection:
        names = ("server_encoding", "timezone", "jit", "fsync", "max_connections", "logging_collector")
        values = [connection.execute(f"SHOW {name}").fetchone() for name in names]
    assert values == [("UTF8",), ("UTC",), ("off",), ("on",), ("100",), ("on",)]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc to see who listens")
def test_nothing_listens_but_a_private_socket(data_dir: Path, folder: Path, embedded: EmbeddedPostgres) -> None:
    with psycopg.connect(embedded.wait_ready()) as connection:
        assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
    open_files = [os.readlink(link) for link in glob.glob(f"/proc/{postmaster(folder / 'data')}/fd/*")]
    sockets = {name.removeprefix("socket:[").removesuffix("]") for name in open_files if name.startswith("socket:")}
    tcp = [line.split()[9] for table in ("tcp", "tcp6") for line in Path("/proc/net", table).read_text().splitlines()]
    assert sockets
    assert not sockets & set(tcp)
    run = data_dir / "run"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (run, run / ".s.PGSQL.5432")] == [0o700, 0o700]


def test_two_processes_share_the_server_and_the_last_one_stops_it(
    data_dir: Path, folder: Path, new_user: NewUser
) -> None:
    with EmbeddedPostgres(data_dir) as postgres:
        write_row(postgres.wait_ready(), "shared")
        other = new_user(data_dir)
        conninfo = other.answer()
        assert conninfo == postgres.wait_ready()
        server = postmaster(data_dir)
    assert rows(conninfo) == ["shared"]
    assert postmaster(data_dir) == server
    other.leave()
    assert_all_stopped(folder)


def test_many_processes_that_start_at_once_get_one_server(folder: Path, new_user: NewUser) -> None:
    users = [new_user(folder / "data") for _ in range(5)]
    assert len({user.answer() for user in users}) == 1
    assert len(supervisors(folder)) == 1
    for user in users:
        user.leave()
    assert_all_stopped(folder)


def test_coming_while_the_last_one_leaves_always_gets_a_server(data_dir: Path, new_user: NewUser) -> None:
    other = new_user(data_dir)
    assert other.answer().startswith("host=")
    for turn in range(5):
        other.say("postgres.stop()")
        with EmbeddedPostgres(data_dir) as postgres:
            write_row(postgres.wait_ready(), str(turn))
            assert other.answer() == "done"
            other.obey("postgres.start()")
    other.leave()
    with EmbeddedPostgres(data_dir) as postgres:
        assert rows(postgres.wait_ready()) == ["0", "1", "2", "3", "4"]


def test_a_killed_user_loses_nothing_and_its_server_stops(data_dir: Path, folder: Path, new_user: NewUser) -> None:
    user = new_user(data_dir)
    write_row(user.answer(), "committed")
    user.kill()
    eventually(lambda: not server_processes(folder))
    with EmbeddedPostgres(data_dir) as postgres:
        assert rows(postgres.wait_ready()) == ["committed"]


def test_a_killed_server_is_started_again_at_once(data_dir: Path, embedded: EmbeddedPostgres) -> None:
    conninfo = embedded.wait_ready()
    write_row(conninfo, "committed")
    for _ in range(3):
        kill_hard(postmaster(data_dir))
        assert embedded.wait_ready() == conninfo
        assert rows(conninfo) == ["committed"]


def test_a_killed_server_whose_backend_is_busy_is_started_again(data_dir: Path, embedded: EmbeddedPostgres) -> None:
    conninfo = embedded.wait_ready()
    write_row(conninfo, "committed")
    busy = psycopg.connect(conninfo)
    busy.pgconn.send_query(b"DO $$ BEGIN LOOP END LOOP; END $$")
    kill_hard(postmaster(data_dir))
    assert embedded.wait_ready() == conninfo
    assert rows(conninfo) == ["committed"]
    busy.close()


def test_after_everything_was_killed_the_next_start_repairs_it(data_dir: Path, folder: Path, new_user: NewUser) -> None:
    user = new_user(data_dir)
    write_row(user.answer(), "committed")
    user.process.send_signal(signal.SIGSTOP)  # or it would start another supervisor in between
    for pid in [*supervisors(folder), postmaster(data_dir)]:
        kill_hard(pid)
    user.kill()
    assert (data_dir / "cluster" / "postmaster.pid").exists()
    with EmbeddedPostgres(data_dir) as postgres:
        assert rows(postgres.wait_ready()) == ["committed"]


def test_an_orphaned_server_is_taken_over_by_the_next_user(data_dir: Path, folder: Path, new_user: NewUser) -> None:
    user = new_user(data_dir)
    write_row(user.answer(), "committed")
    user.process.send_signal(signal.SIGSTOP)
    orphan = postmaster(data_dir)
    kill_hard(supervisors(folder)[0])
    user.kill()
    assert is_running(orphan)
    with EmbeddedPostgres(data_dir) as postgres:
        assert rows(postgres.wait_ready()) == ["committed"]
        assert postmaster(data_dir) == orphan
    assert not is_running(orphan)
    assert_all_stopped(folder)


def test_a_killed_supervisor_is_replaced_while_connections_go_on(data_dir: Path, folder: Path) -> None:
    with EmbeddedPostgres(data_dir) as postgres:
        with psycopg.connect(postgres.wait_ready()) as connection:
            (killed,) = supervisors(folder)
            kill_hard(killed)
            eventually(lambda: supervisors(folder))
            eventually(lambda: "took over" in (data_dir / "supervisor.log").read_text())
            assert connection.execute("SELECT 1").fetchone() == (1,)
        kill_hard(postmaster(data_dir))  # the successor cares for a server that is not its child, too
        write_row(postgres.wait_ready(), "committed")
    assert_all_stopped(folder)


def test_the_last_user_stops_the_server_even_if_the_supervisor_was_just_killed(data_dir: Path, folder: Path) -> None:
    postgres = EmbeddedPostgres(data_dir)
    postgres.start()
    kill_hard(supervisors(folder)[0])
    postgres.stop()
    assert_all_stopped(folder)


def test_signals_do_not_take_the_supervisor_from_its_users(folder: Path, embedded: EmbeddedPostgres) -> None:
    (supervisor,) = supervisors(folder)
    for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(supervisor, kind)
    write_row(embedded.wait_ready(), "still there")
    assert supervisors(folder) == [supervisor]


def test_a_pid_file_that_names_a_stranger_is_cleared(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir) as postgres:
        write_row(postgres.wait_ready(), "committed")
        pid_file = data_dir / "cluster" / "postmaster.pid"
        lines = pid_file.read_text().splitlines()
    account = server_account_of(data_dir)
    stranger = subprocess.Popen(["sleep", "60"], user=account if AS_ROOT else None)
    try:
        pid_file.write_text("\n".join([str(stranger.pid), *lines[1:]]) + "\n")
        os.chown(pid_file, account, -1)
        with EmbeddedPostgres(data_dir) as postgres:
            assert rows(postgres.wait_ready()) == ["committed"]
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_an_empty_pid_file_is_cleared(data_dir: Path) -> None:
    with EmbeddedPostgres(data_dir):
        pass
    pid_file = data_dir / "cluster" / "postmaster.pid"
    pid_file.touch()
    os.chown(pid_file, server_account_of(data_dir), -1)
    with EmbeddedPostgres(data_dir) as postgres:
        write_row(postgres.wait_ready(), "committed")


def test_a_first_start_that_was_killed_half_way_does_not_hurt_the_next(folder: Path, new_user: NewUser) -> None:
    data_dir = folder / "data"
    user = new_user(data_dir)
    eventually(lambda: glob.glob(f"{data_dir}/cluster.new-*/base"), pause=0.001)
    user.kill()
    for pid in server_processes(folder):
        kill_hard(pid)
    assert glob.glob(f"{data_dir}/cluster.new-*")
    assert not (data_dir / "cluster").exists()
    with EmbeddedPostgres(data_dir) as postgres:
        write_row(postgres.wait_ready(), "committed")
    assert not glob.glob(f"{data_dir}/cluster.new-*")


def test_a_forked_child_does_not_keep_the_server_of_its_parent(data_dir: Path, folder: Path, new_user: NewUser) -> None:
    user = new_user(data_dir)
    assert user.answer().startswith("host=")
    user.obey("import os, time; child = os.fork(); child or (os.close(0), os.close(1), time.sleep(60), os._exit(0))")
    user.obey("open(sys.argv[1] + '/child', 'w').write(str(child))")
    child = int((data_dir / "child").read_text())
    try:
        user.leave()
        assert_all_stopped(folder)
        assert is_running(child)
    finally:
        os.kill(child, signal.SIGKILL)
