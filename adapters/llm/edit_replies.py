"""The operations in a reply, in every form in which models write them (spec of the system of reference, "Parsing the
reply"). What is no operation is refused by itself, with a reason; the others are taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from adapters.llm.aliases import Aliases
from adapters.llm.edit_tool import EDIT, FACTS, FIELDS, operation_types
from adapters.llm.listed_entries import ListedEntries, excerpt
from adapters.llm.numbered_document import NumberedDocument
from adapters.llm.replies import ChatReply
from domain.document import Operation
from domain.editing import ProposedEdit, RefusedEdit

_OPERATION: TypeAdapter[Operation] = TypeAdapter(Operation)
_FIELDS_OF = {str(each.model_fields["op"].default): each.model_fields.keys() for each in operation_types()}
_TEXTS = {"text", "blocks", "heading", "new_heading"}
_OPERATIONS = ListedEntries(EDIT, "operations", _FIELDS_OF.keys(), "the document itself")

Entry = ProposedEdit | RefusedEdit


def edits_in(reply: ChatReply, document: NumberedDocument, aliases: Aliases) -> Iterator[Entry]:
    """All entries of a reply in their order. A reply that cannot be read at all is one refused entry; one that says
    nothing, or `[]`, has none."""
    texts = [use.arguments for use in reply.tool_uses] or [reply.content]
    for text in texts:
        try:
            entries = _OPERATIONS.of(text)
        except ValueError as unreadable:
            yield _refused(text, f"operations: {unreadable}")
        else:
            yield from (_edit(entry, document, aliases) for entry in entries)


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
    return RefusedEdit(excerpt(entry), reason)
