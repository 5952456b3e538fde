"""Schemas of tools use nothing that plain endpoints do not know."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from pydantic import BaseModel, Field

from adapters.llm.facts import FactsReply
from adapters.llm.tool_schema import plain_schema


class Inner(BaseModel):
    title: str = Field(description="A property may be called as a keyword is.")
    kind: Literal["a", "b"] = "a"


class Outer(BaseModel):
    items: list[Inner]
    best: Inner | None = None
    size: int | str | None = None


class Loop(BaseModel):
    next: Loop | None = None


def test_references_and_unions_with_null_are_written_out() -> None:
    inner = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "A property may be called as a keyword is."},
            "kind": {"type": "string", "enum": ["a", "b"]},
        },
        "required": ["title"],
    }
    assert plain_schema(Outer.model_json_schema()) == {
        "type": "object",
        "properties": {
            "items": {"type": "array", "items": inner},
            "best": inner,
            "size": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        },
        "required": ["items"],
    }


def test_a_type_that_contains_itself_is_refused() -> None:
    with pytest.raises(ValueError, match="Loop contains itself"):
        plain_schema(Loop.model_json_schema())


def test_the_schema_for_facts_has_no_references() -> None:
    written = json.dumps(plain_schema(FactsReply.model_json_schema()))
    assert "$ref" not in written
    assert "$defs" not in written
    assert "anyOf" not in written
