"""The trigger of a mental model as options: every field by itself, or all in one JSON object."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from operator import getitem
from typing import Annotated, Any

import typer

from adapters.cli.remote.inputs import given_json, given_object, names
from adapters.cli.remote.shared_options import Shared

PANEL = "Trigger: when and how it is refreshed"


@dataclass(frozen=True)
class Field:
    """An option of one field: the type of its value on the command line, and how it becomes that of the API."""

    flags: str
    told: str
    metavar: str | None = None
    type: Any = str
    read: Callable[[Any, str], Any] = lambda value, _: value


def _names(flags: str, told: str) -> Field:
    return Field(flags, told, "A,B", list[str], lambda value, _: names(value))


def _json(flags: str, told: str) -> Field:
    return Field(flags, f"{told}: JSON, @FILE or -.", "JSON", str, given_json)


def _whether(name: str, told: str) -> Field:
    return Field(f"--{name}/--no-{name}", told, type=bool)


FIELDS = {
    "mode": Field("--trigger-mode", "full writes it anew, delta edits it.", "MODE"),
    "refresh_after_consolidation": _whether("after-consolidation", "Refresh after memory was written."),
    "refresh_cron": Field("--cron", "Refresh by the clock: five fields, UTC.", "CRON"),
    "full_refresh_cron": Field("--full-refresh-cron", "Write it anew by the clock.", "CRON"),
    "min_refresh_interval_seconds": Field("--min-interval", "Between automatic refreshes.", "SECONDS", int),
    "budget": Field("--budget", "low, mid or high.", "BUDGET"),
    "fact_types": _names("--fact-types", "world, experience, observation."),
    "tags_match": Field("--tags-match", "any, all, any_strict, all_strict or exact.", "MODE"),
    "tag_groups": _json("--tag-groups", "Which memories it is about, by groups of tags"),
    "exclude_mental_models": _whether("exclude-models", "Read no other documents."),
    "exclude_mental_model_ids": _names("--exclude-ids", "Documents not to read."),
    "include_chunks": _whether("chunks", "Read the chunks that facts come from."),
    "recall_max_tokens": Field("--recall-tokens", "Facts of a search, in tokens.", "N", int),
    "recall_chunks_max_tokens": Field("--chunk-tokens", "Chunks of a search, in tokens.", "N", int),
    "reflect_search_observations_max_tokens": Field(
        "--observation-tokens", "Observations of a search, in tokens.", "N", int
    ),
    "reflect_search_observations_include_entities": _whether("entities", "Tell the entities of observations."),
    "response_schema": _json("--response-schema", "A JSON Schema to fill as well"),
    "keep_trace": _whether("keep-trace", "Keep how each refresh came about."),
}


def trigger(whole: str | None, unset: list[str] | None, **fields: Any) -> dict[str, Any] | None:
    """The fields that were given, single options over the JSON object; None when nothing was."""
    single = {
        name: FIELDS[name].read(value, FIELDS[name].flags)
        for name, value in fields.items()
        if value is not None and value != []
    }
    return {**given_object(whole, "--trigger"), **single, **dict.fromkeys(unset or ())} or None


def _parameter(name: str, field: Field) -> inspect.Parameter:
    option = typer.Option(field.flags, metavar=field.metavar, help=field.told, rich_help_panel=PANEL)
    annotation = getitem(Annotated, (field.type | None, option))
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


trigger.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
    [
        _parameter("whole", Field("--trigger", "The fields as a JSON object, @FILE or -.", "JSON")),
        *(_parameter(name, field) for name, field in FIELDS.items()),
        _parameter("unset", Field("--unset", "A field to set to null; may be repeated.", "FIELD", list[str])),
    ]
)

TriggerFields = Annotated[dict[str, Any] | None, Shared(trigger)]
