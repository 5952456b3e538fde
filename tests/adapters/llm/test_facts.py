"""Reading facts out of an item with a model."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.llm.endpoint import Endpoint
from adapters.llm.facts import LlmFactExtractor
from application.ports import Extraction, MindFailed, RetainSteering
from domain.bank_labels import LabelGroup
from domain.memory import Chunk, ExtractedFact, RetainItem
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
    truncated,
)

NOW = datetime(2024, 5, 6, 12, 30, tzinfo=UTC)
COST = Usage(prompt=10, completion=5)


def facts(*given: dict[str, Any], usage: Usage = COST) -> Reply:
    return tool_call("record_facts", {"facts": list(given)}, usage=usage)


def extract(
    endpoint: Endpoint,
    content: str = "The bridge is green.",
    *,
    timestamp: datetime | None = None,
    context: str | None = None,
    chunks: Sequence[Chunk] | None = None,
    **steering: Any,
) -> Extraction:
    item = RetainItem(content=content, timestamp=timestamp, context=context)
    return LlmFactExtractor(endpoint).extract(item, steering=RetainSteering(**steering), now=NOW, chunks=chunks)


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
        ExtractedFact(text="I advised paint", fact_type="experience", entities=("City of Prague",), chunk=0),
        ExtractedFact(text="It rained", chunk=0),
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


# --- causes -----------------------------------------------------------------------------------------------------------


def causes(extraction: Extraction) -> list[tuple[int, ...]]:
    return [fact.caused_by for fact in extraction.facts]


def test_a_cause_is_an_earlier_fact_of_the_same_list_and_wrong_ones_are_dropped(
    llm: ScriptedLlm, endpoint: Endpoint
) -> None:
    llm.script(
        facts(
            {"what": "It rained", "caused_by": [0, 1]},
            {"what": "N/A"},
            {"what": "The road was wet", "caused_by": [0]},
            {"what": "The car slid", "caused_by": [1, 2, "0", -1, 9, True, "x", {"target": 2}, 2]},
        )
    )

    assert causes(extract(endpoint)) == [(), (0,), (0, 1)]


def test_causes_count_on_over_the_chunks_of_a_text(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.fallback = lambda _request: facts({"what": "a"}, {"what": "b", "caused_by": [0]})

    assert causes(extract(endpoint, "\n\n".join("word " * 500 for _ in range(3)))) == [(), (0,), (), (2,), (), (4,)]


def test_without_causal_links_causes_are_not_taken(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(facts({"what": "a"}, {"what": "b", "caused_by": [0]}))

    assert causes(extract(endpoint, causal_links=False)) == [(), ()]


# --- labels -----------------------------------------------------------------------------------------------------------

PRIORITY = {"key": "priority", "tag": True, "values": [{"value": "low"}, {"value": "Very high"}]}
AREA = {"key": "area", "type": "multi-values", "tag": True, "values": [{"value": "billing"}, {"value": "api"}]}
CUSTOMER = {"key": "customer name", "type": "text"}
TOPICS = {"key": "topic", "type": "multi-text"}
PERSON = {
    "key": "person",
    "type": "map",
    "tag": True,
    "fields": {"name": {}, "role": {"type": "value", "values": [{"value": "cook"}]}},
}


def labels(*groups: dict[str, Any]) -> tuple[LabelGroup, ...]:
    return tuple(map(LabelGroup.model_validate, groups))


def test_labels_of_every_type_are_names_and_those_that_are_tags_are_tags_too(
    llm: ScriptedLlm, endpoint: Endpoint
) -> None:
    given = {
        "priority": "very  HIGH",
        "area": ["api", "kitchen", "API", "billing"],
        "customer name": "Acme\nCorp",
        "topic": ["tea", "N/A", "cake"],
        "person": [{"name": "Ann", "role": "cook"}, {"name": "Bob", "role": "king"}],
        "unknown": "x",
    }
    llm.script(facts({"what": "a", "entities": ["Ann"], "labels": given}))

    (fact,) = extract(endpoint, labels=labels(PRIORITY, AREA, CUSTOMER, TOPICS, PERSON)).facts

    tags = ("priority:Very high", "area:api", "area:billing")
    people = ("person:name:Ann", "person:role:cook", "person:name:Bob")
    assert fact.entities == ("Ann", *tags, "customer name:Acme Corp", "topic:tea", "topic:cake", *people)
    assert fact.tags == (*tags, *people)


@pytest.mark.parametrize("given", [None, "high", [], {"priority": None, "area": "N/A"}, {"priority": {"a": 1}}])
def test_labels_that_say_nothing_usable_are_no_labels(llm: ScriptedLlm, endpoint: Endpoint, given: object) -> None:
    llm.script(facts({"what": "a", "labels": given}))

    (fact,) = extract(endpoint, labels=labels(PRIORITY, AREA)).facts

    assert (fact.entities, fact.tags) == ((), ())


def test_without_free_form_entities_only_labels_are_names(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(facts({"what": "a", "entities": ["Ann"], "labels": {"priority": "low"}}))

    (fact,) = extract(endpoint, labels=labels(PRIORITY), free_form_entities=False).facts

    assert fact.entities == ("priority:low",)


def test_a_required_label_that_is_missing_is_asked_for_once_more(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(
        facts({"what": "a", "labels": {"priority": "low"}}, {"what": "b", "labels": {"priority": "lowest"}}),
        facts({"what": "a", "labels": {"priority": "low"}}, {"what": "b", "labels": {"priority": "very high"}}),
    )

    read = extract(endpoint, labels=labels({**PRIORITY, "optional": False}))

    assert [fact.tags for fact in read.facts] == [("priority:low",), ("priority:Very high",)]
    assert len(read.calls) == 2
    assert "- facts.1.labels: `priority` is required: one of low, Very high\n" in llm.requests[1].text
    assert '"what":"b"' in llm.requests[1].text


@pytest.mark.parametrize(
    "second",
    [facts({"what": "a"}), facts(), tool_call("record_facts", {"facts": "no"}), truncated("x", usage=COST)],
    ids=["still missing", "facts gone", "unusable", "cut off"],
)
def test_facts_whose_required_label_is_not_given_when_asked_again_are_kept_without_it(
    llm: ScriptedLlm, endpoint: Endpoint, second: Reply
) -> None:
    llm.script(facts({"what": "a"}), second)
    llm.fallback = lambda _request: second

    read = extract(endpoint, labels=labels({**PRIORITY, "optional": False}))

    assert [(fact.text, fact.tags) for fact in read.facts] == [("a", ())]
    assert len(read.calls) == len(llm.requests)


# --- overflow ---------------------------------------------------------------------------------------------------------


def words_in(request: Request) -> list[str]:
    return re.findall(r"w\d+", request.text)


def test_a_text_whose_facts_do_not_fit_into_one_answer_is_read_in_parts_and_nothing_is_lost(
    llm: ScriptedLlm, endpoint: Endpoint
) -> None:
    def at_most_forty(request: Request) -> Reply:
        words = words_in(request)
        if len(words) > 40:
            return truncated("too long", usage=Usage(prompt=len(words), completion=100))
        return facts(*({"what": word, "caused_by": [0] if n else []} for n, word in enumerate(words)))

    llm.fallback = at_most_forty
    words = [f"w{number}" for number in range(200)]

    read = extract(endpoint, " and so on and so on ".join(words))

    assert [fact.text for fact in read.facts] == words
    assert all(fact.caused_by == () or fact.caused_by[0] < place for place, fact in enumerate(read.facts))
    assert len(read.calls) == len(llm.requests)
    assert sum(call.output_tokens == 100 for call in read.calls) >= 3
    assert {fact.chunk for fact in read.facts} == {0, 1}


def test_a_short_text_is_not_cut_further(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.fallback = lambda _request: truncated("too long", usage=COST)

    with pytest.raises(MindFailed, match="truncated") as failed:
        extract(endpoint, "word " * 110)

    assert len(failed.value.calls) == len(llm.requests) == 2  # 550 characters, then its first part


# --- modes and chunks -------------------------------------------------------------------------------------------------


def test_verbatim_keeps_each_chunk_as_a_fact_and_the_model_tells_about_it(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    about = {
        "what": "never read",
        "occurred_start": "2024-03-01",
        "entities": ["Prague"],
        "labels": {"priority": "low"},
    }
    llm.script(facts({**about, "fact_type": "assistant"}, {"entities": ["Rome"]}), truncated("x"), facts())
    chunks = [Chunk(number=number, text=f" Text {number}.\n\nWhole. ") for number in (4, 5, 6)]

    one, two, three = (
        extract(endpoint, chunks=[chunk], mode="verbatim", labels=labels(PRIORITY)).facts[0] for chunk in chunks
    )

    assert one == ExtractedFact(
        text="Text 4.\n\nWhole.",
        fact_type="experience",
        occurred_start=datetime(2024, 3, 1, tzinfo=UTC),
        entities=("Prague", "priority:low"),
        tags=("priority:low",),
        chunk=4,
    )
    assert two == ExtractedFact(text="Text 5.\n\nWhole.", chunk=5)
    assert three == ExtractedFact(text="Text 6.\n\nWhole.", chunk=6)


def test_chunks_are_facts_without_a_model(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    read = extract(endpoint, mode="chunks", chunks=[Chunk(number=2, text=" Text "), Chunk(number=3, text=" \n")])

    assert read == Extraction(facts=(ExtractedFact(text="Text", chunk=2),))
    assert llm.requests == []


def test_custom_instructions_reach_the_model(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(facts())

    extract(endpoint, mode="custom", custom_instructions="One fact for each dish.")

    assert llm.requests[0].messages[0]["content"].endswith("One fact for each dish.")


def test_only_the_chunks_given_are_read_and_facts_carry_their_numbers(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.fallback = lambda request: facts({"what": "a" if "seven" in request.text else "b"})

    read = extract(endpoint, "unread", chunks=[Chunk(number=7, text="seven"), Chunk(number=9, text="nine")])

    assert [(fact.text, fact.chunk) for fact in read.facts] == [("a", 7), ("b", 9)]
    assert not any("unread" in request.text for request in llm.requests)


def test_a_conversation_in_json_is_shown_as_lines_with_speaker_and_time(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(facts())
    turns = [
        {"role": "user", "name": "Ada", "content": "I moved.", "timestamp": "2024-03-01T10:00:00Z"},
        {"role": "assistant", "content": [{"type": "text", "text": "Where to?"}]},
    ]

    extract(endpoint, json.dumps(turns))

    assert llm.requests[0].text.endswith(
        "<text>\n[2024-03-01T10:00:00Z] Ada: I moved.\n\nAssistant: Where to?\n</text>"
    )


# --- dates ------------------------------------------------------------------------------------------------------------


def test_a_relative_date_the_model_left_is_resolved_by_the_time_of_the_item(
    llm: ScriptedLlm, endpoint: Endpoint
) -> None:
    llm.script(
        facts(
            {"what": "a", "when": "yesterday"},
            {"what": "b", "when": "last week", "occurred_start": "2024-02-20"},
            {"what": "c", "when": "yesterday, 2024-03-01"},
            {"what": "d", "when": "on 12 January 2024", "fact_kind": "event"},
            {"what": "e", "when": "yesterday", "fact_kind": "conversation", "occurred_start": "2024-03-01"},
        )
    )

    read = extract(endpoint, timestamp=datetime(2024, 3, 2, 8, tzinfo=UTC)).facts

    assert [fact.text for fact in read] == [
        "a | yesterday (2024-03-01)",
        "b | last week (2024-02-19 to 2024-02-25)",
        "c | yesterday, 2024-03-01",
        "d | on 12 January 2024",
        "e | yesterday (2024-03-01)",
    ]
    starts = [fact.occurred_start.date().isoformat() if fact.occurred_start else None for fact in read]
    assert starts == ["2024-03-01", "2024-02-20", "2024-03-01", "2024-01-12", None]
