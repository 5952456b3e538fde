"""Stored events are a contract: what was stored once loads for ever, and what cannot be stored is refused.

Golden files are in tests/stored_events, one for every event and schema version (and alternative of its payload). They
are never edited. A new or changed event needs a new file: `python -m tests.support.store_examples` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, get_args
from uuid import UUID

import pytest
from eventsourcing.persistence import StoredEvent
from hypothesis import given as for_all
from hypothesis import strategies as st
from pydantic import BaseModel

from adapters.postgres.event_mapper import (
    EVENT_TYPES,
    UnreadableEvent,
    UnstorableEvent,
    to_event,
    to_recorded,
    to_stored,
)
from domain.bank import BankOpened, Disposition, DispositionChanged, Missions, MissionsChanged
from domain.event import Context, Event, StreamId
from domain.mental_model.events import MentalModelRenamed, TagsChanged, TriggerChanged
from domain.mental_model.trigger import Trigger
from tests.support.event_examples import EVENT_EXAMPLES
from tests.support.examples import BANK, MENTAL_MODEL_STREAM, NOW, OPERATION, STREAMS
from tests.support.store_examples import GOLDEN, golden_name

CONTEXT = Context("worker", NOW, OPERATION, "refresh after retain")
FILES = sorted(GOLDEN.glob("*.json"))
RENAMED = MentalModelRenamed(name="Karlův most")


def stored_example(name: str) -> StoredEvent:
    """A golden file as the row it was."""
    row = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
    envelope = row["state"]["envelope"]
    stream = StreamId(envelope["stream"], envelope["bank_id"], envelope["name"])
    return StoredEvent(stream.uuid, 1, row["topic"], json.dumps(row["state"], ensure_ascii=False).encode())


def stored(event: Event = RENAMED, context: Context = CONTEXT) -> StoredEvent:
    return to_stored(STREAMS[event.TOPIC.split(".")[0]], 3, event, context)  # type: ignore[index]  # a topic starts with its kind


def altered(topic: str = RENAMED.TOPIC, **state: Any) -> StoredEvent:
    """A stored event with parts of its state replaced."""
    good = stored()
    return StoredEvent(good.originator_id, 3, topic, json.dumps({**json.loads(good.state), **state}).encode())


def with_envelope(**fields: Any) -> StoredEvent:
    return altered(envelope={**json.loads(stored().state)["envelope"], **fields})


# --- golden files -----------------------------------------------------------------------------------------------------


def is_said_by(stored_value: Any, read_value: Any) -> bool:
    """Whether everything in a stored payload is still in the event that was read from it."""
    if isinstance(stored_value, dict) and isinstance(read_value, dict):
        return all(key in read_value and is_said_by(item, read_value[key]) for key, item in stored_value.items())
    if isinstance(stored_value, list) and isinstance(read_value, list) and len(stored_value) == len(read_value):
        return all(map(is_said_by, stored_value, read_value))
    return type(stored_value) is type(read_value) and bool(stored_value == read_value)


@pytest.mark.parametrize("name", [file.name for file in FILES])
def test_every_event_ever_stored_still_loads_and_says_the_same(name: str) -> None:
    row = stored_example(name)
    state = json.loads(row.state)
    recorded = to_recorded(row, position=9)
    assert row.topic == recorded.event.TOPIC
    assert (recorded.version, recorded.position, recorded.stream.uuid) == (1, 9, row.originator_id)
    assert (recorded.actor, recorded.cause) == (state["envelope"]["actor"], state["envelope"]["cause"])
    if state["envelope"]["schema"] == recorded.event.SCHEMA:
        assert is_said_by(state["payload"], recorded.event.model_dump(mode="json", by_alias=True))


def test_a_bank_opened_before_banks_had_names_is_called_by_its_id() -> None:
    assert to_recorded(stored_example("bank.opened.1.json")).event == BankOpened(bank_id="prague", name="prague")


def test_a_trait_that_was_neutral_when_traits_could_not_be_unset_is_not_set() -> None:
    row = stored_example("bank.disposition_changed.1.json")
    state = json.loads(row.state)
    state["payload"]["disposition"] = {"skepticism": 5, "literalism": 3, "empathy": 1}
    event = to_event(row.topic, 1, state["payload"])
    assert event == DispositionChanged(disposition=Disposition(skepticism=5, empathy=1))


def test_every_event_has_a_golden_file_for_each_of_its_schema_versions_and_no_file_is_without_an_event() -> None:
    kept = {(row["topic"], row["state"]["envelope"]["schema"]) for row in map(_read, FILES)}
    assert kept == {(topic, schema) for topic, event in EVENT_TYPES.items() for schema in range(1, event.SCHEMA + 1)}


@pytest.mark.parametrize("topic", EVENT_TYPES)
def test_every_field_an_event_can_have_is_in_one_of_its_golden_files(topic: str) -> None:
    """A field that was added, renamed or removed, at any depth, shows up here."""
    event_type = EVENT_TYPES[topic]
    files = [file for file in FILES if file.name.startswith(f"{topic}.{event_type.SCHEMA}.")]
    kept = {field for file in files for field in fields_said(to_recorded(stored_example(file.name)).event)}
    assert kept == set(fields_of(event_type, set()))


def test_a_file_is_named_after_its_event_and_schema() -> None:
    for file in FILES:
        row = _read(file)
        assert file.name.startswith(f"{row['topic']}.{row['state']['envelope']['schema']}.")
    assert {golden_name(name, event) for name, event in EVENT_EXAMPLES.items()} <= {file.name for file in FILES}


def _read(file: Any) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def fields_of(annotation: Any, seen: set[Any]) -> Iterator[str]:
    """`Model.field` of all models an annotation can hold, at any depth."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation not in seen:
            seen.add(annotation)
            for name, field in annotation.model_fields.items():
                yield f"{annotation.__name__}.{name}"
                yield from fields_of(field.annotation, seen)
        return
    for argument in get_args(annotation):
        yield from fields_of(argument, seen)


