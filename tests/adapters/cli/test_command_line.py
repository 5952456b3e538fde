"""The console script as a user starts it: real processes, a data folder of its own, real kills."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.support.eventually import eventually
from tests.support.instant_llm import instant
from tests.support.scripted_llm import ScriptedLlm, unauthorized

BANK = "/v1/default/banks/b"


def palimpsest(*arguments: str, data_dir: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "adapters.cli", *arguments],
        env=_environment(data_dir, **env),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


def _environment(data_dir: Path, **env: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PALIMPSEST_", "DATABASE_"))}
    return {**kept, "PALIMPSEST_DATA_DIR": str(data_dir), "COLUMNS": "200", **env}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Serving:
    """A service in a process of its own."""

    def __init__(self, data_dir: Path) -> None:
        self.address = f"http://127.0.0.1:{(port := _free_port())}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "adapters.cli", "serve", "--port", str(port)],
            env=_environment(data_dir),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        eventually(self.healthy, timeout=60)

    def healthy(self) -> bool:
        assert self.process.poll() is None, self.process.stderr and self.process.stderr.read()
        with contextlib.suppress(OSError):
            return self.ask("GET", "/health/live") is not None
        return False

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.address + path, method=method, data=data, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as reply:
            return json.load(reply)

    def end(self, with_signal: int) -> int:
        self.process.send_signal(with_signal)
        code = self.process.wait(timeout=30)
        if self.process.stderr:
            self.process.stderr.close()
        return code


@pytest.fixture
def data_dir(folder: Path) -> Path:
    return folder / "data"


def test_version(tmp_path: Path) -> None:
    done = palimpsest("version", data_dir=tmp_path)
    assert (done.returncode, done.stdout.split()[0]) == (0, "palimpsest")


def test_a_taken_port_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = palimpsest("serve", "--port", port, data_dir=tmp_path / "never-made")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert port in done.stderr
    assert "--port" in done.stderr
    assert not (tmp_path / "never-made").exists()


def test_an_unwritable_folder_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    done = palimpsest("serve", "--port", "0", data_dir=blocked / "data")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert str(blocked) in done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has to drop to another user")
def test_no_user_to_drop_to_is_one_line_and_exit_code_2(folder: Path) -> None:
    done = palimpsest("serve", "--port", "0", data_dir=folder / "data", PALIMPSEST_POSTGRES_USER="no-such-user")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "no-such-user" in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PALIMPSEST_PORT", "many", "PALIMPSEST_PORT"),
        ("PALIMPSEST_HOST", "nowhere.invalid", "nowhere.invalid"),
        ("PALIMPSEST_LLM_BASE_URL", "http://127.0.0.1:1/v1", "PALIMPSEST_LLM_MODEL"),
        ("DATABASE_URL", "postgresql://127.0.0.1:1/none", "127.0.0.1"),
        ("PALIMPSEST_RETAIN_CHUNK_SIZE", "0", 'PALIMPSEST_RETAIN_CHUNK_SIZE: "0" is not accepted: Input should be'),
        ("HINDSIGHT_API_ENTITY_LABELS", "bridge", "HINDSIGHT_API_ENTITY_LABELS"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_line_and_exit_code_2(
    tmp_path: Path, name: str, value: str, said: str
) -> None:
    done = palimpsest("serve", data_dir=tmp_path / "data", **{"PALIMPSEST_PORT": "0", name: value})
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


@pytest.mark.parametrize("name", ["LLM", "EMBEDDINGS"])
@pytest.mark.parametrize("address", ["localhost:11434/v1", "http://", "http://secret@host:many/v1"])
def test_an_endpoint_that_is_no_web_address_is_one_line_and_exit_code_2(
    tmp_path: Path, name: str, address: str
) -> None:
    endpoint = {f"PALIMPSEST_{name}_BASE_URL": address, f"PALIMPSEST_{name}_MODEL": "m"}
    done = palimpsest("serve", "--port", "0", data_dir=tmp_path / "data", **endpoint)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"palimpsest: PALIMPSEST_{name}_BASE_URL is no address")
    assert "secret" not in done.stderr
    assert not (tmp_path / "data").exists()


def test_a_port_that_there_is_not_is_told(tmp_path: Path) -> None:
    done = palimpsest("serve", "--port", "99999", data_dir=tmp_path / "data")
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "65535" in done.stderr


def test_a_service_told_to_terminate_stops_its_database_and_ends_with_0(data_dir: Path) -> None:
    serving = Serving(data_dir)
    assert serving.end(signal.SIGTERM) == 0
    assert not (data_dir / "cluster" / "postmaster.pid").exists()


def test_what_was_retained_survives_a_killed_service_and_a_warm_start(data_dir: Path) -> None:
    first = Serving(data_dir)
    first.ask("POST", f"{BANK}/memories", {"items": [{"content": "Ships are white.", "document_id": "d"}]})
    asked = first.ask(
        "POST", f"{BANK}/mental-models", {"id": "ships", "name": "Ships", "source_query": "Which colour have ships?"}
    )
    first.end(signal.SIGKILL)

    second = Serving(data_dir)

    def ended() -> bool:
        state = second.ask("GET", f"{BANK}/operations/{asked['operation_id']}")
        return bool(state["status"] == "completed")

    eventually(ended, timeout=40)
    served = second.ask("GET", f"{BANK}/mental-models/ships")
    assert "Ships are white." in served["content"]
    assert second.end(signal.SIGINT) == 0

    verified = palimpsest("verify", data_dir=data_dir)
    assert (verified.returncode, "all as recorded" in verified.stdout) == (0, True)
    checked = palimpsest("rebuild", "--check", data_dir=data_dir)
    assert (checked.returncode, "documents" in checked.stdout) == (0, True)
    audited = palimpsest("audit", "b", "ships", data_dir=data_dir)
    assert "Created to answer" in audited.stdout
    as_it_was = palimpsest("audit", "b", "ships", "--at", "2", data_dir=data_dir)
    assert as_it_was.stdout == served["content"]
    unknown = palimpsest("audit", "b", "nothing", data_dir=data_dir)
    assert (unknown.returncode, unknown.stderr.count("\n")) == (2, 1)


def test_the_demo_shows_documents_and_a_diff_and_ends_and_goes_on_from_there_the_next_time(data_dir: Path) -> None:
    started = time.monotonic()
    done = palimpsest("demo", data_dir=data_dir, COLUMNS="80")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Decisions" in done.stdout
    assert "Running it" in done.stdout
    assert "+- **Decision.**" in done.stdout
    assert "Created to answer" in done.stdout
    assert "palimpsest audit demo decisions" in done.stdout
    assert "curl" not in done.stdout, "the service it would ask is gone"
    assert time.monotonic() - started < 60

    again = palimpsest("demo", data_dir=data_dir)
    assert (again.returncode, again.stderr) == (0, "")
    audited = palimpsest("audit", "demo", "decisions", data_dir=data_dir).stdout
    assert audited.count("Created to answer") == 1
    assert audited.count("why: operation") == 4


def test_a_demo_whose_model_refuses_the_key_is_one_line_and_exit_code_2(data_dir: Path) -> None:
    with ScriptedLlm(fallback=lambda _: unauthorized()) as llm:
        engine = {"PALIMPSEST_LLM_BASE_URL": llm.base_url, "PALIMPSEST_LLM_MODEL": "m"}
        done = palimpsest("demo", data_dir=data_dir, **engine)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "palimpsest: the demo failed: " in done.stderr
    assert "does not accept the API key" in done.stderr.splitlines()[-1]


def test_the_demo_runs_the_same_with_a_language_model(data_dir: Path) -> None:
    with ScriptedLlm(fallback=instant) as llm:
        engine = {
            "PALIMPSEST_LLM_BASE_URL": llm.base_url,
            "PALIMPSEST_LLM_API_KEY": "none",
            "PALIMPSEST_LLM_MODEL": "m",
        }
        done = palimpsest("demo", data_dir=data_dir, **engine)
        assert done.returncode == 0, done.stderr
        assert "+Answer " in done.stdout
        assert llm.unexpected == []
    audited = palimpsest("audit", "demo", "decisions", data_dir=data_dir)
    assert "240 tokens" in audited.stdout, "the timeline tells the tokens of both calls"


def test_a_service_without_worker_leaves_the_work_to_a_worker(data_dir: Path) -> None:
    port = _free_port()
    arguments = [sys.executable, "-m", "adapters.cli"]
    serving = subprocess.Popen([*arguments, "serve", "--no-worker", "--port", str(port)], env=_environment(data_dir))
    working = subprocess.Popen([*arguments, "worker", "--concurrency", "2"], env=_environment(data_dir))
    try:
        client = Serving.__new__(Serving)
        client.address, client.process = f"http://127.0.0.1:{port}", serving
        eventually(client.healthy, timeout=60)
        client.ask("POST", f"{BANK}/memories", {"items": [{"content": "Ships are white."}]})
        asked = client.ask(
            "POST", f"{BANK}/mental-models", {"name": "Ships", "source_query": "Which colour have ships?"}
        )
        operation = f"{BANK}/operations/{asked['operation_id']}"
        eventually(lambda: client.ask("GET", operation)["status"] == "completed", timeout=40)
    finally:
        for process in (serving, working):
            process.send_signal(signal.SIGINT)
        assert [process.wait(timeout=30) for process in (serving, working)] == [0, 0]
