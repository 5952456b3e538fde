"""What an operation is asked to do, and what it came to."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from domain.mental_model.record import FailureReason
from domain.usage import ModelCall
from domain.value import Value


class RefreshAsked(Value):
    """A refresh of one mental model; `mode` overrides its trigger for this run. One that nobody asked for is
    `automatic`: it keeps to the minimum interval and the budget, and a paused model has none."""

    type: Literal["refresh_mental_model"] = "refresh_mental_model"
    mental_model_id: str
    mode: Literal["full"] | None = None
    automatic: bool = False


class RetainAsked(Value):
    """A retain of items that wait in the inbox under the operation's id."""

    type: Literal["retain"] = "retain"
    items_count: int
    items_sha256: str
    """Tells a repeated request from another one under the same id."""
    document_id: str | None = None


Work = Annotated[RefreshAsked | RetainAsked, Field(discriminator="type")]


class RefreshDone(Value):
    """What a finished or failed attempt at a refresh came to."""

    type: Literal["refresh_mental_model"] = "refresh_mental_model"
    outcome: str
    failure_reason: FailureReason | None = None
    content_length: int = 0


class RetainDone(Value):
    """What a finished retain read, and what that cost."""

    type: Literal["retain"] = "retain"
    facts: int
    calls: tuple[ModelCall, ...] = ()


Result = Annotated[RefreshDone | RetainDone, Field(discriminator="type")]
