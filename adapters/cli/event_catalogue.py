"""docs/event-catalogue.md, made from the events themselves.

`python -m adapters.cli.event_catalogue > docs/event-catalogue.md` writes it anew; a test compares the two.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from datetime import datetime
from inspect import cleandoc
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from domain.api_keys import ApiKeyEvent
from domain.bank import BankEvent
from domain.event import Event
from domain.knowledge_base import KnowledgeBaseEvent
from domain.mental_model.events import MentalModelEvent
from domain.operation import OperationEvent
from domain.request import RequestEvent

AGGREGATES: tuple[tuple[str, Any], ...] = (
    ("Mental model", MentalModelEvent),
    ("Bank", BankEvent),
    ("Knowledge base", KnowledgeBaseEvent),
    ("Operation", OperationEvent),
    ("Request", RequestEvent),
    ("API key", ApiKeyEvent),
)

INTRODUCTION = """\
# Event catalogue

Made from the code by `python -m adapters.cli.event_catalogue`; do not edit it by hand.

Every event is stored with its topic, the version of its shape (schema), and an envelope that says which stream it
belongs to, who caused it (`actor`), in which operation (`operation_id`), why (`cause`) and when (`occurred_at`); and
with which API key it was asked for, if any (`key_id`).
Topics and shapes are permanent: a changed shape gets a new schema version, and stored events of older ones are upcast
when they are read.
"""


def render() -> str:
    """The catalogue as markdown: events by aggregate, then the values that they hold."""
    events = [event for _, union in AGGREGATES for event in _members(union)]
    parts = [INTRODUCTION]
    for title, union in AGGREGATES:
        parts.append(f"## {title}\n")
        parts.extend(_event(event) for event in _members(union))
    parts.append("## Values\n")
    parts.extend(_value(value) for value in sorted(_values_of(events), key=lambda value: value.__name__))
    return "\n".join(parts)


def _members(union: Any) -> Iterator[type[Event]]:
    """The events of a union of events and unions, in order."""
    if isinstance(union, type):
        yield union
    for member in get_args(union):
        yield from _members(member)


def _event(event: type[Event]) -> str:
    versions = f"schema {event.SCHEMA}" + (", older ones are upcast" if event.UPCASTS else "")
    return f"### {event.__name__}\n\n`{event.TOPIC}`, {versions}. {_sentence(event)}\n\n{_fields(event)}"


def _value(value: type[BaseModel]) -> str:
    sentence = _sentence(value)
    return f"### {value.__name__}\n\n" + (f"{sentence}\n\n" if sentence else "") + _fields(value)


def _sentence(model: type[BaseModel]) -> str:
    """Its docstring as one line."""
    return " ".join(cleandoc(vars(model).get("__doc__") or "").split())


def _fields(model: type[BaseModel]) -> str:
    if not model.model_fields:
        return "No fields.\n"
    rows = [f"| `{field.alias or name}` | {_type_of(field)} |" for name, field in model.model_fields.items()]
    return "\n".join(["| field | type |", "| --- | --- |", *rows]) + "\n"


def _type_of(field: FieldInfo) -> str:
    """The type of a field in the words of JSON; values of our own are links."""
    optional = "" if field.is_required() else f" (default {_default(field)})"
    return _name_of(field.annotation) + optional


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, BaseModel):
        return f"an empty {type(value).__name__}"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return f"`{value}`" if value != "" and value != () else "empty"


_NAMES: dict[Any, str] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "true or false",
    datetime: "time",
    UUID: "UUID",
    Any: "any JSON",
    type(None): "null",
}


def _name_of(annotation: Any) -> str:
    if annotation in _NAMES:
        return _NAMES[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return f"[{annotation.__name__}](#{annotation.__name__.lower()})"
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _name_of(arguments[0])
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(_name_of(argument) for argument in arguments)
    if origin is tuple:
        return _list_of(arguments)
    if origin is dict:
        return "JSON object"
    raise TypeError(f"the catalogue has no words for {annotation!r}; teach them to _name_of")


def _list_of(arguments: tuple[Any, ...]) -> str:
    """`tuple[X, ...]` is a list of X, `tuple[X, Y]` a pair."""
    names = [_name_of(argument) for argument in arguments if argument is not ...]
    if arguments[1:] != (...,):
        return f"[{', '.join(names)}]"
    return f"list of ({names[0]})" if " or " in names[0] else f"list of {names[0]}"


def _values_of(models: Iterable[type[BaseModel]]) -> set[type[BaseModel]]:
    """All values that models hold, and what those hold in turn."""
    found: set[type[BaseModel]] = set()
    waiting = [field.annotation for model in models for field in model.model_fields.values()]
    while waiting:
        annotation = waiting.pop()
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            if annotation not in found:
                found.add(annotation)
                waiting.extend(field.annotation for field in annotation.model_fields.values())
        else:
            waiting.extend(get_args(annotation))
    return found


if __name__ == "__main__":
    print(render(), end="")
