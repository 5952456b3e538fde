"""What a bank says about how its items are read, followed without a model; and facts that know their chunk."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.offline.facts import OfflineFactExtractor
from application.ports import RetainSteering
from domain.bank_labels import LabelGroup
from domain.chunking import chunks_of
from domain.memory import Chunk, ExtractedFact, RetainItem
from tests.adapters.offline.facts_of import SAID, unhurried

PRIORITY = {"key": "priority", "tag": True, "values": [{"value": "low"}, {"value": "very_high"}, {"value": "紧急"}]}
AREA = {"key": "area", "type": "multi-values", "values": [{"value": "API"}, {"value": "C++"}, {"value": "billing"}]}
PERSON = {"key": "person", "type": "map", "fields": {"role": {"type": "value", "values": [{"value": "cook"}]}, "x": {}}}


def read(content: str, chunks: list[Chunk] | None = None, **given: Any) -> list[ExtractedFact]:
    item = {"timestamp": SAID, "entities": given.pop("entities", ())}
    steering = RetainSteering(labels=tuple(map(LabelGroup.model_validate, given.pop("labels", ()))), **given)
    retained = RetainItem.model_validate({"content": content, **item})
    return list(OfflineFactExtractor().extract(retained, steering=steering, now=SAID, chunks=chunks).facts)


# --- labels -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("It is LOW, they said.", ["priority:low"]),
        ("It is slow below.", []),
        ("A Very-High fence, not a low one.", ["priority:very_high"]),
        ("这个问题很紧急。", ["priority:紧急"]),
        ("我们用api接口和billing。", ["area:API", "area:billing"]),
        ("We write c++ and C.", ["area:C++"]),
        ("We write c and d.", []),
        ("the cook is here", ["person:role:cook"]),
        ("nothing", []),
    ],
)
def test_a_label_is_a_value_named_in_the_text(text: str, names: list[str]) -> None:
    (fact,) = read(text, labels=[PRIORITY, AREA, PERSON], free_form_entities=False)
    assert list(fact.entities) == names
    assert list(fact.tags) == [name for name in names if name.startswith("priority")]


def test_without_free_form_entities_only_labels_and_names_of_the_caller_are_left() -> None:
    facts = read("Yesterday we met Bob in Rome, low.", labels=[PRIORITY], entities=("Ann",), free_form_entities=False)
    assert facts[0].entities == ("Ann", "priority:low")
    assert read("Yesterday we met Bob in Rome.", entities=("Ann",))[0].entities == ("Ann", "Bob", "Rome")


# --- modes ------------------------------------------------------------------------------------------------------------


def test_verbatim_keeps_chunks_whole_with_dates_names_and_labels_of_their_sentences() -> None:
    chunks = [Chunk(number=3, text=" We met Bob.\nYesterday it was low. "), Chunk(number=4, text="\n")]
    assert read("unread", chunks, mode="verbatim", labels=[PRIORITY]) == [
        ExtractedFact(
            text="We met Bob.\nYesterday it was low.",
            occurred_start=datetime(2024, 5, 14, tzinfo=UTC),
            occurred_end=datetime(2024, 5, 14, 23, 59, 59, 999999, tzinfo=UTC),
            entities=("Bob", "priority:low"),
            tags=("priority:low",),
            chunk=3,
        )
    ]


def test_chunks_are_facts_as_they_are() -> None:
    assert read("We met Bob. It rained.", mode="chunks") == [ExtractedFact(text="We met Bob. It rained.", chunk=0)]


# --- chunks -----------------------------------------------------------------------------------------------------------


PAGE = "\n".join(
    [
        "# Kitchen",
        "",
        "The kitchen opens at noon. It closes at ten, and that is a long day for a cook who is",
        "alone. Nobody complains.",
        "",
        "Dishes of the day:",
        "",
        "- Soup with bread",
        "- Cake",
        "",
        "> Quoted words that are broken by an editor where the line is full and go on",
        "> in the next one. The end of it.",
        "",
        "| Dish | Price |",
        "|---|---|",
        "| Soup | 5 |",
        "| Cake | 3 |",
        "",
        "The kitchen opens at noon.",
    ]
)


@pytest.mark.parametrize("size", [60, 90, 150, 300])
def test_every_fact_carries_the_number_of_the_chunk_it_begins_in(size: int) -> None:
    chunks = list(chunks_of(PAGE, size))
    facts = read(PAGE, chunks)
    assert list(dict.fromkeys(fact.text for fact in facts)) == [fact.text for fact in read(PAGE)]
    for fact in facts:
        chunk = next(chunk.text for chunk in chunks if chunk.number == fact.chunk)
        said = fact.text.removeprefix("Kitchen: ").removeprefix("Dishes of the day: ").removeprefix("Dish: ")
        assert " ".join(said.split()[:1]).rstrip(";") in chunk


def test_facts_outside_the_chunks_given_are_left_out_and_what_is_there_is_understood_by_the_whole() -> None:
    chunks = chunks_of(PAGE, 90)
    bread = next(chunk for chunk in chunks if "Soup with" in chunk.text)
    last = chunks[-1]
    facts = read(PAGE, [bread, last])
    assert "Dishes of the day: Soup with bread" in [fact.text for fact in facts if fact.chunk == bread.number]
    assert [fact.text for fact in facts if fact.chunk == last.number][-1] == "The kitchen opens at noon."
    assert {fact.chunk for fact in facts} == {bread.number, last.number}


@pytest.mark.parametrize(
    ("parts", "facts"),
    [
        (["We saw Rome. ", "Rome."], [("We saw Rome.", 0), ("Rome.", 1)]),
        (["```\nCold soup\n```\n\n", "- Cold soup"], [("Cold soup", 1)]),
        (["One. ", "One. One.\nTwo."], [("One.", 0), ("One.", 1), ("Two.", 1)]),
    ],
    ids=["the same words before", "the same words in code", "said twice, once in each chunk"],
)
def test_a_fact_is_of_the_chunk_where_it_is_said_not_where_its_words_stand_too(
    parts: list[str], facts: list[tuple[str, int]]
) -> None:
    chunks = [Chunk(number=number, text=text) for number, text in enumerate(parts)]
    assert [(fact.text, fact.chunk) for fact in read("".join(parts), chunks)] == facts


def test_a_chunk_that_is_not_in_the_item_is_read_alone() -> None:
    facts = read(
        "Here it is. There it was.", [Chunk(number=1, text="Here it is. "), Chunk(number=5, text="Else. Where.")]
    )
    assert [(fact.text, fact.chunk) for fact in facts] == [("Here it is.", 1), ("Else.", 5), ("Where.", 5)]


def test_a_conversation_in_json_is_read_as_spoken_lines_and_its_facts_know_their_chunk() -> None:
    said = [
        ("ada", "I moved to Rome yesterday. It is warm."),
        ("Ben", "It rains."),
        ("assistant", "I booked a flight."),
    ]
    turns = [
        {"role": "assistant" if name == "assistant" else "user", "name": name, "content": text}
        | {"timestamp": f"2024-03-0{number}T10:00:00Z"}
        for number, (name, text) in enumerate(said, 2)
    ]
    chunks = list(chunks_of(json.dumps(turns), 150))
    facts = read(json.dumps(turns), chunks)
    assert [fact.text for fact in facts] == [
        *("Ada: I moved to Rome yesterday.", "Ada: It is warm.", "Ben: It rains.", "Assistant: I booked a flight.")
    ]
    assert [fact.chunk for fact in facts] == [0, 0, 1, 2]
    assert facts[0].occurred_start == datetime(2024, 3, 1, tzinfo=UTC)
    assert facts[0].entities == ("Ada", "Rome")
    assert facts[3].fact_type == "experience"


@unhurried
@given(st.text(alphabet=st.sampled_from("ab. \n|-#>:`A我。"), max_size=300), st.integers(min_value=1, max_value=60))
def test_all_chunks_together_give_the_facts_of_the_whole(content: str, size: int) -> None:
    facts = read(content, list(chunks_of(content, size)))
    assert [fact.text for fact in facts] == [fact.text for fact in read(content)]
    assert all(fact.chunk is not None for fact in facts)
