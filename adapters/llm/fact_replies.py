"""Facts as a model writes them down. The schema asks only for what the bank wants: the descriptions of its fields stand
once, in the rules."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, create_model, model_validator
from pydantic.json_schema import SkipJsonSchema, WithJsonSchema

from adapters.llm.label_schema import labels_schema
from application.ports import RetainSteering


def _names(given: Any) -> Any:
    """Names, also where they come as objects."""
    if not isinstance(given, list):
        return given or []
    texts = [each.get("name") or each.get("text") if isinstance(each, Mapping) else each for each in given]
    return [text for text in texts if isinstance(text, str)]


def _numbers(given: Any) -> list[int]:
    """What can be the number of a fact; anything else names none."""
    listed = given if isinstance(given, list) else [given]
    texts = [str(each).strip() for each in listed if isinstance(each, (int, str)) and not isinstance(each, bool)]
    return [int(text) for text in texts if text.isascii() and text.isdigit() and len(text) < 7]


def _object(given: Any) -> Any:
    return given if isinstance(given, Mapping) else {}


def _kind(given: Any) -> Any:
    return given if given in ("event", "conversation") else None


_Names = Annotated[list[str], BeforeValidator(_names)]
_Numbers = Annotated[list[int], BeforeValidator(_numbers)]
_Object = Annotated[dict[str, Any], BeforeValidator(_object)]
_Text = str | None


class FactReply(BaseModel):
    """One fact. Fields that are hidden here are asked for when the bank wants them."""

    what: SkipJsonSchema[str] = ""
    when: SkipJsonSchema[_Text] = None
    where: SkipJsonSchema[_Text] = None
    who: SkipJsonSchema[_Text] = None
    why: SkipJsonSchema[_Text] = None
    fact_kind: SkipJsonSchema[Annotated[Literal["event", "conversation"] | None, BeforeValidator(_kind)]] = None
    fact_type: Literal["world", "assistant"] = "world"
    occurred_start: _Text = None
    occurred_end: _Text = None
    entities: SkipJsonSchema[_Names] = []
    caused_by: SkipJsonSchema[_Numbers] = []
    labels: SkipJsonSchema[_Object] = {}


class _WrittenFact(FactReply):
    what: str
    when: _Text = None
    where: _Text = None
    who: _Text = None
    why: _Text = None
    fact_kind: Annotated[Literal["event", "conversation"] | None, BeforeValidator(_kind)] = None


class FactsReply(BaseModel):
    """Record all facts found in the text; an empty list when there are none."""

    facts: list[FactReply]

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, given: Any) -> Any:
        """Takes a bare list of facts, and the arguments of several calls in one turn."""
        if not isinstance(given, list):
            return given
        gathered: list[Any] = []
        for each in given:
            nested = each.get("facts") if isinstance(each, dict) else None
            gathered.extend(nested if isinstance(nested, list) else [each])
        return {"facts": gathered}


def reply_type(steering: RetainSteering) -> type[FactsReply]:
    """The shape of a reply as a bank wants it; the same type for the same wishes."""
    return _reply_type(
        steering.mode == "verbatim",
        steering.free_form_entities,
        steering.causal_links and steering.mode != "verbatim",
        json.dumps(labels_schema(steering.labels)) if steering.labels else "",
    )


@lru_cache(maxsize=64)
def _reply_type(verbatim: bool, entities: bool, causes: bool, labels: str) -> type[FactsReply]:
    fields: dict[str, Any] = {}
    if entities:
        fields["entities"] = (_Names, [])
    if causes:
        fields["caused_by"] = (_Numbers, [])
    if labels:
        fields["labels"] = (Annotated[_Object, WithJsonSchema(json.loads(labels))], {})
    fact = create_model("Fact", __base__=FactReply if verbatim else _WrittenFact, **fields)
    return create_model(
        "record_facts",
        __base__=FactsReply,
        __config__=None,
        __doc__=FactsReply.__doc__,
        facts=(list[fact], ...),
    )
