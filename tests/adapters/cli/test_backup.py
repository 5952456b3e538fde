"""A service is backed up while it is written to, and restored beside it: real processes, real kills."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.adapters.cli.test_command_line import BANK, Serving, palimpsest
from tests.support.eventually import eventually


@pytest.fixture
def data_dir(folder: Path) -> Path:
    return folder / "data"


def write_on(serving: Serving, stop: threading.Event) -> None:
    number = 0
    while not stop.is_set():
        number += 1
        item = {"content": f"Person{number} Smith works at Acme.", "document_id": f"d{number}"}
        serving.ask("POST", f"{BANK}/memories", {"items": [item], "async": number % 2 == 0})
        if number % 5 == 0:
            serving.ask("POST", f"{BANK}/mental-models/acme/refresh")


def still_open(serving: Serving) -> bool:
    statuses = ("pending", "processing")
    return any(serving.ask("GET", f"{BANK}/operations?status={each}")["operations"] for each in statuses)


@contextmanager
def served(data_dir: Path) -> Iterator[Serving]:
    """Ended in order, and killed if the test failed."""
    serving = Serving(data_dir)
    try:
        yield serving
        assert serving.end(signal.SIGTERM) == 0
    finally:
        if serving.process.poll() is None:
            serving.end(signal.SIGKILL)


@contextmanager
def written_to(serving: Serving) -> Iterator[None]:
    stop = threading.Event()
    writer = threading.Thread(target=write_on, args=(serving, stop))
    writer.start()
    try:
        yield
    finally:
        stop.set()
        writer.join()


def test_a_service_is_backed_up_while_it_works_and_goes_on_elsewhere(data_dir: Path, folder: Path) -> None:
    backup, elsewhere = folder / "backup", folder / "elsewhere"
    with served(data_dir) as serving:
        serving.ask("POST", f"{BANK}/memories", {"items": [{"content": "Ada Lovelace works at Acme."}]})
        created = {"id": "acme", "name": "Acme", "source_query": "Who works at Acme?"}
        serving.ask("POST", f"{BANK}/mental-models", created)
        with written_to(serving):
            eventually(lambda: serving.ask("GET", f"{BANK}/documents?limit=1")["total"] > 20, timeout=30)
            written = palimpsest("backup", str(backup), data_dir=data_dir)
        assert (written.returncode, written.stderr) == (0, "")
        assert " rows of " in written.stdout
        refused = palimpsest("restore", str(backup), "--replace", data_dir=data_dir)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert "is in use" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1

    restored = palimpsest("restore", str(backup), data_dir=elsewhere)
    assert (restored.returncode, restored.stderr) == (0, "")
    assert "as recorded" in restored.stdout
    verified = palimpsest("verify", data_dir=elsewhere)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    with served(elsewhere) as again:
        assert again.ask("GET", f"{BANK}/documents?limit=1")["total"] > 20
        eventually(lambda: not still_open(again), timeout=30)
        assert "Ada Lovelace" in again.ask("GET", f"{BANK}/mental-models/acme")["content"]
        again.ask("POST", f"{BANK}/mental-models/acme/refresh")
        eventually(lambda: not still_open(again), timeout=30)


def test_what_cannot_be_backed_up_or_restored_is_one_line_and_exit_code_2(data_dir: Path, folder: Path) -> None:
    (folder / "text").write_text("This is no backup." * 10)
    told = {
        ("backup", str(folder / "missing" / "backup")): "No such file or directory",
        ("restore", str(folder / "text")): "is no whole backup of Palimpsest",
    }
    for arguments, why in told.items():
        ended = palimpsest(*arguments, data_dir=data_dir)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert why in ended.stderr
        assert len(ended.stderr.splitlines()) == 1
