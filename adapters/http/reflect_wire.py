"""Bodies of a reflect: what is asked and what is told, in the shapes of the wire contract."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, Field, field_validator, model_validator

from adapters.http.fields import BANK_ID_LENGTH, CONTEXT_LENGTH, MOST_TOKENS, Tags, not_blank
from adapters.http.requests import Body, example
from domain import response_schema
from domain.memory import Budget, estimated_tokens
from domain.scope import FactType, TagGroup, TagsMatch
from domain.usage import TokenUsage

QUESTION_TOKENS = 8_000
"""Of a question with all it is told with; what is looked up of it is as short as any query."""
PAGES_KEPT_OUT = 1_000


def _not_too_long(value: str) -> str:
    tokens = estimated_tokens(value)
    if tokens > QUESTION_TOKENS:
        raise ValueError(f"has about {tokens} tokens; the limit is {QUESTION_TOKENS}")
    return value


class FactsOption(Body):
    INSIDE = "include.facts."


class ToolCallsOption(Body):
    INSIDE = "include.tool_calls."

    output: bool = Field(default=True, description="With what each call gave.")


class ReflectInclude(Body):
    INSIDE = "include."

    facts: FactsOption | None = Field(default=None, description="{} tells what the answer rests on.")
    tool_calls: ToolCallsOption | None = Field(default=None, description="{} tells how it came about.")


class ReflectRequest(Body):
    model_config = example(query="How does the team decide?", include={"facts": {}, "tool_calls": {}})

    query: Annotated[str, AfterValidator(not_blank), AfterValidator(_not_too_long)]
    budget: Budget = "low"
    context: str | None = Field(
        default=None,
        max_length=CONTEXT_LENGTH,
        description="Is put behind the query.",
        json_schema_extra={"deprecated": True},
    )
    max_tokens: int = Field(default=4096, ge=1, le=MOST_TOKENS, description="Length of the answer aimed at.")
    include: ReflectInclude | None = None
    response_schema: dict[str, Any] | None = None
    tags: Tags | None = None
    tags_match: TagsMatch = "any"
    tag_groups: list[TagGroup] | None = None
    apply_all_directives: bool = False
    fact_types: list[FactType] | None = None
    exclude_mental_models: bool = False
    exclude_mental_model_ids: (
        Annotated[list[Annotated[str, Field(max_length=BANK_ID_LENGTH)]], Field(max_length=PAGES_KEPT_OUT)] | None
    ) = None
    reflect_search_observations_max_tokens: int | None = Field(default=None, ge=1)

    @field_validator("response_schema")
    @classmethod
    def _usable_schema(cls, value: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        if value is not None:
            response_schema.check(value)
        return value

    @model_validator(mode="after")
    def _one_filter(self) -> Self:
        if self.tags and self.tag_groups:
            raise ValueError("tags and tag_groups exclude each other: express the tags as a group")
        return self


class ReflectFact(BaseModel):
    id: str | None = None
    text: str
    type: str | None = None
    context: str | None = None
    occurred_start: str | None = None
    occurred_end: str | None = None
    mentioned_at: str | None = None
    document_id: str | None = None
    chunk_id: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, str] | None = None


class ReflectMentalModel(BaseModel):
    id: str
    text: str
    context: str | None = None


class ReflectDirective(BaseModel):
    id: str
    name: str
    content: str


class ReflectBasedOn(BaseModel):
    memories: list[ReflectFact]
    mental_models: list[ReflectMentalModel]
    directives: list[ReflectDirective]


class ReflectToolCall(BaseModel):
    tool: str
    input: dict[str, Any]
    output: dict[str, Any] | None = None
    duration_ms: int
    iteration: int = 0


class ReflectLLMCall(BaseModel):
    scope: str
    duration_ms: int


class ReflectTrace(BaseModel):
    tool_calls: list[ReflectToolCall]
    llm_calls: list[ReflectLLMCall]


class ReflectResponse(BaseModel):
    text: str = Field(description='Markdown. Without an answer: what is not known in the words of the mind, or "".')
    answer_found: bool = Field(description="Whether the memory holds an answer (not in the contract).")
    no_answer_reason: str | None = Field(default=None, description="Why there is none (not in the contract).")
    based_on: ReflectBasedOn | None = None
    structured_output: dict[str, Any] | None = None
    structured_output_error: str | None = None
    usage: TokenUsage
    trace: ReflectTrace | None = None
    warnings: list[str] | None = Field(
        default=None, description="Such as cited ids that were never retrieved (not in the contract)."
    )
