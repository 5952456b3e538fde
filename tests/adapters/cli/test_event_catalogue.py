"""The event catalogue in the docs is the one the code gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from adapters.cli.event_catalogue import render
from adapters.postgres.event_mapper import EVENT_TYPES

CATALOGUE = Path(__file__).parents[3] / "docs" / "event-catalogue.md"


def test_the_catalogue_in_the_docs_is_up_to_date() -> None:
    assert CATALOGUE.read_text(encoding="utf-8") == render(), (
        "the events have changed: python -m adapters.cli.event_catalogue > docs/event-catalogue.md"
    )


@pytest.mark.parametrize("topic", EVENT_TYPES)
def test_every_event_has_a_heading_with_its_topic_and_every_field_a_row(topic: str) -> None:
    event = EVENT_TYPES[topic]
    entry = render().split(f"### {event.__name__}\n")[1].split("\n###")[0]
    assert f"`{topic}`, schema {event.SCHEMA}" in entry
    assert entry.count("\n| `") == len(event.model_fields)


def test_types_are_told_in_the_words_of_json() -> None:
    catalogue = render()
    for row in (
        "| `tags` | list of text |",
        "| `operation_id` | UUID |",
        "| `work` | [RefreshAsked](#refreshasked) or [RetainAsked](#retainasked)"
        " or [ConsolidationAsked](#consolidationasked) or [BatchRetainAsked](#batchretainasked)"
        " or [BankExportAsked](#bankexportasked) or [BankImportAsked](#bankimportasked)"
        " or [BankCloneAsked](#bankcloneasked) |",
        "| `fact_types` | list of (`world` or `experience` or `observation`) or null (default null) |",
        "| `and` | list of ([TagLeaf](#tagleaf) or [TagAnd](#tagand) or [TagOr](#tagor) or [TagNot](#tagnot)) |",
        "| `input_tokens` | integer (default `0`) |",
        "| `keep_trace` | true or false (default false) |",
        "| `response_schema` | JSON object or null (default null) |",
        "| `skepticism` | integer or null (default null) |",
    ):
        assert f"\n{row}\n" in catalogue, row


def test_every_value_that_is_linked_is_explained() -> None:
    catalogue = render()
    linked = {part.split("]")[0] for part in catalogue.split("[")[1:]}
    assert linked == {name for name in linked if f"\n### {name}\n" in catalogue} != set()
