"""The tool for edits follows the types of the operations."""

from __future__ import annotations

from adapters.llm.edit_tool import EDIT_TOOL, operation_types, signatures


def test_one_flat_entry_has_the_fields_of_all_operations() -> None:
    parameters = EDIT_TOOL["function"]["parameters"]
    entry = parameters["properties"]["operations"]["items"]
    fields = {name for each in operation_types() for name in each.model_fields}

    assert EDIT_TOOL["function"]["name"] == "edit_document"
    assert parameters["required"] == ["operations"]
    assert entry["properties"].keys() == (fields | {"facts"}) - {"new_id"}
    assert entry["required"] == ["op", "facts"]
    assert len(entry["properties"]["op"]["enum"]) == 13
    assert entry["properties"]["text"] == {"type": "string"}
    assert entry["properties"]["level"] == {"type": "integer"}
    assert entry["properties"]["after_block_id"] == {"type": "string"}
    assert entry["properties"]["blocks"] == {"type": "array", "items": {"type": "string"}}


def test_each_operation_is_told_with_its_fields() -> None:
    lines = signatures().split("\n")

    assert len(lines) == 13
    assert "insert_block section_id after_block_id? text" in lines
    assert "add_section heading level? blocks? after_section_id?" in lines
    assert "replace_item block_id item_id text" in lines
