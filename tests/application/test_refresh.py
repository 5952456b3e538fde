"""The refresh executor: it reads, asks and reports, and writes nothing."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, Literal

import pytest

from application.reflection import RETRIEVAL_EMPTY
from application.refresh import NOTHING_READABLE
from domain.memory import RetainItem
from domain.mental_model.record import FactCount, ResolvedScope
from domain.mental_model.state import MentalModel
from domain.mental_model.trigger import Trigger
from domain.reflection import Answer, Step, ToolResult
from domain.refresh import (
    Candidate,
    NothingToRead,
    RefreshRun,
    RunFailed,
)
from domain.refresh.mode import AFTER_OUTGROWING
from domain.scope import Scope, TagLeaf
from tests.support.examples import BANK, MODEL, NOW, QUESTION, later, mental_model
from tests.support.scripted_minds import RECALL, Act, answer_from_all, unusable
from tests.support.world import World

BEGUN = "The bridge was begun in 1357."
FINISHED = "The bridge was finished in 1402."


def refresh(world: World, override: Literal["full"] | None = None, **fields: Any) -> RefreshRun:
    return world.executor.execute(mental_model(**fields), override)


def commits(world: World, text: str) -> None:
    """Someone else's memory becomes visible."""
    world.memory.add(BANK, text)


def while_another_memory_commits(world: World, text: str) -> Act:
    """A recall of the mind, just before which someone else's memory becomes visible."""

    def act(results: Sequence[ToolResult]) -> Step:
        assert not results
        commits(world, text)
        return RECALL

    return act


def test_a_run_tells_what_was_read_answered_and_spent() -> None:
    world = World(RECALL, answer_from_all).knows(BEGUN, FINISHED)
    run = refresh(world)
    assert run.result == Candidate(f"- {FINISHED}\n- {BEGUN}\n")
    record = run.record
    assert (record.candidate, record.raw_reply, record.engine) == (f"- {FINISHED}\n- {BEGUN}\n", "{...}", "scripted")
    assert (record.source_query, record.requested_mode, record.effective_mode) == (QUESTION, "full", "full")
    assert (record.mode_fallback_reason, record.reflect_skipped, record.warnings) == (None, None, ())
    assert record.retrieved == (FactCount(fact_type="world", count=2),)
    assert [each.text for each in record.evidence] == [FINISHED, BEGUN]
    assert [each.purpose for each in record.calls] == ["reflect_1", "embed", "reflect_2"]
    assert [each.iteration for each in record.tool_calls] == [1]
    assert record.duration_ms >= 0


def test_a_run_writes_nothing() -> None:
    world = World(RECALL, answer_from_all).knows(BEGUN)
    refresh(world)
    assert (world.log.streams, world.transactions.begun, world.memory.position(BANK)) == ({}, 0, 1)


def test_the_window_ends_where_the_bank_stood_when_the_run_began() -> None:
    world = World(RECALL, answer_from_all).knows(BEGUN, FINISHED)
    window = refresh(world).record.window
    assert (window.after, window.upto, window.created_after, window.created_before) == (0, 2, None, NOW)


def test_the_watermark_is_when_the_newest_readable_memory_was_written() -> None:
    world = World(RECALL, answer_from_all).knows(BEGUN, tags=("stone",)).knows(FINISHED)
    assert refresh(world).record.window.watermark == later(2)
    world.policy.script = [RECALL, answer_from_all]
    assert refresh(world, tags=("stone",)).record.window.watermark == later(1)


def test_a_memory_that_commits_during_the_run_is_not_in_its_window() -> None:
    world = World(answer_from_all).knows(BEGUN)
    world.policy.script.insert(0, while_another_memory_commits(world, FINISHED))
    run = refresh(world)
    assert run.result == Candidate(f"- {BEGUN}\n")
    assert (run.record.window.upto, run.record.window.watermark, world.memory.position(BANK)) == (1, later(1), 2)


def test_a_memory_that_is_replaced_during_the_run_is_read_as_it_was() -> None:
    world = World(answer_from_all)
    world.memories.retain(world.context, BANK, [RetainItem(content=BEGUN, document_id="guide")])

    def replaced(results: Sequence[ToolResult]) -> Step:
        assert not results
        world.memories.retain(world.context, BANK, [RetainItem(content=FINISHED, document_id="guide")])
        return RECALL

    world.policy.script.insert(0, replaced)
    assert refresh(world).result == Candidate(f"- {BEGUN}\n")


