"""The body of a recall request. Names are those of the wire contract."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from adapters.http.fields import MOST_TOKENS, RecallText, Tags, moment
from adapters.http.requests import Body, example
from domain.memory import Budget
from domain.recall.selection import NO_LIMIT
from domain.scope import FactType, TagGroup, TagsMatch

DEFAULT_MAX_TOKENS = 4096
DEFAULT_CHUNK_TOKENS = 8192
DEFAULT_ENTITY_TOKENS = 500
DEFAULT_SOURCE_FACT_TOKENS = 4096


def _time(value: Any) -> Any:
    """ISO 8601 to a time in UTC; what names no offset is in UTC."""
    return moment("" if value == "unset" else value)


Time = Annotated[datetime, BeforeValidator(_time), WithJsonSchema({"type": "string", "format": "date-time"})]


class EntitiesOption(Body):
    INSIDE = "include.entities."

    max_tokens: int | None = Field(default=DEFAULT_ENTITY_TOKENS, ge=-1, le=MOST_TOKENS)


class ChunksOption(Body):
    INSIDE = "include.chunks."

    max_tokens: int | None = Field(default=DEFAULT_CHUNK_TOKENS, ge=-1, le=MOST_TOKENS)


class SourceFactsOption(Body):
    INSIDE = "include.source_facts."

    max_tokens: int | None = Field(default=DEFAULT_SOURCE_FACT_TOKENS, ge=-1, le=MOST_TOKENS)
    max_tokens_per_observation: int | None = Field(default=NO_LIMIT, ge=-1, le=MOST_TOKENS)


class IncludeOptions(Body):
    INSIDE = "include."

    entities: EntitiesOption | None = Field(
        default_factory=EntitiesOption, json_schema_extra={"default": {"max_tokens": DEFAULT_ENTITY_TOKENS}}
    )
    chunks: ChunksOption | None = None
    source_facts: SourceFactsOption | None = None


class MinScores(Body):
    INSIDE = "min_scores."

    semantic: float | None = Field(default=None, ge=0, le=1)
    keyword: float | None = Field(default=None, ge=0)
    reranker: float | None = Field(default=None, ge=0, le=1)
    final: float | None = None


class TemporalWindow(Body):
    """The time that is meant, both ends inside it; the query's text is not searched for one then."""

    INSIDE = "temporal_window."

    start: Time
    end: Time

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end < self.start:
            raise ValueError("a temporal_window ends before it starts: swap start and end")
        return self


class RecallRequest(Body):
    model_config = example(
        query="Where are decisions written down?", include={"chunks": {}, "source_facts": {}}, trace=True
    )

    query: RecallText
    types: list[FactType] | None = None
    prefer_observations: bool | None = None
    budget: Budget | None = "mid"
    max_tokens: int | None = Field(default=DEFAULT_MAX_TOKENS, ge=0, le=MOST_TOKENS)
    trace: bool = False
    query_timestamp: Time | None = Field(default=None, description='What "yesterday" counts from; null is now.')
    include: IncludeOptions | None = Field(default_factory=IncludeOptions, json_schema_extra={"default": {}})
    tags: Tags | None = None
    tags_match: TagsMatch = "any"
    tag_groups: list[TagGroup] | None = None
    min_scores: MinScores | None = None
    temporal_window: TemporalWindow | None = None

    @model_validator(mode="after")
    def _one_filter(self) -> Self:
        if self.tags and self.tag_groups:
            raise ValueError("tags and tag_groups exclude each other: express the tags as a group")
        return self
