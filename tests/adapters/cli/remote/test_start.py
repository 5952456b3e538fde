"""The program starts in no time, and completes ids without a word too many."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from adapters.cli import command_table
from tests.support.command_line import CommandLine
from tests.support.scripted_api import ScriptedApi

ROOT = Path(__file__).parents[4]
HEAVY = ("fastapi", "psycopg", "openai", "numpy", "procrastinate", "nicegui", "mcp", "httpx2", "uvicorn", "croniter")
LOADED = f"""
import sys
from adapters.cli.main import main
sys.argv = ["palimpsest", *sys.argv[1:]]
try:
    main()
finally:
    print(*(each for each in {HEAVY} if each in sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [
        (["--help"], ""),
        (["version"], ""),
        (["mental-model", "--help"], ""),
        (["mental-model", "create", "--help"], ""),
        (["profile", "list"], ""),
        (["tag", "list", "-b", "b", "--server", "http://127.0.0.1:1"], "httpx2"),
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else "",
)
def test_what_a_command_does_not_need_is_not_loaded(tmp_path: Path, arguments: list[str], loaded: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *arguments],
        cwd=ROOT,
        env={"XDG_CONFIG_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stderr.splitlines()[-1] == loaded
    assert done.returncode == (2 if loaded else 0)


def test_what_cannot_be_done_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "adapters.cli", "tag", "list", "-b", "b", "--server", "http://127.0.0.1:1"],
        env={"XDG_CONFIG_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("palimpsest: nothing answers at http://127.0.0.1:1")


def completed(cli: CommandLine, words: str) -> list[str]:
    """What a shell is told for the last word of a line."""
    place = str(len(words.split(" ")) - 1)
    shown = cli.run(_PALIMPSEST_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=place)
    assert (shown.exit_code, shown.stderr) == (0, "")
    return shown.stdout.split()


def test_ids_are_completed(tmp_path: Path) -> None:
    with ScriptedApi((200, {"banks": [{"bank_id": "team"}, {"bank_id": "other"}]})) as server:
        cli = CommandLine(tmp_path, server.address)
        assert completed(cli, "palimpsest tag list --bank t") == ["team"]
    with ScriptedApi((200, {"items": [{"id": "ada"}, {"id": "acme"}, {"id": "ships"}]})) as server:
        cli = CommandLine(tmp_path, server.address)
        assert completed(cli, "palimpsest mental-model get -b team a") == ["ada", "acme"]
        assert server.asked[0][1].startswith("/v1/default/banks/team/mental-models?")
        cli.done("profile", "set", "home", "--bank", "b")
        assert completed(cli, "palimpsest profile use h") == ["home"]
    assert completed(cli, "palimpsest mental-model ref") == ["refresh"]


@pytest.mark.parametrize("answer", [(500, {"detail": "no"}), (200, []), (200, {"items": [1]}), (401, {})])
def test_a_completion_that_cannot_be_had_is_none(tmp_path: Path, answer: tuple[int, object]) -> None:
    with ScriptedApi(answer) as server:
        assert completed(CommandLine(tmp_path, server.address, "b"), "palimpsest mental-model get a") == []
    assert completed(CommandLine(tmp_path, "http://127.0.0.1:1", "b"), "palimpsest mental-model get a") == []
    assert completed(CommandLine(tmp_path, "nonsense", "b"), "palimpsest mental-model get a") == []


def test_every_command_is_in_the_guide_and_no_other() -> None:
    guide = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    table = guide.split("## Commands\n\n", 1)[1].split("\n## ", 1)[0]
    assert table == command_table.render(), "python -m adapters.cli.command_table prints it"