def fields_said(value: Any) -> Iterator[str]:
    """`Model.field` of all fields that were given in a value (not those left to their defaults), at any depth."""
    if isinstance(value, BaseModel):
        for name in value.model_fields_set:
            yield f"{type(value).__name__}.{name}"
            yield from fields_said(getattr(value, name))
    elif isinstance(value, tuple | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from fields_said(item)


# --- round trip -------------------------------------------------------------------------------------------------------


def test_the_mapper_knows_every_event_of_the_domain() -> None:
    assert set(EVENT_TYPES.values()) == {
        each for each in Event.__subclasses__() if each.__module__.startswith("domain.")
    }
    assert set(EVENT_TYPES) == {event.TOPIC for event in EVENT_EXAMPLES.values()}


@pytest.mark.parametrize("event", EVENT_EXAMPLES.values(), ids=EVENT_EXAMPLES.keys())
def test_every_event_comes_back_as_it_was(event: Event) -> None:
    recorded = to_recorded(stored(event), position=41)
    assert recorded.event == event
    assert (recorded.version, recorded.position) == (3, 41)
    assert (recorded.actor, recorded.operation_id, recorded.cause, recorded.occurred_at) == (
        "worker",
        OPERATION,
        "refresh after retain",
        NOW,
    )


def test_a_stream_comes_back_from_the_envelope() -> None:
    row = stored()
    assert row.originator_id == MENTAL_MODEL_STREAM.uuid
    assert to_recorded(row).stream == MENTAL_MODEL_STREAM


def test_an_event_without_an_operation_has_none() -> None:
    assert to_recorded(stored(context=Context("user", NOW))).operation_id is None


def test_stored_text_is_readable_as_it_is() -> None:
    assert "Karlův most".encode() in stored().state


STORABLE = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]))


@for_all(STORABLE, st.lists(STORABLE).map(tuple), STORABLE)
def test_any_text_without_nul_and_surrogates_comes_back(name: str, tags: tuple[str, ...], cause: str) -> None:
    context = Context("user", NOW, None, cause)
    for event in (
        MentalModelRenamed(name=name),
        TagsChanged(tags=tags),
        MissionsChanged(missions=Missions(retain=name)),
    ):
        recorded = to_recorded(stored(event, context))
        assert (recorded.event, recorded.cause) == (event, cause)


# --- what cannot be stored --------------------------------------------------------------------------------------------


def schema_with(key: str, value: Any) -> TriggerChanged:
    return TriggerChanged(trigger=Trigger(response_schema={"properties": {"year": {key: value}}}))


@pytest.mark.parametrize(
    "event",
    [
        MentalModelRenamed(name="a\x00b"),
        TagsChanged(tags=("ok", "\x00")),
        MissionsChanged(missions=Missions(reflect="\x00")),
        schema_with("title", "\x00"),
        schema_with("\x00", "title"),
        schema_with("enum", ["\x00"]),
    ],
)
def test_a_nul_is_refused_wherever_it_is(event: Event) -> None:
    with pytest.raises(UnstorableEvent, match=f"{event.TOPIC} holds a NUL"):
        stored(event)


