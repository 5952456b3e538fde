"""The documents: which columns each event sets, and how rows are read."""

from __future__ import annotations

from typing import Any

import pytest

from domain.event import Event
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentReverted,
    MentalModelRenamed,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedStructuredOutput,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
)
from domain.mental_model.trigger import Trigger
from projections import documents
from projections.projection import Json
from projections.reflect_response import OF_ONE_RUN, change
from tests.support.examples import (
    BANK,
    MODEL,
    NOW,
    created,
    failed,
    later,
    preserved,
    recorded,
    refresh_record,
    unchanged,
    window,
    written,
)

STAMPED = {"last_refreshed_at": later(5), "last_full_refreshed_at": later(5), "last_refresh_failed_at": None}
EDITED = {"content": "By hand.\n", "last_refreshed_at": later(5), "last_refresh_failed_at": None}


def columns(event: Event) -> dict[str, Any]:
    """What an event sets, without the key of its row."""
    (statement,) = documents.project(recorded(event, 3, at=later(5)))
    values = {name: value.value if isinstance(value, Json) else value for name, value in statement.params.items()}
    key = {"bank_id": BANK, "id": MODEL, "version": 3}
    assert {name: values.pop(name) for name in key} == key
    assert all(f"%({name})s" in statement.sql for name in values)
    return values


WITH_GROUNDS = ["structured_output", "based_on_pages", "based_on_directives"]


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (MentalModelRenamed(name="Most"), {"name": "Most"}),
        (SourceQueryChanged(source_query="Who?"), {"source_query": "Who?"}),
        (TagsChanged(tags=("a", "b")), {"tags": ["a", "b"]}),
        (TokenBudgetChanged(max_tokens=9), {"max_tokens": 9}),
        (ContentCleared(), {"content": "", "last_refresh_failed_at": None, "dropped": WITH_GROUNDS}),
        (ContentEdited(text="By hand.\n", sha256="", ids=()), {**EDITED, "dropped": ["structured_output"]}),
        (
            ContentReverted(to_version=2, text="By hand.\n", sha256="", ids=()),
            {**EDITED, "dropped": WITH_GROUNDS},
        ),
        (failed(), {"last_refresh_failed_at": later(5)}),
        (failed(transient=True), {}),
        (
            RefreshFailedEmptyCandidate(record=refresh_record()),
            {
                "last_refresh_failed_at": later(5),
                "dropped": list(OF_ONE_RUN),
                "told": {"outcome": "refresh_failed_empty_candidate", "refresh_skipped": "empty_candidate"},
            },
        ),
    ],
    ids=lambda each: each.TOPIC if isinstance(each, Event) else "",
)
def test_an_event_sets_only_what_it_is_about(event: Event, expected: dict[str, Any]) -> None:
    assert columns(event) == expected


@pytest.mark.parametrize(("transient", "stamped"), [(True, False), (False, True)])
def test_a_failure_that_goes_away_by_itself_pauses_nothing(transient: bool, stamped: bool) -> None:
    for event in (
        RefreshFailedDeltaNotApplied(
            failure_reason="delta_ops_failed", error_message="", transient=transient, record=refresh_record()
        ),
        RefreshFailedStructuredOutput(error_message="", transient=transient, record=refresh_record()),
    ):
        assert ("last_refresh_failed_at" in columns(event)) is stamped
        assert columns(event)["told"]["refresh_skipped"] in ("delta_ops_failed", "structured_output_failed")


def test_a_new_document_is_empty_and_was_last_refreshed_when_it_was_created() -> None:
    trigger = Trigger(mode="delta")
    assert columns(created(tags=("a",), trigger=trigger)) == {
        "name": "Charles Bridge",
        "source_query": "What is known about the Charles Bridge?",
        "tags": ["a"],
        "max_tokens": 2048,
        "trigger": trigger.model_dump(mode="json"),
        "at": later(5),
    }


def test_a_changed_trigger_is_kept_in_the_words_of_the_contract() -> None:
    trigger = Trigger.model_validate({"tag_groups": [{"and": [{"tags": ["a"]}, {"not": {"tags": ["b"]}}]}]})
    kept = columns(TriggerChanged(trigger=trigger))["trigger"]
    assert set(kept["tag_groups"][0]) == {"and"}
    assert Trigger.model_validate(kept) == trigger


def response_of(event: Event) -> dict[str, Any]:
    changed = change(event, later(5))
    assert changed is not None
    return {"dropped": list(changed.dropped), "told": changed.told}


