"""given(events).when(command).then(events), then_refused(type) or then_nothing(): one shape for every decider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from application.aggregate import Aggregate
from application.command_handler import BANK, KNOWLEDGE_BASE, MENTAL_MODEL, OPERATION
from domain.bank import BankCommand
from domain.event import Event
from domain.knowledge_base import KnowledgeBaseCommand
from domain.mental_model.commands import Command
from domain.operation import OperationCommand
from domain.refusals import Refusal
from tests.support.examples import later, recorded


def fold(aggregate: Aggregate[Any], *events: Event) -> Any:
    """The state after the events, which happened one minute after another from NOW on."""
    state: Any = aggregate.initial
    for version, event in enumerate(events, start=1):
        state = aggregate.evolve(state, recorded(event, version, at=later(version - 1)))
    return state


def given(*events: Event) -> Given:
    """What happened before; nothing for an aggregate that never was."""
    return Given(events)


@dataclass(frozen=True)
class Given:
    events: tuple[Event, ...]

    def when(self, command: Command | BankCommand | OperationCommand | KnowledgeBaseCommand) -> Outcome:
        aggregate = _aggregate_of(command)
        decided = aggregate.decide(command, fold(aggregate, *self.events))
        if not isinstance(decided, Refusal):
            fold(aggregate, *self.events, *decided)
        return Outcome(command, decided)


@dataclass(frozen=True)
class Outcome:
    command: object
    decided: Sequence[Event] | Refusal

    def then(self, *expected: Event) -> None:
        """Exactly these events, in this order."""
        assert not isinstance(self.decided, Refusal), f"{self.command} was refused: {self.decided!r}"
        assert list(self.decided) == list(expected)

    def then_nothing(self) -> None:
        """It is already so."""
        self.then()

    def then_refused(self, refusal: type[Refusal], saying: str = "") -> None:
        """Refused with this very type, in words that contain `saying`."""
        assert type(self.decided) is refusal, f"{self.command} gave {self.decided!r}, not {refusal.__name__}"
        assert saying in str(self.decided)


def _aggregate_of(command: object) -> Aggregate[Any]:
    if isinstance(command, BankCommand):
        return BANK
    if isinstance(command, OperationCommand):
        return OPERATION
    if isinstance(command, KnowledgeBaseCommand):
        return KNOWLEDGE_BASE
    assert isinstance(command, Command), f"{command!r} is no command of an aggregate"
    return MENTAL_MODEL
