"""Minds in memory: a policy that follows a script, an extractor that reads lines, an embedder that counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from application.ports import Embeddings, Extraction, MindFailed, RetainSteering, Structured
from domain.document import Operation
from domain.editing import EditRequest, Proposal, ProposedEdit
from domain.memory import Chunk, ExtractedFact, RetainItem
from domain.reflection import Answer, ReflectQuestion, Step, Thought, ToolCall, ToolResult
from domain.usage import ModelCall
from tests.support.examples import call

Act = Callable[[Sequence[ToolResult]], Step]
Scripted = Step | Thought | Exception | Act
Edits = Proposal | Exception | Callable[[EditRequest], Proposal]
RECALL = ToolCall(tool="recall", query="Charles Bridge")


def unusable(message: str = "the endpoint answered 500", *, transient: bool = False) -> MindFailed:
    """A mind that failed after a call that was paid for."""
    return MindFailed(
        message, reason="unexpected_error", transient=transient, calls=(call("failed", 7, 1),), raw="<html>"
    )


def answer_from_all(results: Sequence[ToolResult]) -> Answer:
    """The document lists every fact that was shown, and rests on all of them."""
    facts = [found.fact for result in results for found in result.facts]
    return Answer(
        markdown="".join(f"- {fact.text}\n" for fact in facts), used=tuple(str(fact.id) for fact in facts), raw="{...}"
    )


class ScriptedPolicy:
    """ReflectPolicy. Every step costs a call; `asked` keeps each question, how many results it came with, and whether
    an answer was due."""

    engine = "scripted"

    def __init__(self, *script: Scripted, deterministic: bool = False) -> None:
        self.script = list(script)
        self.deterministic = deterministic
        self.asked: list[tuple[ReflectQuestion, int, bool]] = []

    def next_step(self, question: ReflectQuestion, results: Sequence[ToolResult], *, must_finish: bool) -> Thought:
        self.asked.append((question, len(results), must_finish))
        assert self.script, f"the mind was asked {len(self.asked)} times, once more than expected"
        act = self.script.pop(0)
        if isinstance(act, Exception):
            raise act
        if isinstance(act, Thought):
            return act
        step = act if isinstance(act, Step) else act(results)
        return Thought(step=step, calls=(call(f"reflect_{len(self.asked)}"),))


def proposal(*operations: Operation, facts: Sequence[UUID] = ()) -> Proposal:
    """A reply with operations, all of which rest on the same facts."""
    edits = tuple(ProposedEdit(operation, tuple(facts)) for operation in operations)
    return Proposal(edits, raw="{operations}", calls=(call("delta_edit"),))


class ScriptedEditor:
    """DocumentEditor. Every proposal costs a call; `asked` keeps each request. Without a script it proposes nothing."""

    engine = "scripted"

    def __init__(self, *script: Edits, deterministic: bool = False) -> None:
        self.script = list(script)
        self.deterministic = deterministic
        self.asked: list[EditRequest] = []

    def propose(self, request: EditRequest) -> Proposal:
        self.asked.append(request)
        act = self.script.pop(0) if self.script else proposal()
        if isinstance(act, Exception):
            raise act
        return act if isinstance(act, Proposal) else act(request)


class ScriptedExtractor:
    """StructuredExtractor. Gives its values in turn; `read` keeps each text."""

    def __init__(self, *script: dict[str, Any] | Exception) -> None:
        self.script = list(script)
        self.read: list[str] = []

    def extract(self, markdown: str, schema: Mapping[str, Any], *, max_tokens: int) -> Structured:
        assert schema
        assert max_tokens > 0
        self.read.append(markdown)
        value = self.script.pop(0)
        if isinstance(value, Exception):
            raise value
        return Structured(value, raw="{...}", calls=(call("structured_output"),))


class CountingEmbedder:
    """Embedder: one vector for all texts, one call for each question; raises what `broken` says."""

    model = "one-vector"
    dimensions = 2

    def __init__(self) -> None:
        self.texts: list[Sequence[str]] = []
        self.broken: Exception | None = None

    def embed(self, texts: Sequence[str]) -> Embeddings:
        if self.broken is not None:
            raise self.broken
        self.texts.append(tuple(texts))
        return Embeddings([(1.0, 0.0)] * len(texts), (call("embed", len(texts), 0),))

    def close(self) -> None:
        """Nothing is held."""


class LineExtractor:
    """FactExtractor: every line of an item is a fact. `read` keeps the contents and the missions they were read with;
    `meanwhile` is what happens elsewhere while the next item is read."""

    rereads = True

    def __init__(self) -> None:
        self.read: list[tuple[str, str | None]] = []
        self.meanwhile: list[Callable[[], None]] = []
        self.broken: Exception | None = None

    def extract(
        self, item: RetainItem, *, steering: RetainSteering, now: datetime, chunks: Sequence[Chunk] | None = None
    ) -> Extraction:
        assert now.tzinfo is not None
        self.read.append((item.content, steering.mission))
        if self.broken is not None:
            raise self.broken
        if self.meanwhile:
            self.meanwhile.pop(0)()
        lines = [line for line in item.content.splitlines() if line.strip()]
        if chunks is not None:
            lines = [line for line in lines if _chunk_of(line, chunks) is not None]
        calls: tuple[ModelCall, ...] = (call("extract_facts", len(item.content), len(lines)),)
        return Extraction([ExtractedFact(text=line, chunk=_chunk_of(line, chunks or ())) for line in lines], calls)


def _chunk_of(line: str, chunks: Sequence[Chunk]) -> int | None:
    """A line may be longer than the chunk it begins in."""
    return next((chunk.number for chunk in chunks if line in chunk.text or chunk.text in line), None)
