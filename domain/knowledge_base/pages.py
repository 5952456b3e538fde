"""How a page is kept current unless it is told otherwise.

Source: spec of the system of reference, scheduling, "Knowledge pages defaults".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from domain.mental_model.trigger import Trigger

PAGE_MAX_TOKENS = 4096
PAGE_TRIGGER = Trigger(
    mode="delta", fact_types=("observation",), exclude_mental_models=True, refresh_after_consolidation=True
)


def page_trigger(of_bank: Mapping[str, Any] | None, given: Mapping[str, Any] | None) -> Trigger:
    """The trigger of a new page: the default of pages, over it what its bank sets for pages, over that what is given.
    Raises pydantic.ValidationError when that breaks a rule."""
    return PAGE_TRIGGER.changed_by(of_bank or {}).changed_by(given or {})
