"""A whole refresh whose worker dies, and the one that rescues it: over real HTTP and a real database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest

from adapters.llm.editor import LlmDocumentEditor
from adapters.llm.endpoint import Endpoint
from adapters.llm.reflect import LlmReflectPolicy
from adapters.llm.structured import LlmStructuredExtractor
from adapters.postgres.kept_replies import PostgresKeptReplies
from adapters.postgres.retain_inbox import PostgresRetainInbox
from application.current_operation import working_on
from application.delta import DeltaRefresh
from application.ports import Embeddings
from application.reflection import Reflector
from application.refresh import RefreshExecutor
from domain.mental_model.state import MentalModel
from domain.mental_model.trigger import Trigger
from domain.refresh import Candidate, Edited, RefreshRun
from tests.support.examples import mental_model
from tests.support.in_memory import FixedClock
from tests.support.memories import MODEL, SOME_VECTOR, BankMemory, document
from tests.support.scripted_llm import Reply, ScriptedLlm, Usage, edits, tool_call, values

USAGE = Usage(prompt=100, completion=20)
SCHEMA = {"type": "object", "properties": {"colour": {"type": "string"}}}


class WorkerDied(BaseException):
    """Nothing in a worker catches it."""


class DyingReplies(PostgresKeptReplies):
    """The worker dies when it is about to make its third call."""

    asked = 0

    def reply(self, bank_id: str, operation_id: UUID, key: str) -> Any:
        self.asked += 1
        if self.asked == 3:
            raise WorkerDied
        return super().reply(bank_id, operation_id, key)


class OneVector:
    """Embedder: all texts are the same to it, and cost nothing."""

    model = MODEL
    dimensions = len(SOME_VECTOR)

    def embed(self, texts: Sequence[str]) -> Embeddings:
        return Embeddings([SOME_VECTOR] * len(texts))

    def close(self) -> None:
        """Nothing is held."""


def worker(llm: ScriptedLlm, memory: BankMemory, kept: PostgresKeptReplies) -> RefreshExecutor:
    """All that a worker has after its start: another one for each call of this."""
    endpoint = Endpoint(base_url=llm.base_url, api_key=None, model="tester-1", timeout_seconds=10, kept=kept)
    policy = LlmReflectPolicy(endpoint)
    return RefreshExecutor(
        memory.store,
        Reflector(memory.store, OneVector(), policy),
        DeltaRefresh(memory.store, PostgresRetainInbox(memory.database), LlmDocumentEditor(endpoint), None),
        policy,
        LlmStructuredExtractor(endpoint),
        FixedClock(),
    )


def died_and_rescued(llm: ScriptedLlm, memory: BankMemory, model: MentalModel) -> RefreshRun:
    """The run of the worker that came after one that died before its third call."""
    operation_id = uuid4()
    with pytest.raises(WorkerDied), working_on(operation_id):
        worker(llm, memory, DyingReplies(memory.database)).execute(model)
    assert len(llm.requests) == 2
    with working_on(operation_id):
        return worker(llm, memory, PostgresKeptReplies(memory.database)).execute(model)


def searches(query: str) -> Reply:
    return tool_call("recall", {"reason": "to know", "query": query, "max_tokens": 2048}, usage=USAGE)


def delivers(block: str) -> Reply:
    sections = [{"heading": "Colour", "level": 2, "blocks": [block]}]
    arguments: Mapping[str, Any] = {"document": {"sections": sections}, "answer_found": True, "memory_ids": ["f1"]}
    return tool_call("done", arguments, usage=USAGE)


def test_a_refresh_that_is_rescued_pays_for_each_call_once(llm: ScriptedLlm, memory: BankMemory) -> None:
    memory.retain(document("guide", "The bridge is green.", "The bridge is old."))
    llm.script(searches("bridge colour"), searches("bridge age"), delivers("Green [f1]."), values({"colour": "green"}))

    run = died_and_rescued(llm, memory, mental_model(bank_id=memory.bank_id, trigger=Trigger(response_schema=SCHEMA)))

    assert isinstance(run.result, Candidate)
    assert run.record.structured_output == {"colour": "green"}
    assert len(llm.requests) == 4
    spent = [(call.purpose, call.input_tokens) for call in run.record.calls]
    assert spent == [("reflect_1", 100), ("reflect_2", 100), ("reflect_3", 100), ("structured_output", 0)]


def test_a_delta_that_is_rescued_pays_for_each_call_once(llm: ScriptedLlm, memory: BankMemory) -> None:
    memory.retain(document("guide", "The bridge is green."))
    llm.script(edits({"op": "paint"}, usage=USAGE), edits(usage=USAGE), values({"colour": "green"}, usage=USAGE))
    trigger = Trigger(mode="delta", response_schema=SCHEMA)

    run = died_and_rescued(
        llm, memory, mental_model(bank_id=memory.bank_id, content="# Colour\n\nGreen.\n", trigger=trigger)
    )

    assert isinstance(run.result, Edited)
    assert len(llm.requests) == 3
    spent = [(call.purpose, call.input_tokens) for call in run.record.calls]
    assert spent == [("delta_edit", 100), ("delta_edit_again", 100), ("structured_output", 100)]