def test_a_written_document_is_stamped() -> None:
    event = written("Text.\n", window=window(9, later(-3)))
    assert columns(event) == {
        **STAMPED,
        "content": "Text.\n",
        "last_memory_seen_at": later(-3),
        **response_of(event),
    }


def test_the_same_text_again_is_stamped_and_its_content_left_alone() -> None:
    event = unchanged()
    assert columns(event) == {**STAMPED, "last_memory_seen_at": NOW, **response_of(event)}


def test_a_preserved_document_keeps_its_reflect_response_but_for_the_outcome() -> None:
    values = columns(preserved(window=window(9, None)))
    assert values.pop("told") == {"outcome": "content_preserved_no_new_facts"}
    assert "text" not in values.pop("dropped")
    assert values == {**STAMPED, "last_memory_seen_at": None}


def test_a_delta_is_no_full_refresh() -> None:
    assert "last_full_refreshed_at" not in columns(written(effective_mode="delta"))


@pytest.mark.parametrize("event", [written(), unchanged(), preserved()], ids=lambda event: event.TOPIC)
def test_ws_08_the_watermark_never_moves_back(event: Event) -> None:
    (statement,) = documents.project(recorded(event))
    assert "last_memory_seen_at = greatest(last_memory_seen_at, %(last_memory_seen_at)s)" in statement.sql
    assert statement.sql.count("last_memory_seen_at =") == 1


METADATA: dict[str, Any] = {
    "bank_id": BANK,
    "mental_model_id": MODEL,
    "version": 3,
    "name": "Charles Bridge",
    "tags": ["a"],
    "created_at": NOW,
    "last_refreshed_at": NOW,
    "last_memory_seen_at": None,
    "last_refresh_failed_at": None,
    "last_full_refreshed_at": None,
    "is_knowledge_page": False,
}


FULL: dict[str, Any] = {**METADATA, "source_query": "?", "max_tokens": 9, "trigger": {}, "content": "Text."}
FACT = {"id": "f", "text": "1402.", "type": "world", "context": None, "version": 1, "position": 4}
FOUND = [[column] for column in FACT.values()]


def test_a_document_with_all_details_is_told_with_what_it_rests_on() -> None:
    row = {**FULL, "reflect_response": {"text": "Text."}, "grounds": FOUND}
    found = documents.find(BANK, MODEL).read([row])
    assert found is not None
    assert found.reflect_response is not None
    assert found.reflect_response["based_on"]["world"] == [FACT]
    assert found.reflect_response["text"] == "Text."


def test_a_document_that_was_never_refreshed_has_no_reflect_response() -> None:
    found = documents.find(BANK, MODEL).read([{**FULL, "reflect_response": None, "grounds": [None] * 6}])
    assert found == documents.DocumentRow(**FULL)


def test_a_document_is_found_or_not() -> None:
    query = documents.find(BANK, MODEL, "metadata")
    assert query.read([METADATA]) == documents.DocumentRow(**METADATA)
    assert query.read([]) is None


@pytest.mark.parametrize(
    ("detail", "has", "has_not"),
    [
        ("metadata", "last_refreshed_at", "source_query"),
        ("metadata", "last_refreshed_at", "citations"),
        ("content", "content", "reflect_response"),
        ("content", "content", "citations"),
        ("full", "citations", "plain_text"),
        ("full", "reflect_response", "plain_text"),
    ],
)
def test_a_reader_is_given_no_more_than_it_asked_for(detail: documents.Detail, has: str, has_not: str) -> None:
    sql = documents.find(BANK, MODEL, detail).sql
    assert has in sql
    assert has_not not in sql


@pytest.mark.parametrize("match", ["any", "all", "exact"])
def test_a_list_without_tags_is_not_filtered(match: documents.ListMatch) -> None:
    sql = documents.page(BANK, tags=(), match=match, detail="metadata", limit=10, offset=0).sql
    assert "%(tags)s" not in sql


def test_a_page_tells_how_many_there_are_also_when_it_is_empty() -> None:
    query = documents.page(BANK, tags=("a",), match="any", detail="metadata", limit=1, offset=0)
    assert query.read([{**METADATA, "total": 7}]) == ([documents.DocumentRow(**METADATA)], 7)
    assert query.read([{**dict.fromkeys(METADATA), "total": 7}]) == ([], 7)
    assert query.read([]) == ([], 0)


def test_tags_are_counted() -> None:
    query = documents.tags_page(BANK, None, 10, 0)
    assert query.read([{"tag": "a", "count": 2, "total": 1}]) == ([("a", 2)], 1)
    assert query.read([{"tag": None, "count": None, "total": 0}]) == ([], 0)