@pytest.mark.parametrize("known", [(), (BEGUN,)], ids=["an empty bank", "a bank with memory"])
def test_a_memory_that_commits_just_after_the_snapshot_is_left_for_the_next_run(known: tuple[str, ...]) -> None:
    world = World(RECALL, answer_from_all).knows(*known)
    world.memory.meanwhile.append(lambda: commits(world, FINISHED))
    run = refresh(world)
    assert run.record.window.upto == len(known)
    assert run.result == (Candidate(f"- {BEGUN}\n") if known else NothingToRead())


@pytest.mark.parametrize(
    ("fields", "memory"),
    [
        ({}, None),
        ({"tags": ("stone",)}, {"tags": ("wood",)}),
        ({"tags": ("stone",)}, {"tags": ()}),
        ({"trigger": Trigger(fact_types=("observation",))}, {"fact_type": "world"}),
        ({"trigger": Trigger(tag_groups=(TagLeaf(tags=("stone",)),))}, {"tags": ("wood",)}),
    ],
    ids=["an empty bank", "other tags", "no tags", "another fact type", "outside the tag groups"],
)
def test_when_nothing_is_readable_no_mind_is_asked(fields: dict[str, Any], memory: dict[str, Any] | None) -> None:
    world = World()
    if memory is not None:
        world.knows(BEGUN, **memory)
    run = refresh(world, content="Text.\n", **fields)
    assert (run.result, run.record.reflect_skipped) == (NothingToRead(), "no_sources_in_scope")
    assert (run.record.warnings, run.record.calls, run.record.tool_calls) == ((NOTHING_READABLE,), (), ())
    assert (run.record.window.watermark, run.record.candidate) == (None, "")
    assert (world.policy.asked, world.embedder.texts) == ([], [])


@pytest.mark.parametrize(
    ("fields", "scope"),
    [
        ({}, Scope()),
        ({"tags": ("stone",)}, Scope(tags=("stone",), tags_match="all_strict")),
        ({"tags": ("stone",), "trigger": Trigger(tags_match="any")}, Scope(tags=("stone",), tags_match="any")),
        (
            {"tags": ("stone",), "trigger": Trigger(tag_groups=(TagLeaf(tags=("prague",)),))},
            Scope(tag_groups=(TagLeaf(tags=("prague",)),)),
        ),
        ({"trigger": Trigger(fact_types=("world",))}, Scope(fact_types=("world",))),
    ],
)
def test_the_scope_that_was_read_is_on_record(fields: dict[str, Any], scope: Scope) -> None:
    world = World(RECALL, answer_from_all).knows(BEGUN, tags=("stone", "prague"))
    assert refresh(world, **fields).record.scope.scope == scope
    assert [query.scope for query in world.memory.queries] == [scope]


def test_a_model_never_reads_itself() -> None:
    world = World(RECALL, answer_from_all).knows(BEGUN)
    trigger = Trigger(exclude_mental_models=True, exclude_mental_model_ids=("old-town", MODEL))
    scope = refresh(world, trigger=trigger).record.scope
    assert scope == ResolvedScope(
        scope=Scope(), exclude_mental_models=True, exclude_mental_model_ids=(MODEL, "old-town")
    )


@pytest.mark.parametrize(
    ("content", "answered", "fallback"),
    [
        ("", None, "no_baseline_content"),
        ("Stone.\n", "Another question?", "source_query_changed"),
    ],
)
def test_a_delta_without_a_baseline_is_answered_as_a_full_refresh_and_says_why(
    content: str, answered: str | None, fallback: str
) -> None:
    world = World(RECALL, answer_from_all).knows(BEGUN)
    record = refresh(world, content=content, answered_query=answered, trigger=Trigger(mode="delta")).record
    assert (record.requested_mode, record.effective_mode, record.mode_fallback_reason) == ("delta", "full", fallback)
    assert (record.warnings, record.delta) == ((), None)


def test_a_full_refresh_may_be_asked_for_once() -> None:
    world = World(RECALL, answer_from_all).knows(BEGUN)
    model: dict[str, Any] = {"content": "Text.\n", "answered_query": QUESTION, "trigger": Trigger(mode="delta")}
    record = refresh(world, "full", **model).record
    assert (record.requested_mode, record.warnings) == ("full", ())


def test_warnings_of_the_mode_come_before_those_of_the_reading() -> None:
    world = World(answer_from_all).knows(BEGUN)
    outgrown: dict[str, Any] = {"outgrown_tokens": 500, "max_tokens": 300, "answered_query": QUESTION}
    record = refresh(world, content="Stone.\n", trigger=Trigger(mode="delta"), **outgrown).record
    assert record.warnings == (AFTER_OUTGROWING.format(budget=300, tokens=500), RETRIEVAL_EMPTY)


