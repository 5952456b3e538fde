"""A bank template as it travels: the manifest, read and written."""

from __future__ import annotations

from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from adapters.http.bank_requests import Priority, RuleText
from adapters.http.fields import Name, NewMentalModelId, SourceQuery, Tags, TokenBudget
from adapters.http.requests import DEFAULT_MAX_TOKENS, Body, TriggerInput, example
from domain.bank_config import BankConfig
from domain.bank_config_changes import changes_of
from domain.bank_template import BankTemplate, MentalModelTemplate
from domain.directives import DIRECTIVES_AT_MOST, Rule
from domain.mental_model.trigger import Trigger
from domain.refusals import InvalidTemplate

VERSION = "1"
MENTAL_MODELS_AT_MOST = 1000


class BankTemplateMentalModel(Body):
    INSIDE = "mental_models."

    id: str = Field(description="Lower-case letters, digits and hyphens; the mental model it is matched with.")
    name: Name
    source_query: SourceQuery
    tags: Tags | None = Field(default=[])
    max_tokens: TokenBudget | None = DEFAULT_MAX_TOKENS
    trigger: TriggerInput | None = Field(default=None, json_schema_extra={"default": {}})


class BankTemplateDirective(Body):
    INSIDE = "directives."

    name: Name = Field(description="The directive it is matched with.")
    content: RuleText
    priority: Priority | None = 0
    is_active: bool | None = True
    tags: Tags | None = Field(default=[])


class BankTemplateManifest(Body):
    model_config = example(
        version="1",
        bank={"reflect_mission": "Know how the team works."},
        mental_models=[{"id": "mood", "name": "Mood", "source_query": "How is the mood?"}],
        directives=[{"name": "Sources", "content": "Name your sources."}],
    )

    version: str = Field(description=f"Of the manifest's shape: '{VERSION}'.")
    bank: dict[str, Any] | None = Field(
        default=None, description="Keys of the config (GET .../config); what is not given, or null, stays."
    )
    mental_models: list[BankTemplateMentalModel] | None = Field(default=None, max_length=MENTAL_MODELS_AT_MOST)
    directives: list[BankTemplateDirective] | None = Field(default=None, max_length=DIRECTIVES_AT_MOST)


def schema() -> dict[str, Any]:
    """The JSON Schema of a manifest, with every key of the config."""
    told = BankTemplateManifest.model_json_schema()
    config = BankConfig.model_json_schema()
    told["$defs"] |= config.pop("$defs")
    properties = {
        # a default is of the config, not of the manifest, where what is null or not there stays as it is
        key: {"anyOf": [{name: value for name, value in told_of.items() if name != "default"}, {"type": "null"}]}
        for key, told_of in config.pop("properties").items()
    }
    told["$defs"]["BankTemplateConfig"] = {**config, "properties": properties, "title": "BankTemplateConfig"}
    told["properties"]["bank"]["anyOf"] = [{"$ref": "#/$defs/BankTemplateConfig"}, {"type": "null"}]
    return told


def read(manifest: BankTemplateManifest) -> BankTemplate:
    """Raises InvalidTemplate, InvalidSetting."""
    if manifest.version != VERSION:
        raise InvalidTemplate(f"version: '{manifest.version[:100]}' is not known; this service reads '{VERSION}'")
    given = {key: value for key, value in (manifest.bank or {}).items() if value is not None}
    return BankTemplate(
        changes_of(given),
        tuple(map(_mental_model, manifest.mental_models or ())),
        tuple(map(_rule, manifest.directives or ())),
    )


def _mental_model(given: BankTemplateMentalModel) -> MentalModelTemplate:
    try:
        mental_model_id = TypeAdapter(NewMentalModelId).validate_python(given.id)
    except ValidationError as error:
        told = error.errors(include_url=False)[0]["msg"]
        raise InvalidTemplate(f"mental_models: id '{given.id[:100]}': {told}") from error
    return MentalModelTemplate(
        mental_model_id=mental_model_id,
        name=given.name,
        source_query=given.source_query,
        tags=tuple(given.tags or ()),
        max_tokens=given.max_tokens or DEFAULT_MAX_TOKENS,
        trigger=given.trigger.complete() if given.trigger else Trigger(),
    )


def _rule(given: BankTemplateDirective) -> Rule:
    return Rule(
        name=given.name,
        content=given.content,
        priority=given.priority or 0,
        is_active=given.is_active is not False,
        tags=tuple(given.tags or ()),
    )


def written(template: BankTemplate) -> dict[str, Any]:
    """The manifest of a template, as JSON."""
    return {
        "version": VERSION,
        "bank": BankConfig().changed_by(dict(template.config)).wire(only_set=True),
        "mental_models": [_written_model(each) for each in template.mental_models],
        "directives": [each.model_dump(mode="json") for each in template.directives],
    }


def _written_model(model: MentalModelTemplate) -> dict[str, Any]:
    told = model.model_dump(mode="json", by_alias=True)
    trigger = {name: value for name, value in told.pop("trigger").items() if value is not None}
    return {"id": told.pop("mental_model_id"), **told, "trigger": trigger}
