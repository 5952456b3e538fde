"""Bodies of requests. Names are those of the wire contract; a name that is not here changes nothing and is told.

Null for a field of a request is as if it were absent; only a trigger's fields tell them apart: absent keeps, null sets.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from adapters.http import ignored
from adapters.http.fields import (
    CONTEXT_LENGTH,
    ENTITIES_AT_MOST,
    MOST_TOKENS,
    Content,
    DocumentId,
    DocumentText,
    Entity,
    Metadata,
    Mission,
    Name,
    NewMentalModelId,
    RecallText,
    SourceQuery,
    Tags,
    TagsOrJson,
    Timestamp,
    TokenBudget,
)
from adapters.http.moments import LAST_VERSION
from domain.memory import Budget
from domain.mental_model.trigger import Trigger
from domain.scope import FactType, TagGroup, TagsMatch

ITEMS_AT_MOST = 1000


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


class CreateMentalModelRequest(Body):
    id: NewMentalModelId | None = None
    name: Name
    source_query: SourceQuery
    tags: Tags | None = None
    max_tokens: TokenBudget | None = Field(default=None, description="Length aimed at; 2048 when not given.")
    trigger: TriggerInput | None = None
    content: DocumentText | None = Field(default=None, description="A document to begin with (not in the contract).")


class UpdateMentalModelRequest(Body):
    name: Name | None = None
    source_query: SourceQuery | None = None
    tags: Tags | None = Field(default=None, description="[] clears the tags.")
    max_tokens: TokenBudget | None = None
    trigger: TriggerInput | None = Field(
        default=None, description="Fields named replace the stored ones, null included; the others stay."
    )
    content: DocumentText | None = Field(default=None, description="The document, by hand (not in the contract).")


class RefreshMentalModelRequest(Body):
    mode: Literal["full"] | None = None


class RevertMentalModelRequest(Body):
    version: int = Field(ge=1, le=LAST_VERSION, description="The version whose document is wanted back.")


class DispositionInput(Body):
    INSIDE = "disposition."

    skepticism: int | None = Field(default=None, ge=1, le=5)
    literalism: int | None = Field(default=None, ge=1, le=5)
    empathy: int | None = Field(default=None, ge=1, le=5)


class BankRequest(Body):
    """What is not given stays; an empty mission removes one. `background` and `mission` are older names of
    `reflect_mission`, and the traits may be given one by one."""

    name: Name | None = None
    reflect_mission: Mission | None = None
    mission: Mission | None = None
    background: Mission | None = None
    retain_mission: Mission | None = None
    observations_mission: Mission | None = None
    disposition: DispositionInput | None = None
    disposition_skepticism: int | None = Field(default=None, ge=1, le=5)
    disposition_literalism: int | None = Field(default=None, ge=1, le=5)
    disposition_empathy: int | None = Field(default=None, ge=1, le=5)

    def traits(self) -> dict[str, int]:
        """The traits that were given."""
        object_form = self.disposition or DispositionInput()
        told = {
            "skepticism": self.disposition_skepticism or object_form.skepticism,
            "literalism": self.disposition_literalism or object_form.literalism,
            "empathy": self.disposition_empathy or object_form.empathy,
        }
        return {trait: value for trait, value in told.items() if value is not None}

    def chosen_reflect_mission(self) -> str | None:
        return next((each for each in (self.reflect_mission, self.mission, self.background) if each is not None), None)

    def asks_nothing(self) -> bool:
        return not any(getattr(self, name) is not None for name in type(self).model_fields)


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
    resolve_entities: bool | None = None
    tags: TagsOrJson | None = None
    update_mode: Literal["replace", "append"] | None = None

    @model_validator(mode="after")
    def _append_to_what(self) -> Self:
        if self.update_mode == "append" and self.document_id is None:
            raise ValueError("update_mode 'append' needs the document_id of the document to append to")
        return self


class RetainRequest(Body):
    items: list[MemoryItem] = Field(min_length=1, max_length=ITEMS_AT_MOST)
    run_async: bool = Field(default=False, alias="async", description="Answer at once and retain in the background.")
    operation_id: UUID | None = Field(
        default=None,
        description="Of the caller's choice, for asynchronous retains: the same id again is the same request.",
    )
    document_tags: TagsOrJson | None = Field(
        default=None, description="Tags for every item.", json_schema_extra={"deprecated": True}
    )


class TokenLimit(Body):
    INSIDE = "include."

    max_tokens: int | None = Field(default=None, ge=-1, le=MOST_TOKENS)


class IncludeOptions(Body):
    INSIDE = "include."

    entities: TokenLimit | None = Field(default_factory=TokenLimit)
    chunks: TokenLimit | None = None
    source_facts: TokenLimit | None = None


class MinScores(Body):
    INSIDE = "min_scores."

    semantic: float | None = Field(default=None, ge=0, le=1)
    final: float | None = None


class RecallRequest(Body):
    query: RecallText
    types: list[FactType] | None = None
    budget: Budget | None = None
    max_tokens: int | None = Field(default=None, ge=0, le=MOST_TOKENS)
    trace: bool = False
    include: IncludeOptions | None = None
    tags: Tags | None = None
    tags_match: TagsMatch = "any"
    tag_groups: list[TagGroup] | None = None
    min_scores: MinScores | None = None

    @model_validator(mode="after")
    def _one_filter(self) -> Self:
        if self.tags and self.tag_groups:
            raise ValueError("tags and tag_groups exclude each other: express the tags as a group")
        return self
