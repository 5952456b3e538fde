"""What passes between the reflect loop and a mind: the question, what the tools gave, and the next step.

"No answer", "refused" and "tool failed" are types here, never text in a document. Tools and their limits: spec of the
system of reference, reflect: "Tools".
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from domain.memory import RecalledFact, estimated_tokens
from domain.persona import NOBODY, Persona
from domain.scope import Scope
from domain.usage import ModelCall
from domain.value import Value

ToolName = Literal["search_mental_models", "read_mental_models", "search_observations", "recall", "expand"]
SEARCHES: tuple[ToolName, ...] = ("search_mental_models", "search_observations", "recall")
"""The layers of a memory, what is condensed most first. Each takes a query."""
LEAST_TOKENS, MOST_TOKENS = 1000, 16000
RECALL_TOKENS, OBSERVATION_TOKENS, PAGE_TOKENS = 2048, 5000, 6000
"""Text that one call gives of facts, of observations and of mental models, when nobody names another amount."""


class ReflectQuestion(Value):
    """What is to be answered, and the limits of the answer. A `document` answers a standing question under its `name`;
    an `answer` is for one who asks now. `max_tokens` is the length aimed at."""

    name: str
    source_query: str
    max_tokens: int
    asked_at: datetime
    current_content: str = ""
    """The document as it stands, for reference only; empty when there is none."""
    kind: Literal["document", "answer"] = "document"
    tools: tuple[ToolName, ...] = ("recall",)
    """Those there is something behind; the mind may use no other."""
    recall_tokens: int | None = None
    observation_tokens: int | None = None
    """Text that a call of these tools gives, when the mind names no other amount (None: as is usual)."""
    chunk_tokens: int | None = 0
    """Text around the facts that each recall gives beside them (None: as much as the bank says)."""
    source_tokens: int | None = None
    """Text of the facts under observations that a search of these gives beside them (None: none of it; 0: all)."""
    persona: Persona = NOBODY

    def usual_tokens(self, tool: str) -> int:
        """Text that a call of a tool gives, when the mind names no other amount."""
        amounts = {
            "recall": RECALL_TOKENS if self.recall_tokens is None else self.recall_tokens,
            "search_observations": OBSERVATION_TOKENS if self.observation_tokens is None else self.observation_tokens,
        }
        return min(max(amounts.get(tool, PAGE_TOKENS), LEAST_TOKENS), MOST_TOKENS)


class ToolCall(Value):
    """The mind asks for more: `query` for a search, `ids` for the other tools (of mental models, or of facts).
    `max_tokens` is how much text it wants at most; `depth` how much around a fact."""

    kind: Literal["tool_call"] = "tool_call"
    tool: ToolName
    query: str = ""
    ids: tuple[str, ...] = ()
    max_tokens: int = Field(default=2048, ge=LEAST_TOKENS, le=MOST_TOKENS)
    max_results: int = Field(default=5, ge=1, le=20)
    depth: Literal["chunk", "document"] = "chunk"
    reason: str = ""
    nearest: bool = False
    """Also facts that are only nearest, however far: for a question too general to be near to anything."""


class ToolCalls(Value):
    """Several calls in one turn."""

    kind: Literal["tool_calls"] = "tool_calls"
    calls: tuple[ToolCall, ...] = Field(min_length=1)


class PageFound(Value):
    """A mental model as a search found it. `relevance` is a rank, from 0 to 1; `version` that of its stream."""

    mental_model_id: str
    name: str
    content: str
    version: int
    tags: tuple[str, ...] = ()
    relevance: float = 0.0
    updated_at: datetime
    stale_because: tuple[str, ...] = ()
    made_in: tuple[Scope, ...] = ()
    """The scopes that its text was made from."""

    @property
    def is_stale(self) -> bool:
        return bool(self.stale_because)


class PageShown(Value):
    """A page as a mind is shown it: whole, the beginning of it, or as a stub when it was shown whole before."""

    page: PageFound
    form: Literal["whole", "snippet", "stub"]

    @property
    def text(self) -> str:
        match self.form:
            case "whole":
                return self.page.content
            case "snippet":
                return self.page.content[:SNIPPET_CHARACTERS]
            case _:
                return ""


SNIPPET_CHARACTERS = 280


class Passage(Value):
    """The text around a fact, or why there is none."""

    fact_id: str
    depth: Literal["chunk", "document"]
    text: str = ""
    cut: bool = False
    problem: str = ""


Freshness = Literal["up_to_date", "slightly_stale", "stale"]
SLIGHTLY = 10
"""Facts that wait for consolidation, from which on observations count as stale."""


def freshness(waiting: int) -> Freshness:
    """Of observations, when so many facts are not worked into them."""
    return "up_to_date" if waiting == 0 else "slightly_stale" if waiting < SLIGHTLY else "stale"


class ToolResult(Value):
    """What a tool gave for a call, in the order found. A call that could not be run has a `problem`, for the mind;
    `turn` is that of the reflection, from 1."""

    call: ToolCall
    turn: int = 1
    facts: tuple[RecalledFact, ...] = ()
    pages: tuple[PageShown, ...] = ()
    passages: tuple[Passage, ...] = ()
    not_read: tuple[str, ...] = ()
    """Pages there was no room for, or that are not to be read here."""
    freshness: Freshness | None = None
    problem: str = ""
    duration_ms: int = 0
    calls: tuple[ModelCall, ...] = ()
    """To models, beside the embedding of the query."""

    @property
    def count(self) -> int:
        return len(self.facts) + len(self.pages) or len(self.passages)

    @property
    def tokens(self) -> int:
        """Of the texts in it, estimated."""
        facts = sum(estimated_tokens(found.fact.text) for found in self.facts)
        pages = sum(estimated_tokens(shown.text) for shown in self.pages)
        return facts + pages + sum(estimated_tokens(passage.text) for passage in self.passages)


WRAPPING_TOKENS = 40
"""Of a fact, page or passage beside its text: name, type, dates."""
NAME_TOKENS = 4
"""Of a fact that was shown before, and is only named."""


def tokens_told(results: Sequence[ToolResult]) -> int:
    """What a mind has to read of results, estimated: texts with what they are wrapped in, each fact once."""
    seen: set[UUID] = set()
    told = 0
    for result in results:
        again = [found.fact for found in result.facts if found.fact.id in seen]
        first = len(result.facts) - len(again)
        told += result.tokens - sum(estimated_tokens(fact.text) for fact in again)
        told += WRAPPING_TOKENS * (1 + first + len(result.pages) + len(result.passages)) + NAME_TOKENS * len(again)
        seen |= {found.fact.id for found in result.facts}
    return told


def answered_by_pages(result: ToolResult) -> bool:
    """Whether pages may answer alone: some were found, and all of them say something and are fresh."""
    return bool(result.pages) and all(
        not shown.page.is_stale and bool(shown.page.content.strip()) for shown in result.pages
    )


class Mention(Value):
    """A fact named at a place of a document: `offset` is where in the markdown, in characters, it was named; it speaks
    for the block or item that ends there or holds the place."""

    offset: int
    fact_id: str


class Answer(Value):
    """The document or answer. `used` are ids of the facts it rests on, `pages` of the mental models, as the mind says,
    `mentions` where it says so; `unknown` is what it named and was never shown; `raw` is its reply as it came."""

    kind: Literal["answer"] = "answer"
    markdown: str
    used: tuple[str, ...]
    pages: tuple[str, ...] = ()
    mentions: tuple[Mention, ...] = ()
    unknown: tuple[str, ...] = ()
    raw: str = ""


class NoAnswer(Value):
    """The mind looked and found nothing to say; `said` is how it says so to one who asked. `raw` is its reply as it
    came."""

    kind: Literal["no_answer"] = "no_answer"
    reason: str
    said: str = ""
    raw: str = ""


Step = ToolCall | ToolCalls | Answer | NoAnswer


class Thought(Value):
    """One step of a mind and the calls it cost."""

    step: Step
    calls: tuple[ModelCall, ...] = ()
