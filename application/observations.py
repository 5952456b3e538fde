"""Use cases of observations: what failed is tried again, and observations are cleared to be made anew."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from application.command_handler import CommandHandler, Done, require_bank
from application.ports import ObservationStore, Transaction
from domain.event import Context
from domain.refusals import FactNotFound


class Observations:
    """`written` is told of each bank whose memory changed, after it did, and neither waits nor raises."""

    def __init__(
        self, handler: CommandHandler, observations: ObservationStore, written: Callable[[str], object]
    ) -> None:
        self._handler = handler
        self._observations = observations
        self._written = written

    def recover(self, context: Context, bank_id: str) -> int:
        """Facts that failed wait again; how many there were. Raises BankNotFound."""
        found: list[int] = []
        self._change(context, bank_id, lambda tx: found.append(self._observations.recover(bank_id, tx)))
        return found[-1]

    def clear(self, context: Context, bank_id: str) -> int:
        """Ends all observations of a bank, all of whose facts wait again; how many there were. Raises BankNotFound."""
        closed: list[int] = []

        def clear(tx: Transaction) -> None:
            closed.append(self._observations.clear(bank_id, context.now, tx).closed)

        self._change(context, bank_id, clear)
        return closed[-1]

    def clear_of(self, context: Context, bank_id: str, fact_id: UUID) -> int:
        """Ends the observations that rest on a fact; it and their other sources wait again. How many there were. Raises
        BankNotFound, FactNotFound."""
        closed: list[int] = []

        def clear(tx: Transaction) -> None:
            write = self._observations.clear(bank_id, context.now, tx, fact_id)
            closed.append(write.closed)

        if not self._observations.current(bank_id, [fact_id]):
            raise FactNotFound(bank_id, str(fact_id))
        self._change(context, bank_id, clear)
        return closed[-1]

    def _change(self, context: Context, bank_id: str, change: Callable[[Transaction], object]) -> None:
        def within(tx: Transaction, _results: tuple[Done, ...]) -> None:
            change(tx)

        self._handler.execute(context, require_bank(bank_id), within=within)
        self._written(bank_id)
