"""All use cases over the ports in memory, with one bank and one mental model to work on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from application.automation import Automation
from application.background import BackgroundWork
from application.banks import Banks
from application.command_handler import (
    MENTAL_MODEL,
    CommandHandler,
    bank_stream,
    mental_model_stream,
    operation_stream,
)
from application.command_handler import (
    OPERATION as OPERATION_AGGREGATE,
)
from application.delta import DeltaRefresh
from application.memories import Memories
from application.mental_models import MentalModels
from application.ports import Transaction
from application.reflection import Reflector
from application.refresh import RefreshExecutor
from application.refresh_requests import RefreshRequests
from application.request_costs import RequestCosts
from application.retries import RetryPolicy
from domain.bank import BankOpened
from domain.event import Context, Event, StreamId
from domain.memory import Fact
from domain.mental_model.state import Absent
from domain.operation import Operation, OperationRequested, RefreshAsked
from tests.support.examples import BANK, BANK_STREAM, MENTAL_MODEL_STREAM, MODEL, OPERATION, OPERATION_STREAM, created
from tests.support.in_memory import (
    FixedClock,
    InMemoryEventLog,
    InMemoryInbox,
    InMemoryMemoryStore,
    InMemoryTransactions,
    NumberedIdentities,
    in_memory,
)
from tests.support.kept_replies import InMemoryKeptReplies
from tests.support.progress import InMemoryProgressBoard
from tests.support.scripted_minds import (
    CountingEmbedder,
    LineExtractor,
    Scripted,
    ScriptedEditor,
    ScriptedExtractor,
    ScriptedPolicy,
)

RETRY_DELAY = timedelta(seconds=60)


@dataclass(frozen=True)
class UnderWay:
    """InFlight."""

    operation_id: str
    status: str


class World:
    """`mind` is the script of the reflect policy; `editor` and `structured` have scripts of their own."""

    def __init__(
        self,
        *mind: Scripted,
        deterministic: bool = False,
        at_most: int = 3,
        log: InMemoryEventLog | None = None,
        policy: ScriptedPolicy | None = None,
        extractor: LineExtractor | None = None,
    ) -> None:
        self.clock = FixedClock()
        self.log = log or InMemoryEventLog()
        self.transactions = InMemoryTransactions()
        self.memory = InMemoryMemoryStore()
        self.inbox = InMemoryInbox(self.memory.next_order)
        self.kept = InMemoryKeptReplies()
        self.progress = InMemoryProgressBoard()
        self.embedder = CountingEmbedder()
        self.extractor = extractor or LineExtractor()
        self.policy = policy or ScriptedPolicy(*mind, deterministic=deterministic)
        identities = NumberedIdentities()
        self.handler = CommandHandler(self.log, self.transactions)
        self.banks = Banks(self.handler, self.log, self.memory, self.inbox, self.kept, self.mental_models_of)
        self.memories = Memories(
            self.handler,
            self.memory,
            self.inbox,
            self.embedder,
            self.extractor,
            identities,
            self.banks.config,
            RequestCosts(self.handler, NumberedIdentities()),
        )
        self.mental_models = MentalModels(self.handler, self.log, identities)
        self.refresh_requests = RefreshRequests(self.handler, self.log, identities, self.in_flight)
        self.automation = Automation(tokens_of_day=lambda _bank, _day: self.tokens_today, in_flight=self.in_flight)
        self.tokens_today = 0
        self.editor = ScriptedEditor(deterministic=deterministic)
        self.structured = ScriptedExtractor()
        self.deltas = DeltaRefresh(self.memory, self.inbox, self.editor, relevance=None)
        self.executor = RefreshExecutor(
            self.memory,
            Reflector(self.memory, self.embedder, self.policy),
            self.deltas,
            self.policy,
            self.structured,
            self.clock,
        )
        self.background = BackgroundWork(
            self.handler,
            self.log,
            self.executor,
            self.policy,
            self.memories,
            self.inbox,
            self.clock,
            RetryPolicy(at_most, RETRY_DELAY),
            self.automation,
            self.kept,
            self.progress,
        )

    @property
    def context(self) -> Context:
        return Context("user", self.clock.now(), None, "test")

    def mental_models_of(self, bank_id: str, tx: Transaction | None = None) -> list[str]:
        """Those that are there; asked in a transaction, it holds the bank alone."""
        assert tx is None or bank_stream(bank_id) in in_memory(tx).alone
        streams = [each for each in self.log.streams if (each.kind, each.bank_id) == ("mental_model", bank_id)]
        return sorted(each.name for each in streams if not isinstance(self.log.load(MENTAL_MODEL, each).state, Absent))

    def in_flight(self, bank_id: str, mental_model_id: str, tx: Transaction | None = None) -> list[UnderWay]:
        """Refreshes of a model that wait or run, oldest first; asked in a transaction, it holds the model alone."""
        assert tx is None or mental_model_stream(bank_id, mental_model_id) in in_memory(tx).alone
        states = [
            self.log.load(OPERATION_AGGREGATE, each).state for each in self.log.streams if each.kind == "operation"
        ]
        return [
            UnderWay(str(state.operation_id), state.status)
            for state in states
            if isinstance(state, Operation)
            and (state.bank_id, state.status in ("pending", "processing")) == (bank_id, True)
            and isinstance(state.work, RefreshAsked)
            and state.work.mental_model_id == mental_model_id
        ]

    def has_a_model(self, *since: Event, **fields: Any) -> World:
        """An open bank with the mental model of the examples, to which `since` happened."""
        self.log.record(BANK_STREAM, BankOpened(bank_id=BANK, name=BANK))
        self.log.record(MENTAL_MODEL_STREAM, created(**fields), *since)
        return self

    def knows(self, *texts: str, **changes: Any) -> World:
        for text in texts:
            self.memory.add(BANK, text, **changes)
        return self

    def fact(self, position: int) -> Fact:
        """The fact that became valid at a position, current or not."""
        return next(row.fact for row in self.memory.rows if row.fact.position == position)

    def is_asked_to_refresh(self, mode: str | None = None) -> World:
        work = RefreshAsked.model_validate({"mental_model_id": MODEL, "mode": mode})
        self.log.record(OPERATION_STREAM, OperationRequested(bank_id=BANK, operation_id=OPERATION, work=work))
        return self

    def works(self, operation_id: UUID = OPERATION) -> None:
        """Runs the operation, when it is due."""
        state = self.log.load(OPERATION_AGGREGATE, operation_stream(BANK, operation_id)).state
        if isinstance(state, Operation) and state.due is not None and state.due > self.clock.now():
            self.clock.move(state.due - self.clock.now())
        self.background.run(BANK, operation_id)

    def stream_of(self, operation_id: UUID) -> StreamId:
        return operation_stream(BANK, operation_id)

    def document(self, mental_model_id: str = MODEL) -> list[Event]:
        """What happened to the mental model."""
        return self.log.of(mental_model_stream(BANK, mental_model_id))

    def operation(self, operation_id: UUID = OPERATION) -> list[Event]:
        """What happened to the operation."""
        return self.log.of(operation_stream(BANK, operation_id))
