"""The model that answers at once is understood by all that ask it."""

from __future__ import annotations

import pytest

from adapters.llm.editor import LlmDocumentEditor
from adapters.llm.endpoint import Endpoint
from adapters.llm.structured import LlmStructuredExtractor
from domain.document import AddSection, ReplaceBlock
from tests.adapters.llm.edit_requests import PAGE, edit_request, ids_by_text
from tests.adapters.llm.test_structured import SCHEMA
from tests.support.instant_llm import instant
from tests.support.scripted_llm import ScriptedLlm


@pytest.fixture(autouse=True)
def _instantly(llm: ScriptedLlm) -> None:
    llm.fallback = instant


def test_an_edit_writes_another_text_into_the_first_block(endpoint: Endpoint) -> None:
    (edit,) = LlmDocumentEditor(endpoint).propose(edit_request(PAGE.removeprefix("It was built long ago.\n\n"))).edits

    assert isinstance(edit.operation, ReplaceBlock)
    assert edit.operation.section_id == "colour"
    assert edit.operation.block_id == ids_by_text()["The bridge is red."]
    assert len(edit.facts) == 1


def test_an_edit_of_an_empty_document_adds_a_section(endpoint: Endpoint) -> None:
    (edit,) = LlmDocumentEditor(endpoint).propose(edit_request("")).edits

    assert isinstance(edit.operation, AddSection)


def test_values_fit_a_schema(endpoint: Endpoint) -> None:
    read = LlmStructuredExtractor(endpoint).extract(PAGE, SCHEMA, max_tokens=500)

    assert read.value == {"colour": "red", "arches": [], "height": 1.5}
