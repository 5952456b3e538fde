"""Labels of a bank on the facts that are read out of its items, over REST."""

from __future__ import annotations

from tests.support.rest import RestBank

LABELS = [
    {"key": "priority", "tag": True, "values": [{"value": "low"}, {"value": "urgent"}]},
    {"key": "area", "type": "multi-values", "values": [{"value": "billing"}, {"value": "api"}]},
]


def test_a_label_named_in_a_fact_is_its_entity_and_its_tag_and_facts_are_found_by_it(bank: RestBank) -> None:
    bank.patch("/config", {"updates": {"entity_labels": LABELS}})
    bank.retain("Billing of Acme is urgent. The lamp is green.", tags=["user:ann"])

    (labelled, other) = sorted(bank.get("/memories/list")["items"], key=lambda each: each["text"])

    assert sorted(labelled["tags"]) == ["priority:urgent", "user:ann"]
    assert other["tags"] == ["user:ann"]
    assert {"priority:urgent", "area:billing"} <= set(labelled["entities"].split(", "))
    found = bank.post(
        "/memories/recall", {"query": "lamp billing", "tags": ["priority:urgent"], "tags_match": "all_strict"}
    )
    assert [each["text"] for each in found["results"]] == ["Billing of Acme is urgent."]
