"""Asking for a consolidation: at most one of all that waits is itself waiting in a bank, whoever asks and from whatever
process.

Sources: spec of the system of reference, scheduling: "Consolidation scheduling".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Protocol
from uuid import UUID

from application.command_handler import (
    ATTEMPTS,
    BANK,
    OPERATION,
    CommandHandler,
    Done,
    Step,
    bank_stream,
    operation_stream,
)
from application.ports import Clock, Identities, ObservationStore, Transaction
from domain.bank import RequireBank
from domain.bank_config import BankConfig
from domain.event import Context
from domain.operation import ConsolidationAsked, FoldRequest, RequestOperation
from domain.refusals import (
    NotFound,
    ObservationsSwitchedOff,
    OperationEnded,
    OperationNotFound,
    OperationNotWaiting,
    StaleVersion,
)
from domain.scheduling import Failures, wait_after

Scopes = tuple[tuple[str, ...], ...]

LONGEST_HOLD_UP = timedelta(minutes=15)
"""How long documents wait for the end of consolidation: in a bank that is written to without pause there is none."""
PAUSE = timedelta(minutes=1)
"""After so long without a look, a consolidation that is asked for anew follows a pause: another process may have seen
the end of the one before."""


class ConsolidationInFlight(Protocol):
    """One that waits or runs; `scopes` None is of all that waits."""

    @property
    def operation_id(self) -> str: ...

    @property
    def status(self) -> str: ...

    @property
    def scopes(self) -> Sequence[Sequence[str]] | None: ...


InFlightOf = Callable[[str, Transaction | None], Sequence[ConsolidationInFlight]]


@dataclass(frozen=True)
class _Held:
    """Since when documents of a bank wait, and when that was last looked at."""

    since: datetime
    seen: datetime


@dataclass(frozen=True)
class AskedConsolidation:
    """The operation that does it; `deduplicated` when that was asked for already."""

    operation_id: UUID
    deduplicated: bool


class _TakenIn(Exception):
    def __init__(self, other: ConsolidationInFlight) -> None:
        super().__init__(other)
        self.operation_id = UUID(other.operation_id)
        self.running = other.status != "pending"


class ConsolidationRequests:
    """`in_flight` gives the consolidations of a bank that wait or run, oldest first, as a transaction sees them."""

    def __init__(
        self,
        handler: CommandHandler,
        identities: Identities,
        in_flight: InFlightOf,
        config_of: Callable[[str], BankConfig],
    ) -> None:
        self._handler = handler
        self._identities = identities
        self._in_flight = in_flight
        self._config_of = config_of

    def consolidate(
        self, context: Context, bank_id: str, scopes: Scopes | None = None, *, automatic: bool = False
    ) -> AskedConsolidation:
        """Asks for a consolidation in the background. One of all that waits, and is itself waiting, takes in any other;
        an automatic one is also taken in by one that runs, which goes on until nothing waits.

        Raises BankNotFound, ObservationsSwitchedOff."""
        if not self._config_of(bank_id).enable_observations:
            raise ObservationsSwitchedOff(bank_id)
        work = ConsolidationAsked(observation_scopes=scopes or None, automatic=automatic)
        for _ in range(ATTEMPTS):
            try:
                return self._ask(context, bank_id, work)
            except _TakenIn as taken:
                if taken.running or self._fold(context, bank_id, taken.operation_id, automatic):
                    return AskedConsolidation(taken.operation_id, deduplicated=True)
        raise StaleVersion(f"bank '{bank_id}'")

    def _ask(self, context: Context, bank_id: str, work: ConsolidationAsked) -> AskedConsolidation:
        """Holds the bank from the look at what is under way to the append: two requests never both find nothing. It is
        looked at first without, for writes come in bursts."""
        operation_id = self._identities.new()
        self._require_none(bank_id, work, None)

        def alone(tx: Transaction, _results: tuple[Done, ...]) -> None:
            self._require_none(bank_id, work, tx)

        def request(bank: Done) -> RequestOperation:
            return RequestOperation(bank_id, operation_id, work, bank.state.created_at)

        self._handler.execute(
            context,
            Step(BANK, bank_stream(bank_id), RequireBank(bank_id)),
            Step(OPERATION, operation_stream(bank_id, operation_id), request),
            within=alone,
        )
        return AskedConsolidation(operation_id, deduplicated=False)

    def _require_none(self, bank_id: str, work: ConsolidationAsked, tx: Transaction | None) -> None:
        asked = None if work.observation_scopes is None else {frozenset(each) for each in work.observation_scopes}
        for each in self._in_flight(bank_id, tx):
            theirs = None if each.scopes is None else {frozenset(scope) for scope in each.scopes}
            if theirs in (None, asked) and (each.status == "pending" or work.automatic):
                raise _TakenIn(each)

    def _fold(self, context: Context, bank_id: str, operation_id: UUID, automatic: bool) -> bool:
        """Whether the waiting operation took the request in; False when it began to run, or ended, meanwhile."""
        command = FoldRequest(bank_id, operation_id, automatic)
        try:
            self._handler.execute(context, Step(OPERATION, operation_stream(bank_id, operation_id), command))
        except (OperationNotWaiting, OperationEnded, OperationNotFound):
            return False
        return True


class ConsolidationTrigger:
    """Has banks consolidate by themselves. `failures` gives what failed of a bank since it was last consolidated;
    `able`: there is a mind for it."""

    def __init__(
        self,
        requests: ConsolidationRequests,
        observations: ObservationStore,
        config_of: Callable[[str], BankConfig],
        failures: Callable[[str], Failures | None],
        clock: Clock,
        *,
        able: bool,
    ) -> None:
        self._requests = requests
        self._observations = observations
        self._config_of = config_of
        self._failures = failures
        self._clock = clock
        self._able = able
        self._held: dict[str, _Held] = {}
        self._sharing = Lock()

    def banks(self) -> Sequence[str]:
        """Those in which facts wait."""
        return self._observations.banks_pending() if self._able else ()

    def holds_up(self, bank_id: str, cause: str) -> bool:
        """Asks for the consolidation of a bank where facts wait, if it consolidates by itself. Whether what reads
        observations is to wait for the end of that: not when it failed, and is to be tried later, and now and then not
        (once in `LONGEST_HOLD_UP`) when it comes to no end."""
        asked = self._asked(bank_id, cause)
        now = self._clock.now()
        with self._sharing:
            held = self._held.pop(bank_id, None)
            if asked is None:
                return False
            if held is None or (not asked.deduplicated and now - held.seen > PAUSE):
                held = _Held(now, now)
            is_over = now - held.since >= LONGEST_HOLD_UP
            self._held[bank_id] = _Held(now if is_over else held.since, now)
        return not is_over

    def _asked(self, bank_id: str, cause: str) -> AskedConsolidation | None:
        """What is to be waited for."""
        config = self._config_of(bank_id)
        if not (self._able and config.enable_observations and config.enable_auto_consolidation):
            return None
        if not self._observations.pending(bank_id, 1):
            return None
        now = self._clock.now()
        until = wait_after(self._failures(bank_id), timedelta())
        if until is not None and now < until:
            return None
        try:
            return self._requests.consolidate(Context("system", now, None, cause), bank_id, automatic=True)
        except (NotFound, ObservationsSwitchedOff):  # deleted or configured meanwhile
            return None
