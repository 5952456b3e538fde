"""The trigger: defaults and limits of the wire contract, cron expressions, and how a change is merged."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from domain.event import RECORDED
from domain.mental_model.trigger import Trigger

EVERY_MORNING = "0 6 * * *"


def test_nothing_is_automatic_by_default() -> None:
    assert Trigger().model_dump(exclude_none=True) == {
        "mode": "full",
        "refresh_after_consolidation": False,
        "exclude_mental_models": False,
        "keep_trace": False,
    }


def test_fields_it_does_not_know_are_left_out() -> None:
    assert Trigger.model_validate({"mode": "delta", "from_a_newer_client": 1}) == Trigger(mode="delta")


@pytest.mark.parametrize("cron", ["* * * * *", EVERY_MORNING, "*/15 8-18 * * 1-5", "0 0 1,15 * *", "30 4 * jan sun"])
def test_a_cron_expression_of_five_fields_is_taken(cron: str) -> None:
    assert Trigger(refresh_cron=cron).refresh_cron == cron
    assert Trigger(full_refresh_cron=f"  {cron}\n").full_refresh_cron == cron


@pytest.mark.parametrize("blank", ["", "   ", "\t\n"])
def test_a_blank_cron_expression_is_none(blank: str) -> None:
    assert Trigger(refresh_cron=blank, full_refresh_cron=blank) == Trigger()


@pytest.mark.parametrize("cron", ["soon", "* * * *", "0 0 6 * * *", "@daily", "61 * * * *", "* * * * 9", "0 6 * * *;"])
def test_any_other_cron_expression_is_refused_and_quoted(cron: str) -> None:
    with pytest.raises(ValidationError, match="is not a cron expression of five fields") as refused:
        Trigger(full_refresh_cron=cron)
    assert f"'{cron}'" in str(refused.value)


@pytest.mark.parametrize("cron", ["0 0 30 2 *", "0 0 31 4,6,9,11 *"])
def test_a_cron_expression_of_a_day_that_never_comes_is_refused(cron: str) -> None:
    with pytest.raises(ValidationError, match="never fires: no such day exists") as refused:
        Trigger(refresh_cron=cron)
    assert f"'{cron}'" in str(refused.value)


def test_a_leap_day_comes() -> None:
    assert Trigger(refresh_cron="0 0 29 2 *").refresh_cron == "0 0 29 2 *"


@pytest.mark.parametrize(
    "fields",
    [
        {"mode": "sometimes"},
        {"budget": "huge"},
        {"min_refresh_interval_seconds": -1},
        {"fact_types": []},
        {"fact_types": ["opinion"]},
        {"tags_match": "some"},
        {"tag_groups": [{"tag": "stone"}]},
        {"tag_groups": [{"and": []}]},
        {"reflect_search_observations_max_tokens": 0},
    ],
)
def test_values_out_of_range_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Trigger.model_validate(fields)


def test_limits_themselves_are_taken() -> None:
    trigger = Trigger(min_refresh_interval_seconds=0, reflect_search_observations_max_tokens=1, tag_groups=())
    assert (trigger.min_refresh_interval_seconds, trigger.tag_groups) == (0, ())


def test_the_two_automatic_triggers_exclude_each_other() -> None:
    with pytest.raises(ValidationError, match="exclude each other"):
        Trigger(refresh_cron=EVERY_MORNING, refresh_after_consolidation=True)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"year": {}}},
        {"type": "object", "properties": {"year": {"type": ["integer", "null"]}}, "required": []},
        {"properties": {"a": {"type": "string"}, "b": {"type": "array"}}, "required": ["a", "b"]},
    ],
)
def test_a_response_schema_of_an_object_is_taken(schema: dict[str, Any]) -> None:
    assert Trigger(response_schema=schema).response_schema == schema


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "array", "properties": {"a": {}}}, r"response_schema\.type: must be 'object'"),
        ({}, r"response_schema\.properties: must be a non-empty object"),
        (
            {"properties": {"a": {"type": "date"}}},
            r"response_schema\.properties\.a\.type: must be one of array, boolean",
        ),
        ({"properties": {"a": {}}, "required": ["b"]}, r"response_schema\.required: must be a list of names"),
    ],
)
def test_any_other_response_schema_is_refused_with_the_place(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Trigger(response_schema=schema)


def test_a_change_keeps_what_it_does_not_name() -> None:
    before = Trigger.model_validate(
        {"budget": "low", "tag_groups": [{"and": [{"tags": ["a"]}, {"not": {"tags": ["b"]}}]}]}
    )
    after = before.changed_by({"mode": "delta"})
    assert after == before.model_copy(update={"mode": "delta"})


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        (
            Trigger(refresh_after_consolidation=True),
            {"refresh_cron": EVERY_MORNING},
            Trigger(refresh_cron=EVERY_MORNING),
        ),
        (
            Trigger(refresh_cron=EVERY_MORNING),
            {"refresh_after_consolidation": True},
            Trigger(refresh_after_consolidation=True),
        ),
        (
            Trigger(refresh_cron=EVERY_MORNING),
            {"refresh_after_consolidation": False},
            Trigger(refresh_cron=EVERY_MORNING),
        ),
        (Trigger(refresh_after_consolidation=True), {"refresh_cron": None}, Trigger(refresh_after_consolidation=True)),
        (Trigger(refresh_after_consolidation=True), {"refresh_cron": ""}, Trigger(refresh_after_consolidation=True)),
        (Trigger(refresh_after_consolidation=True), {"refresh_cron": "  "}, Trigger(refresh_after_consolidation=True)),
        (Trigger(refresh_cron=EVERY_MORNING), {"refresh_cron": None}, Trigger()),
    ],
)
def test_setting_one_automatic_trigger_drops_the_other_and_removing_one_does_not(
    before: Trigger, changes: dict[str, Any], after: Trigger
) -> None:
    assert before.changed_by(changes) == after


def test_setting_both_automatic_triggers_at_once_is_refused() -> None:
    with pytest.raises(ValidationError, match="exclude each other"):
        Trigger().changed_by({"refresh_cron": EVERY_MORNING, "refresh_after_consolidation": True})


def test_a_change_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(ValidationError):
        Trigger(refresh_after_consolidation=True).changed_by({"refresh_cron": 5})


def test_a_response_schema_that_was_taken_once_can_be_read_for_ever() -> None:
    lax = {"properties": {"a": {"type": "date"}}}
    assert Trigger.model_validate({"response_schema": lax}, context=dict(RECORDED)).response_schema == lax
