"""Arguments that several tools share: their types, and what a model is told of them.

They say what is of use to a caller; what is right is decided by the API.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from domain.memory import Budget
from domain.scope import FactType, TagsMatch

Detail = Literal["metadata", "content", "full"]
Text = Annotated[str, Field(min_length=1)]
MentalModelId = Annotated[str, Field(min_length=1, description="The id of a mental model, as its list tells it.")]
MemoryId = Annotated[str, Field(min_length=1, description="The id of a memory, as recall and list_memories tell it.")]
DocumentId = Annotated[str, Field(min_length=1, description="The id of a document that memories were read from.")]
OperationId = Annotated[str, Field(min_length=1, description="The id that work in the background was given.")]
NodeId = Annotated[str, Field(min_length=1, description="The id of a folder or page, as the tree tells it.")]
Limit = Annotated[int, Field(ge=1, le=1000, description="Entries at most.")]
Offset = Annotated[int, Field(ge=0, description="Entries to pass over.")]
Tags = list[str]
Match = Annotated[
    TagsMatch,
    Field(
        description="How `tags` choose: any or all of them, untagged things too; any_strict, all_strict: tagged ones"
        " only; exact: those with just these tags, with [] the untagged. Counts with `tags` only."
    ),
]
ListMatch = Literal["any", "all", "exact"]
TagGroups = Annotated[
    list[dict[str, Any]],
    Field(
        description='Filters of tags, all of which have to hold: {"tags": [...], "match": "any_strict"}, or {"and":'
        ' [...]}, {"or": [...]}, {"not": ...} of such. In place of `tags`.'
    ),
]
FactTypes = list[FactType]
Effort = Annotated[Budget, Field(description="How widely is searched.")]
Moment = Annotated[str, Field(description="A time in ISO 8601; UTC when it names no offset.")]
AsOf = Annotated[str, Field(description="As it was then: a version (a number), or a time in ISO 8601.")]
Version = Annotated[int, Field(ge=1, description="A version of the document, as its history and events tell it.")]
TokenBudget = Annotated[int, Field(description="Length of the document aimed at, 256 to 8192 tokens.")]
Schema = Annotated[
    dict[str, Any], Field(description="A JSON schema (an object) that the answer is to be given in too.")
]
