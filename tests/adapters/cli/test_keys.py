"""`palimpsest keys` on a real database, and the address that is served only to those who have one."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from adapters.app import build
from adapters.cli.keys import app
from adapters.cli.serving import require_key
from adapters.cli.unusable import Unusable
from adapters.service import Service, opened
from adapters.settings import Settings
from domain.api_keys import KeyNotFound
from domain.event import Context


@pytest.fixture
def database(conninfo: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", conninfo)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.usefixtures("database")
def test_a_key_is_made_shown_once_listed_and_revoked() -> None:
    assert "no keys" in run("list")
    token = run(
        "create", "--name", "[bold]Guides", "--bank", "prague", "--bank", "brno", "--tags", "a, b", "--read-only"
    )
    assert re.fullmatch(r"pal_[0-9a-f]{12}_[\w-]{43}\n", token)
    (listed,) = json.loads(run("list", "--json"))
    assert (listed["name"], listed["banks"], listed["tags"]) == ("[bold]Guides", ["prague", "brno"], ["a", "b"])
    assert (listed["read_only"], listed["revoked_at"], listed["last_used_at"]) == (True, None, None)
    shown = run("list")
    assert listed["id"] in shown
    assert token.rpartition("_")[2].strip() not in shown
    assert "is revoked" in run("revoke", listed["id"])
    assert "before" in run("revoke", listed["id"])
    assert json.loads(run("list", "--json"))[0]["revoked_at"] is not None
    with pytest.raises(KeyNotFound, match="keys list"):
        run("revoke", "nothing")


@pytest.mark.usefixtures("database")
def test_a_key_may_end_by_itself() -> None:
    run("create", "--expires-in-days", "1")
    assert json.loads(run("list", "--json"))[0]["expires_at"] is not None
    assert "until" in run("list")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.7", "::"])
def test_others_are_served_once_there_is_a_key(service: Service, conninfo: str, host: str) -> None:
    """Also after that: a key that was revoked is none."""
    chosen = Settings(_env_file=None, host=host)
    with pytest.raises(Unusable, match="keys create"):
        require_key(chosen, service)
    made = service.api_keys.create(_context(service))
    require_key(chosen, service)
    service.api_keys.revoke(_context(service), made.key_id)
    with opened(build(chosen, conninfo)) as other, pytest.raises(Unusable, match=re.escape(host)):
        require_key(chosen, other)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.1.2.3"])
def test_this_machine_is_served_without_keys(service: Service, host: str) -> None:
    require_key(Settings(_env_file=None, host=host), service)


def _context(service: Service) -> Context:
    return Context("user", service.clock.now())
