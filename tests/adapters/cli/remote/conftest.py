"""A live server for each module, and commands about a bank of each test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from adapters.app import build
from adapters.service import opened
from adapters.settings import Settings
from tests.support.command_line import CommandLine
from tests.support.live_server import live_server


@pytest.fixture(scope="module")
def address(shared_conninfo: str) -> Iterator[str]:
    settings = Settings(_env_file=None, worker_retry_seconds=0)
    with opened(build(settings, shared_conninfo)) as service, live_server(service) as address:
        yield address


@pytest.fixture
def cli(address: str, tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path, address, f"bank-{uuid4().hex[:12]}")


@pytest.fixture(scope="module")
def told(address: str, tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """A bank for tests that change nothing: two facts, and the mental model 'ada' at version 2."""
    cli = CommandLine(tmp_path_factory.mktemp("told"), address, f"bank-{uuid4().hex[:12]}")
    cli.done("memory", "retain", "Ada Lovelace works at Acme.", "Grace sails.", "--tags", "people", "--wait")
    cli.done("mental-model", "create", "Ada", "What is known about Ada?", "--id", "ada", "--tags", "people", "--wait")
    return cli
