"""`palimpsest memory`, `document`, `bank`, `directive`, `operation` and `tag` against a live server."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

from tests.support.command_line import CommandLine


def fact(cli: CommandLine) -> str:
    return str(cli.json("memory", "list", "--type", "world")["items"][0]["id"])


def test_texts_come_from_arguments_files_and_standard_input(cli: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("Ships are white.\n")
    done = cli.done(
        "memory", "retain", "Ada works at Acme.", f"@{tmp_path / 'notes.txt'}", "-", "--wait", given="Grace sails.\n"
    )
    assert done.splitlines()[0].startswith("3 queued; operation ")
    assert done.splitlines()[1:] == ["retain completed"]
    listed = cli.done("memory", "list")
    for text in ("Ada works at Acme.", "Ships are white.", "Grace sails."):
        assert text in listed
    assert "there is no file nowhere" in cli.refused("memory", "retain", "@nowhere")
    assert "not text in UTF-8" in cli.refused("memory", "retain", "-", given=b"\xff\xfe")


def test_a_text_is_retained_with_all_that_is_told_of_it(cli: CommandLine) -> None:
    cli.done(
        "memory", "retain", "Ada works at Acme.", "--document-id", "notes/1", "--tags", "people,work",
        "--timestamp", "2024-05-01T10:00:00Z", "--metadata", "source=talk", "--context", "a talk", "--wait",
    )  # fmt: skip
    cli.done("memory", "retain", "Ada sails.", "--document-id", "notes/1", "--append", "--wait")
    document = cli.json("document", "get", "notes/1")
    assert document["tags"] == ["people", "work"]
    assert document["document_metadata"] == {"source": "talk"}
    assert cli.done("document", "get", "notes/1", "--raw") == document["original_text"]
    assert "notes/1" in cli.done("document", "list", "ada")
    assert "Ada works at Acme." in cli.done("document", "get", "notes/1")
    assert "people" in cli.done("tag", "list", "pe*")
    assert "memories deleted" in cli.done("document", "delete", "notes/1", "-y")
    assert cli.json("document", "list")["items"] == []


def test_memory_answers(told: CommandLine) -> None:
    recalled = told.done("memory", "recall", "Where does Ada work?", "--tags", "people", "--chunks", "--trace")
    assert "Ada Lovelace works at Acme." in recalled
    assert told.json("memory", "recall", "Ada", "--tags", "none", "--tags-match", "all_strict")["results"] == []
    answer = told.done("memory", "reflect", "Where does Ada work?", "--facts")
    assert "Ada Lovelace works at Acme." in answer
    raw = told.done("memory", "reflect", "Where does Ada work?", "--raw")
    assert raw == told.json("memory", "reflect", "Where does Ada work?")["text"]
    assert "go together" in told.refused("memory", "recall", "Ada", "--since", "2024-01-01")
    assert "--min-scores is not JSON" in told.refused("memory", "recall", "Ada", "--min-scores", "{")


def test_a_fact_is_corrected_set_aside_restored_and_deleted(cli: CommandLine) -> None:
    cli.done("memory", "retain", "Ada works at Acme.", "--wait")
    memory = fact(cli)
    assert "Ada works at Ajax." in cli.done("memory", "edit", memory, "Ada works at Ajax.")
    assert cli.done("memory", "invalidate", memory, "--reason", "moved") == f"{memory} is set aside\n"
    assert "(set aside: moved)" in cli.done("memory", "get", memory)
    assert memory in cli.done("memory", "list", "--state", "invalidated")
    assert cli.done("memory", "restore", memory) == f"{memory} counts again\n"
    assert cli.done("memory", "delete", memory, "--yes") == f"Memory '{memory}' deleted\n"
    assert "not found" in cli.refused("memory", "get", memory)


def test_banks_are_made_changed_configured_and_deleted(cli: CommandLine) -> None:
    bank = f"bank-{uuid4().hex[:12]}"
    cli.done("bank", "create", bank, "--name", "Ada's", "--mission", "Know Ada.", "--skepticism", "5")
    told = cli.json("bank", "get", "--bank", bank)
    assert (told["name"], told["mission"], told["disposition"]["skepticism"]) == ("Ada's", "Know Ada.", 5)
    cli.done("bank", "update", "-b", bank, "--name", "Hers")
    assert "Hers" in cli.done("bank", "list", bank)
    set_now = cli.done("bank", "config", "set", "retain_chunk_size=2000", "retain_mission=Look for Ada.", "-b", bank)
    assert "2000" in set_now
    assert cli.done("bank", "config", "get", "retain_mission", "-b", bank) == '"Look for Ada."\n'
    cli.done("bank", "config", "set", "retain_chunk_size=null", "-b", bank)
    assert "retain_chunk_size" not in cli.json("bank", "config", "get", "-b", bank)["overrides"]
    assert "there is no key 'nonsense'" in cli.refused("bank", "config", "get", "nonsense", "-b", bank)
    assert "a key is KEY=VALUE" in cli.refused("bank", "config", "set", "nonsense", "-b", bank)
    cli.done("bank", "config", "reset", "-b", bank, "-y")
    assert cli.json("bank", "config", "get", "-b", bank)["overrides"] == {}
    assert "memories" in cli.done("bank", "stats", "-b", bank)
    assert "deleted" in cli.done("bank", "delete", bank, "-y")
    assert cli.refused("bank", "get", "-b", bank) == f"there is no bank '{bank}'"


def test_a_template_makes_another_bank_alike(told: CommandLine, tmp_path: Path) -> None:
    manifest = told.done("bank", "template", "export")
    assert [each["id"] for each in json.loads(manifest)["mental_models"]] == ["ada"]
    (tmp_path / "bank.json").write_text(manifest)
    bank = f"bank-{uuid4().hex[:12]}"
    previewed = told.done("bank", "template", "import", str(tmp_path / "bank.json"), "-b", bank, "--dry-run")
    assert "would be done" in previewed
    done = told.done("bank", "template", "import", "-", "-b", bank, "--wait", given=manifest)
    assert done.startswith("refresh_mental_model completed")
    assert told.json("mental-model", "list", "-b", bank)["total"] == 1
    assert "is not JSON" in told.refused("bank", "template", "import", "-", given="no")


def test_directives(cli: CommandLine) -> None:
    made = cli.json("directive", "create", "Tone", "Be brief.", "--priority", "3", "--tags", "a")
    assert "Tone: Be brief." in cli.done("directive", "list")
    assert "Be brief." in cli.done("directive", "get", made["id"])
    changed = cli.json("directive", "update", made["id"], "--rule", "-", "--inactive", given="Be kind.")
    assert (changed["content"], changed["is_active"], changed["priority"]) == ("Be kind.", False, 3)
    assert cli.json("directive", "list")["items"] == []
    assert len(cli.json("directive", "list", "--all")["items"]) == 1
    assert "deleted" in cli.done("directive", "delete", made["id"], "-y")


def test_operations_are_followed_and_ended_ones_deleted(cli: CommandLine) -> None:
    operation = cli.json("memory", "retain", "Ada works at Acme.")["operation_id"]
    assert cli.done("operation", "watch", operation) == "retain completed\n"
    assert cli.json("memory", "retain", "Grace sails.", "--wait")["status"] == "completed"
    assert operation in cli.done("operation", "list", "--status", "completed")
    assert "retain" in cli.done("operation", "get", operation)
    assert "task_payload" in cli.json("operation", "get", operation, "--payload")
    assert "task_payload" not in cli.json("operation", "get", operation)
    assert "completed" in cli.refused("operation", "retry", operation)
    assert "has ended" in cli.refused("operation", "cancel", operation)
    assert cli.done("operation", "watch") == "nothing is under way\n"
    assert "deleted" in cli.done("operation", "delete", operation, "-y")
    assert "there is no operation" in cli.refused("operation", "watch", operation)
