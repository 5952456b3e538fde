"""A bank template: what makes a bank behave as another does, without its memory and its documents.

Source: spec of the system of reference, REST: "Templates".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from domain.directives import Rule
from domain.mental_model.trigger import Trigger
from domain.refusals import InvalidTemplate
from domain.value import Value


class MentalModelTemplate(Value):
    mental_model_id: str
    name: str
    source_query: str
    tags: tuple[str, ...]
    max_tokens: int
    trigger: Trigger


@dataclass(frozen=True)
class BankTemplate:
    """`config` are valid values by key. Mental models are the same when their ids are, directives when their names
    are."""

    config: Mapping[str, Any]
    mental_models: tuple[MentalModelTemplate, ...]
    directives: tuple[Rule, ...]

    def check(self) -> None:
        """Raises InvalidTemplate when an id or a name is there twice."""
        _once("mental_models", "id", (each.mental_model_id for each in self.mental_models))
        _once("directives", "name", (each.name for each in self.directives))


def _once(where: str, what: str, given: Iterable[str]) -> None:
    twice = sorted(each for each, times in Counter(given).items() if times > 1)
    if twice:
        raise InvalidTemplate(f"{where}: {what} '{twice[0]}' is there more than once; give every {what} once")
