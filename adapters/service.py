"""The service: all use cases and readers over one database, and what runs beside them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from adapters.after_writes import AfterWrites
from adapters.engines import Minds
from adapters.jobs import JobWorker
from adapters.metrics import ProcessMetrics
from adapters.operation_watch import logged_by_operation
from adapters.postgres.api_key_uses import PostgresKeyUses
from adapters.postgres.database import Database
from adapters.postgres.event_log import PostgresEventLog
from adapters.postgres.memory_store import PostgresMemoryStore
from adapters.postgres.read_models import ReadModels
from adapters.postgres.reader import AsyncReader, Reader
from adapters.postgres.terms_upkeep import keep_terms_current
from adapters.postgres.vector_index import keep_vector_index
from adapters.scheduling import SchedulerLoop, duties
from adapters.settings import Settings
from adapters.tracing import Tracing
from adapters.transfers import BankTransfers
from adapters.worker import Worker
from application.api_keys import ApiKeys
from application.background import BackgroundWork
from application.bank_templates import BankTemplates
from application.banks import Banks
from application.consolidation_requests import ConsolidationRequests
from application.curation import Curation
from application.directives import Directives
from application.document_versions import DocumentVersions
from application.dry_run import DryRuns
from application.extraction_preview import ExtractionPreviews
from application.knowledge_base import KnowledgeBases
from application.knowledge_base_import import KnowledgeBaseImports
from application.memories import Memories
from application.mental_models import MentalModels
from application.observations import Observations
from application.operations import Operations
from application.page_search import PageFinder, PageSearch, PageVectors
from application.ports import Clock, Embedder
from application.recall import Recalls
from application.reflection import Reflections
from application.refresh_requests import RefreshRequests
from application.request_costs import RequestCosts
from application.scheduler import Scheduler

REPLIES_KEPT = timedelta(days=3)
"""How long replies of models are kept for operations that never ended; a quota is waited for at most a day."""


@dataclass(frozen=True)
class Service:
    """All use cases and readers over one database. Made by `build`, opened by `opened`."""

    settings: Settings
    conninfo: str
    clock: Clock
    metrics: ProcessMetrics
    tracing: Tracing
    database: Database
    reader: Reader
    log: PostgresEventLog
    read_models: ReadModels
    memory: PostgresMemoryStore
    embedder: Embedder
    minds: Minds
    mental_models: MentalModels
    document_versions: DocumentVersions
    dry_runs: DryRuns
    banks: Banks
    bank_templates: BankTemplates
    directives: Directives
    api_keys: ApiKeys
    key_uses: PostgresKeyUses
    memories: Memories
    extraction_previews: ExtractionPreviews
    recalls: Recalls
    reflections: Reflections
    knowledge_bases: KnowledgeBases
    knowledge_base_imports: KnowledgeBaseImports
    page_finder: PageFinder
    page_search: PageSearch
    page_vectors: PageVectors
    curation: Curation
    request_costs: RequestCosts
    background: BackgroundWork
    refresh_requests: RefreshRequests
    consolidation_requests: ConsolidationRequests
    observations: Observations
    scheduler: Scheduler
    after_writes: AfterWrites
    transfers: BankTransfers
    operations: Operations

    def async_reader(self) -> AsyncReader:
        """A reader for an event loop; open it there."""
        return AsyncReader(self.conninfo)

    def keep_vector_index(self) -> None:
        """Builds the vector index beside the running service, now or when a bank has grown enough to need it."""
        keep_vector_index(self.conninfo, lambda: self.embedder.dimensions)

    def worker(self) -> Worker:
        """Runs jobs and, in one process of all at a time, the duties of time."""
        on_time = duties(
            now=self.clock.now,
            tick=self.scheduler.tick,
            reconcile=self.scheduler.reconcile,
            refresh_tick_seconds=self.settings.refresh_tick_seconds,
            prune=self._prune,
            page_vectors=self.page_vectors.catch_up,
            page_vectors_seconds=self.settings.page_vectors_seconds,
        )
        run = logged_by_operation(self.background.run)
        jobs = JobWorker(self.conninfo, run, concurrency=self.settings.worker_concurrency)
        return Worker(jobs, SchedulerLoop(self.conninfo, on_time))

    def _prune(self) -> None:
        now = self.clock.now()
        self.operations.prune(now, self.settings.operation_retention_days)
        self.operations.settle_replies(now, now - REPLIES_KEPT)
        self.page_vectors.forget_gone()
        self.transfers.files.prune()


@contextmanager
def opened(service: Service) -> Iterator[Service]:
    """Read models made and up to date; connections closed at the end."""
    try:
        service.read_models.prepare()
        keep_terms_current(service.database)
        yield service
    finally:
        service.background.stop()
        service.after_writes.close()
        service.database.close()
        service.embedder.close()
        service.recalls.close()
        service.minds.close()
        service.tracing.close()
