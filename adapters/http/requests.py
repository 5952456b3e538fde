"""Bodies of requests. Names are those of the wire contract; a name that is not here changes nothing and is told.

Null for a field of a request is as if it were absent; only a trigger's fields tell them apart: absent keeps, null sets.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from adapters.http import ignored
from adapters.http.fields import (
    CONTEXT_LENGTH,
    ENTITIES_AT_MOST,
    TAGS_AT_MOST,
    Content,
    DocumentId,
    DocumentText,
    Entity,
    Metadata,
    Name,
    NewMentalModelId,
    SourceQuery,
    Tag,
    Tags,
    TagsOrJson,
    Timestamp,
    TokenBudget,
)
from adapters.http.moments import LAST_VERSION
from domain.mental_model.trigger import Trigger

ITEMS_AT_MOST = 1000
DEFAULT_MAX_TOKENS = 2048
"""Of a document, when nothing else was asked for."""


class Body(BaseModel):
    """An object of a request; `INSIDE` is how the name of an unknown field is told: where it stands."""

    model_config = ConfigDict(extra="allow")

    INSIDE: ClassVar[str] = ""

    @model_validator(mode="after")
    def _tell_unknown_names(self) -> Self:
        ignored.note(self.model_extra, self.INSIDE)
        return self


class TriggerInput(Trigger):
    """A trigger as given; `given()` are the fields that were named."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="after")
    def _tell_unknown_names(self) -> Self:
        ignored.note(self.model_extra, "trigger.")
        return self

    def given(self) -> dict[str, Any]:
        """The fields the request named, null included, in wire form."""
        return self.model_dump(mode="json", by_alias=True, include=self.model_fields_set & set(Trigger.model_fields))

    def complete(self) -> Trigger:
        """All fields, those not named by their defaults."""
        return Trigger.model_validate(self.given())


def example(**body: Any) -> ConfigDict:
    """The config of a body that shows one in the OpenAPI document."""
    return ConfigDict(extra="allow", json_schema_extra={"examples": [body]})


class CreateMentalModelRequest(Body):
    model_config = example(
        id="communication",
        name="Communication",
        source_query="How does the team communicate?",
        trigger={"mode": "delta", "refresh_after_consolidation": True},
    )

    id: NewMentalModelId | None = None
    name: Name
    source_query: SourceQuery
    tags: Tags | None = Field(default=[])
    max_tokens: TokenBudget | None = Field(default=DEFAULT_MAX_TOKENS, description="Length aimed at.")
    trigger: TriggerInput | None = Field(default=None, json_schema_extra={"default": {}})
    content: DocumentText | None = Field(default=None, description="A document to begin with (not in the contract).")


class UpdateMentalModelRequest(Body):
    model_config = example(name="How we talk", trigger={"refresh_cron": "0 6 * * *"})

    name: Name | None = None
    source_query: SourceQuery | None = None
    tags: Tags | None = Field(default=None, description="[] clears the tags.")
    max_tokens: TokenBudget | None = None
    trigger: TriggerInput | None = Field(
        default=None, description="Fields named replace the stored ones, null included; the others stay."
    )
    content: DocumentText | None = Field(default=None, description="The document, by hand (not in the contract).")


class RefreshMentalModelRequest(Body):
    model_config = example(mode="full")

    mode: Literal["full"] | None = None


class RevertMentalModelRequest(Body):
    model_config = example(version=1)

    version: int = Field(ge=1, le=LAST_VERSION, description="The version whose document is wanted back.")


Scopes = (
    Literal["combined", "per_tag", "all_combinations", "shared"]
    | Annotated[list[Annotated[list[Tag], Field(max_length=TAGS_AT_MOST)]], Field(max_length=TAGS_AT_MOST)]
)


class EntityInput(Body):
    INSIDE = "items.entities."

    text: Entity


class MemoryItem(Body):
    INSIDE = "items."

    content: Content
    timestamp: Timestamp = Field(default=None, description='When it was said; null is now, "unset" is no time.')
    context: str | None = Field(default=None, max_length=CONTEXT_LENGTH)
    metadata: Metadata | None = None
    document_id: DocumentId | None = None
    entities: list[EntityInput] | None = Field(default=None, max_length=ENTITIES_AT_MOST)
    resolve_entities: bool | None = True
    tags: TagsOrJson | None = None
    observation_scopes: Scopes | None = Field(
        default=None, description="For which tags observations are made of it; null: as the bank says."
    )
    strategy: str | None = Field(default=None, description="One of the bank's retain strategies, by its name.")
    update_mode: Literal["replace", "append"] | None = None

    @model_validator(mode="after")
    def _append_to_what(self) -> Self:
        if self.update_mode == "append" and self.document_id is None:
            raise ValueError("update_mode 'append' needs the document_id of the document to append to")
        return self


class RetainRequest(Body):
    model_config = example(items=[{"content": "The team talks in a shared channel.", "document_id": "handbook"}])

    items: list[MemoryItem] = Field(min_length=1, max_length=ITEMS_AT_MOST)
    run_async: bool = Field(default=False, alias="async", description="Answer at once and retain in the background.")
    operation_id: UUID | None = Field(
        default=None,
        description="Of the caller's choice, for asynchronous retains: the same id again is the same request.",
    )
    document_tags: TagsOrJson | None = Field(
        default=None, description="Tags for every item.", json_schema_extra={"deprecated": True}
    )
