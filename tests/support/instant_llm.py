"""A language model that answers at once and always well: for the demo, and to measure what is not the model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import count
from typing import Any

from tests.support.scripted_llm import Reply, Request, Usage, changes, edits, tool_call, values

USAGE = Usage(prompt=100, completion=20)

_numbers = count(1)
_MARK = re.compile(r"^\[(\S+?)\](.*)$", re.MULTILINE)
_FACT = re.compile(r"^(f\d+)(?: \([^()]*\))?: (.+)$", re.MULTILINE)
_VALUES: Mapping[str, Any] = {"string": "Palimpsest", "number": 1.5, "integer": 1, "boolean": True, "array": []}


def instant(request: Request) -> Reply:
    """One fact for a text, one recall for a question, then a document that is new each time and rests on one fact; one
    edit for a document, an observation for each new fact, and values of the right types for a schema."""
    number = next(_numbers)
    if "record_facts" in request.tools:
        fact = {"what": f"Palimpsest was told text {number}", "fact_type": "world", "entities": ["Palimpsest"]}
        return tool_call("record_facts", {"facts": [fact]}, usage=USAGE)
    if "edit_document" in request.tools:
        return edits({**_edit(request.text, f"Answer {number}."), "facts": ["f1"]}, usage=USAGE)
    if "record_observations" in request.tools:
        return changes(*_observations(request.text), usage=USAGE)
    if "record_values" in request.tools:
        return values(_value(request.body["tools"][0]["function"]["parameters"]), usage=USAGE)
    if "done" not in request.tools:
        return tool_call("recall", {"reason": "first", "query": "Palimpsest", "max_tokens": 2048}, usage=USAGE)
    document = {"sections": [{"heading": "Palimpsest", "level": 2, "blocks": [f"Answer {number} [f1]."]}]}
    return tool_call("done", {"document": document, "answer_found": True, "memory_ids": ["f1"]}, usage=USAGE)


def _edit(prompt: str, text: str) -> dict[str, Any]:
    """The first block of the document shown gets another text; a document without blocks gets a section."""
    section = ""
    for identity, rest in _MARK.findall(prompt):
        if rest:
            section = section or identity
        elif section:
            return {"op": "replace_block", "section_id": section, "block_id": identity, "text": text}
    return {"op": "add_section", "heading": "Palimpsest", "blocks": [text]}


def _observations(prompt: str) -> list[dict[str, Any]]:
    """Each fact shown is observed in its own words."""
    return [{"op": "create", "text": text, "facts": [name]} for name, text in _FACT.findall(prompt)]


def _value(schema: Mapping[str, Any]) -> Any:
    """Some value of a plain schema."""
    if schema.get("enum"):
        return schema["enum"][0]
    if "anyOf" in schema:
        return _value(schema["anyOf"][0])
    if "properties" in schema or schema.get("type") == "object":
        return {name: _value(each) for name, each in schema.get("properties", {}).items()}
    return _VALUES.get(str(schema.get("type")), "Palimpsest")
