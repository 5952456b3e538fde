"""What is printed: hostile texts, colours, lists, and what options come to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.cli.remote.inputs import names
from adapters.cli.remote.output import as_json, visible
from adapters.cli.remote.trigger import FIELDS, trigger
from adapters.cli.unusable import Unusable
from domain.mental_model.trigger import Trigger
from tests.support.command_line import CommandLine
from tests.support.scripted_api import ScriptedApi

HOSTILE = "\x1b]0;title\x07 \x9b31m [bold]x[/bold] \u202e :smile: \r"
TERMINAL = {"TTY_COMPATIBLE": "1", "TERM": "xterm-256color"}
MODEL = {
    "id": "m", "bank_id": "b", "name": HOSTILE, "tags": [HOSTILE], "version": 3, "content": f"# {HOSTILE}",
    "last_refreshed_at": "2026-03-01T00:00:00+00:00", "source_query": HOSTILE, "trigger": {"mode": HOSTILE},
}  # fmt: skip


@given(st.text())
def test_json_keeps_every_value_and_shows_no_control_character(text: str) -> None:
    shown = as_json({"text": text})
    assert json.loads(shown) == {"text": text}
    assert not any(0x7F <= ord(each) <= 0x9F or each in "\u202e\u2066" for each in shown)


@given(st.text())
def test_what_people_see_has_no_character_that_a_terminal_obeys(text: str) -> None:
    shown = visible(text)
    assert all(each in "\n\t" or each.isprintable() or ord(each) > 0x9F for each in shown)
    assert visible(shown) == shown


@pytest.mark.parametrize("environment", [{}, TERMINAL])
def test_a_hostile_text_reaches_no_terminal(tmp_path: Path, environment: dict[str, str]) -> None:
    with ScriptedApi((200, MODEL)) as server:
        cli = CommandLine(tmp_path, server.address, "b")
        shown = cli.done("mental-model", "get", "m", NO_COLOR="1", **environment)
    for part in ("\x1b]", "\x07", "\x9b", "\u202e", "\r"):
        assert part not in shown
    assert "[bold]x[/bold]" in shown, "no markup"
    assert ":smile:" in shown, "no emoji"


def test_an_error_of_a_server_is_one_line_whatever_it_says(tmp_path: Path) -> None:
    with ScriptedApi((400, {"detail": f"a\nb {HOSTILE}"})) as server:
        told = CommandLine(tmp_path, server.address, "b").refused("tag", "list")
    assert told.startswith("a b \\u001b]0;title")
    assert told.isprintable()


@pytest.mark.parametrize("answer", ["a page of another program", None, 1])
def test_what_answers_without_json_is_told(tmp_path: Path, answer: object) -> None:
    with ScriptedApi((200, answer)) as server:
        told = CommandLine(tmp_path, server.address, "b").refused("tag", "list")
    assert "is it the address of a Palimpsest service?" in told


def test_an_answer_in_another_shape_is_told(tmp_path: Path) -> None:
    with ScriptedApi((200, {"things": []})) as server:
        cli = CommandLine(tmp_path, server.address, "b")
        assert "is its version another?" in cli.refused("tag", "list")
        assert cli.json("tag", "list") == {"things": []}


def test_colours_are_for_terminals_that_want_them(tmp_path: Path) -> None:
    with ScriptedApi((200, {"diff": "@@ -1 +1 @@\n-a\n+b", "from_version": 1, "to_version": 2})) as server:
        cli = CommandLine(tmp_path, server.address, "b")
        assert "\x1b[32m+b" in cli.done("mental-model", "diff", "m", **TERMINAL)
        assert cli.done("mental-model", "diff", "m", NO_COLOR="1", **TERMINAL) == "@@ -1 +1 @@\n-a\n+b\n"
        assert cli.done("mental-model", "diff", "m") == "@@ -1 +1 @@\n-a\n+b\n"


def test_lists_come_with_commas_repeated_or_as_json() -> None:
    assert names(None) is None
    assert names(["a, b", "c"]) == ["a", "b", "c"]
    assert names(['["a,b"]', "c"]) == ["a,b", "c"]
    assert names([""]) == []
    with pytest.raises(Unusable, match="not a list of texts"):
        names(["[1]"])
    with pytest.raises(Unusable, match="not a JSON list"):
        names(["[a"])


def test_every_field_of_a_trigger_has_an_option() -> None:
    assert FIELDS.keys() == Trigger.model_fields.keys()


def test_only_fields_that_were_given_are_sent_and_single_options_go_before_the_object(tmp_path: Path) -> None:
    nothing = dict.fromkeys(FIELDS)
    assert trigger(None, None, **nothing) is None
    (tmp_path / "trigger.json").write_text('{"mode": "full", "budget": "low", "tag_groups": null}')
    given_fields = nothing | {"mode": "delta", "keep_trace": False, "fact_types": ["world,experience"]}
    assert trigger(f"@{tmp_path / 'trigger.json'}", ["refresh_cron"], **given_fields) == {
        "mode": "delta", "budget": "low", "tag_groups": None, "keep_trace": False,
        "fact_types": ["world", "experience"], "refresh_cron": None,
    }  # fmt: skip
    with pytest.raises(Unusable, match="--trigger is not a JSON object"):
        trigger("[]", None, **nothing)
    with pytest.raises(Unusable, match="--tag-groups is not JSON"):
        trigger(None, None, **nothing | {"tag_groups": "{"})


def test_every_option_of_a_trigger_reaches_the_api(tmp_path: Path) -> None:
    options = [
        "--trigger-mode=delta", "--after-consolidation", "--cron=0 6 * * *", "--full-refresh-cron=0 0 * * 0",
        "--min-interval=60", "--budget=low", "--fact-types=world", "--tags-match=any", '--tag-groups=[{"tags": ["a"]}]',
        "--exclude-models", "--exclude-ids=a,b", "--chunks", "--recall-tokens=1", "--chunk-tokens=2",
        "--observation-tokens=3", "--no-entities", '--response-schema={"type": "object"}', "--keep-trace",
    ]  # fmt: skip
    with ScriptedApi((200, MODEL)) as server:
        cli = CommandLine(tmp_path, server.address, "b")
        cli.done("mental-model", "update", "m", *options)
        cli.done("mental-model", "update", "m", "--name", "N")
    sent = server.asked[0][3]
    assert sent["trigger"] == {
        "mode": "delta", "refresh_after_consolidation": True, "refresh_cron": "0 6 * * *",
        "full_refresh_cron": "0 0 * * 0", "min_refresh_interval_seconds": 60, "budget": "low", "fact_types": ["world"],
        "tags_match": "any", "tag_groups": [{"tags": ["a"]}], "exclude_mental_models": True,
        "exclude_mental_model_ids": ["a", "b"], "include_chunks": True, "recall_max_tokens": 1,
        "recall_chunks_max_tokens": 2, "reflect_search_observations_max_tokens": 3,
        "reflect_search_observations_include_entities": False, "response_schema": {"type": "object"},
        "keep_trace": True,
    }  # fmt: skip
    assert sent.keys() == {"trigger"}
    assert server.asked[1][3] == {"name": "N"}
