"""All that is kept in one database, and the questions that use cases ask of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from adapters.jobs import JobQueue
from adapters.postgres.database import Database
from adapters.postgres.event_log import PostgresEventLog
from adapters.postgres.kept_replies import PostgresKeptReplies
from adapters.postgres.memory_consolidation import PostgresObservationStore
from adapters.postgres.memory_curation import PostgresFactCuration
from adapters.postgres.memory_store import PostgresMemoryStore
from adapters.postgres.operation_progress import PostgresProgressBoard
from adapters.postgres.page_vectors import PostgresPageIndex
from adapters.postgres.reader import Reader
from adapters.postgres.retain_inbox import PostgresRetainInbox
from adapters.postgres.source_texts import PostgresSourceTexts
from adapters.settings import Settings
from application.ports import Clock, Embedder, Identities, Transaction
from domain.bank_config import BankConfig
from domain.refusals import BankNotFound
from domain.scheduling import Failures
from projections import banks, consolidation_operations, documents, operations, usage
from projections.consolidation_operations import ConsolidationInFlight
from projections.operations import Ended, InFlight

CONNECTIONS_OF_COMMANDS = 16
"""Connections for commands, beside one for each operation that runs at the same time."""


class Stores:
    """The stores over a database that is reachable and migrated; opens its connections."""

    def __init__(
        self, settings: Settings, conninfo: str, clock: Clock, identities: Identities, embedder: Embedder
    ) -> None:
        self._defaults = settings.bank_defaults
        self.database = Database(conninfo, max_size=settings.worker_concurrency + CONNECTIONS_OF_COMMANDS)
        self.database.open()
        self.reader = Reader(self.database)
        self.log = PostgresEventLog(self.database, JobQueue().queue_jobs)
        self.kept = PostgresKeptReplies(self.database)
        self.inbox = PostgresRetainInbox(self.database)
        self.progress = PostgresProgressBoard(self.database, clock.now)
        self.source_texts = PostgresSourceTexts(self.database)
        self.memory = PostgresMemoryStore(
            self.database, identities, embedding_model=embedder.model, dimensions=lambda: embedder.dimensions
        )
        self.observations = PostgresObservationStore(self.database, identities, space=lambda: self.memory.space)
        self.curation = PostgresFactCuration(self.database, lambda: self.memory.space)
        self.pages = PostgresPageIndex(
            self.database,
            embedding_model=embedder.model,
            dimensions=lambda: embedder.dimensions,
            observations=self._defaults.enable_observations,
        )

    # --- what rows tell ---

    def models_of(self, bank_id: str, tx: Transaction | None = None) -> list[str]:
        return self.reader.ask(documents.ids(bank_id), tx)

    def refreshes_in_flight(self, bank_id: str, model: str, tx: Transaction | None = None) -> list[InFlight]:
        return self.reader.ask(operations.in_flight(bank_id, model), tx)

    def consolidations_in_flight(self, bank_id: str, tx: Transaction | None = None) -> list[ConsolidationInFlight]:
        return self.reader.ask(consolidation_operations.in_flight(bank_id), tx)

    def consolidation_failures(self, bank_id: str) -> Failures | None:
        return self.reader.ask(consolidation_operations.failures(bank_id))

    def ended_before(self, time: datetime, most: int) -> Sequence[Ended]:
        return self.reader.ask(operations.ended_before(time, most))

    def tokens_of_day(self, bank_id: str, day: date) -> int:
        return self.reader.ask(usage.tokens_of_day(bank_id, day))

    def config_of(self, bank_id: str) -> BankConfig:
        """Read where it is one row: a recall is too quick for a fold. Raises BankNotFound."""
        row = self.reader.ask(banks.find(bank_id))
        if row is None:
            raise BankNotFound(bank_id)
        return row.config.over(self._defaults)
