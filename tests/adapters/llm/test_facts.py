"""Reading facts out of an item with a model."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.llm.endpoint import Endpoint
from adapters.llm.facts import LlmFactExtractor
from application.ports import Extraction, MindFailed
from domain.memory import ExtractedFact, RetainItem
from tests.support.scripted_llm import (
    Reply,
    Request,
    ScriptedLlm,
    Usage,
    failing,
    json_content,
    server_error,
    tool_call,
    tool_calls,
)

NOW = datetime(2024, 5, 6, 12, 30, tzinfo=UTC)
COST = Usage(prompt=10, completion=5)


def facts(*given: dict[str, Any], usage: Usage = COST) -> Reply:
    return tool_call("record_facts", {"facts": list(given)}, usage=usage)


def extract(endpoint: Endpoint, content: str = "The bridge is green.", **item: Any) -> Extraction:
    mission = item.pop("mission", None)
    return LlmFactExtractor(endpoint).extract(RetainItem(content=content, **item), mission=mission, now=NOW)


def test_the_parts_of_a_fact_are_joined_and_those_that_say_nothing_left_out(
    llm: ScriptedLlm, endpoint: Endpoint
) -> None:
    llm.script(
        facts(
            {"what": "Painted green", "when": "in 2024", "where": "Prague", "who": "the city", "why": "it was rusty"},
            {"what": " Closed\nat night ", "when": "N/A", "where": "", "who": "n/a.", "why": None},
            {"what": "N/A", "why": "none"},
        )
    )

    read = extract(endpoint)

    assert [fact.text for fact in read.facts] == [
        "Painted green | in 2024 | Prague | the city | it was rusty",
        "Closed at night",
    ]


def test_times_are_utc_and_those_that_cannot_be_read_are_not_known(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(
        facts(
            {"what": "a", "occurred_start": "2024-03-01", "occurred_end": "2024-03-02T10:00:00+02:00"},
            {"what": "b", "occurred_start": "last spring", "occurred_end": "2024-03-02T10:00:00Z"},
            {"what": "c", "occurred_start": "2024-03-05", "occurred_end": "2024-03-01"},
            {"what": "d", "occurred_start": "9999-12-31T23:59:59-05:00"},
        )
    )

    times = [(fact.occurred_start, fact.occurred_end) for fact in extract(endpoint).facts]

    assert times == [
        (datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 3, 2, 8, tzinfo=UTC)),
        (None, datetime(2024, 3, 2, 10, tzinfo=UTC)),
        (datetime(2024, 3, 5, tzinfo=UTC), None),
        (None, None),
    ]


def test_what_the_assistant_did_is_experience_and_entities_are_named_once(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(
        facts(
            {
                "what": "I advised paint",
                "fact_type": "assistant",
                "entities": [" City  of Prague", "CITY OF PRAGUE", ""],
            },
            {"what": "It rained", "entities": []},
        )
    )

    assert list(extract(endpoint).facts) == [
        ExtractedFact(text="I advised paint", fact_type="experience", entities=("City of Prague",)),
        ExtractedFact(text="It rained"),
    ]


def test_the_model_is_told_text_context_times_and_mission(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(facts())

    read = extract(
        endpoint,
        "The bridge was painted yesterday.",
        context="a letter",
        timestamp=datetime(2024, 3, 2, tzinfo=UTC),
        mission="Remember colours.",
    )

    assert read.facts == ()
    system, user = llm.requests[0].messages
    assert "Remember colours." in system["content"]
    assert user["content"] == (
        "Now: Monday 2024-05-06T12:30:00+00:00\n"
        "Time of the text: Saturday 2024-03-02T00:00:00+00:00\n"
        "Context: a letter\n\n"
        "<text>\nThe bridge was painted yesterday.\n</text>"
    )
    assert llm.requests[0].tool_choice == "record_facts"


def test_a_long_text_is_read_in_parts_and_facts_and_costs_are_in_the_order_of_the_text(
    llm: ScriptedLlm, endpoint: Endpoint
) -> None:
    def one_fact(request: Request) -> Reply:
        number = int(re.findall(r"<text>\nParagraph (\d+)", request.text)[0])
        return facts({"what": f"fact {number}"}, usage=Usage(prompt=number, completion=1))

    llm.fallback = one_fact
    content = "\n\n".join(f"Paragraph {number}. " + "word " * 500 for number in range(1, 8))

    read = extract(endpoint, content)

    assert [fact.text for fact in read.facts] == [f"fact {number}" for number in range(1, 8)]
    assert [call.input_tokens for call in read.calls] == list(range(1, 8))
    assert {call.purpose for call in read.calls} == {"extract_facts"}
    assert any("This is part 7 of 7 of the text." in request.text for request in llm.requests)


def test_when_one_part_cannot_be_read_all_fails_with_every_call_made(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.fallback = lambda request: server_error() if "part 2 of" in request.text else facts({"what": "x"})
    content = "\n\n".join("word " * 500 for _ in range(3))

    with pytest.raises(MindFailed, match=r"failed \(500\)") as failed:
        extract(endpoint, content)

    assert failed.value.transient
    assert len(failed.value.calls) == len(llm.requests)
    assert sorted({call.input_tokens for call in failed.value.calls}) == [0, 10]


def test_parts_read_at_once_all_learn_that_a_temperature_is_refused(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    def without_temperature(request: Request) -> Reply:
        refused = failing(400, "temperature is fixed", param="temperature")
        return refused if "temperature" in request.body else facts({"what": "x"})

    llm.fallback = without_temperature

    assert len(extract(endpoint, "\n\n".join("word " * 500 for _ in range(8))).facts) == 8


def test_an_item_without_text_costs_nothing(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    assert extract(endpoint, " \n\n ") == Extraction(facts=(), calls=())
    assert llm.requests == []


@pytest.mark.parametrize(
    "reply",
    [
        tool_calls(("record_facts", {"facts": [{"what": "a"}]}), ("record_facts", {"facts": [{"what": "b"}]})),
        tool_call("record_facts", '[{"what": "a"}, {"what": "b"}]'),
        json_content({"facts": [{"what": "a"}, {"what": "b"}]}),
    ],
    ids=["two calls", "bare list", "text"],
)
def test_facts_in_several_calls_a_bare_list_or_as_text_are_all_taken(
    llm: ScriptedLlm, endpoint: Endpoint, reply: Reply
) -> None:
    llm.script(reply)

    assert [fact.text for fact in extract(endpoint).facts] == ["a", "b"]


def test_a_reply_that_does_not_fit_is_asked_again_and_both_calls_are_in_the_extraction(
    llm: ScriptedLlm, endpoint: Endpoint
) -> None:
    llm.script(facts({"what": "a", "fact_type": "opinion"}), facts({"what": "a"}))

    read = extract(endpoint)

    assert len(read.calls) == 2
    assert "facts.0.fact_type" in llm.requests[1].text


def test_facts_can_be_stored_whatever_the_model_writes(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(tool_call("record_facts", r'{"facts": [{"what": "a\u0000b \ud83d tail", "entities": ["\udc00x"]}]}'))

    (fact,) = extract(endpoint, "NUL \x00 and \ud83d").facts

    assert fact.text == "ab \ufffd tail"
    assert fact.entities == ("\ufffdx",)
