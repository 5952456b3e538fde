"""What makes a document stale: new memories it could read, a changed scope, changed evidence. Rows in, reasons out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from domain.event import Event
from domain.mental_model.events import ContentCleared, ContentReverted, MentalModelDeleted, TagsChanged, TriggerChanged
from domain.mental_model.record import ResolvedScope, RetractionRecord
from domain.mental_model.trigger import Trigger
from domain.scope import FACT_TYPES, Scope, TagAnd, TagGroup, TagLeaf, TagNot, TagOr, TagsMatch, admits, refresh_scope
from projections import staleness
from projections.projection import Row
from tests.support.examples import (
    BANK,
    MODEL,
    citation,
    created,
    fact_id,
    preserved,
    recorded,
    unchanged,
    window,
    written,
)

FRESH: tuple[str, ...] = ()
NEW = ("new_memories",)
EVIDENCE = ("evidence_changed",)
COVERED = 10


def model_row(
    tags: tuple[str, ...] = (),
    trigger: Trigger | None = None,
    *,
    id: str = MODEL,
    covered: int = COVERED,
    covered_scope: Scope | None = None,
    evidence_covered: int | None = COVERED,
    unread: int = 0,
    retraction_pending: bool = False,
) -> Row:
    """A model as the query gives it: what it reads, and how far it has read."""
    fields = trigger or Trigger()
    return {
        "row": "models",
        "ids": [id],
        "position": covered,
        "covered_scope": covered_scope.model_dump_json(by_alias=True) if covered_scope else None,
        "evidence_covered": evidence_covered,
        "tags": json.dumps(tags),
        "scope_trigger": fields.model_dump_json(by_alias=True, include={"tags_match", "tag_groups", "fact_types"}),
        "unread": unread > 0,
        "retraction_pending": retraction_pending,
        "fact_type": None,
    }


def clock_row(*tags: str, position: int = COVERED + 1, fact_type: str = "world") -> Row:
    """The last write of memories with these tags and this type."""
    return {
        **dict.fromkeys(model_row()),
        "row": "clock",
        "position": position,
        "tags": json.dumps(tags),
        "fact_type": fact_type,
    }


def changed_row(position: int, id: str = MODEL) -> Row:
    """Where the last of the facts ended that a document rests on."""
    return {**dict.fromkeys(model_row()), "row": "changed", "ids": [id], "position": position}


def reasons(*rows: Row) -> dict[str, tuple[str, ...]]:
    read = staleness.of_models(BANK, [MODEL], observations=False).read(rows)
    assert all(each.is_stale is bool(each.reasons) for each in read.values())
    return {model: each.reasons for model, each in read.items()}


def test_a_model_is_fresh_in_an_empty_bank() -> None:
    assert reasons(model_row(covered=0)) == {MODEL: FRESH}


def test_a_model_that_never_ran_is_stale_as_soon_as_there_is_something_to_read() -> None:
    assert reasons(model_row(covered=0), clock_row(position=1)) == {MODEL: NEW}


@pytest.mark.parametrize(("position", "expected"), [(9, FRESH), (10, FRESH), (11, NEW)])
def test_only_what_was_written_after_the_covered_position_is_new(position: int, expected: tuple[str, ...]) -> None:
    assert reasons(model_row(), clock_row(position=position)) == {MODEL: expected}


def test_ws_04_a_write_makes_only_those_models_stale_that_can_read_it() -> None:
    rows = (model_row(("a",), id="of-a"), model_row(("b",), id="of-b"), model_row(id="of-all"), clock_row("b"))
    assert reasons(*rows) == {"of-a": FRESH, "of-b": NEW, "of-all": NEW}


def test_of_many_writes_the_newest_that_it_can_read_counts() -> None:
    writes = [clock_row("a", position=9), clock_row("b", position=12), clock_row("a", position=11)]
    assert reasons(model_row(("a",)), *writes) == {MODEL: NEW}
    assert reasons(model_row(("a",), covered=11), *writes) == {MODEL: FRESH}


def test_ws_04_after_its_refresh_no_model_is_stale() -> None:
    rows = (model_row(("b",), covered=11), model_row(id="of-all", covered=11), clock_row("b", position=11))
    assert reasons(*rows) == {MODEL: FRESH, "of-all": FRESH}


@pytest.mark.parametrize(
    ("tags", "trigger", "written_tags", "expected"),
    [
        (("a",), {}, (), FRESH),
        (("a",), {}, ("a",), NEW),
        (("a",), {}, ("b",), FRESH),
        (("a",), {}, ("a", "b"), NEW),
        (("a", "b"), {}, ("a",), FRESH),
        (("a", "b"), {}, ("a", "b"), NEW),
        (("a",), {"tags_match": "any"}, (), FRESH),
        (("a", "b"), {"tags_match": "any"}, ("b",), NEW),
        (("a",), {"tags_match": "all"}, (), FRESH),
        (("a", "b"), {"tags_match": "all"}, ("a",), FRESH),
        (("a",), {"tags_match": "any_strict"}, (), FRESH),
        (("a",), {"tags_match": "all_strict"}, (), FRESH),
        (("a",), {"tags_match": "exact"}, ("a", "b"), FRESH),
        (("a",), {"tags_match": "exact"}, ("a",), NEW),
        ((), {}, (), NEW),
        ((), {}, ("a",), NEW),
        ((), {"tags_match": "any"}, ("a",), NEW),
        ((), {"tags_match": "exact"}, (), NEW),
        ((), {"tags_match": "exact"}, ("a",), FRESH),
        (("x",), {"tag_groups": ({"tags": ("a",)},)}, ("a",), NEW),
        (("x",), {"tag_groups": ({"tags": ("a",)},)}, ("x",), FRESH),
        ((), {"tag_groups": ({"tags": ("a",), "match": "any"},)}, (), FRESH),
        ((), {"tag_groups": ({"not": {"tags": ("a",)}},)}, (), NEW),
        ((), {"tag_groups": ({"not": {"tags": ("a",)}},)}, ("a",), FRESH),
        ((), {"tag_groups": ({"tags": (), "match": "exact"},)}, (), NEW),
    ],
)
def test_ws_05_a_write_counts_by_the_scope_that_a_refresh_reads_but_untagged_ones_never_for_tagged_models(
    tags: tuple[str, ...], trigger: dict[str, Any], written_tags: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert reasons(model_row(tags, Trigger.model_validate(trigger)), clock_row(*written_tags)) == {MODEL: expected}


TAGS = st.lists(st.sampled_from("abc"), max_size=2, unique=True).map(tuple)
MATCHES: st.SearchStrategy[TagsMatch] = st.sampled_from(["any", "all", "any_strict", "all_strict", "exact"])
GROUPS: st.SearchStrategy[TagGroup] = st.recursive(
    st.builds(TagLeaf, tags=TAGS, match=MATCHES),
    lambda inner: st.one_of(
        st.builds(lambda child: TagNot(none_of=child), inner),
        st.builds(lambda children: TagAnd(all_of=tuple(children)), st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda children: TagOr(any_of=tuple(children)), st.lists(inner, min_size=1, max_size=2)),
    ),
    max_leaves=3,
)
TRIGGERS = st.builds(
    Trigger,
    tags_match=st.none() | MATCHES,
    tag_groups=st.none() | st.lists(GROUPS, max_size=2).map(tuple),
    fact_types=st.none() | st.just(("world",)),
)


@for_all(TAGS, TRIGGERS, TAGS, st.sampled_from(["world", "observation"]))
def test_ws_05_no_write_makes_a_model_stale_that_its_refresh_could_not_read(
    tags: tuple[str, ...], trigger: Trigger, written_tags: tuple[str, ...], fact_type: str
) -> None:
    scope = refresh_scope(tags, trigger.tags_match, trigger.tag_groups, trigger.fact_types)
    stale = reasons(model_row(tags, trigger), clock_row(*written_tags, fact_type=fact_type))[MODEL] == NEW
    readable = admits(scope, written_tags, fact_type)
    assert readable or not stale
    if written_tags:
        assert stale is readable


@pytest.mark.parametrize(("fact_type", "expected"), [("world", NEW), ("observation", FRESH)])
def test_a_write_of_another_fact_type_is_not_new(fact_type: str, expected: tuple[str, ...]) -> None:
    row = model_row(trigger=Trigger(fact_types=("world", "experience")))
    assert reasons(row, clock_row(fact_type=fact_type)) == {MODEL: expected}


@pytest.mark.parametrize(
    ("tags", "trigger", "covered_scope", "expected"),
    [
        ((), {}, Scope(), FRESH),
        ((), {}, None, FRESH),
        (("a",), {}, Scope(tags=("a",), tags_match="all_strict"), FRESH),
        (("a",), {}, Scope(), ("scope_changed",)),
        (("a",), {}, Scope(tags=("b",), tags_match="all_strict"), ("scope_changed",)),
        (("a",), {"tags_match": "any"}, Scope(tags=("a",), tags_match="all_strict"), ("scope_changed",)),
        (("b", "a"), {}, Scope(tags=("a", "b"), tags_match="all_strict"), FRESH),
        ((), {"fact_types": ("observation", "world")}, Scope(fact_types=("world", "observation")), FRESH),
        ((), {"fact_types": FACT_TYPES}, Scope(), FRESH),
        ((), {}, Scope(fact_types=tuple(reversed(FACT_TYPES))), FRESH),
        ((), {"fact_types": ("world",)}, Scope(), ("scope_changed",)),
        ((), {"tag_groups": ({"not": {"tags": ("a",)}},)}, Scope(), ("scope_changed",)),
        (
            (),
            {"tag_groups": ({"not": {"tags": ("a",)}},)},
            Scope(tag_groups=(TagNot(none_of=TagLeaf(tags=("a",))),)),
            FRESH,
        ),
    ],
)
def test_a_scope_other_than_the_one_read_is_a_reason(
    tags: tuple[str, ...], trigger: dict[str, Any], covered_scope: Scope | None, expected: tuple[str, ...]
) -> None:
    row = model_row(tags, Trigger.model_validate(trigger), covered_scope=covered_scope)
    assert reasons(row) == {MODEL: expected}


@pytest.mark.parametrize(("changed", "expected"), [(9, FRESH), (10, FRESH), (11, EVIDENCE)])
def test_evidence_that_changed_since_is_a_reason(changed: int, expected: tuple[str, ...]) -> None:
    assert reasons(model_row(), changed_row(changed)) == {MODEL: expected}


def test_evidence_that_changed_before_is_a_reason_where_that_is_not_known_to_be_worked_in() -> None:
    assert reasons(model_row(evidence_covered=8), changed_row(9)) == {MODEL: EVIDENCE}
    assert reasons(model_row(evidence_covered=9), changed_row(9)) == {MODEL: FRESH}


def test_evidence_of_another_document_is_none() -> None:
    assert reasons(model_row(), changed_row(11, id="other")) == {MODEL: FRESH}


def test_evidence_that_is_gone_and_was_not_taken_back_is_a_reason() -> None:
    assert reasons(model_row(retraction_pending=True)) == {MODEL: EVIDENCE}
    assert reasons(model_row(retraction_pending=True), changed_row(11)) == {MODEL: EVIDENCE}


def test_memories_there_was_no_room_for_are_a_reason() -> None:
    assert reasons(model_row(unread=3)) == {MODEL: ("unread_memories",)}


def test_all_reasons_are_told() -> None:
    row = model_row(("a",), covered_scope=Scope(), unread=1)
    assert reasons(row, clock_row("a"), changed_row(12)) == {
        MODEL: ("new_memories", "scope_changed", "evidence_changed", "unread_memories")
    }


def test_models_of_one_scope_are_told_apart_by_what_they_covered() -> None:
    rows = (model_row(id="one", covered=10), model_row(id="two", covered=11), clock_row(position=11))
    assert reasons(*rows) == {"one": NEW, "two": FRESH}


def test_a_bank_without_models_has_nothing_stale() -> None:
    assert reasons(clock_row()) == {}


# --- what events leave in the table -----------------------------------------------------------------------------------


def params(event: Event) -> dict[str, Any]:
    (statement,) = staleness.project(recorded(event, version=4))
    return dict(statement.params)


@pytest.mark.parametrize("outcome", [written, unchanged, preserved])
def test_every_finished_run_stamps_what_it_read(outcome: Any) -> None:
    scope = Scope(tags=("a",), tags_match="all_strict", tag_groups=(TagNot(none_of=TagLeaf(tags=("b",))),))
    stamped = params(outcome(scope=ResolvedScope(scope=scope), window=window(12)))
    assert stamped["covered"] == 12
    assert Scope.model_validate_json(stamped["scope"]) == scope
    assert stamped["unread"] == 0


@pytest.mark.parametrize("outcome", [written, unchanged, preserved])
def test_every_finished_run_says_what_it_had_no_room_for(outcome: Any) -> None:
    assert params(outcome(effective_mode="delta", pending=(4, 9), unread=2))["unread"] == 2


@pytest.mark.parametrize("outcome", [written, unchanged, preserved])
@pytest.mark.parametrize(
    ("retraction", "pending"),
    [
        (None, False),
        (RetractionRecord(fact_ids=(fact_id(1),), applied=True), False),
        (RetractionRecord(fact_ids=(fact_id(1),), deferred_reason="busy"), True),
        (RetractionRecord(fact_ids=(fact_id(1),)), True),
        (RetractionRecord(broken=(fact_id(1),)), False),
    ],
)
def test_a_retraction_that_was_put_off_keeps_the_document_stale_until_it_is_carried_out(
    outcome: Any, retraction: RetractionRecord | None, pending: bool
) -> None:
    assert params(outcome(effective_mode="delta", retraction=retraction))["retraction_pending"] is pending


def test_a_rewrite_that_found_nothing_to_read_carries_out_no_retraction() -> None:
    assert params(preserved())["retraction_pending"] is None
    assert params(written())["retraction_pending"] is False


@pytest.mark.parametrize("event", [ContentCleared(), ContentReverted(to_version=2, text="", sha256="", ids=())])
def test_a_document_that_rests_on_other_facts_has_nothing_to_take_back(event: Event) -> None:
    found = params(event)
    assert (found["retraction_pending"], found["evidence_covered"]) == (False, None)


def test_what_a_reverted_document_rests_on_again_may_have_ended_at_any_time_since_it_was_written() -> None:
    evidence = (citation(6, version=2), citation(4))
    event = ContentReverted(to_version=2, text="", sha256="", ids=(), evidence=evidence)
    assert params(event)["evidence_covered"] == 4


def test_a_changed_scope_is_kept_beside_the_one_that_was_read() -> None:
    assert json.loads(params(TagsChanged(tags=("a",)))["tags"]) == ["a"]
    trigger = Trigger(mode="delta", tags_match="any", tag_groups=(TagNot(none_of=TagLeaf(tags=("b",))),))
    kept = params(TriggerChanged(trigger=trigger))["scope_trigger"]
    assert set(json.loads(kept)) == {"tags_match", "tag_groups", "fact_types"}
    assert Trigger.model_validate_json(kept).tag_groups == trigger.tag_groups
    assert params(created(tags=("a",), trigger=trigger))["scope_trigger"] == kept


def test_a_deleted_model_is_dropped() -> None:
    (statement,) = staleness.project(recorded(MentalModelDeleted(), version=4))
    assert statement.sql.startswith("DELETE FROM staleness")
