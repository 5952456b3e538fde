"""A page of mental models, which is made without the models of the contract, is told as they tell it."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.http.mental_model_wire import fields_of, listed, of_row
from adapters.http.responses import MentalModelListResponse, MentalModelResponse, respond, respond_with
from projections.documents import DocumentRow
from projections.staleness import Staleness
from tests.support.examples import BANK, MODEL, NOW, QUESTION, later

BARE: dict[str, Any] = {
    "bank_id": BANK,
    "mental_model_id": MODEL,
    "version": 3,
    "name": "Karlův most",
    "tags": ["prague", "bridges"],
    "created_at": NOW,
    "last_refreshed_at": later(1).replace(microsecond=120),
    "last_memory_seen_at": None,
    "last_refresh_failed_at": None,
    "last_full_refreshed_at": None,
}
STAMPED = {**BARE, "last_memory_seen_at": later(2), "last_refresh_failed_at": later(3), "last_full_refreshed_at": NOW}
TRIGGER = {"mode": "full", "refresh_cron": None, "tag_groups": [{"not": {"tags": ["draft"]}}]}
CONTENT = {"source_query": QUESTION, "max_tokens": 2048, "trigger": TRIGGER, "content": "- Finished in 1402.\u2028\n"}
ROWS = [
    DocumentRow(**BARE),
    DocumentRow(**STAMPED),
    DocumentRow(**BARE, **{**CONTENT, "content": ""}),
    DocumentRow(**STAMPED, **CONTENT, reflect_response={"text": "1402.", "based_on": {"world": [{"context": None}]}}),
]
STALENESS = [None, Staleness(()), Staleness(("new_memories", "evidence_changed"))]


@pytest.mark.parametrize("staleness", STALENESS)
@pytest.mark.parametrize("row", ROWS)
def test_a_listed_model_is_told_as_a_single_one_in_the_order_of_the_contract(
    row: DocumentRow, staleness: Staleness | None
) -> None:
    page = {"total": 7, "limit": 1, "offset": 2}
    single = of_row(row, staleness)
    as_models = MentalModelListResponse(items=[single], **page)
    stale = {MODEL: staleness} if staleness else {}
    answer = respond_with(listed([row], stale, **page))
    assert answer.body == respond(as_models).body
    assert dict(answer.headers) == dict(respond(as_models).headers)
    order = list(MentalModelResponse.model_fields)
    assert list(fields_of(row, staleness)) == [name for name in order if getattr(single, name) is not None]


@pytest.mark.parametrize(("columns", "paused"), [(BARE, False), (STAMPED, True)])
def test_a_model_whose_last_refresh_failed_for_good_is_paused(columns: dict[str, Any], paused: bool) -> None:
    assert fields_of(DocumentRow(**columns))["is_paused"] is paused
