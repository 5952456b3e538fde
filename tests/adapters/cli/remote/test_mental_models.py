"""`palimpsest mental-model` against a live server."""

from __future__ import annotations

import sys
from pathlib import Path

import httpx
import pytest

from tests.support.command_line import CommandLine


def asked(address: str, cli: CommandLine, path: str) -> object:
    """The JSON of the API itself."""
    bank = cli.json("bank", "get")["bank_id"]
    return httpx.get(f"{address}/v1/default/banks/{bank}{path}").raise_for_status().json()


def test_created_read_changed_cleared_and_deleted(cli: CommandLine) -> None:
    cli.done("memory", "retain", "Ships are white.", "--wait")
    created = cli.done("mental-model", "create", "Ships", "Which colour have ships?", "--id", "ships", "--wait")
    assert created.startswith("ships created; operation ")
    assert created.splitlines()[1:] == ["refresh_mental_model completed: content_written"]
    assert "Ships" in cli.done("mental-model", "list")
    shown = cli.done("mental-model", "get", "ships")
    assert "Which colour have ships?" in shown
    assert "• Ships are white." in shown, "the document is rendered"
    changed = cli.json("mental-model", "update", "ships", "--name", "White ships", "--max-tokens", "512")
    assert (changed["name"], changed["max_tokens"], changed["source_query"]) == (
        "White ships", 512, "Which colour have ships?",
    )  # fmt: skip
    assert cli.done("mental-model", "clear", "ships", "--yes") == "ships is empty\n"
    assert "(empty)" in cli.done("mental-model", "get", "ships")
    assert cli.done("mental-model", "delete", "ships", "-y") == "ships deleted\n"
    assert cli.json("mental-model", "list")["items"] == []


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        (("mental-model", "list"), "/mental-models"),
        (("mental-model", "list", "--tags", "people", "--detail", "full"), "/mental-models?tags=people&detail=full"),
        (("mental-model", "get", "ada"), "/mental-models/ada"),
        (("mental-model", "get", "ada", "--as-of", "1"), "/mental-models/ada?as_of=1"),
        (("mental-model", "history", "ada"), "/mental-models/ada/history"),
        (("mental-model", "events", "ada", "--detail", "full"), "/mental-models/ada/events?detail=full"),
        (("mental-model", "blame", "ada"), "/mental-models/ada/blame"),
        (("mental-model", "diff", "ada", "1", "2"), "/mental-models/ada/diff?from=1&to=2"),
        (("memory", "list"), "/memories/list"),
        (("document", "list"), "/documents"),
        (("directive", "list"), "/directives"),
        (("operation", "list"), "/operations"),
        (("tag", "list"), "/tags"),
        (("bank", "stats"), "/stats"),
        (("bank", "config", "get"), "/config"),
    ],
    ids=lambda each: " ".join(each[:2]) if isinstance(each, tuple) else "",
)
def test_json_is_the_json_of_the_api_and_nothing_else(
    address: str, told: CommandLine, arguments: tuple[str, ...], path: str
) -> None:
    assert told.json(*arguments) == asked(address, told, path)


def test_raw_is_the_document_to_the_byte(cli: CommandLine, tmp_path: Path) -> None:
    text = "# By hand\r\n\r\n- ключ\n\n\n\x1b[31mred\tend without a line feed"
    (tmp_path / "text.md").write_bytes(text.encode())
    cli.done("mental-model", "create", "Hand", "What is written?", "--id", "hand", "--wait")
    cli.done("mental-model", "edit", "hand", str(tmp_path / "text.md"))
    assert cli.run("mental-model", "get", "hand", "--raw").stdout_bytes == text.encode()
    cli.done("mental-model", "edit", "hand", "-", given=b"x\r\n")
    assert cli.run("mental-model", "get", "hand", "--raw").stdout_bytes == b"x\r\n"
    before = cli.json("mental-model", "get", "hand")["version"] - 1
    assert cli.run("mental-model", "get", "hand", "--as-of", str(before), "--raw").stdout_bytes == text.encode()
    shown = cli.done("mental-model", "get", "hand", "--as-of", str(before))
    assert "\x1b" not in shown
    assert "\\u001b[31mred" in shown


def test_a_document_is_changed_only_while_it_is_at_a_version(cli: CommandLine) -> None:
    cli.done("mental-model", "create", "Hand", "What is written?", "--id", "hand", "--wait")
    version = cli.json("mental-model", "get", "hand")["version"]
    cli.done("mental-model", "edit", "hand", "-", "--if-version", str(version), given="one\n")
    assert "at version" in cli.refused("mental-model", "edit", "hand", "-", "--if-version", str(version), given="two\n")
    assert "at version" in cli.refused("mental-model", "update", "hand", "--name", "N", "--if-version", str(version))
    cli.done("mental-model", "edit", "hand", "-", given="three\n")
    assert "says what it said" in cli.done("mental-model", "revert", "hand", str(version + 1))
    assert cli.done("mental-model", "get", "hand", "--raw") == "one\n"


