"""When and how a mental model is refreshed: the trigger of the wire contract, with its rules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal, Self

from croniter import CroniterBadDateError, croniter
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from domain import response_schema
from domain.fuzzy_tags import is_fuzzy
from domain.memory import Budget
from domain.scope import FactType, Scope, TagGroup, TagsMatch

RefreshMode = Literal["full", "delta"]
SOME_TIME = datetime(2000, 1, 1, tzinfo=UTC)
"""Any time will do to see whether a cron expression ever fires."""


class Trigger(BaseModel):
    """Field names, defaults and limits are those of the system of reference (MentalModelTrigger).

    A schema that was taken by an earlier version is not checked again: validation of what is recorded says so in its
    context, as {"recorded": True}."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    mode: RefreshMode = "full"
    budget: Budget | None = None
    refresh_after_consolidation: bool = False
    refresh_cron: str | None = None
    full_refresh_cron: str | None = None
    min_refresh_interval_seconds: int | None = Field(default=None, ge=0)
    fact_types: tuple[FactType, ...] | None = Field(default=None, min_length=1)
    exclude_mental_models: bool = False
    exclude_mental_model_ids: tuple[str, ...] | None = None
    tags_match: TagsMatch | None = None
    tag_groups: tuple[TagGroup, ...] | None = None
    include_chunks: bool | None = None
    recall_max_tokens: int | None = None
    recall_chunks_max_tokens: int | None = None
    reflect_search_observations_max_tokens: int | None = Field(default=None, ge=1)
    reflect_search_observations_include_entities: bool | None = None
    response_schema: dict[str, Any] | None = None
    keep_trace: bool = False

    @field_validator("refresh_cron", "full_refresh_cron")
    @classmethod
    def _five_field_cron(cls, value: str | None) -> str | None:
        if value is None or not value.strip():
            return None
        trimmed = value.strip()
        if len(trimmed.split()) != 5 or not croniter.is_valid(trimmed):
            raise ValueError(
                f"'{trimmed}' is not a cron expression of five fields (minute hour day month weekday), UTC"
            )
        try:
            croniter(trimmed, SOME_TIME).get_next(datetime)
        except CroniterBadDateError as error:
            raise ValueError(f"'{trimmed}' never fires: no such day exists") from error
        return trimmed

    @field_validator("tag_groups")
    @classmethod
    def _tags_named_exactly(cls, value: tuple[TagGroup, ...] | None) -> tuple[TagGroup, ...] | None:
        if value is not None and is_fuzzy(Scope(tag_groups=value)):
            raise ValueError('resolve "fuzzy" is for recall and reflect: what a document reads is named exactly')
        return value

    @field_validator("response_schema")
    @classmethod
    def _object_schema(cls, value: dict[str, Any] | None, info: ValidationInfo) -> dict[str, Any] | None:
        if value is not None and not (info.context or {}).get("recorded"):
            response_schema.check(value)
        return value

    @model_validator(mode="after")
    def _one_automatic_trigger(self) -> Self:
        if self.refresh_after_consolidation and self.refresh_cron is not None:
            raise ValueError("refresh_after_consolidation and refresh_cron exclude each other: set one of them")
        return self

    def changed_by(self, changes: Mapping[str, Any]) -> Trigger:
        """This trigger with the fields of `changes` replaced. Setting one of the two automatic triggers alone drops the
        other. Raises pydantic.ValidationError when the result breaks a rule."""
        merged = {**self.model_dump(by_alias=True), **changes}
        if str(changes.get("refresh_cron") or "").strip() and "refresh_after_consolidation" not in changes:
            merged["refresh_after_consolidation"] = False
        if changes.get("refresh_after_consolidation") and "refresh_cron" not in changes:
            merged["refresh_cron"] = None
        return Trigger.model_validate(merged)
