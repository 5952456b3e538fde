"""The trigger of a mental model as one typed argument: the fields of the REST API, each of which may be left out."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from domain.mental_model.trigger import Trigger
from domain.scope import TagsMatch

TOLD = {
    "mode": "full: each refresh writes the document anew. delta: it works new facts in and leaves all else as it is.",
    "budget": "How widely a refresh searches.",
    "refresh_after_consolidation": "Refresh by itself after memory was written. Excludes refresh_cron: setting one"
    " drops the other.",
    "refresh_cron": 'Refresh by the clock when stale: five fields in UTC, such as "0 6 * * *".',
    "full_refresh_cron": "When it is written anew by the clock, whatever the mode.",
    "min_refresh_interval_seconds": "Seconds between automatic refreshes at least.",
    "fact_types": "Which memories it reads; null: all types. Pages read observations only unless this says otherwise.",
    "exclude_mental_models": "Whether other documents are left out of what it reads.",
    "exclude_mental_model_ids": "Single documents that are left out.",
    "tags_match": "How the tags of the mental model choose what it reads.",
    "tag_groups": "Filters of tags in place of its tags; all of them have to hold.",
    "include_chunks": "Whether it reads the original text around facts.",
    "recall_max_tokens": "Tokens of facts a search gives.",
    "recall_chunks_max_tokens": "Tokens of original text a search gives.",
    "reflect_search_observations_max_tokens": "Tokens of observations a search gives.",
    "reflect_search_observations_include_entities": "Whether observations come with the names in them.",
    "response_schema": "A JSON schema (an object) that the document is extracted into beside its text.",
    "keep_trace": "Whether refreshes keep how they came about.",
}


def _told(schema: dict[str, Any]) -> None:
    """With what each field means, and without defaults: what is left out keeps what it is."""
    schema["description"] = "Fields that are left out keep what they are."
    for name, each in schema["properties"].items():
        each.pop("default", None)
        each["description"] = TOLD[name]


class TriggerArgument(Trigger):
    """A trigger of which only what is named counts. A field that does not exist is refused."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=_told)


TriggerInput = Annotated[
    TriggerArgument,
    Field(
        description="When and how it is refreshed, with every field of the REST API. What is left out keeps what it is"
        " (in a new one: the default), null clears."
    ),
]
LegacyMatch = Annotated[TagsMatch, Field(description="Short for the trigger's tags_match, which wins.")]
LegacyAutomatic = Annotated[bool, Field(description="Short for the trigger's refresh_after_consolidation, which wins.")]


def trigger_body(trigger: BaseModel | None, **shorthands: Any) -> dict[str, Any] | None:
    """The fields of a request's trigger: those that were named, null included; None when there are none."""
    named = {} if trigger is None else trigger.model_dump(mode="json", by_alias=True, exclude_unset=True)
    short = {name: value for name, value in shorthands.items() if value is not None}
    return {**short, **named} or None