def test_an_editor_is_given_the_document_and_what_it_leaves_is_written(cli: CommandLine, tmp_path: Path) -> None:
    editor = tmp_path / "editor.py"
    editor.write_text("import sys; f = open(sys.argv[1], 'r+b'); f.seek(0, 2); f.write(b'two\\r\\n'); f.close()")
    cli.done("mental-model", "create", "Hand", "What is written?", "--id", "hand", "--wait")
    cli.done("mental-model", "edit", "hand", "-", given="one\r\n")
    command = f"{sys.executable} {editor}"
    cli.done("mental-model", "edit", "hand", EDITOR=command, VISUAL=command)
    assert cli.run("mental-model", "get", "hand", "--raw").stdout_bytes == b"one\r\ntwo\r\n"
    assert cli.refused("mental-model", "edit", "hand", VISUAL="true") == "nothing was changed"
    assert "exit code 1" in cli.refused("mental-model", "edit", "hand", VISUAL="false")
    assert "no-such-editor" in cli.refused("mental-model", "edit", "hand", VISUAL="no-such-editor")


def test_what_was_written_while_an_editor_was_open_is_not_lost(address: str, cli: CommandLine, tmp_path: Path) -> None:
    cli.done("mental-model", "create", "Hand", "What is written?", "--id", "hand", "--wait")
    bank = cli.json("bank", "get")["bank_id"]
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import sys, urllib.request as r; open(sys.argv[1], 'w').write('mine');"
        f"r.urlopen(r.Request('{address}/v1/default/banks/{bank}/mental-models/hand', b'{{\"content\": \"theirs\"}}',"
        " {'Content-Type': 'application/json'}, method='PATCH')).close()"
    )
    assert "is at version" in cli.refused("mental-model", "edit", "hand", VISUAL=f"{sys.executable} {editor}")
    assert cli.done("mental-model", "get", "hand", "--raw") == "theirs"


def test_how_a_document_came_to_be(told: CommandLine) -> None:
    assert "refreshed" in told.done("mental-model", "history", "ada")
    assert "+- Ada Lovelace works at Acme." in told.done("mental-model", "diff", "ada", "1", "2")
    assert "say the same" in told.done("mental-model", "diff", "ada", "2", "2")
    assert "content_written" in told.done("mental-model", "events", "ada")
    blamed = told.done("mental-model", "blame", "ada", "--facts").splitlines()
    written = next(number for number, line in enumerate(blamed) if "- Ada Lovelace works at Acme." in line)
    assert blamed[written].split()[:2] == ["2", "worker"]
    assert blamed[written + 1].strip() == "Ada Lovelace works at Acme.", "the fact it rests on"
    audited = told.done("mental-model", "audit", "ada")
    assert "Created to answer" in audited
    assert "2 events; 0 calls of models, 0 tokens" in audited


def test_a_dry_run_shows_what_would_change_and_changes_nothing(cli: CommandLine) -> None:
    cli.done("memory", "retain", "Ships are white.", "--wait")
    cli.done("mental-model", "create", "Ships", "Which colour have ships?", "--id", "ships", "--wait")
    cli.done("memory", "retain", "Ships in the south are blue.", "--wait")
    shown = cli.done("mental-model", "dry-run", "ships")
    assert "content_written" in shown
    assert "+- Ships in the south are blue." in shown
    assert cli.json("mental-model", "get", "ships")["version"] == 2
    assert "completed: content_written" in cli.done("mental-model", "refresh", "ships", "--full", "--wait")
    assert "blue" in cli.done("mental-model", "get", "ships", "--raw")


def test_a_partial_update_of_the_trigger_keeps_the_rest(cli: CommandLine) -> None:
    cli.done(
        "mental-model", "create", "T", "What?", "--id", "t", "--trigger", '{"mode": "delta", "keep_trace": true}',
        "--fact-types", "world,observation",
    )  # fmt: skip
    changed = cli.json("mental-model", "update", "t", "--cron", "0 6 * * *", "--unset", "fact_types")["trigger"]
    assert (changed["mode"], changed["keep_trace"], changed["refresh_cron"]) == ("delta", True, "0 6 * * *")
    assert changed.get("fact_types") is None
    assert "not a cron expression" in cli.refused("mental-model", "update", "t", "--cron", "often")
    assert cli.json("mental-model", "update", "t", "--tags", "a,b")["tags"] == ["a", "b"]
    assert cli.json("mental-model", "update", "t", "--tags", "")["tags"] == []


def test_what_the_api_refuses_is_told_in_its_words(told: CommandLine) -> None:
    assert told.refused("mental-model", "get", "nothing").startswith("Mental model 'nothing' not found")
    assert "max_tokens: Input should be greater than or equal to 256" in told.refused(
        "mental-model", "update", "ada", "--max-tokens", "1"
    )
    assert "--yes" in told.refused("mental-model", "delete", "ada"), "nobody can be asked"
    assert "not found" in told.refused("mental-model", "list", "--bank", "no-such-bank")
