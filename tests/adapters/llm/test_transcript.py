"""The conversation shows what was searched and found, each fact once."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from adapters.llm.aliases import Aliases
from adapters.llm.transcript import tool_messages
from tests.adapters.llm.found_facts import fact, found


def test_each_search_is_a_call_of_the_assistant_and_what_it_gave() -> None:
    painted = fact(
        7,
        "Painted „green“.",
        occurred=(datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 3, 4, 16, 30, tzinfo=UTC)),
        mentioned_at=datetime(2024, 3, 5, tzinfo=UTC),
        context="a letter",
    )
    results = [found(painted, fact(3)), found(fact(3), fact(9), fact(7), query="other"), found(query="none")]

    messages = tool_messages(results, Aliases.of_found(results))

    assert [message["role"] for message in messages] == ["assistant", "tool"] * 3
    calls = [message["tool_calls"][0] for message in messages[::2]]
    assert [call["id"] for call in calls] == [message["tool_call_id"] for message in messages[1::2]]
    assert calls[0]["function"]["name"] == "recall"
    asked = json.loads(calls[1]["function"]["arguments"])
    assert asked == {"query": "other", "max_tokens": 2048, "reason": "to know"}
    first, second, third = (message["content"].split("\n") for message in messages[1::2])
    assert [json.loads(line) for line in first] == [
        {
            "id": "f1",
            "type": "world",
            "text": "Painted „green“.",
            "occurred": "2024-03-01/2024-03-04T16:30:00+00:00",
            "mentioned_at": "2024-03-05",
            "context": "a letter",
        },
        {"id": "f2", "type": "world", "text": "The bridge is green."},
    ]
    assert [json.loads(line) for line in second] == [
        {"id": "f3", "type": "world", "text": "The bridge is green."},
        {"found_again": ["f2", "f1"]},
    ]
    assert third == ["Nothing found."]


def test_an_event_of_one_day_has_one_date() -> None:
    day = datetime(2024, 3, 1, tzinfo=UTC)
    results = [found(fact(1, occurred=(day, day)), fact(2, occurred=(None, day)))]

    content = tool_messages(results, Aliases.of_found(results))[1]["content"]

    assert [json.loads(line)["occurred"] for line in content.split("\n")] == ["2024-03-01", "2024-03-01"]
