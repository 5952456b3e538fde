"""Bodies of requests about banks, their config and their directives."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from adapters.http.fields import MISSION_LENGTH, Mission, Name, Tags, not_blank
from adapters.http.requests import Body, example
from domain.bank.values import TRAIT_KEYS
from domain.directives import HIGHEST_PRIORITY, LOWEST_PRIORITY

RuleText = Annotated[str, StringConstraints(max_length=MISSION_LENGTH), AfterValidator(not_blank)]
Priority = Annotated[int, Field(ge=LOWEST_PRIORITY, le=HIGHEST_PRIORITY)]
Trait = Annotated[int, Field(ge=1, le=5)]


class DispositionInput(Body):
    INSIDE = "disposition."

    skepticism: Trait | None = None
    literalism: Trait | None = None
    empathy: Trait | None = None


class BankRequest(Body):
    """What is not given stays; an empty mission removes one. `background` and `mission` are older names of
    `reflect_mission`, and the traits may be given one by one. More can be configured by PATCH .../config."""

    model_config = example(name="Team", reflect_mission="Know how the team works.", disposition={"skepticism": 4})

    name: Name | None = None
    reflect_mission: Mission | None = None
    mission: Mission | None = None
    background: Mission | None = None
    retain_mission: Mission | None = None
    observations_mission: Mission | None = None
    disposition: DispositionInput | None = None
    disposition_skepticism: Trait | None = None
    disposition_literalism: Trait | None = None
    disposition_empathy: Trait | None = None
    retain_extraction_mode: str | None = None
    retain_custom_instructions: str | None = None
    retain_chunk_size: int | None = None
    retain_structured_chunk_size: int | None = None
    retain_max_attachments_per_chunk: int | None = None
    enable_observations: bool | None = None
    enable_text_search: bool | None = None
    enable_temporal_retrieval: bool | None = None
    enable_graph_retrieval: bool | None = None
    enable_reranking: bool | None = None

    def settings(self) -> dict[str, Any]:
        """What is given of the config, by its keys, as it was given."""
        given = self.model_dump(include=set(type(self).model_fields), exclude_none=True)
        for beside in ("name", "mission", "background", "disposition"):
            given.pop(beside, None)
        older = next((each for each in (self.mission, self.background) if each is not None), None)
        if older is not None:
            given.setdefault("reflect_mission", older)
        traits = self.disposition or DispositionInput()
        told = {key: getattr(traits, name) for key, name in TRAIT_KEYS.items()}
        return {key: value for key, value in told.items() if value is not None} | given

    def asks_nothing(self) -> bool:
        return self.name is None and not self.settings()


class BankConfigUpdate(Body):
    model_config = example(updates={"retain_chunk_size": 2000})

    updates: dict[str, Any] = Field(
        description="Keys as in the config, or as environment variables; null removes the bank's own value."
    )


class UpdateDirectiveRequest(Body):
    model_config = example(content="Name every source.", is_active=False)

    name: Name | None = None
    content: RuleText | None = None
    priority: Priority | None = Field(default=None, description="The higher one is told first.")
    is_active: bool | None = Field(default=None, description="Whether it is told.")
    tags: Tags | None = Field(default=None, description="Which reflects it is for; [], or none: all.")

    def changes(self) -> dict[str, Any]:
        """The fields that are given, as the directive has them."""
        given = self.model_dump(include=set(type(self).model_fields), exclude_none=True)
        return given | ({"tags": tuple(self.tags)} if self.tags is not None else {})


class CreateDirectiveRequest(UpdateDirectiveRequest):
    model_config = example(name="Sources", content="Name your sources.", priority=5)

    name: Name
    content: RuleText
    priority: Priority | None = Field(default=0, description="The higher one is told first.")
    is_active: bool | None = Field(default=True, description="Whether it is told.")
    tags: Tags | None = Field(default=[], description="Which reflects it is for; [] is all.")
