"""The tool by which a model edits a document, written down from the types of the operations.

One flat entry with the fields of all operations, not one shape for each: thirteen variants would take three times the
tokens, in every prompt, and several endpoints know no unions. Which operation has which fields is said in the rules.
"""

from __future__ import annotations

from typing import Any, Final, get_args

from adapters.llm.tool_schema import plain_schema
from domain.document import Operation
from domain.value import Value

EDIT: Final = "edit_document"
FACTS: Final = "facts"

_KEPT_TO_OURSELVES: Final = {"new_id"}
"""A field that no prompt names (spec of the system of reference, "Delta operations"), though it is taken."""


def operation_types() -> tuple[type[Value], ...]:
    """The types of all operations, in the order in which they are declared."""
    return get_args(get_args(Operation)[0])


def _fields() -> dict[str, Any]:
    """The schema of each field that an operation has, by its name."""
    fields: dict[str, Any] = {}
    for operation in operation_types():
        for name, schema in plain_schema(operation.model_json_schema())["properties"].items():
            plain = {key: value for key, value in schema.items() if key in ("type", "items")}
            fields.setdefault(name, plain)
    fields["op"] = {"type": "string", "enum": [str(each.model_fields["op"].default) for each in operation_types()]}
    return fields


FIELDS: Final = frozenset(_fields())
"""Names of all fields of all operations. A model that is shown one flat entry may fill in those of others with null."""


def _parameters() -> dict[str, Any]:
    entry = {name: schema for name, schema in _fields().items() if name not in _KEPT_TO_OURSELVES}
    entry[FACTS] = {"type": "array", "items": {"type": "string"}}
    operations = {"type": "array", "items": {"type": "object", "properties": entry, "required": ["op", FACTS]}}
    return {"type": "object", "properties": {"operations": operations}, "required": ["operations"]}


EDIT_TOOL: Final[dict[str, Any]] = {
    "type": "function",
    "function": {"name": EDIT, "description": "Change the document.", "parameters": _parameters()},
}


def signatures() -> str:
    """A line for each operation: its name and fields, those that may be left out with a question mark."""
    return "\n".join(map(_signature, operation_types()))


def _signature(operation: type[Value]) -> str:
    shown = {name: field for name, field in operation.model_fields.items() if name not in {"op", *_KEPT_TO_OURSELVES}}
    names = [name if field.is_required() else f"{name}?" for name, field in shown.items()]
    return " ".join([str(operation.model_fields["op"].default), *names])
