"""Tools that fill memory and ask it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from adapters.mcp.arguments import Effort, FactTypes, Match, Moment, Schema, TagGroups, Tags, Text
from adapters.mcp.call import Call, given
from adapters.mcp.tool import ADDS, READS, Function, Tools

TOOLS = Tools()

Content = Annotated[str, Field(min_length=1, description="What to remember, in words that stand on their own.")]
About = Annotated[str | None, Field(description="What it is about, or where it comes from.")]
SaidAt = Annotated[str | None, Field(description='When it was said, in ISO 8601; "unset": at no time. Default: now.')]
Metadata = Annotated[dict[str, Any] | None, Field(description="Kept with it, and told with what is recalled of it.")]
OfDocument = Annotated[str | None, Field(description="The same id again replaces what was retained under it.")]
Strategy = Annotated[str | None, Field(description="One of the bank's retain strategies, by its name.")]
UpdateMode = Annotated[
    Literal["replace", "append"] | None, Field(description="append: add to the document of this id.")
]
Entities = Annotated[list[str] | None, Field(description="Names in it, beside those that are found.")]
ObservationScopes = Annotated[
    Literal["combined", "per_tag", "all_combinations", "shared"] | list[Tags] | None,
    Field(description="For which tags observations are made of it; default: as the bank says."),
]

MinScores = Annotated[dict[str, float], Field(description="Least scores: semantic, keyword, reranker, final.")]
Window = Annotated[dict[str, Moment], Field(description='The time meant: {"start": ..., "end": ...}.')]


def _retaining(*, later: bool) -> Function:
    """Both ways of retaining, so that no option is taken by the one and lost by the other."""

    async def retain(
        call: Call,
        content: Content,
        context: About = "general",
        timestamp: SaidAt = None,
        tags: Tags | None = None,
        metadata: Metadata = None,
        document_id: OfDocument = None,
        strategy: Strategy = None,
        update_mode: UpdateMode = None,
        entities: Entities = None,
        observation_scopes: ObservationScopes = None,
    ) -> Any:
        item = given(
            content=content,
            context=context,
            timestamp=timestamp,
            tags=tags,
            metadata=metadata,
            document_id=document_id,
            strategy=strategy,
            update_mode=update_mode,
            entities=None if entities is None else [{"text": name} for name in entities],
            observation_scopes=observation_scopes,
        )
        return await call.ask("POST", "memories", body={"items": [item], "async": later})

    return retain


TOOLS.add(
    "retain",
    "Remember in the background",
    "Stores something in long-term memory and answers at once; facts are read out of it in the background, and"
    " get_operation tells when that is done. Creates the bank when there is none.",
    ADDS,
    _retaining(later=True),
)
TOOLS.add(
    "sync_retain",
    "Remember now",
    "Stores something in long-term memory and waits until its facts can be recalled. Creates the bank when there is"
    " none.",
    ADDS,
    _retaining(later=False),
)


@TOOLS.tool("Recall", READS)
async def recall(
    call: Call,
    query: Text,
    max_tokens: Annotated[int, Field(ge=0, description="Tokens of facts at most.")] = 4096,
    budget: Effort = "high",
    types: Annotated[FactTypes | None, Field(description="Default: all.")] = None,
    prefer_observations: bool | None = None,
    tags: Tags | None = None,
    tags_match: Match = "any",
    tag_groups: TagGroups | None = None,
    query_timestamp: Annotated[str | None, Field(description='What "yesterday" counts from; default: now.')] = None,
    min_scores: MinScores | None = None,
    temporal_window: Window | None = None,
    include_chunks: Annotated[bool, Field(description="With the original text around the facts.")] = False,
    max_chunk_tokens: int = 8192,
    include_entities: Annotated[bool, Field(description="With the names in the facts.")] = False,
    max_entity_tokens: int = 500,
    include_source_facts: Annotated[bool, Field(description="With the facts that observations were made of.")] = False,
    max_source_facts_tokens: int = 4096,
) -> Any:
    """Searches memory for facts near the query in meaning, words, names and time, best first."""
    entities = {"max_tokens": max_entity_tokens} if include_entities else None  # null: else they come unasked
    chunks = {"max_tokens": max_chunk_tokens} if include_chunks else None
    sources = {"max_tokens": max_source_facts_tokens} if include_source_facts else None
    body = given(
        query=query,
        max_tokens=max_tokens,
        budget=budget,
        types=types,
        prefer_observations=prefer_observations,
        tag_groups=tag_groups,
        query_timestamp=query_timestamp,
        min_scores=min_scores,
        temporal_window=temporal_window,
        include={"entities": entities, "chunks": chunks, "source_facts": sources},
    )
    return await call.ask("POST", "memories", "recall", body=body | _tags(tags, tags_match))


@TOOLS.tool("Reflect", READS)
async def reflect(
    call: Call,
    query: Text,
    context: Annotated[str | None, Field(description="Is put behind the query.")] = None,
    budget: Effort = "low",
    max_tokens: Annotated[int, Field(ge=1, description="Length of the answer aimed at.")] = 4096,
    response_schema: Schema | None = None,
    tags: Tags | None = None,
    tags_match: Match = "any",
    tag_groups: TagGroups | None = None,
    apply_all_directives: Annotated[bool, Field(description="Also directives whose tags are not asked for.")] = False,
    include_based_on: Annotated[bool, Field(description="With what the answer rests on.")] = False,
    include_trace: Annotated[bool, Field(description="With how it came about and what it cost.")] = False,
) -> Any:
    """Answers a question from memory: documents, observations and facts are searched and thought over. For single facts
    recall is quicker."""
    include = given(facts={} if include_based_on else None, tool_calls={} if include_trace else None)
    body = given(
        query=query,
        context=context,
        budget=budget,
        max_tokens=max_tokens,
        response_schema=response_schema,
        tag_groups=tag_groups,
        apply_all_directives=apply_all_directives,
        include=include or None,
    )
    told = await call.ask("POST", "reflect", body=body | _tags(tags, tags_match))
    return told if include_trace else {name: value for name, value in told.items() if name != "usage"}


def _tags(tags: Tags | None, match: str) -> dict[str, Any]:
    """Without tags nothing is matched; an empty list with exact asks for what is untagged."""
    return {} if tags is None else {"tags": tags, "tags_match": match}
