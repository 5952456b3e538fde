"""What the use cases and the event log know of a decider."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from domain.event import Event, Recorded, StreamKind
from domain.refusals import Refusal

S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True)
class Aggregate(Generic[S]):
    """A decider with all the log needs to fold it: `state_version` tells a usable snapshot from an old one."""

    kind: StreamKind
    state_version: int
    state_type: Any
    initial: S
    decide: Callable[[Any, Any], Sequence[Event] | Refusal]
    evolve: Callable[[Any, Recorded], S]
