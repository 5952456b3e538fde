"""Lock, load, fold, decide, append; on a conflict decide again. The only code that appends events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from application.aggregate import Aggregate
from application.ports import EventLog, Loaded, StreamAppend, Transaction, Transactions, Wanted
from domain import api_keys, bank, knowledge_base, operation
from domain.event import Context, Event, Recorded, StreamId
from domain.mental_model import decider as mental_model_decider
from domain.mental_model import state as mental_model_state
from domain.refusals import Refusal, StaleVersion

ATTEMPTS = 10
"""How often a decision is made anew when its streams moved meanwhile."""

MENTAL_MODEL: Aggregate[mental_model_state.State] = Aggregate(
    "mental_model",
    mental_model_state.STATE_VERSION,
    mental_model_state.State,
    mental_model_state.Absent(),
    mental_model_decider.decide,
    mental_model_state.evolve,
)
BANK: Aggregate[bank.BankState] = Aggregate(
    "bank", bank.STATE_VERSION, bank.BankState, bank.NoBank(), bank.decide, bank.evolve
)
OPERATION: Aggregate[operation.OperationState] = Aggregate(
    "operation",
    operation.STATE_VERSION,
    operation.OperationState,
    operation.NoOperation(),
    operation.decide,
    operation.evolve,
)
KNOWLEDGE_BASE: Aggregate[knowledge_base.KnowledgeBase] = Aggregate(
    "knowledge_base",
    knowledge_base.STATE_VERSION,
    knowledge_base.KnowledgeBase,
    knowledge_base.KnowledgeBase(),
    knowledge_base.decide,
    knowledge_base.evolve,
)
API_KEY: Aggregate[api_keys.KeyState] = Aggregate(
    "api_key", api_keys.STATE_VERSION, api_keys.KeyState, api_keys.NoKey(), api_keys.decide, api_keys.evolve
)


def mental_model_stream(bank_id: str, mental_model_id: str) -> StreamId:
    return StreamId("mental_model", bank_id, mental_model_id)


def bank_stream(bank_id: str) -> StreamId:
    return StreamId("bank", bank_id, bank_id)


def knowledge_base_stream(bank_id: str) -> StreamId:
    return StreamId("knowledge_base", bank_id, bank_id)


def api_key_stream(key_id: str) -> StreamId:
    """Of no bank: a key may be for several."""
    return StreamId("api_key", "", key_id)


def operation_stream(bank_id: str, operation_id: object) -> StreamId:
    return StreamId("operation", bank_id, str(operation_id))


@dataclass(frozen=True)
class Step:
    """One command on one stream. `command` may be a function of the results so far, for a step that follows from an
    earlier one. With `expected` the command is refused unless the stream is at that version. A `shared` step is one
    that mostly finds it is already so: several such may hold the stream at the same time."""

    aggregate: Aggregate[Any]
    stream: StreamId
    command: Any
    expected: int | None = None
    shared: bool = False


@dataclass(frozen=True)
class Done:
    """What a step came to: the events recorded, the state after them, and the version the stream is at."""

    events: tuple[Event, ...]
    state: Any
    version: int


def open_bank(bank_id: str) -> Step:
    """The bank exists: opened by this use case, or already so."""
    return Step(BANK, bank_stream(bank_id), bank.OpenBank(bank_id), shared=True)


def require_bank(bank_id: str) -> Step:
    """The bank is there; refused with BankNotFound when it is not."""
    return Step(BANK, bank_stream(bank_id), bank.RequireBank(bank_id), shared=True)


Within = Callable[[Transaction, tuple[Done, ...]], Any]


class _NeedsStreamAlone(Exception):
    """A shared step has something to record."""


class CommandHandler:
    """Executes the steps of a use case: all of them are recorded in one transaction, or none.

    The streams are locked for the length of the transaction, so that what a decision rests on still holds when it is
    recorded, also of a stream that gets no event. The lock of a stream is nobody's but the handler's: a version that
    moved all the same (someone appended without it) is found by the log, and the decision is made again."""

    def __init__(self, log: EventLog, transactions: Transactions) -> None:
        self._log = log
        self._transactions = transactions

    def execute(self, context: Context, *steps: Step, within: Within | None = None) -> tuple[Done, ...]:
        """Decides, runs `within` with the results, and appends, all in one transaction.

        Raises the Refusal a decision came to, or StaleVersion after too many conflicts."""
        alone = False
        for attempt in range(ATTEMPTS):
            try:
                with self._transactions.begin() as tx:
                    return self._attempt(context, steps, within, alone, tx)
            except _NeedsStreamAlone:
                alone = True
            except StaleVersion:
                if attempt == ATTEMPTS - 1 or any(step.expected is not None for step in steps):
                    raise
        raise StaleVersion(" or ".join(f"'{step.stream.name}'" for step in steps))

    def _attempt(
        self, context: Context, steps: Sequence[Step], within: Within | None, alone: bool, tx: Transaction
    ) -> tuple[Done, ...]:
        shared = [step.stream for step in steps if step.shared and not alone]
        held = self._log.hold([Wanted(step.aggregate, step.stream, step.stream in shared) for step in steps], tx)
        appends: list[StreamAppend] = []
        results: list[Done] = []
        for step, loaded in zip(steps, held, strict=True):
            append, done = self._decide(context, step, tuple(results), loaded)
            if append.events and step.stream in shared:
                raise _NeedsStreamAlone
            results.append(done)
            if append.events:
                appends.append(append)
        if within is not None:
            within(tx, tuple(results))
        if appends:
            self._log.append(appends, context, tx)
        return tuple(results)

    def _decide(
        self, context: Context, step: Step, before: tuple[Done, ...], loaded: Loaded
    ) -> tuple[StreamAppend, Done]:
        if step.expected is not None and loaded.version != step.expected:
            raise StaleVersion(f"'{step.stream.name}'", step.expected, loaded.version)
        command = step.command(*before) if callable(step.command) else step.command
        decided = step.aggregate.decide(command, loaded.state)
        if isinstance(decided, Refusal):
            raise decided
        state = loaded.state
        for offset, event in enumerate(decided, start=1):
            recorded = Recorded(
                step.stream,
                loaded.version + offset,
                0,
                event,
                context.actor,
                context.operation_id,
                context.cause,
                context.now,
                context.key_id,
            )
            state = step.aggregate.evolve(state, recorded)
        append = StreamAppend(step.stream, loaded.version, tuple(decided), state, step.aggregate.state_version)
        return append, Done(tuple(decided), state, loaded.version + len(decided))
