"""What a bank does with secrets in what it is given to remember.

The policy has the shape of the system of reference and its default: off until a bank sets one.
`{"enabled": true, "rules": [{"on": "sensitive_data", "action": "redact"}]}`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from domain.memory import RetainItem
from domain.redaction import redacted, secrets_in
from domain.refusals import InvalidInput

Action = Literal["redact", "block"]


class DefenseRule(BaseModel):
    """What to do on a finding of a detector; of detectors `sensitive_data` is known here, others are kept and do
    nothing."""

    model_config = ConfigDict(frozen=True, extra="allow")

    on: Annotated[str, Field(min_length=1, pattern=r"\S")]
    action: Action


class DefensePolicy(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    enabled: bool = False
    rules: tuple[DefenseRule, ...] = ()

    @property
    def action(self) -> Action | None:
        """What becomes of an item with a secret: the strictest rule counts; None when nothing is looked for."""
        actions = {rule.action for rule in self.rules if rule.on == "sensitive_data"} if self.enabled else set()
        return "block" if "block" in actions else "redact" if actions else None


def defense_of(stored: Mapping[str, Any] | None) -> Action | None:
    """The action of a stored policy. One that cannot be read, of a later release, redacts: nothing leaks by it."""
    if not stored:
        return None
    try:
        return DefensePolicy.model_validate(stored).action
    except ValidationError:
        return "redact" if stored.get("enabled") else None


def screened_items(items: Sequence[RetainItem], policy: Mapping[str, Any] | None) -> dict[int, RetainItem]:
    """The items as they may be stored, by their places, without those that are blocked. Raises InvalidInput when all of
    them are."""
    action = defense_of(policy)
    allowed = {place: safe for place, item in enumerate(items) if (safe := screened(item, action)) is not None}
    if items and not allowed:
        kinds = ", ".join(dict.fromkeys(kind for item in items for kind in secrets_of(item)))
        raise InvalidInput(
            "items", f"the bank's memory_defense blocks every item, for it holds secrets ({kinds}); take them out"
        )
    return allowed


def screened(item: RetainItem, action: Action | None) -> RetainItem | None:
    """The item as it may be stored and shown to a model: without its secrets, or None when it is blocked."""
    if action is None:
        return item
    if action == "block":
        return None if secrets_of(item) else item
    return item.model_copy(
        update={
            "content": redacted(item.content),
            "context": None if item.context is None else redacted(item.context),
            "metadata": tuple((key, redacted(value)) for key, value in item.metadata),
            "entities": tuple(map(redacted, item.entities)),
        }
    )


def secrets_of(item: RetainItem) -> tuple[str, ...]:
    """The kinds of secrets in an item, each once."""
    texts = (item.content, item.context or "", *(value for _, value in item.metadata), *item.entities)
    return tuple(dict.fromkeys(kind for text in texts for kind in secrets_in(text)))
