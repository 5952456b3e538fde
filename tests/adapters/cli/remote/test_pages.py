"""`palimpsest page` against a live server, and files of an export that lead elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.command_line import CommandLine
from tests.support.scripted_api import ScriptedApi


def names_of(tree: Any) -> list[Any]:
    """Names of a tree, those inside a folder as a list behind it."""
    found: list[Any] = []
    for node in tree:
        found += [node["name"], names_of(node["children"])] if node["kind"] == "folder" else [node["name"]]
    return found


def test_folders_and_pages_are_made_read_found_moved_and_deleted(address: str, cli: CommandLine) -> None:
    cli.done("memory", "retain", "Ships are white.", "--wait")
    folder = cli.json("page", "create-folder", "Fleet")["id"]
    made = cli.json(
        "page", "create", "Ships", "Which colour have ships?", "--in", folder, "--tags", "sea",
        "--fact-types", "world", "--min-interval", "60",
    )  # fmt: skip
    page = made["page_id"]
    cli.done("operation", "watch", made["operation_id"])
    trigger = cli.json("mental-model", "get", made["mental_model_id"])["trigger"]
    assert (trigger["mode"], trigger["fact_types"], trigger["min_refresh_interval_seconds"]) == ("delta", ["world"], 60)
    shown = cli.done("page", "tree")
    assert "Fleet/" in shown
    assert page in shown
    bank = cli.json("bank", "get")["bank_id"]
    served = httpx.get(f"{address}/v1/default/banks/{bank}/knowledge-base/tree").raise_for_status().json()
    assert cli.json("page", "tree") == served
    assert names_of(cli.json("page", "tree", "--tags", "land", "--tags-match", "all_strict")["roots"]) == []
    assert "Which colour have ships?" in cli.done("page", "get", page)
    assert cli.done("page", "get", page, "--raw") == cli.json("page", "get", page)["body"]
    assert cli.done("page", "get", page, "--raw", "--front-matter").startswith("---\n")
    assert page in cli.done("page", "search", "ships")
    cli.done("page", "update", page, "--name", "White ships", "--trigger-mode", "full")
    cli.done("page", "move", page, "--root")
    assert names_of(cli.json("page", "tree")["roots"]) == ["Fleet", [], "White ships"]
    cli.done("page", "move", page, folder)
    assert names_of(cli.json("page", "tree")["roots"]) == ["Fleet", ["White ships"]]
    assert "one of them" in cli.refused("page", "move", page)
    assert "deleted" in cli.done("page", "delete", folder, "-y")
    assert cli.json("page", "tree")["roots"] == []


def test_a_folder_of_files_becomes_pages_and_pages_become_the_same_files(cli: CommandLine, tmp_path: Path) -> None:
    files = tmp_path / "files"
    (files / "fleet").mkdir(parents=True)
    text = "# Ships\n\n- white\r\n- ключ\n"
    (files / "fleet" / "ships.md").write_bytes(text.encode())
    (files / "land.md").write_text("# Land\n")
    (files / ".hidden.md").write_text("# Not this\n")
    (files / "notes.txt").write_text("not this")
    previewed = cli.json("page", "import", str(files), "--dry-run")
    assert [each["change"] for each in previewed["pages"]] == ["created", "created"]
    assert "not found" in cli.refused("page", "tree"), "not even the bank was made"
    assert "2 pages read, 1 folders made" in cli.done("page", "import", str(files))
    again = cli.json("page", "import", str(files))
    assert {each["change"] for each in again["pages"]} == {"unchanged"}
    written = tmp_path / "written"
    assert "files written" in cli.done("page", "export", str(written))
    exported = {path.relative_to(written).as_posix(): path.read_bytes() for path in written.rglob("*.md")}
    served = cli.json("page", "export", str(tmp_path / "other"))["files"]
    assert exported == {each["path"]: each["content"].encode() for each in served}
    assert any(content.endswith(text.encode()) for content in exported.values()), "the text, to the byte"


def test_a_folder_without_markdown_is_told(cli: CommandLine, tmp_path: Path) -> None:
    assert "no markdown files" in cli.refused("page", "import", str(tmp_path))
    assert "is no folder" in cli.refused("page", "import", str(tmp_path / "nowhere"))


@pytest.mark.parametrize("path", ["../up.md", "/etc/up.md", "a/../../up.md", "", "C:/up.md", "a\\..\\up.md", "a\0.md"])
def test_no_file_of_an_export_is_written_outside_the_folder(tmp_path: Path, path: str) -> None:
    files = [{"path": "index.md", "content": "i"}, {"path": path, "content": "x"}]
    with ScriptedApi((200, {"files": files})) as server:
        cli = CommandLine(tmp_path / "config", server.address, "b")
        assert "does not belong into" in cli.refused("page", "export", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists(), "nothing at all was written"


def test_a_link_in_the_folder_leads_no_file_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out" / "fleet").symlink_to(tmp_path / "elsewhere")
    with ScriptedApi((200, {"files": [{"path": "fleet/ships.md", "content": "x"}]})) as server:
        cli = CommandLine(tmp_path / "config", server.address, "b")
        assert "by a link" in cli.refused("page", "export", str(tmp_path / "out"))
    assert list((tmp_path / "elsewhere").iterdir()) == []
