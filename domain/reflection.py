"""What passes between the reflect loop and a mind: the question, what the tools gave, and the next step.

"No answer", "refused" and "tool failed" are types here, never text in a document.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

from domain.memory import RecalledFact
from domain.usage import ModelCall
from domain.value import Value

ToolName = Literal["recall"]


class ReflectQuestion(Value):
    """The standing question a document answers, and the limits of the answer. `max_tokens` is the length aimed at."""

    name: str
    source_query: str
    max_tokens: int
    asked_at: datetime
    current_content: str = ""
    """The document as it stands, for reference only; empty when there is none."""


class ToolCall(Value):
    """The mind asks for more. `query` is what to look for, `max_tokens` how much text it wants at most."""

    kind: Literal["tool_call"] = "tool_call"
    tool: ToolName
    query: str
    max_tokens: int = Field(default=2048, ge=1000, le=16000)
    reason: str = ""
    nearest: bool = False
    """Also facts that are only nearest, however far: for a question too general to be near to anything."""


class ToolResult(Value):
    """What a tool gave for a call, in the order found."""

    call: ToolCall
    facts: tuple[RecalledFact, ...]
    duration_ms: int = 0


class Mention(Value):
    """A fact named at a place of a document: `offset` is where in the markdown, in characters, it was named; it speaks
    for the block or item that ends there or holds the place."""

    offset: int
    fact_id: str


class Answer(Value):
    """The document. `used` are ids of the facts it rests on, as the mind says, `mentions` where it says so; `raw` is
    its reply as it came."""

    kind: Literal["answer"] = "answer"
    markdown: str
    used: tuple[str, ...]
    mentions: tuple[Mention, ...] = ()
    raw: str = ""


class NoAnswer(Value):
    """The mind looked and found nothing to say. `raw` is its reply as it came."""

    kind: Literal["no_answer"] = "no_answer"
    reason: str
    raw: str = ""


Step = ToolCall | Answer | NoAnswer


class Thought(Value):
    """One step of a mind and the calls it cost."""

    step: Step
    calls: tuple[ModelCall, ...] = ()
