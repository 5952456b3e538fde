"""A service or a worker in a process of its own, over the database of a test, with what it logs in a file."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.support.eventually import eventually

_ADDRESS = re.compile(r"http://[\d.]+:\d+")


@dataclass(frozen=True)
class Running:
    """`address` is where it serves."""

    address: str
    log: Path


def _answers(address: str) -> bool:
    try:
        httpx.get(f"{address}/health/live", timeout=5)
    except httpx.TransportError:
        return False
    return True


@contextmanager
def running(folder: Path, *arguments: str, **env: str) -> Iterator[Running]:
    """Told to end at the end, which it must do in order."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PALIMPSEST_", "DATABASE_"))}
    log, said = folder / f"{arguments[0]}.log", folder / f"{arguments[0]}.out"
    with log.open("wb") as stderr, said.open("wb") as stdout:
        process = subprocess.Popen(
            [sys.executable, "-m", "adapters.cli", *arguments], env={**kept, **env}, stdout=stdout, stderr=stderr
        )
    try:
        eventually(lambda: process.poll() is not None or "stops it" in said.read_text(), timeout=60)
        assert process.poll() is None, log.read_text()
        found = _ADDRESS.search(said.read_text())
        address = found[0] if found else ""
        if address:
            eventually(lambda: _answers(address), timeout=30)
        yield Running(address, log)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 0, log.read_text()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
