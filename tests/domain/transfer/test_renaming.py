"""Other ids for a bank that is copied: all of them, wherever they stand, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, get_args
from uuid import UUID

import pytest
from pydantic import BaseModel

from domain.bank import BankEvent
from domain.event import Event, Recorded, StreamId, StreamKind
from domain.knowledge_base import KnowledgeBaseEvent
from domain.mental_model.events import ContentReverted, ContentWritten, MentalModelEvent
from domain.mental_model.record import PageEvidence
from domain.retain import chunk_ids, leaning
from domain.transfer import ChunkRow, FactRow, Renaming, is_carried
from domain.transfer.events import CARRIED, STAY_BEHIND
from domain.transfer.renaming import (
    BANK_FIELDS,
    IDS_IN_TEXT,
    NAMES_IN_A_BANK,
    NAMES_IN_A_DOCUMENT,
    OTHER_VERSIONS,
    OWN_STREAM_VERSIONS,
    PAGE_VERSIONS,
    PIECES,
)
from tests.domain.test_events import values_in
from tests.support.event_examples import EVENT_EXAMPLES
from tests.support.examples import BANK, MODEL, NOW, OPERATION, fact_id

COPY = "brno"
SALT = UUID("99999999-8888-4777-8666-555555555555")
EXAMPLES = {name: event for name, event in EVENT_EXAMPLES.items() if is_carried(name.partition(".")[0])}


def flat(union: Any) -> Iterator[type[Event]]:
    members = get_args(union)
    yield from (leaf for member in members for leaf in flat(member)) if members else (union,)


def types_in(annotation: Any) -> set[type]:
    arguments = get_args(annotation)
    return {each for argument in arguments for each in types_in(argument)} if arguments else {annotation}


def fields_of_all_events() -> set[tuple[str, str, bool]]:
    """Of each model that an event may hold: its name, a field, and whether that holds UUIDs."""
    return {
        (model.__name__, name, UUID in types_in(field.annotation))
        for union in (BankEvent, MentalModelEvent, KnowledgeBaseEvent)
        for event in flat(union)
        for model in values_in(event, set())
        for name, field in model.model_fields.items()
    }


def recorded(event: Event, kind: StreamKind = "mental_model", name: str = MODEL, version: int = 7) -> Recorded:
    return Recorded(StreamId(kind, BANK, name), version, 1, event, "worker", OPERATION, "a refresh", NOW)


def uuids_in(value: Any) -> Iterator[UUID]:
    if isinstance(value, UUID):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from uuids_in(getattr(value, name))
    elif isinstance(value, tuple):
        for each in value:
            yield from uuids_in(each)


# --- every event ------------------------------------------------------------------------------------------------------


def test_every_field_that_looks_like_an_id_is_known_for_what_it_is() -> None:
    """Whoever adds an id to an event says here what becomes of it in a copy; a UUID is told by its type."""
    kept = NAMES_IN_A_BANK | NAMES_IN_A_DOCUMENT | BANK_FIELDS
    unknown = {
        (model, name)
        for model, name, holds_uuids in fields_of_all_events()
        if re.search(r"(^|_)ids?$", name)
        and not holds_uuids
        and name not in kept
        and (model, name) not in PIECES | IDS_IN_TEXT
    }
    assert unknown == set()


def test_every_field_that_looks_like_a_version_is_known_for_what_it_is() -> None:
    known = OWN_STREAM_VERSIONS | PAGE_VERSIONS | OTHER_VERSIONS
    found = {(model, name) for model, name, _ in fields_of_all_events() if "version" in name}
    assert found - known == set()
    assert known - found == set(), "no longer there"


def test_the_exceptions_are_fields_that_there_are() -> None:
    fields = {(model, name) for model, name, _ in fields_of_all_events()}
    names = {name for _, name in fields}
    assert fields >= PIECES | IDS_IN_TEXT
    assert names >= (NAMES_IN_A_BANK - {"document_id"}) | NAMES_IN_A_DOCUMENT


def test_of_every_kind_of_stream_it_is_known_if_it_goes_along() -> None:
    assert {*CARRIED, *STAY_BEHIND} == {*get_args(StreamKind)}
    assert not {*CARRIED} & {*STAY_BEHIND}


@pytest.mark.parametrize("name", EXAMPLES)
def test_nothing_of_an_event_refers_to_the_source_any_more(name: str) -> None:
    event = EXAMPLES[name]
    copied = Renaming(BANK, COPY, SALT).recorded(recorded(event), 7).event
    before, after = list(uuids_in(event)), list(uuids_in(copied))
    assert len(before) == len(after)
    assert not set(before) & set(after)
    assert str(fact_id(1)) not in copied.model_dump_json()
    assert f'"bank_id":"{BANK}"' not in copied.model_dump_json()


@pytest.mark.parametrize("name", EXAMPLES)
def test_all_else_of_an_event_stays(name: str) -> None:
    """Put back what was replaced, and it is the event again."""
    event = EXAMPLES[name]
    renaming = Renaming(BANK, COPY, SALT)
    told = renaming.recorded(recorded(event), 7).event.model_dump_json(by_alias=True)
    told = told.replace(f'"bank_id":"{COPY}"', f'"bank_id":"{BANK}"')
    for each in {*uuids_in(event), fact_id(1)}:
        told = told.replace(str(renaming.id(each)), str(each))
    assert told == event.model_dump_json(by_alias=True)


# --- ids --------------------------------------------------------------------------------------------------------------


def test_an_id_becomes_the_same_wherever_it_stands_and_another_in_another_copy() -> None:
    renaming = Renaming(BANK, COPY, SALT)
    event = EXAMPLES["mental_model.content_written"]
    copied = renaming.recorded(recorded(event), 7).event
    assert isinstance(copied, ContentWritten)
    assert copied.pieces[0].facts == (renaming.id(fact_id(1)),)
    assert copied.record.evidence[0].fact_id == renaming.id(fact_id(1))
    assert copied.record.tool_calls[1].ids == (str(renaming.id(fact_id(1))),)
    assert Renaming(BANK, COPY, SALT).id(fact_id(1)) == renaming.id(fact_id(1))
    assert Renaming(BANK, COPY, OPERATION).id(fact_id(1)) != renaming.id(fact_id(1))


def test_an_id_that_is_the_name_of_a_document_stays() -> None:
    event = EXAMPLES["mental_model.content_written"]
    copied = Renaming(BANK, COPY, SALT, {str(fact_id(1))}).recorded(recorded(event), 7).event
    assert isinstance(copied, ContentWritten)
    assert copied.record.tool_calls[1].ids == (str(fact_id(1)),)


def test_who_when_and_why_stay_and_the_operation_is_none_of_the_copy() -> None:
    before = recorded(EXAMPLES["mental_model.content_cleared"])
    copied = Renaming(BANK, COPY, SALT).recorded(before, 7)
    assert (copied.actor, copied.cause, copied.occurred_at) == (before.actor, before.cause, before.occurred_at)
    assert copied.operation_id not in (None, OPERATION)
    assert copied.stream == StreamId("mental_model", COPY, MODEL)


def test_streams_that_are_named_as_their_bank_are_named_as_the_copy() -> None:
    renaming = Renaming(BANK, COPY, SALT)
    assert renaming.stream(StreamId("bank", BANK, BANK)) == StreamId("bank", COPY, COPY)
    assert renaming.stream(StreamId("knowledge_base", BANK, BANK)) == StreamId("knowledge_base", COPY, COPY)
    assert renaming.stream(StreamId("mental_model", BANK, BANK)) == StreamId("mental_model", COPY, BANK)


# --- versions ---------------------------------------------------------------------------------------------------------


def test_versions_that_an_event_names_move_with_their_stream() -> None:
    """The target had a document of that name in an earlier life: its stream goes on."""
    renaming = Renaming(BANK, COPY, SALT)
    renaming.recorded(recorded(EXAMPLES["mental_model.created"], name="prague", version=1), 11)
    written = renaming.recorded(recorded(EXAMPLES["mental_model.content_written"], version=4), 6).event
    reverted = renaming.recorded(recorded(EXAMPLES["mental_model.content_reverted"], version=5), 7).event
    assert isinstance(written, ContentWritten)
    assert isinstance(reverted, ContentReverted)
    before = EXAMPLES["mental_model.content_written"]
    assert isinstance(before, ContentWritten)
    assert before.record.pages == (PageEvidence(mental_model_id="prague", name="Prague", version=3, text="# Prague\n"),)
    assert written.record.pages[0].version == 13
    assert reverted.to_version == 4
    assert written.record.evidence[0].version == before.record.evidence[0].version


# --- memory -----------------------------------------------------------------------------------------------------------


def chunk(bank_id: str, number: int, text: str, read_with: str = "") -> ChunkRow:
    (identity,) = chunk_ids(bank_id, "guide", [text])
    return ChunkRow(
        document_id="guide", chunk_id=identity, number=number, text=text, read_with=read_with, created_at=NOW
    )


def test_chunks_are_known_again_when_their_document_is_retained_again() -> None:
    first = chunk(BANK, 0, "one")
    second = chunk(BANK, 1, "two", leaning("digest", [str(first.chunk_id)]))
    renaming = Renaming(BANK, COPY, SALT)
    copied = renaming.document_chunks([first, second])
    assert [each.chunk_id for each in copied] == chunk_ids(COPY, "guide", ["one", "two"])
    assert copied[1].read_with == leaning("digest", [str(copied[0].chunk_id)])
    assert renaming.chunk(str(second.chunk_id)) == str(copied[1].chunk_id)


def test_a_fact_goes_with_its_chunk_and_its_sources() -> None:
    renaming = Renaming(BANK, COPY, SALT)
    (copied,) = renaming.document_chunks([chunk(BANK, 0, "one")])
    fact = FactRow(
        fact_id=fact_id(1),
        version=2,
        from_position=3,
        to_position=4,
        fact_type="observation",
        tags=("a",),
        text="one",
        context=None,
        occurred_start=NOW,
        occurred_end=None,
        mentioned_at=None,
        document_id=str(fact_id(9)),
        chunk_id=str(chunk(BANK, 0, "one").chunk_id),
        metadata={"at": str(fact_id(1))},
        entities=(),
        source_ids=(fact_id(2), fact_id(3)),
        observation_scopes=None,
        recorded_at=NOW,
        space=None,
        vector=None,
    )
    moved = renaming.fact(fact)
    assert (moved.fact_id, moved.source_ids) == (
        renaming.id(fact_id(1)),
        (renaming.id(fact_id(2)), renaming.id(fact_id(3))),
    )
    assert moved.chunk_id == str(copied.chunk_id)
    same = {"fact_id": fact.fact_id, "source_ids": fact.source_ids, "chunk_id": fact.chunk_id}
    assert moved.model_copy(update=same) == fact


def test_the_id_of_a_chunk_that_is_gone_is_nobodys() -> None:
    gone = str(chunk(BANK, 0, "gone").chunk_id)
    assert Renaming(BANK, COPY, SALT).chunk(gone) != gone
    assert Renaming(BANK, COPY, SALT).chunk("no id at all") == "no id at all"
