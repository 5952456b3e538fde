"""The official Node client drives a live server: every method it has, unchanged, in tests/node/client.mjs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

NODE = Path(__file__).parents[1] / "node"
NOT_CALLED = {"exportDocuments"}
"""It asks for an archive of single documents, which is not served: a bank travels as a whole."""


@pytest.fixture(scope="module")
def installed(request: pytest.FixtureRequest) -> Path:
    """A folder with the script and what it needs. It is kept from run to run, for as long as the lock is the same."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        pytest.skip("node or npm is not installed")
    cache = request.config.cache
    assert cache is not None
    folder = cache.mkdir("node-client")
    lock = (NODE / "package-lock.json").read_bytes()
    done = folder / "installed-lock.json"
    shutil.copy(NODE / "client.mjs", folder)
    if not done.exists() or done.read_bytes() != lock:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(NODE / name, folder)
        install = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        ran = subprocess.run(install, cwd=folder, capture_output=True, text=True, timeout=90, check=False)
        if ran.returncode:
            told = ran.stderr.strip().splitlines()[:1]
            pytest.skip(f"the client cannot be installed: {told[0] if told else 'npm ci failed'}")
        done.write_bytes(lock)
    return folder


def test_every_method_of_the_node_client_works(installed: Path, address: str) -> None:
    ran = subprocess.run(
        ["node", "client.mjs", address], cwd=installed, capture_output=True, text=True, timeout=90, check=False
    )
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert set(told["methods"]) - set(told["called"]) == NOT_CALLED
