"""Use cases of a bank: put, configure, its directives, delete."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from application.command_handler import (
    ATTEMPTS,
    BANK,
    KNOWLEDGE_BASE,
    MENTAL_MODEL,
    CommandHandler,
    Done,
    Step,
    bank_stream,
    knowledge_base_stream,
    mental_model_stream,
)
from application.ports import EventLog, KeptReplies, MemoryStore, RetainInbox, Transaction
from domain.bank import (
    Bank,
    BankCommand,
    BankState,
    DeleteBank,
    Missions,
    PutBank,
    ResetConfig,
)
from domain.bank_config import BankConfig
from domain.bank_config_changes import check_rules
from domain.directives import Directive, applicable
from domain.event import Context
from domain.knowledge_base import DeleteKnowledgeBase
from domain.mental_model.commands import DeleteMentalModel
from domain.refusals import BankNotFound, MentalModelNotFound, StaleVersion
from domain.scope import EVERYTHING


class _ModelsMoved(Exception):
    """A mental model came or went while the bank was about to be deleted."""


class Banks:
    """`mental_models_of` gives the ids of a bank's mental models; `defaults` is what the server sets for all banks."""

    def __init__(
        self,
        handler: CommandHandler,
        log: EventLog,
        memory: MemoryStore,
        inbox: RetainInbox,
        kept: KeptReplies,
        mental_models_of: Callable[[str, Transaction | None], Sequence[str]],
        defaults: BankConfig = BankConfig(),  # noqa: B008 - a value
    ) -> None:
        self._handler = handler
        self._log = log
        self._memory = memory
        self._inbox = inbox
        self._kept = kept
        self._mental_models_of = mental_models_of
        self._defaults = defaults

    def put(
        self, context: Context, bank_id: str, name: str | None = None, changes: Mapping[str, Any] | None = None
    ) -> Bank:
        """Creates or updates; what is not given stays. `changes` are of the config: valid values by key, None takes one
        away. Raises InvalidSetting when the config that would come of it breaks a rule."""
        changes = changes or {}
        check_rules(self.resolved(self._load(bank_id), changes), changes)
        return self._record(context, bank_id, PutBank(bank_id, name, changes))

    def reset_config(self, context: Context, bank_id: str) -> Bank:
        """Takes away all that the bank has set. Raises BankNotFound."""
        return self._record(context, bank_id, ResetConfig(bank_id))

    def bank(self, bank_id: str) -> Bank:
        """The bank as it stands. Raises BankNotFound."""
        state = self._load(bank_id)
        if not isinstance(state, Bank):
            raise BankNotFound(bank_id)
        return state

    def config(self, bank_id: str) -> BankConfig:
        """How a bank is configured: what it has set, else the server, else the defaults. For a bank that is not there
        yet, the last two."""
        return self.resolved(self._load(bank_id))

    def missions(self, bank_id: str) -> Missions:
        """The missions that count in a bank."""
        config = self.config(bank_id)
        return Missions(
            reflect=config.reflect_mission, retain=config.retain_mission, observations=config.observations_mission
        )

    def config_and_directives(self, bank_id: str) -> tuple[BankConfig, tuple[Directive, ...]]:
        """How a bank is configured, and its active directives, the one to be told first in front: none for a bank that
        is not there yet. `domain.directives.applicable` chooses those for an answer."""
        state = self._load(bank_id)
        active = applicable(state.directives, EVERYTHING, apply_all=True) if isinstance(state, Bank) else ()
        return self.resolved(state), active

    def delete(self, context: Context, bank_id: str) -> int:
        """Deletes the bank, its memory, its knowledge base and its mental models; returns how many facts it had. Raises
        BankNotFound."""
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
            self._kept.drop_bank(bank_id, tx)
            erased.append(self._memory.forget_bank(bank_id, tx))

        steps = [
            Step(MENTAL_MODEL, mental_model_stream(bank_id, each), DeleteMentalModel(bank_id, each)) for each in models
        ]
        tree = Step(KNOWLEDGE_BASE, knowledge_base_stream(bank_id), DeleteKnowledgeBase(bank_id))
        self._handler.execute(
            context, Step(BANK, bank_stream(bank_id), DeleteBank(bank_id)), tree, *steps, within=erase
        )
        return erased[-1]

    def _load(self, bank_id: str) -> BankState:
        state: BankState = self._log.load(BANK, bank_stream(bank_id)).state
        return state

    def _record(self, context: Context, bank_id: str, command: BankCommand) -> Bank:
        (done,) = self._handler.execute(context, Step(BANK, bank_stream(bank_id), command))
        state: BankState = done.state
        if not isinstance(state, Bank):
            raise BankNotFound(bank_id)
        return state

    def resolved(self, state: BankState, changes: Mapping[str, Any] | None = None) -> BankConfig:
        """The config that counts in a bank as it stands, or as it would after changes."""
        own = state.config if isinstance(state, Bank) else BankConfig()
        return own.changed_by(changes or {}).over(self._defaults)
