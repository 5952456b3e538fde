"""The composition root: settings become a service. Nothing else constructs an adapter."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from adapters.after_writes import AfterWrites
from adapters.clock import RandomIdentities, SystemClock
from adapters.jobs import JobQueue, JobWorker
from adapters.postgres.database import Database
from adapters.postgres.event_log import PostgresEventLog
from adapters.postgres.kept_replies import PostgresKeptReplies
from adapters.postgres.memory_store import PostgresMemoryStore
from adapters.postgres.read_models import ReadModels
from adapters.postgres.reader import AsyncReader, Reader
from adapters.postgres.retain_inbox import PostgresRetainInbox
from adapters.postgres.vector_index import keep_vector_index
from adapters.scheduling import BROKEN, ReadSchedules, SchedulerLoop, duties
from adapters.settings import Settings
from adapters.worker import Worker
from application.automation import Automation
from application.background import BackgroundWork
from application.banks import Banks
from application.command_handler import CommandHandler
from application.delta import DeltaRefresh
from application.document_versions import DocumentVersions
from application.dry_run import DryRuns
from application.memories import Memories
from application.mental_models import MentalModels
from application.operations import Operations
from application.ports import (
    Clock,
    DocumentEditor,
    Embedder,
    FactExtractor,
    Identities,
    KeptReplies,
    ReflectPolicy,
    StructuredExtractor,
    Transaction,
)
from application.reflect import Reflector
from application.refresh import RefreshExecutor
from application.refresh_requests import RefreshRequests
from application.relevance import RelevanceCheck
from application.retries import RetryPolicy
from application.scheduler import Scheduler
from projections import documents, operations, usage

logger = logging.getLogger(__name__)

REPLIES_KEPT = timedelta(days=3)
"""How long replies of models are kept for operations that never ended; a quota is waited for at most a day."""
CONNECTIONS_OF_COMMANDS = 16
"""Connections for commands, beside one for each operation that runs at the same time."""


@dataclass(frozen=True)
class Minds:
    """The decisions that an engine makes; the same ports for a language model and for the offline engine."""

    extractor: FactExtractor
    policy: ReflectPolicy
    editor: DocumentEditor
    structured: StructuredExtractor | None = None
    close: Callable[[], None] = lambda: None
    """Frees the connections of the engine."""


@dataclass(frozen=True)
class Service:
    """All use cases and readers over one database. Made by `build`, opened by `opened`."""

    settings: Settings
    conninfo: str
    clock: Clock
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
    memories: Memories
    background: BackgroundWork
    refresh_requests: RefreshRequests
    scheduler: Scheduler
    after_writes: AfterWrites
    kept_replies: PostgresKeptReplies
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
        )
        jobs = JobWorker(self.conninfo, self.background.run, concurrency=self.settings.worker_concurrency)
        return Worker(jobs, SchedulerLoop(self.conninfo, on_time))

    def _prune(self) -> None:
        now = self.clock.now()
        self.operations.prune(now, self.settings.operation_retention_days)
        self.kept_replies.drop_before(now - REPLIES_KEPT)


def build(
    settings: Settings,
    conninfo: str,
    *,
    clock: Clock | None = None,
    identities: Identities | None = None,
    minds: Minds | None = None,
    embedder: Embedder | None = None,
) -> Service:
    """Joins the parts over a database that is reachable and migrated; overrides replace single parts."""
    clock = clock or SystemClock()
    identities = identities or RandomIdentities()
    embedder = embedder or make_embedder(settings)
    database = Database(conninfo, max_size=settings.worker_concurrency + CONNECTIONS_OF_COMMANDS)
    database.open()
    kept = PostgresKeptReplies(database)
    minds = minds or make_minds(settings, kept, clock)
    log = PostgresEventLog(database, JobQueue().queue_jobs)
    reader = Reader(database)
    memory = PostgresMemoryStore(
        database, identities, embedding_model=embedder.model, dimensions=lambda: embedder.dimensions
    )
    inbox = PostgresRetainInbox(database)
    handler = CommandHandler(log, database)
    banks = Banks(handler, log, memory, inbox, lambda bank_id, tx: reader.ask(documents.ids(bank_id), tx))

    def in_flight(bank_id: str, model: str, tx: Transaction | None = None) -> list[operations.InFlight]:
        return reader.ask(operations.in_flight(bank_id, model), tx)

    requests = RefreshRequests(
        handler,
        log,
        identities,
        in_flight,
        timedelta(seconds=settings.resume_after_seconds) if settings.resume_after_seconds else None,
    )
    scheduler = Scheduler(
        requests,
        log,
        memory,
        ReadSchedules(reader),
        clock,
        min_interval_seconds=settings.min_refresh_interval_seconds,
        broken=BROKEN,
    )
    after_writes = AfterWrites(scheduler.after_write)
    memories = Memories(
        handler,
        memory,
        inbox,
        embedder,
        minds.extractor,
        identities,
        lambda bank_id: banks.missions(bank_id).retain,
        after_writes.written,
    )
    relevance = RelevanceCheck(memory, embedder) if settings.relevance_check else None
    executor = RefreshExecutor(
        memory,
        Reflector(memory, embedder, minds.policy),
        DeltaRefresh(memory, inbox, minds.editor, relevance),
        minds.policy,
        minds.structured,
        clock,
    )
    mental_models = MentalModels(handler, log, identities)
    retries = RetryPolicy(settings.worker_max_retries, timedelta(seconds=settings.worker_retry_seconds))
    automation = Automation(
        tokens_of_day=lambda bank_id, day: reader.ask(usage.tokens_of_day(bank_id, day)),
        in_flight=in_flight,
        min_interval_seconds=settings.min_refresh_interval_seconds,
        tokens_a_day=settings.tokens_per_bank_per_day,
    )
    background = BackgroundWork(
        handler,
        log,
        executor,
        minds.policy,
        memories,
        inbox,
        clock,
        retries,
        automation,
        kept,
        settings.refresh_wall_seconds,
        after_writes.written,
    )
    return Service(
        settings=settings,
        conninfo=conninfo,
        clock=clock,
        database=database,
        reader=reader,
        log=log,
        read_models=ReadModels(database, log),
        memory=memory,
        embedder=embedder,
        minds=minds,
        mental_models=mental_models,
        document_versions=DocumentVersions(mental_models, memory),
        dry_runs=DryRuns(mental_models, executor),
        banks=banks,
        memories=memories,
        background=background,
        refresh_requests=requests,
        scheduler=scheduler,
        after_writes=after_writes,
        kept_replies=kept,
        operations=Operations(
            handler,
            log,
            inbox,
            lambda time, most: reader.ask(operations.ended_before(time, most)),
            in_flight,
        ),
    )


@contextmanager
def opened(service: Service) -> Iterator[Service]:
    """Read models made and up to date; connections closed at the end."""
    try:
        service.read_models.prepare()
        yield service
    finally:
        service.after_writes.close()
        service.database.close()
        service.embedder.close()
        service.minds.close()


def make_minds(settings: Settings, kept: KeptReplies | None = None, clock: Clock | None = None) -> Minds:
    """The engine that the settings name; its modules are imported only when it is used."""
    if settings.uses_llm:
        from adapters.llm.editor import LlmDocumentEditor
        from adapters.llm.endpoint import Endpoint
        from adapters.llm.facts import LlmFactExtractor
        from adapters.llm.reflect import LlmReflectPolicy
        from adapters.llm.structured import LlmStructuredExtractor

        endpoint = Endpoint(
            base_url=settings.llm_base_url,
            api_key=settings.llm_api_key.get_secret_value() if settings.llm_api_key else None,
            model=settings.llm_model or "",
            timeout_seconds=settings.llm_timeout_seconds,
            kept=kept,
            now=(clock or SystemClock()).now,
        )
        return Minds(
            extractor=LlmFactExtractor(endpoint),
            policy=LlmReflectPolicy(endpoint),
            editor=LlmDocumentEditor(endpoint),
            structured=LlmStructuredExtractor(endpoint),
            close=endpoint.close,
        )
    from adapters.offline.editor import OfflineDocumentEditor
    from adapters.offline.facts import OfflineFactExtractor
    from adapters.offline.reflect import OfflineReflectPolicy

    return Minds(OfflineFactExtractor(), OfflineReflectPolicy(), OfflineDocumentEditor())


def make_embedder(settings: Settings) -> Embedder:
    if settings.embeddings_base_url:
        from adapters.embeddings.openai_compatible import OpenAICompatibleEmbedder

        return OpenAICompatibleEmbedder(
            base_url=settings.embeddings_base_url,
            api_key=settings.embeddings_api_key.get_secret_value() if settings.embeddings_api_key else None,
            model=settings.embeddings_model or "",
        )
    from adapters.embeddings.static import StaticEmbedder

    return StaticEmbedder()
