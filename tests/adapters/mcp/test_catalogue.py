"""The tools as a whole: which are there where, and their table in the documentation."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest

from adapters.cli.main import app
from adapters.mcp.catalogue import ALL, SUBJECTS, Offered, table, warn_of_unknown
from adapters.settings import Settings

DOCUMENT = Path(__file__).parent.parent.parent.parent / "docs" / "mcp.md"
BEGIN, END = "<!-- tools -->\n", "<!-- end of tools -->"

OF_THE_REFERENCE = {
    "list_mental_models", "get_mental_model", "create_mental_model", "update_mental_model", "delete_mental_model",
    "refresh_mental_model", "clear_mental_model", "get_knowledge_base_tree", "search_knowledge_base",
    "get_knowledge_page", "create_knowledge_folder", "create_knowledge_page", "update_knowledge_node",
    "delete_knowledge_node", "retain", "sync_retain", "recall", "reflect", "list_memories", "get_memory",
    "update_memory", "invalidate_memory", "list_documents", "get_document", "delete_document", "list_directives",
    "create_directive", "delete_directive", "list_operations", "get_operation", "cancel_operation", "list_tags",
    "get_bank", "update_bank", "delete_bank", "clear_memories", "list_banks", "create_bank", "get_bank_stats",
}  # fmt: skip


def test_all_tools_of_the_system_of_reference_are_there() -> None:
    assert len(OF_THE_REFERENCE) == 39
    assert ALL.keys() >= OF_THE_REFERENCE
    assert len(ALL) == sum(len(tools.all) for tools in SUBJECTS.values())


def test_the_documentation_lists_the_tools_as_they_are() -> None:
    """To write it anew: `python -m tests.support.mcp_table`."""
    told = DOCUMENT.read_text(encoding="utf-8")
    assert told[told.index(BEGIN) + len(BEGIN) : told.index(END)] == f"\n{table()}\n"


def test_what_a_client_is_configured_with_is_json_and_there_is_such_a_command() -> None:
    over_http, over_stdio = (
        json.loads(each)["mcpServers"]["memory"]
        for each in re.findall(r"```json\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    )
    assert over_http["url"].endswith("/mcp/team")
    command, *options = over_stdio["args"]
    (known,) = (
        each.callback for each in app.registered_commands if each.callback and each.callback.__name__ == command
    )
    assert {each.removeprefix("--") for each in options[::2]} <= set(inspect.signature(known).parameters)


def test_one_bank_has_no_tools_of_all_banks() -> None:
    assert Offered(single=False).tools().keys() - Offered(single=True).tools().keys() == {
        "list_banks",
        "create_bank",
        "get_bank_stats",
    }


def test_what_is_taken_away_is_not_brought_back() -> None:
    some = Offered(single=True, enabled=frozenset({"recall", "retain", "list_banks"}))
    assert some.tools().keys() == {"recall", "retain"}
    assert some.narrowed(None) is some
    assert some.narrowed(["recall", "reflect"]).tools().keys() == {"recall"}
    assert Offered(single=True).narrowed(["recall"]).tools().keys() == {"recall"}
    assert Offered(single=True).narrowed([]).tools() == {}


def test_a_slip_in_the_tools_that_are_enabled_is_said(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PALIMPSEST_MCP_ENABLED_TOOLS", "recall,recal,reflect")
    warn_of_unknown(Settings(_env_file=None))
    assert [each.getMessage() for each in caplog.records] == [
        "PALIMPSEST_MCP_ENABLED_TOOLS names what is no tool: recal; docs/mcp.md lists all"
    ]
    caplog.clear()
    monkeypatch.setenv("PALIMPSEST_MCP_ENABLED_TOOLS", "recall")
    warn_of_unknown(Settings(_env_file=None))
    assert not caplog.records
