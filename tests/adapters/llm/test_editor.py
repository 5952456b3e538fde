"""The editor asks a model for operations and takes every form in which they come."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import pytest

from adapters.llm.editor import LlmDocumentEditor
from adapters.llm.endpoint import Endpoint
from application.ports import MindFailed
from domain.document import AddSection, AppendBlock, AppendItem, InsertBlock, Operation, RenameSection
from domain.editing import Correction, EditRequest, NewFact, Proposal, RetractedFact
from tests.adapters.llm.edit_requests import edit_request, ids_by_text
from tests.adapters.llm.found_facts import fact
from tests.support.scripted_llm import (
    Reply,
    ScriptedLlm,
    Usage,
    edits,
    hang,
    json_content,
    refusal,
    server_error,
    text,
    tool_call,
    tool_calls,
    truncated,
    wrong_shape,
)

APPEND: dict[str, Any] = {"op": "append_block", "section_id": "colour", "text": "It is blue.", "facts": ["f1"]}
RENAME: dict[str, Any] = {"op": "rename_section", "section_id": "visits", "new_heading": "Visitors", "facts": []}
APPENDED = AppendBlock(section_id="colour", text="It is blue.")
RENAMED = RenameSection(section_id="visits", new_heading="Visitors")
WRITTEN = json.dumps({"operations": [APPEND, RENAME]})


def propose(endpoint: Endpoint, request: EditRequest | None = None) -> Proposal:
    return LlmDocumentEditor(endpoint).propose(request or edit_request())


def operations(proposal: Proposal) -> list[Operation]:
    return [edit.operation for edit in proposal.edits]


# One call


def test_operations_come_with_their_facts_and_the_reply_as_it_came(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(edits(APPEND, RENAME, usage=Usage(prompt=900, completion=40)))

    proposal = propose(endpoint)

    assert operations(proposal) == [APPENDED, RENAMED]
    assert [edit.facts for edit in proposal.edits] == [(UUID(int=1),), ()]
    assert proposal.refused == ()
    assert json.loads(proposal.raw) == {"operations": [APPEND, RENAME]}
    assert [(call.purpose, call.input_tokens, call.output_tokens) for call in proposal.calls] == [
        ("delta_edit", 900, 40)
    ]
    assert llm.requests[0].tools == ["edit_document"]
    assert llm.requests[0].tool_choice == "edit_document"
    assert f"[{ids_by_text()['The bridge is red.']}]\nThe bridge is red." in llm.requests[0].text


def test_the_engine_is_the_model(endpoint: Endpoint) -> None:
    editor = LlmDocumentEditor(endpoint)

    assert (editor.engine, editor.deterministic) == ("tester-1", False)


@pytest.mark.parametrize(
    ("changes", "purpose"),
    [
        ({"task": "retraction", "retracted": (RetractedFact(UUID(int=9), "x"),)}, "delta_retraction"),
        ({"task": "compaction"}, "delta_compaction"),
        ({"correction": Correction("[]", ("wrong",))}, "delta_edit_again"),
        ({"task": "retraction", "correction": Correction("[]", ("wrong",))}, "delta_retraction_again"),
    ],
)
def test_calls_are_counted_by_task(
    llm: ScriptedLlm, endpoint: Endpoint, changes: Mapping[str, Any], purpose: str
) -> None:
    llm.script(edits())

    assert [call.purpose for call in propose(endpoint, edit_request(**changes)).calls] == [purpose]


def test_facts_are_taken_by_alias_and_those_never_shown_dropped(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    said = [["f2", "[F1]", "f9", "r2"], "f1, r1", ["r1", 5, None], {"f1": 1}, None]
    llm.script(edits(*[{**APPEND, "facts": each} for each in said]))

    request = edit_request(
        task="retraction",
        facts=(NewFact(fact(1)), NewFact(fact(2))),
        retracted=(RetractedFact(UUID(int=9), "x"),),
    )

    assert [[each.int for each in edit.facts] for edit in propose(endpoint, request).edits] == [
        [2, 1],
        [1, 9],
        [9],
        [],
        [],
    ]


def test_ids_and_citations_that_were_copied_into_a_text_are_taken_out(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    item, block = ids_by_text()["- north arch: red"], ids_by_text()["list of colour"]
    llm.script(
        edits(
            {"op": "append_item", "block_id": f"[{block}]", "text": f"[{item}] - middle arch: blue [f1]", "facts": []},
            {"op": "add_section", "heading": "Age [f1]", "blocks": ["Old [f2]."], "facts": ["f1"]},
        )
    )

    proposal = propose(endpoint)

    assert operations(proposal) == [
        AppendItem(block_id=block, text="- middle arch: blue"),
        AddSection(heading="Age", blocks=("Old [f2].",)),
    ]
    assert [edit.facts for edit in proposal.edits] == [(UUID(int=1),), (UUID(int=1),)]


def test_a_correction_is_told_after_the_reply_it_is_about(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(edits(APPEND))

    propose(endpoint, edit_request(correction=Correction(WRITTEN, ("unknown section_id: colours",))))

    assert [each["role"] for each in llm.requests[0].messages] == ["system", "user", "assistant", "user"]
    assert llm.requests[0].messages[2]["content"] == WRITTEN
    assert "- unknown section_id: colours" in llm.requests[0].messages[3]["content"]


# Forms of a reply


@pytest.mark.parametrize(
    "reply",
    [
        edits(APPEND, RENAME),
        tool_call("edit_document", json.dumps([APPEND, RENAME])),
        tool_call("edit_document", json.dumps({"operations": json.dumps([APPEND, RENAME])})),
        tool_call("edit_document", WRITTEN + "}]"),
        tool_call("edit_document", {"thoughts": "first this", "operations": [APPEND, RENAME]}),
        tool_calls(("edit_document", {"operations": [APPEND]}), ("edit_document", {"operations": [RENAME]})),
        tool_calls(("edit_document", APPEND), ("edit_document", RENAME)),
        json_content({"operations": [APPEND, RENAME]}),
        json_content([APPEND, RENAME]),
        json_content(WRITTEN),
        json_content({"name": "edit_document", "arguments": {"operations": [APPEND, RENAME]}}),
        text(f"```json\n{WRITTEN}\n```"),
        text(f"{WRITTEN}]}}\n"),
        text(f"Here is what changes [f1]:\n\n{WRITTEN}\n\nDone, see {{above}}."),
        text(f"I change:\n```\n{json.dumps([APPEND, RENAME])}\n```\nThat is all."),
        text(f"{json.dumps(APPEND)}\n{json.dumps(RENAME)}"),
        text(f'An example is {{"level": 2}}. {json.dumps({"thoughts": "x", "operations": [APPEND, RENAME]})}'),
        text(WRITTEN.replace("It is blue.", "It is\nblue.")),
    ],
    ids=[
        "call",
        "list",
        "list in text",
        "brackets too many",
        "thoughts",
        "two calls",
        "an operation a call",
        "text object",
        "text list",
        "text in text",
        "call as text",
        "fence",
        "text with brackets too many",
        "prose around an object",
        "prose around a fence",
        "an operation a line",
        "after other json",
        "raw line end",
    ],
)
def test_operations_are_taken_in_every_form(llm: ScriptedLlm, endpoint: Endpoint, reply: Reply) -> None:
    llm.script(reply)

    proposal = propose(endpoint)

    assert proposal.refused == ()
    assert [each.model_copy(update={"text": "It is blue."}) for each in operations(proposal)[:1]] == [APPENDED]
    assert operations(proposal)[1:] == [RENAMED]


@pytest.mark.parametrize(
    "reply",
    [
        edits(),
        tool_call("edit_document", "[]"),
        tool_call("edit_document", "{}"),
        tool_call("edit_document", ""),
        tool_call("edit_document", {"operations": None}),
        text(""),
        text("null"),
        text(" [] "),
        text('```json\n{"operations": []}\n```'),
        text('Nothing is to be changed: {"operations": []}'),
    ],
)
def test_no_operations_are_a_legitimate_answer(llm: ScriptedLlm, endpoint: Endpoint, reply: Reply) -> None:
    llm.script(reply)

    proposal = propose(endpoint)

    assert (proposal.edits, proposal.refused) == ((), ())


def test_blocks_may_come_with_ids_and_unused_fields_empty(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(
        edits(
            {"op": "add_section", "heading": "Age", "level": None, "blocks": [{"id": "b1", "text": "Old."}, "New."]},
            {**APPEND, "block_id": None, "item_id": "", "blocks": [], "level": None},
            {"op": "insert_block", "section_id": "colour", "after_block_id": None, "text": "x"},
        )
    )

    assert operations(propose(endpoint)) == [
        AddSection(heading="Age", blocks=("Old.", "New.")),
        APPENDED,
        InsertBlock(section_id="colour", text="x"),
    ]


# What is no operation


def test_do_04_what_is_no_operation_is_refused_alone_with_its_reason(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(
        edits(
            APPEND,
            {"op": "replace_block", "section_id": "colour", "text": "x"},
            {"op": "move_block", "section_id": "colour", "block_id": "b1"},
            {**APPEND, "reason": "because"},
            {"section_id": "colour"},
            "append it",
            {"op": "add_section", "heading": None, "level": 9, "blocks": ["x", 5]},
            {"op": ["append_block"], "text": "x"},
            RENAME,
        )
    )

    proposal = propose(endpoint)

    assert operations(proposal) == [APPENDED, RENAMED]
    assert [each.reason.partition(", ")[0] for each in proposal.refused] == [
        "block_id: Field required",
        "op: must be one of append_block",
        "reason: Extra inputs are not permitted",
        "op: must be one of append_block",
        "op: an operation must be an object",
        "heading: Field required; level: Input should be less than or equal to 6; "
        "blocks.1: Input should be a valid string",
        "op: must be one of append_block",
    ]
    assert json.loads(proposal.refused[0].raw) == {"op": "replace_block", "section_id": "colour", "text": "x"}


DOCUMENT = "# Principles\n\n" + "".join(
    f'- [ ] principle {number}: be kind, as in `[]` and `{{"op": "add", "path": "/kind"}}`\n' for number in range(90)
)


@pytest.mark.parametrize("wrapped", ["{}", "Here is the page:\n\n{}", "```markdown\n{}\n```", "[ ]\n\n{}"])
def test_do_10_a_whole_document_instead_of_operations_is_one_refusal(
    llm: ScriptedLlm, endpoint: Endpoint, wrapped: str
) -> None:
    llm.script(text(wrapped.replace("{}", DOCUMENT)))

    proposal = propose(endpoint)

    assert proposal.edits == ()
    (refused,) = proposal.refused
    assert refused.reason == (
        "operations: the reply is text and no call of `edit_document`; write operations, never the document itself"
    )
    assert len(refused.raw) == 600
    assert "# Principles" in refused.raw
    assert "# Principles" in proposal.raw


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (tool_call("edit_document", '{"operations": [{"op": "append_block", "text": "a" b'), "the JSON cannot be read"),
        (tool_call("edit_document", f'{{"operations": [{json.dumps(APPEND)}, {{"op": oops}}]}}'), "cannot be read"),
        (text(f'So: {{"thoughts": 1, "operations": [{json.dumps(APPEND)}, {{"op": oops}}]}}'), "cannot be read"),
        (tool_call("edit_document", '{"edits": []}'), "the reply has no list of operations"),
        (tool_call("edit_document", {"operations": 5}), "the reply has no list of operations"),
        (json_content({"document": "# x"}), "the reply has no list of operations"),
        (text("[" * 50_000), "the reply is text"),
        (text('{"a": ' * 50_000), "the JSON cannot be read"),
    ],
    ids=["broken", "broken list", "broken list in prose", "other key", "number", "other object", "deep", "deep object"],
)
def test_a_reply_that_cannot_be_read_is_one_refusal(
    llm: ScriptedLlm, endpoint: Endpoint, reply: Reply, reason: str
) -> None:
    llm.script(reply)

    proposal = propose(endpoint)

    assert proposal.edits == ()
    (refused,) = proposal.refused
    assert refused.reason.startswith("operations: ")
    assert reason in refused.reason
    assert 0 < len(refused.raw) <= 600


def test_of_several_calls_only_the_broken_one_is_refused(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(tool_calls(("edit_document", {"operations": [APPEND]}), ("edit_document", "not json")))

    proposal = propose(endpoint)

    assert operations(proposal) == [APPENDED]
    assert [each.raw for each in proposal.refused] == ["not json"]


def test_what_the_model_was_not_shown_it_does_not_overwrite(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(edits({"op": "remove_section", "section_id": "visits"}, APPEND))

    proposal = propose(endpoint, edit_request(shown=frozenset({"colour"})))

    assert operations(proposal) == [APPENDED]
    assert [each.reason.partition(":")[0] for each in proposal.refused] == ["section_id"]
    assert "2023" not in llm.requests[0].messages[1]["content"]


def test_operations_can_be_stored_whatever_the_model_writes(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    llm.script(
        tool_call("edit_document", r'[{"op": "append_block", "section_id": "colour", "text": "a\u0000b \ud83d"}]'),
    )

    proposal = propose(endpoint)

    assert operations(proposal) == [AppendBlock(section_id="colour", text="ab \ufffd")]
    proposal.raw.encode()


# Failures


@pytest.mark.parametrize(
    ("reply", "reason", "transient"),
    [
        (refusal("No."), "delta_ops_failed", False),
        (truncated(WRITTEN), "delta_ops_failed", False),
        (tool_call("edit_document", WRITTEN, finish_reason="length"), "delta_ops_failed", False),
        (wrong_shape(), "delta_ops_failed", False),
        (server_error(), "unexpected_error", True),
        (hang(), "unexpected_error", True),
    ],
    ids=["refusal", "truncated", "truncated call", "no completion", "500", "hang"],
)
def test_an_unusable_reply_and_an_endpoint_that_fails_are_told_apart(
    llm: ScriptedLlm, impatient: Endpoint, reply: Reply, reason: str, transient: bool
) -> None:
    llm.script(reply)

    with pytest.raises(MindFailed) as failed:
        propose(impatient)

    assert (failed.value.reason, failed.value.transient) == (reason, transient)
    assert [call.purpose for call in failed.value.calls] == ["delta_edit"]
