"""The operations in a reply, in every form in which models write them (spec of the system of reference, "Parsing the
reply"). What is no operation is refused by itself, with a reason; the others are taken.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from adapters.llm.aliases import Aliases
from adapters.llm.edit_tool import EDIT, FACTS, FIELDS, operation_types
from adapters.llm.numbered_document import NumberedDocument
from adapters.llm.replies import ChatReply, json_in
from adapters.llm.storable_text import storable_json
from domain.document import Operation
from domain.editing import ProposedEdit, RefusedEdit

EXCERPT = 600
"""Characters of a refused entry that are kept (the system of reference, limits)."""

_OPERATION: TypeAdapter[Operation] = TypeAdapter(Operation)
_FIELDS_OF = {str(each.model_fields["op"].default): each.model_fields.keys() for each in operation_types()}
_TEXTS = {"text", "blocks", "heading", "new_heading"}
_OPENING = re.compile(r'\{\s*"|\[\s*\{')
_LIST_OPENING = re.compile(r'\{\s*"operations"|\[\s*\{\s*"op"')
_MOST_OPENINGS = 500

Entry = ProposedEdit | RefusedEdit


def edits_in(reply: ChatReply, document: NumberedDocument, aliases: Aliases) -> Iterator[Entry]:
    """All entries of a reply in their order. A reply that cannot be read at all is one refused entry; one that says
    nothing, or `[]`, has none."""
    texts = [use.arguments for use in reply.tool_uses] or [reply.content]
    for text in texts:
        try:
            entries = _entries(text)
        except ValueError as unreadable:
            yield _refused(text, f"operations: {unreadable}")
        else:
            yield from (_edit(entry, document, aliases) for entry in entries)


def _entries(text: str) -> list[Any]:
    """The list in a text. Raises ValueError, with what the text is instead."""
    if not text.strip():
        return []
    value = _json(text)
    if isinstance(value, dict) and isinstance(value.get("arguments"), dict) and value.get("name") == EDIT:
        value = value["arguments"]
    if value is None or value == {}:
        return []
    if isinstance(value, dict) and "operations" in value:
        value = value["operations"]
        if isinstance(value, str):
            value = _json(value) if value.strip() else None
        if value is None:
            return []
    if isinstance(value, dict) and "op" in value:
        return [value]
    if not isinstance(value, list):
        raise ValueError("the reply has no list of operations")
    return value


def _json(text: str) -> Any:
    """The JSON of a whole text, in a fence or not, or the first in prose that holds operations. Raises ValueError."""
    stripped = text.strip()
    if stripped == "null":
        return None
    for read in (json_in, _decoded_twice, _first_with_operations):
        if (value := read(stripped)) is not None:
            return value
    if _OPENING.match(stripped):
        raise ValueError("the JSON cannot be read, or holds no operations")
    raise ValueError(f"the reply is text and no call of `{EDIT}`; write operations, never the document itself")


def _decoded_twice(text: str) -> Any:
    if not text.startswith('"'):
        return None
    try:
        return json_in(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        return None


def _first_with_operations(text: str) -> Any:
    """The first JSON in prose that holds operations, or all single ones when there is no list of them.

    No other JSON, and no empty list: a document has `[ ]` in its tasks and any JSON in its examples. Raises ValueError
    for a list that is broken: what can be read of it is not what was meant.
    """
    decoder = json.JSONDecoder(strict=False)
    single: list[Any] = []
    end = 0
    for opening in islice(_OPENING.finditer(text), _MOST_OPENINGS):
        if opening.start() < end:
            continue
        try:
            value, end = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError) as error:
            if _LIST_OPENING.match(text, opening.start()):
                raise ValueError(f"the JSON cannot be read ({error})") from error
            continue
        if _lists_operations(value):
            return storable_json(value)
        if isinstance(value, dict) and "op" in value:
            single.append(storable_json(value))
    return single if any(map(_is_known, single)) else None


def _lists_operations(value: Any) -> bool:
    if isinstance(value, dict):
        return isinstance(value.get("operations"), list)
    return isinstance(value, list) and any(map(_is_known, value))


def _is_known(value: Any) -> bool:
    """Whether it is meant as one of the operations, and not just any object with an `op`."""
    return isinstance(value, dict) and isinstance(value.get("op"), str) and value["op"] in _FIELDS_OF


def _edit(entry: Any, document: NumberedDocument, aliases: Aliases) -> Entry:
    if not isinstance(entry, Mapping):
        return _refused(entry, "op: an operation must be an object")
    said = _named(entry.get(FACTS))
    fields = {name: value for name, value in _given(entry).items() if name != FACTS}
    cleaned = {
        name: _clean(value, document, aliases, said) if name in _TEXTS else _id(value, document)
        for name, value in fields.items()
    }
    try:
        operation = _OPERATION.validate_python(cleaned)
    except ValidationError as error:
        return _refused(entry, _reason(error))
    if reason := document.objection(operation):
        return _refused(entry, reason)
    return ProposedEdit(operation, tuple(map(UUID, aliases.ids(said))))


def _given(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry without the fields of other operations that were filled in with nothing, as the flat shape invites."""
    own = _FIELDS_OF.get(str(entry.get("op")), FIELDS)
    return {
        name: value
        for name, value in entry.items()
        if name not in FIELDS or (value is not None and (name in own or value not in ("", [])))
    }


def _id(value: Any, document: NumberedDocument) -> Any:
    """An id without the brackets in which it was shown."""
    return value[1:-1] if isinstance(value, str) and value in document.marks else value


def _named(facts: Any) -> list[str]:
    if isinstance(facts, str):
        return re.split(r"[\s,;]+", facts)
    return [each for each in facts if isinstance(each, str)] if isinstance(facts, list) else []


def _clean(value: Any, document: NumberedDocument, aliases: Aliases, said: list[str]) -> Any:
    """Texts without the ids and names of facts that were copied into them; such names count as said.

    Blocks given as objects become their text; the ids in them are dropped."""
    if isinstance(value, list):
        return [_clean(each, document, aliases, said) for each in value]
    if isinstance(value, Mapping) and "text" in value and value.keys() <= {"id", "text"}:
        return _clean(value["text"], document, aliases, said)
    if not isinstance(value, str):
        return value
    uncited = aliases.take_out(document.without_marks(value))
    said += [name for _, name in uncited.cited]
    return uncited.text


def _reason(error: ValidationError) -> str:
    """All that is wrong with an entry, as `field: message`."""
    told = []
    for each in error.errors(include_url=False, include_context=False, include_input=False):
        if each["type"].startswith("union_tag"):
            return f"op: must be one of {', '.join(_FIELDS_OF)}"
        field = ".".join(str(part) for part in each["loc"][1:])  # the first part is the operation
        told.append(f"{field}: {each['msg']}")
    return "; ".join(told)


def _refused(entry: Any, reason: str) -> RefusedEdit:
    raw = entry if isinstance(entry, str) else json.dumps(entry, ensure_ascii=False)
    return RefusedEdit(raw if len(raw) <= EXCERPT else raw[: EXCERPT - 1] + "…", reason)
