"""Asking for a refresh: at most one waits for each model, whoever asks and from whatever process.

Sources: spec of the system of reference, scheduling: "Refresh submit", "Coalescing", "What makes a fold correct".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, Protocol
from uuid import UUID

from application.command_handler import (
    ATTEMPTS,
    MENTAL_MODEL,
    OPERATION,
    CommandHandler,
    Done,
    Step,
    mental_model_stream,
    operation_stream,
    require_bank,
)
from application.ports import EventLog, Identities, Transaction
from domain.event import Context
from domain.mental_model.commands import RequireMentalModel
from domain.mental_model.state import Absent, MentalModel
from domain.operation import FoldRequest, RefreshAsked, RequestOperation
from domain.refusals import (
    MentalModelNotFound,
    OperationEnded,
    OperationNotFound,
    OperationNotWaiting,
    StaleVersion,
)
from domain.scheduling import is_paused


@dataclass(frozen=True)
class Asked:
    """What became of a request for a refresh: the operation that does it, its own or the one it was folded into; none
    for a paused model or one that did not want it."""

    operation_id: UUID | None
    status: Literal["queued", "folded", "paused", "not_wanted"]


class InFlight(Protocol):
    """A refresh that waits or runs."""

    @property
    def operation_id(self) -> str: ...

    @property
    def status(self) -> str: ...


class _TakenIn(Exception):
    """Another refresh of the model is under way."""

    def __init__(self, operation_id: UUID, *, running: bool) -> None:
        super().__init__(operation_id)
        self.operation_id = operation_id
        self.running = running


class _NotNow(Exception):
    def __init__(self, status: Literal["paused", "not_wanted"]) -> None:
        super().__init__(status)
        self.status: Literal["paused", "not_wanted"] = status


class RefreshRequests:
    """`in_flight` gives the refreshes of a model that wait or run, oldest first, as a transaction sees them.
    `resume_after` is when a paused model is tried again by itself; None: never."""

    def __init__(
        self,
        handler: CommandHandler,
        log: EventLog,
        identities: Identities,
        in_flight: Callable[[str, str, Transaction], Sequence[InFlight]],
        resume_after: timedelta | None = None,
    ) -> None:
        self._handler = handler
        self._log = log
        self._identities = identities
        self._in_flight = in_flight
        self._resume_after = resume_after

    def refresh(
        self,
        context: Context,
        bank_id: str,
        mental_model_id: str,
        mode: Literal["full"] | None = None,
        *,
        automatic: bool = False,
        wanted: Callable[[MentalModel], bool] = lambda _model: True,
    ) -> Asked:
        """Asks for a refresh in the background. One that waits already takes another in; an automatic one is also taken
        in by one that runs, which an explicit one is not: that may have read what is changed since.

        An automatic request is not for a paused model, nor for one that `wanted` refuses, asked when nobody else can
        ask. Raises MentalModelNotFound."""
        if isinstance(self._log.load(MENTAL_MODEL, mental_model_stream(bank_id, mental_model_id)).state, Absent):
            raise MentalModelNotFound(bank_id, mental_model_id)
        for _ in range(ATTEMPTS):
            try:
                return self._refresh(context, bank_id, mental_model_id, mode, automatic, wanted)
            except _TakenIn as taken:
                if taken.running or self._fold(context, bank_id, taken.operation_id, mode, automatic):
                    return Asked(taken.operation_id, "folded")
            except _NotNow as refused:
                return Asked(None, refused.status)
        raise StaleVersion(f"mental model '{mental_model_id}'")

    def _refresh(
        self,
        context: Context,
        bank_id: str,
        mental_model_id: str,
        mode: Literal["full"] | None,
        automatic: bool,
        wanted: Callable[[MentalModel], bool],
    ) -> Asked:
        """Holds the model from the look at what is under way to the append: two requests never both find nothing."""
        operation_id = self._identities.new()

        def alone(tx: Transaction, results: tuple[Done, ...]) -> None:
            model: MentalModel = results[1].state
            if automatic and is_paused(model, context.now, self._resume_after):
                raise _NotNow("paused")
            if not wanted(model):
                raise _NotNow("not_wanted")
            for each in self._in_flight(bank_id, mental_model_id, tx):
                if each.status == "pending" or automatic:
                    raise _TakenIn(UUID(each.operation_id), running=each.status != "pending")

        self._handler.execute(
            context,
            require_bank(bank_id),
            Step(
                MENTAL_MODEL,
                mental_model_stream(bank_id, mental_model_id),
                RequireMentalModel(bank_id, mental_model_id),
            ),
            ask_refresh(bank_id, mental_model_id, operation_id, mode, automatic=automatic),
            within=alone,
        )
        return Asked(operation_id, "queued")

    def _fold(
        self, context: Context, bank_id: str, operation_id: UUID, mode: Literal["full"] | None, automatic: bool
    ) -> bool:
        """Whether the waiting operation took the request in; False when it began to run, or ended, meanwhile."""
        command = FoldRequest(bank_id, operation_id, automatic, mode)
        try:
            self._handler.execute(context, Step(OPERATION, operation_stream(bank_id, operation_id), command))
        except (OperationNotWaiting, OperationEnded, OperationNotFound):
            return False
        return True


def ask_refresh(
    bank_id: str,
    mental_model_id: str,
    operation_id: UUID,
    mode: Literal["full"] | None,
    *,
    automatic: bool = False,
) -> Step:
    """Follows a step on the bank, which tells the life of the bank that the request belongs to."""
    work = RefreshAsked(mental_model_id=mental_model_id, mode=mode, automatic=automatic)

    def request(bank: Done, *_others: Done) -> RequestOperation:
        return RequestOperation(bank_id, operation_id, work, bank.state.created_at)

    return Step(OPERATION, operation_stream(bank_id, operation_id), request)
