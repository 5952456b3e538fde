"""Use cases of a bank: put, delete."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from application.command_handler import (
    ATTEMPTS,
    BANK,
    MENTAL_MODEL,
    CommandHandler,
    Done,
    Step,
    bank_stream,
    mental_model_stream,
)
from application.ports import EventLog, MemoryStore, RetainInbox, Transaction
from domain.bank import Bank, BankState, DeleteBank, Missions, PutBank
from domain.event import Context
from domain.mental_model.commands import DeleteMentalModel
from domain.refusals import BankNotFound, MentalModelNotFound, StaleVersion


class _ModelsMoved(Exception):
    """A mental model came or went while the bank was about to be deleted."""


class Banks:
    """`mental_models_of` gives the ids of a bank's mental models."""

    def __init__(
        self,
        handler: CommandHandler,
        log: EventLog,
        memory: MemoryStore,
        inbox: RetainInbox,
        mental_models_of: Callable[[str, Transaction | None], Sequence[str]],
    ) -> None:
        self._handler = handler
        self._log = log
        self._memory = memory
        self._inbox = inbox
        self._mental_models_of = mental_models_of

    def put(
        self, context: Context, bank_id: str, name: str | None, missions: Missions, traits: Mapping[str, int]
    ) -> Bank:
        """Creates or updates; what is not given stays."""
        command = PutBank(bank_id, name, missions, traits)
        (done,) = self._handler.execute(context, Step(BANK, bank_stream(bank_id), command))
        state: BankState = done.state
        if not isinstance(state, Bank):
            raise BankNotFound(bank_id)
        return state

    def missions(self, bank_id: str) -> Missions:
        """The missions of a bank; none for a bank that is not there yet."""
        state: BankState = self._log.load(BANK, bank_stream(bank_id)).state
        return state.missions if isinstance(state, Bank) else Missions()

    def delete(self, context: Context, bank_id: str) -> int:
        """Deletes the bank, its memory and its mental models; returns how many facts it had. Raises BankNotFound."""
        for _ in range(ATTEMPTS):
            models = self._mental_models_of(bank_id, None)
            with suppress(_ModelsMoved, MentalModelNotFound):
                return self._delete(context, bank_id, models)
        raise StaleVersion(f"bank '{bank_id}'")

    def _delete(self, context: Context, bank_id: str, models: Sequence[str]) -> int:
        erased: list[int] = []

        def erase(tx: Transaction, _results: tuple[Done, ...]) -> None:
            if list(self._mental_models_of(bank_id, tx)) != list(models):
                raise _ModelsMoved
            self._inbox.drop_bank(bank_id, tx)
            erased.append(self._memory.forget_bank(bank_id, tx))

        steps = [
            Step(MENTAL_MODEL, mental_model_stream(bank_id, each), DeleteMentalModel(bank_id, each)) for each in models
        ]
        self._handler.execute(context, Step(BANK, bank_stream(bank_id), DeleteBank(bank_id)), *steps, within=erase)
        return erased[-1]
