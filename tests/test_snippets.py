"""Every snippet of the documentation does what the page says, from top to bottom, against a service that was just made.

Shell and Python of a page run in the order of the page, on one service; a request that is refused, or a command that
fails, fails the page.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from adapters.app import build
from adapters.service import opened
from adapters.settings import Settings
from tests.support.live_server import live_server
from tests.support.snippets import RUN, SHOWN, Snippet, snippets_of

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WITH_SNIPPETS = [page for page in PAGES if any(each.language in RUN and not each.why_not for each in snippets_of(page))]
ADDRESS = "http://127.0.0.1:8888"
SECONDS = 60

# What a shell is told before the snippets: the first thing that fails ends it, and a refused request has failed.
PREAMBLE = (
    'set -euo pipefail\ncurl() { command curl --silent --show-error --fail-with-body --max-time 30 "$@"; echo; }\n'
)


@pytest.fixture
def address(conninfo: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A service as a reader has it, but for what other tests do without."""
    monkeypatch.delenv("PALIMPSEST_ENABLE_OBSERVATIONS", raising=False)
    settings = Settings(_env_file=None, worker_retry_seconds=0)
    with opened(build(settings, conninfo)) as service, live_server(service) as address:
        yield address


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_SNIPPETS, ids=lambda page: page.name)
def test_the_snippets_of_a_page_run_from_top_to_bottom(page: Path, address: str, tmp_path: Path) -> None:
    assert subprocess.run(["curl", "--version"], capture_output=True, check=False).returncode == 0, "curl is needed"
    python: dict[str, object] = {}
    shell = PREAMBLE
    for snippet in snippets_of(page):
        if snippet.language not in RUN or snippet.why_not:
            continue
        code = snippet.code.replace(ADDRESS, address)
        if snippet.language == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(code, snippet.place, "exec"), python)
        else:
            # Each block goes on where the one before it ended, with its variables, and runs once.
            shell = _run(snippet, shell, code, address, tmp_path)


def _run(snippet: Snippet, before: str, code: str, address: str, folder: Path) -> str:
    """Runs the block; returns what a shell has to be told to go on from there."""
    done = subprocess.run(
        ["bash", "-c", f"{before}\n{code}\ndeclare -p > {folder}/variables"],
        cwd=folder,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PALIMPSEST_SERVER": address,
            "XDG_CONFIG_HOME": str(folder),
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, (
        f"{snippet.place} ended with {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    )
    variables = (folder / "variables").read_text(encoding="utf-8").splitlines()
    kept = "\n".join(line for line in variables if line.startswith(("declare -- ", "declare -x ")))
    return f"{PREAMBLE}\n{kept}"


def test_every_block_is_run_or_shown_or_says_why_not() -> None:
    others = [each for page in PAGES for each in snippets_of(page) if each.language not in (*RUN, *SHOWN)]
    assert [f"{each.place}: {each.language or 'no language'}" for each in others] == []


def test_what_is_shown_as_json_is_json() -> None:
    shown = [each for page in PAGES for each in snippets_of(page) if each.language == "json" and not each.why_not]
    assert shown
    for each in shown:
        try:
            json.loads(each.code)
        except ValueError as error:
            pytest.fail(f"{each.place}: {error}")
