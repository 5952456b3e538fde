"""What becomes of a fact, and of a document, that a person corrects."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from domain.curation import DocumentEdit, FactEdit, edited, given_again, retagged, screened
from domain.memory import Fact
from domain.refusals import InvalidInput
from domain.retain import Part, PartItem

MAY = datetime(2026, 5, 1, tzinfo=UTC)
JUNE = datetime(2026, 6, 1, tzinfo=UTC)
SECRET = "ghp_" + "a1B2" * 9


def fact(**fields: Any) -> Fact:
    given = {"id": UUID(int=1), "version": 1, "position": 1, "text": "It rains.", "fact_type": "world", **fields}
    return Fact(recorded_at=MAY, **given)


@pytest.mark.parametrize(
    "edit", [FactEdit(), FactEdit(text="It rains."), FactEdit(context=None), FactEdit(text=None, entities=None)]
)
def test_an_edit_to_what_is_so_already_changes_nothing(edit: FactEdit) -> None:
    assert edited(fact(), edit) is None


def test_a_time_is_cleared_by_none_and_kept_when_it_is_not_named() -> None:
    after = edited(fact(occurred_start=MAY, occurred_end=JUNE), FactEdit(occurred_end=None))
    assert after is not None
    assert (after.occurred_start, after.occurred_end) == (MAY, None)


@pytest.mark.parametrize("edit", [FactEdit(occurred_start=JUNE), FactEdit(occurred_start=JUNE, occurred_end=MAY)])
def test_a_fact_does_not_end_before_it_starts(edit: FactEdit) -> None:
    with pytest.raises(InvalidInput, match="occurred_end lies before") as refused:
        edited(fact(occurred_end=MAY), edit)
    assert refused.value.field in edit.model_fields_set


def test_times_that_were_wrong_before_keep_nobody_from_mending_the_text() -> None:
    after = edited(fact(occurred_start=JUNE, occurred_end=MAY), FactEdit(text="It snows."))
    assert after is not None
    assert after.text == "It snows."


def test_secrets_go_or_refuse_the_edit_as_the_bank_says() -> None:
    edit = FactEdit(text=f"The key is {SECRET}.", context=None, entities=("Ada", SECRET))
    rule = {"on": "sensitive_data", "action": "redact"}

    assert screened(edit, None) == edit
    safe = screened(edit, {"enabled": True, "rules": [rule]})
    assert SECRET not in str(safe)
    assert safe.model_fields_set == edit.model_fields_set
    with pytest.raises(InvalidInput, match="memory_defense") as refused:
        screened(edit, {"enabled": True, "rules": [{**rule, "action": "block"}]})
    assert refused.value.field == "text"


def test_new_tags_replace_those_of_the_document_and_leave_the_labels_of_a_fact() -> None:
    labelled = fact(tags=("a", "priority:high"), entities=("Priority:High", "Ada"))

    assert retagged(labelled, DocumentEdit(tags=("a",)), ["a"]) is None
    after = retagged(labelled, DocumentEdit(tags=("b",)), ["a"])
    assert after is not None
    assert after.tags == ("b", "priority:high")
    after = retagged(labelled, DocumentEdit(tags=("b",)), ["a", "priority:high"])
    assert after is not None
    assert after.tags == ("b",), "a tag that was given to the document goes with it"


def test_parts_are_given_the_new_tags_and_scopes_and_keep_the_rest() -> None:
    given = {"tags": ["a"], "context": "at work", "observation_scopes": [["a"], ["a", "x"]]}
    parts = [Part(asked=1, length=3, items=(PartItem(length=3, given=given), PartItem(length=0)))]

    (part,) = given_again(parts, DocumentEdit(tags=("b",)), ["a"])
    assert [item.given for item in part.items] == [
        {"tags": ["b"], "context": "at work", "observation_scopes": [["b"], ["b", "x"]]},
        {"tags": ["b"]},
    ]
    (part,) = given_again(parts, DocumentEdit(tags=(), observation_scopes="shared"), ["a"])
    assert [item.given for item in part.items] == [
        {"context": "at work", "observation_scopes": "shared"},
        {"observation_scopes": "shared"},
    ]
    assert given_again(parts, DocumentEdit(observation_scopes=(("a",), ("a", "x"))), ["a"])[0].items[0].given == given
