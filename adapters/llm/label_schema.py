"""The labels of a bank as a model is asked for them: the schema of its reply, and a legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from domain.bank_labels import LabelField, LabelGroup


def labels_schema(groups: Sequence[LabelGroup]) -> dict[str, Any]:
    """The JSON schema of an object with a value for each label, by key. Descriptions stand in the legend only."""
    return {"type": "object", "properties": {group.key: _schema(group) for group in groups}}


def labels_legend(groups: Sequence[LabelGroup]) -> str:
    """What each label means and which values it may have, one line each."""
    return "\n".join(line for group in groups for line in _legend(group.key, group, "required" if _must(group) else ""))


def _must(group: LabelGroup) -> bool:
    return not group.optional


def _schema(kind: LabelGroup | LabelField) -> dict[str, Any]:
    if kind.type == "map":
        return {"type": "object", "properties": {name: _schema(field) for name, field in kind.fields.items()}}
    one: dict[str, Any] = {"type": "string"}
    if kind.type in ("value", "multi-values") and kind.values:
        one["enum"] = [allowed.value for allowed in kind.values]
    return {"type": "array", "items": one} if kind.type.startswith("multi") else one


_SHAPES = {
    "value": "one of its values",
    "multi-values": "all of its values that apply",
    "text": "in words of the text",
    "multi-text": "a list, in words of the text",
    "map": "an object",
}


def _legend(name: str, kind: LabelGroup | LabelField, note: str = "", indent: str = "") -> Iterator[str]:
    shape = ", ".join(filter(None, (_SHAPES[kind.type], note)))
    yield f"{indent}- {name} ({shape}){_about(kind.description)}"
    for allowed in kind.values:
        if allowed.description or kind.type.startswith("multi") or kind.type == "value":
            yield f"{indent}  - {allowed.value}{_about(allowed.description)}"
    for field_name, field in kind.fields.items():
        yield from _legend(field_name, field, indent=f"{indent}  ")


def _about(description: str) -> str:
    line = " ".join(description.split())
    return f": {line}" if line else ""