@pytest.mark.parametrize(
    "event",
    [
        MentalModelRenamed(name="a\ud800b"),
        TagsChanged(tags=("ok", "\udfff")),
        schema_with("title", "\ud800"),
        schema_with("\ud800", "title"),
        schema_with("enum", ["\ud800"]),
    ],
    ids=range(5),
)
def test_a_lone_surrogate_is_refused_wherever_it_is(event: Event) -> None:
    with pytest.raises(UnstorableEvent, match=f"{event.TOPIC} holds a lone surrogate"):
        stored(event)


@pytest.mark.parametrize("text", ["\x00", "\ud800"], ids=["NUL", "surrogate"])
def test_the_envelope_is_held_to_the_same(text: str) -> None:
    with pytest.raises(UnstorableEvent):
        stored(context=Context("user", NOW, None, text))
    with pytest.raises(UnstorableEvent):
        to_stored(StreamId("bank", text, text), 1, RENAMED, CONTEXT)


def test_the_letters_of_an_escape_are_no_nul() -> None:
    event = MentalModelRenamed(name="\\u0000")
    assert to_recorded(stored(event)).event == event


def test_an_event_made_past_its_own_rules_is_refused() -> None:
    with pytest.raises(ValueError, match="name"):
        stored(RENAMED.model_copy(update={"name": None}))


# --- what cannot be read ----------------------------------------------------------------------------------------------

UNREADABLE = {
    "an unknown topic": (altered("mental_model.painted"), "unknown topic mental_model.painted"),
    "a newer schema": (with_envelope(schema=2), "has shape 2, this version knows 1; upgrade first"),
    "a schema before the first": (with_envelope(schema=0), "unreadable"),
    "a schema that is no number": (with_envelope(schema="1"), "unreadable"),
    "a payload without a field": (altered(payload={}), "name: Field required"),
    "a payload with a field too many": (altered(payload={"name": "a", "colour": "red"}), "colour: Extra inputs"),
    "a payload of the wrong type": (altered(payload={"name": 5}), "name: Input should be a valid string"),
    "a payload that is no object": (altered(payload=[1]), "valid dictionary"),
    "an old payload that is no object": (
        altered("bank.opened", envelope={**json.loads(stored().state)["envelope"], "schema": 1}, payload=[1]),
        "unreadable",
    ),
    "no time": (with_envelope(occurred_at=None), "unreadable"),
    "a time that is none": (with_envelope(occurred_at="yesterday"), "yesterday"),
    "an operation id that is none": (with_envelope(operation_id="7"), "badly formed"),
    "an operation id that is a number": (with_envelope(operation_id=7), "unreadable"),
    "an envelope without a stream": (altered(envelope={"schema": 1}), "stream"),
    "an envelope that is no object": (altered(envelope=[]), "unreadable"),
    "another document": (StoredEvent(UUID(int=1), 3, RENAMED.TOPIC, b"[1]"), "unreadable"),
    "no JSON": (StoredEvent(UUID(int=1), 3, RENAMED.TOPIC, b"{"), "unreadable"),
    "no UTF-8": (StoredEvent(UUID(int=1), 3, RENAMED.TOPIC, b"\xff\xfe\xfd"), "unreadable"),
}


@pytest.mark.parametrize(("row", "reason"), UNREADABLE.values(), ids=UNREADABLE.keys())
def test_an_event_that_cannot_be_read_is_named_with_the_reason(row: StoredEvent, reason: str) -> None:
    with pytest.raises(UnreadableEvent) as refused:
        to_recorded(row)
    for part in (f"event 3 of stream {row.originator_id}", row.topic, reason):
        assert part in str(refused.value)


SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=5)


def _containers_of(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists: st.SearchStrategy[Any] = st.lists(inner, max_size=3)
    return lists | st.dictionaries(st.text(max_size=5), inner, max_size=3)


JSON = st.recursive(SCALARS, _containers_of, max_leaves=8)


@for_all(st.sampled_from(sorted(EVENT_TYPES)), st.integers(0, 3), JSON)
def test_any_other_payload_is_read_or_refused_by_name(topic: str, schema: int, payload: Any) -> None:
    envelope = {**json.loads(stored().state)["envelope"], "schema": schema}
    row = altered(topic, envelope=envelope, payload=payload)
    try:
        event = to_recorded(row).event
    except UnreadableEvent as refused:
        message = str(refused)
    else:
        message = event.TOPIC
    assert topic in message


def test_the_bank_of_an_event_is_in_its_envelope() -> None:
    assert json.loads(stored().state)["envelope"]["bank_id"] == BANK
