"""What every event must be, so that it can be kept for ever: frozen, closed, named once, explained."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence, MutableSet
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel

import domain
from domain.event import STREAMS, Event, StreamId, StreamKind
from domain.mental_model.trigger import Trigger
from tests.support.event_examples import EVENT_EXAMPLES

for _module in pkgutil.walk_packages(domain.__path__, "domain."):
    importlib.import_module(_module.name)

EVENTS = sorted(
    (each for each in Event.__subclasses__() if each.__module__.startswith("domain.")), key=lambda e: e.TOPIC
)
MUTABLE_BY_CONTRACT = {
    "response_schema",
    "structured_output",
    "fields",
    "retain_strategies",
    "knowledge_page_default_trigger",
    "memory_defense",
}
"""Fields that hold JSON as the client sent it, or asked for it."""
OPEN_BY_CONTRACT = {Trigger}
"""Values of the wire contract that leave out fields they do not know."""


def values_in(annotation: Any, seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    """All models an annotation can hold, and what they hold in turn."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation not in seen:
            seen.add(annotation)
            yield annotation
            for field in annotation.model_fields.values():
                yield from values_in(field.annotation, seen)
        return
    for argument in get_args(annotation):
        yield from values_in(argument, seen)


VALUES = sorted(
    {value for event in EVENTS for value in values_in(event, set())} - set(EVENTS), key=lambda v: v.__name__
)


def containers_in(annotation: Any) -> Iterator[type]:
    origin = get_origin(annotation) or annotation
    if isinstance(origin, type):
        yield origin
    for argument in get_args(annotation):
        yield from containers_in(argument)


every_event = pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.TOPIC)
every_model = pytest.mark.parametrize("model", [*EVENTS, *VALUES], ids=lambda model: model.__name__)


def test_no_topic_names_two_events() -> None:
    assert len({event.TOPIC for event in EVENTS}) == len(EVENTS) > 20


@every_event
def test_a_topic_is_its_aggregate_and_what_happened(event: type[Event]) -> None:
    assert "TOPIC" in vars(event), "a topic is never inherited"
    aggregate, what = event.TOPIC.split(".")
    assert aggregate in get_args(StreamKind)
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", what)


@every_event
def test_an_event_is_explained(event: type[Event]) -> None:
    assert event.__doc__ is not None
    assert event.__doc__ != Event.__doc__
    assert event.__doc__.strip().endswith(".")


@every_event
def test_an_event_is_not_called_an_event(event: type[Event]) -> None:
    assert not event.__name__.endswith(("Event", "Updated"))


@every_event
def test_every_older_shape_can_be_upcast(event: type[Event]) -> None:
    assert event.SCHEMA >= 1
    assert sorted(event.UPCASTS) == list(range(1, event.SCHEMA))


@every_model
def test_a_recorded_value_cannot_be_changed(model: type[BaseModel]) -> None:
    assert model.model_config.get("frozen") is True


@every_model
def test_a_recorded_value_takes_no_field_it_does_not_know(model: type[BaseModel]) -> None:
    assert (model.model_config.get("extra") == "forbid") is (model not in OPEN_BY_CONTRACT)


@every_model
def test_a_recorded_value_holds_no_mutable_container(model: type[BaseModel]) -> None:
    mutable = {
        name
        for name, field in model.model_fields.items()
        for container in containers_in(field.annotation)
        if issubclass(container, MutableMapping | MutableSequence | MutableSet | Mapping)
    }
    assert mutable <= MUTABLE_BY_CONTRACT


@every_event
def test_every_event_has_an_example(event: type[Event]) -> None:
    example = EVENT_EXAMPLES[event.TOPIC]
    assert type(example) is event
    with pytest.raises(ValueError, match="frozen"):
        setattr(example, next(iter(event.model_fields), "anything"), None)


def test_the_id_of_a_stream_follows_from_its_kind_bank_and_name() -> None:
    stream = StreamId("mental_model", "prague", "charles-bridge")
    assert str(stream.uuid) == "9dc9e9cd-5457-52eb-be86-944e0b4abed2"
    assert str(STREAMS) == "5f4b2c1e-6a0d-4c38-9d55-70616c696d70"


def test_names_that_run_together_are_different_streams() -> None:
    ids = {
        StreamId("mental_model", "a", "bc").uuid,
        StreamId("mental_model", "ab", "c").uuid,
        StreamId("bank", "a", "bc").uuid,
    }
    assert len(ids) == 3
