"""A request that was answered at once, and had models asked: a stream of its own, for what that cost.

What runs in the background tells its cost in the events it leads to; a request leads to none, or to none of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from domain.event import Event, Recorded
from domain.refusals import Refusal
from domain.usage import ModelCall
from domain.value import Value

STATE_VERSION = 1

Asking = Literal["retain", "recall", "curate", "reflect", "pages", "preview", "dry_run"]
"""`preview` is of an extraction, `dry_run` of a refresh. `pages` is of what documents are found by: their vectors, made
after they were written, and those of the questions they are searched with."""


class ModelsAsked(Event):
    """Models were asked for a request, whatever came of it."""

    TOPIC: ClassVar[str] = "request.models_asked"

    request: Asking
    calls: tuple[ModelCall, ...]


RequestEvent = ModelsAsked


class Request(Value):
    """`told`: what it cost is on record."""

    told: bool = False


@dataclass(frozen=True)
class TellModelsAsked:
    """No calls, no event."""

    request: Asking
    calls: tuple[ModelCall, ...]


def evolve(_state: Request, _recorded: Recorded) -> Request:
    return Request(told=True)


def decide(command: TellModelsAsked, state: Request) -> Sequence[Event] | Refusal:
    """What a request cost is told once."""
    if state.told or not command.calls:
        return ()
    return (ModelsAsked(request=command.request, calls=command.calls),)
