"""The trace of a refresh: every call, every operation, what came of it."""

from __future__ import annotations

import json
from typing import Any

from domain.document import AddSection, AppendBlock, ReplaceSectionBlocks
from domain.mental_model.events import RefreshFailedDeltaNotApplied
from domain.mental_model.record import (
    Citation,
    DeltaRecord,
    Edit,
    RefreshWindow,
    Relink,
    RetractionRecord,
    ToolCallRecord,
)
from projections.refresh_trace import delta_operations, trace_of
from tests.support.event_examples import RECORD
from tests.support.examples import NOW, call, fact_id, later, refresh_record, written

CALL = ToolCallRecord(
    tool="recall", reason="dates", query="bridge", max_tokens=512, result_count=2, duration_ms=9, iteration=1
)


def test_a_run_is_told_call_by_call() -> None:
    window = RefreshWindow(after=3, upto=7, created_after=later(-9), created_before=NOW)
    trace = trace_of(
        written(tool_calls=(CALL,), calls=(call("reflect_1"), call("edit")), window=window, warnings=("few",)), later(1)
    )
    assert trace == {
        "recorded_at": later(1).isoformat(),
        "effective_mode": "full",
        "mode_fallback_reason": None,
        "outcome": "content_written",
        "tool_calls": [
            {
                "tool": "recall",
                "reason": "dates",
                "input": {"tool": "recall", "query": "bridge", "max_tokens": 512},
                "updated_at": later(-9).isoformat(),
                "result_count": 2,
                "duration_ms": 9,
                "iteration": 1,
            }
        ],
        "llm_calls": [{"scope": "reflect_1", "duration_ms": 3}, {"scope": "edit", "duration_ms": 3}],
        "delta_operations": None,
        "retraction": None,
        "usage": {
            "input_tokens": 200,
            "output_tokens": 40,
            "total_tokens": 240,
            "cached_tokens": 0,
            "thoughts_tokens": 0,
        },
        "duration_ms": 12,
        "warnings": ["few"],
    }


def test_a_call_without_a_lower_bound_has_none_and_a_run_that_is_not_recorded_no_time() -> None:
    trace = trace_of(written(tool_calls=(CALL,)), None)
    assert (trace["tool_calls"][0]["updated_at"], trace["recorded_at"]) == (None, None)


def test_operations_are_told_without_their_texts_and_with_what_came_of_them() -> None:
    edits = (
        Edit(
            edit_pass="edit",
            operation=AddSection(heading="Towers", blocks=("Three.",)),
            facts=(fact_id(1),),
            assigned_id="towers",
        ),
        Edit(edit_pass="edit", operation=AppendBlock(section_id="b1", text="Lost."), skipped="unknown section 'b1'"),
        Edit(edit_pass="compaction", operation=ReplaceSectionBlocks(section_id="towers", blocks=("Few.",))),
        Edit(edit_pass="edit", operation=AppendBlock(section_id="s", text="- a\n"), merged_into_block_id="list-1"),
        Edit(edit_pass="edit", raw='{"op":"paint"}', skipped="unknown operation"),
    )
    assert delta_operations(DeltaRecord(baseline_sha256="", edits=edits)) == {
        "applied": [
            {
                "op": "add_section",
                "heading": "Towers",
                "level": 2,
                "after_section_id": None,
                "new_id": None,
                "assigned_id": "towers",
                "edit_pass": "edit",
                "facts": [str(fact_id(1))],
            },
            {"op": "replace_section_blocks", "section_id": "towers", "edit_pass": "compaction", "facts": []},
            {
                "op": "append_block",
                "section_id": "s",
                "merged_into_block_id": "list-1",
                "edit_pass": "edit",
                "facts": [],
            },
        ],
        "skipped": [
            {
                "op": "append_block",
                "section_id": "b1",
                "reason": "unknown section 'b1'",
                "edit_pass": "edit",
                "facts": [],
            },
            {"raw": '{"op":"paint"}', "reason": "unknown operation", "edit_pass": "edit", "facts": []},
        ],
    }


def test_a_retraction_says_what_was_gone_and_what_was_done_about_it() -> None:
    after = Citation(fact_id=fact_id(5), version=1, position=7, fact_type="world")
    retraction = RetractionRecord(
        fact_ids=(fact_id(2),),
        fact_texts=("The bridge is of wood.",),
        deferred_reason="busy",
        broken=(fact_id(3),),
        relinked=(Relink(before=fact_id(4), after=after),),
    )
    assert trace_of(written(retraction=retraction), NOW)["retraction"] == {
        "fact_ids": [str(fact_id(2))],
        "fact_texts": ["The bridge is of wood."],
        "applied": False,
        "deferred_reason": "busy",
        "broken": [str(fact_id(3))],
        "relinked": [{"before": str(fact_id(4)), "after": str(fact_id(5))}],
    }


def test_a_failed_run_has_a_trace_and_any_trace_is_json() -> None:
    failure: Any = RefreshFailedDeltaNotApplied(
        failure_reason="delta_ops_failed", error_message="", transient=False, record=refresh_record()
    )
    assert trace_of(failure, NOW)["outcome"] == "refresh_failed_delta_not_applied"
    whole = trace_of(failure.model_copy(update={"record": RECORD}), NOW)
    assert json.loads(json.dumps(whole)) == whole
