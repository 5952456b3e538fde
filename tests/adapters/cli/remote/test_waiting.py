"""Waiting for an operation: the line of progress, how it ends, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adapters.cli.remote.waiting import progress
from tests.support.command_line import CommandLine
from tests.support.eventually import eventually
from tests.support.scripted_api import ScriptedApi

ID = "0f2b7a51-58a8-4f6c-9d0e-6f9d3b1f7c11"
QUEUED = (200, {"operation_id": ID, "status": "queued", "folded": False})


def operation(status: str, **fields: Any) -> tuple[int, dict[str, Any]]:
    return 200, {"id": ID, "operation_type": "refresh_mental_model", "status": status, "retry_count": 0, **fields}


READING = operation("processing", progress={"stage": "reading", "processed": 1, "total": 3})
WRITTEN = operation("completed", details={"outcome": "content_written"})


def test_one_line_tells_stage_count_and_seconds() -> None:
    assert progress(READING[1], 4.2) == "refresh_mental_model: reading 1/3, 4 s"
    assert progress(operation("pending")[1], 0) == "refresh_mental_model: waiting, 0 s"
    assert progress(operation("processing")[1], 0) == "refresh_mental_model: running, 0 s"
    parked = operation("pending", next_retry_at="2026-03-01T00:00:00Z", park_reason="refreshed_recently")
    told = "refresh_mental_model: waiting until 2026-03-01T00:00:00Z (refreshed recently), 9 s"
    assert progress(parked[1], 9) == told


def test_the_line_is_shown_on_a_terminal_and_the_outcome_after_it(tmp_path: Path) -> None:
    with ScriptedApi(QUEUED, operation("pending"), READING, READING, WRITTEN) as server:
        cli = CommandLine(tmp_path, server.address, "b")
        terminal = {"TTY_COMPATIBLE": "1", "TERM": "xterm"}
        shown = cli.run("mental-model", "refresh", "m", "--wait", **terminal)
    assert shown.exit_code == 0
    assert "refresh_mental_model: reading 1/3, 0 s" in shown.stderr
    assert "content_written" in shown.stdout


def test_elsewhere_there_is_the_outcome_alone(tmp_path: Path) -> None:
    with ScriptedApi(QUEUED, READING, WRITTEN) as server:
        shown = CommandLine(tmp_path, server.address, "b").run("mental-model", "refresh", "m", "--wait")
    assert shown.stderr == ""
    assert shown.stdout == f"queued; operation {ID}\nrefresh_mental_model completed: content_written\n"


@pytest.mark.parametrize(
    ("ended", "told"),
    [
        (operation("failed", error_message="no answer"), "failed: no answer"),
        (operation("cancelled"), "cancelled"),
        (
            operation("completed", details={"outcome": "refresh_failed_empty_candidate"}),
            "completed: refresh_failed_empty_candidate",
        ),
    ],
)
def test_an_operation_that_failed_is_exit_code_1(tmp_path: Path, ended: tuple[int, Any], told: str) -> None:
    with ScriptedApi(QUEUED, ended) as server:
        cli = CommandLine(tmp_path, server.address, "b")
        shown = cli.run("mental-model", "refresh", "m", "--wait")
        as_json = cli.run("operation", "watch", ID, "--json")
    assert (shown.exit_code, shown.stdout) == (1, f"queued; operation {ID}\nrefresh_mental_model {told}\n")
    assert (as_json.exit_code, '"status"' in as_json.stdout) == (1, True)


def test_a_server_that_starts_anew_is_waited_for(tmp_path: Path) -> None:
    with ScriptedApi(READING, (503, {"detail": "starting"}), WRITTEN) as server:
        assert "content_written" in CommandLine(tmp_path, server.address, "b").done("operation", "watch", ID)


def test_a_server_that_was_never_there_is_not(tmp_path: Path) -> None:
    with ScriptedApi((503, {"detail": "starting"})) as server:
        assert CommandLine(tmp_path, server.address, "b").refused("operation", "watch", ID) == "starting"
        assert len(server.asked) == 1


def test_an_operation_that_nobody_knows_is_told(tmp_path: Path) -> None:
    with ScriptedApi((200, {"operation_id": ID, "status": "not_found"})) as server:
        assert "there is no operation" in CommandLine(tmp_path, server.address, "b").refused("operation", "watch", ID)


def test_all_that_is_under_way_is_shown_until_nothing_is(tmp_path: Path) -> None:
    nothing: tuple[int, Any] = (200, {"operations": []})
    running = (200, {"operations": [{**READING[1], "created_at": "2026-03-01T00:00:00+00:00"}]})
    with ScriptedApi(running, nothing, nothing) as server:
        cli = CommandLine(tmp_path, server.address, "b")
        shown = cli.run("operation", "watch", TTY_COMPATIBLE="1", TERM="xterm")
    assert "refresh_mental_model: reading 1/3" in shown.stderr
    assert ID in shown.stderr
    assert (shown.exit_code, shown.stdout) == (0, "nothing is under way\n")
    assert [path.partition("?")[2].split("&")[0] for _, path, *_ in server.asked[:2]] == [
        "status=processing", "status=pending",
    ]  # fmt: skip


def test_ctrl_c_ends_the_waiting_and_not_the_operation(tmp_path: Path) -> None:
    with ScriptedApi(READING) as server:
        environment = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path), "PALIMPSEST_SERVER": server.address}
        waiting = subprocess.Popen(
            [sys.executable, "-m", "adapters.cli", "operation", "watch", ID, "-b", "b"],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        eventually(lambda: len(server.asked) > 1, timeout=20)
        waiting.send_signal(signal.SIGINT)
        output, errors = waiting.communicate(timeout=20)
    assert (waiting.returncode, output) == (130, "")
    assert errors == f"palimpsest: stopped waiting; the operation goes on: palimpsest operation watch {ID}\n"
    assert {method for method, *_ in server.asked} == {"GET"}