def test_the_mind_is_asked_the_standing_question_with_the_present_text() -> None:
    world = World(RECALL, answer_from_all).knows(BEGUN)
    refresh(world, content="Text.\n", max_tokens=512)
    question = world.policy.asked[0][0]
    assert (question.name, question.source_query, question.max_tokens) == ("Charles Bridge", QUESTION, 512)
    assert (question.current_content, question.asked_at) == ("Text.\n", NOW)


@pytest.mark.parametrize(
    ("before", "shown"),
    [
        (None, True),
        (Scope(tags=("prague", "stone"), tags_match="all_strict"), True),
        (Scope(tags=("vienna",), tags_match="all_strict"), False),
        (Scope(), False),
    ],
)
def test_a_text_of_memories_that_may_not_be_read_any_more_is_not_shown(before: Scope | None, shown: bool) -> None:
    world = World(RECALL, answer_from_all).knows(BEGUN, tags=("prague",))
    refresh(world, content="Text.\n", tags=("prague",), covered_scope=before)
    assert world.policy.asked[0][0].current_content == ("Text.\n" if shown else "")


@pytest.mark.parametrize(("budget", "limit"), [(None, 300), ("low", 100), ("mid", 300), ("high", 1000)])
def test_the_budget_of_the_trigger_bounds_the_reading(budget: Any, limit: int) -> None:
    world = World(RECALL, answer_from_all).knows(BEGUN)
    refresh(world, trigger=Trigger(budget=budget))
    assert world.memory.queries[0].limit == limit


def test_rs_03_a_failed_retrieval_is_a_failed_run_with_what_was_read_before() -> None:
    world = World(RECALL, RECALL).knows(BEGUN)

    def breaks(results: Sequence[ToolResult]) -> Step:
        assert len(results) == 1
        world.memory.broken = TimeoutError("statement timeout")
        return RECALL

    world.policy.script[1] = breaks
    run = refresh(world, content="Text.\n")
    assert run.result == RunFailed("retrieval_failed", "recall failed: TimeoutError: statement timeout")
    assert (run.record.candidate, run.record.evidence, len(run.record.tool_calls)) == ("", (), 1)
    assert [each.purpose for each in run.record.calls] == ["reflect_1", "embed", "reflect_2", "embed"]


def test_a_failed_mind_is_a_failed_run_whose_calls_are_counted() -> None:
    run = refresh(World(RECALL, unusable(transient=True)).knows(BEGUN))
    assert run.result == RunFailed("unexpected_error", "the endpoint answered 500", transient=True)
    assert [each.purpose for each in run.record.calls] == ["reflect_1", "embed", "failed"]
    assert run.record.raw_reply == "<html>"


def test_a_memory_that_cannot_be_read_is_a_failed_run_with_a_record(caplog: pytest.LogCaptureFixture) -> None:
    def breaks() -> None:
        raise ConnectionError("the server closed \x00 the connection")

    world = World().knows(BEGUN)
    world.memory.meanwhile.append(breaks)
    with caplog.at_level(logging.ERROR):
        run = refresh(world, content="Text.\n", trigger=Trigger(mode="delta"), answered_query=QUESTION)
    told = "the memory could not be read: ConnectionError: the server closed  the connection"
    assert run.result == RunFailed("retrieval_failed", told, transient=True)
    record = run.record
    assert (record.requested_mode, record.source_query, record.warnings) == ("delta", QUESTION, ())
    assert (record.window.upto, record.window.watermark, record.calls, record.candidate) == (0, None, (), "")
    assert f"{BANK}/{MODEL}" in caplog.text


def test_an_unexpected_error_of_the_mind_is_a_failed_run_with_what_was_read_before() -> None:
    run = refresh(World(RECALL, ZeroDivisionError("bug")).knows(BEGUN))
    assert run.result == RunFailed("unexpected_error", "ZeroDivisionError: bug")
    assert [each.purpose for each in run.record.calls] == ["reflect_1", "embed"]
    assert (run.record.window.upto, len(run.record.tool_calls)) == (1, 1)


def test_a_reply_can_be_stored_with_its_run() -> None:
    mind_said = Answer(markdown="a\x00b", used=(), raw='{"markdown": "a\x00b \ud83d"}')
    run = refresh(World(mind_said).knows(BEGUN))
    assert (run.record.candidate, run.record.raw_reply) == ("ab", '{"markdown": "ab \ufffd"}')


def test_a_model_of_another_bank_reads_its_own_bank() -> None:
    world = World().knows(BEGUN)
    other = MentalModel.model_validate({**mental_model().model_dump(), "bank_id": "vienna"})
    assert world.executor.execute(other).result == NothingToRead()
