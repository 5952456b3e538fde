"""The composition root: settings become a service. Nothing else constructs an adapter."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from adapters.after_writes import AfterWrites
from adapters.clock import RandomIdentities, SystemClock
from adapters.engines import Minds, make_embedder, make_minds, make_reranker
from adapters.metrics import ProcessMetrics
from adapters.offline.dates import first_period
from adapters.operation_watch import ModelWatch, OperationWatch
from adapters.postgres.api_key_uses import PostgresKeyUses
from adapters.postgres.read_models import ReadModels
from adapters.scheduling import BROKEN, ReadSchedules
from adapters.service import Service
from adapters.settings import Settings
from adapters.stores import Stores
from adapters.tracing import Tracing, make_tracing
from adapters.transfers import BankTransfers
from application.api_keys import ApiKeys
from application.automation import Automation
from application.background import BackgroundWork
from application.bank_templates import BankTemplates
from application.banks import Banks
from application.command_handler import CommandHandler
from application.consolidation import Consolidation
from application.consolidation_requests import ConsolidationRequests, ConsolidationTrigger
from application.curation import Curation
from application.delta import DeltaRefresh
from application.directives import Directives
from application.document_versions import DocumentVersions
from application.dry_run import DryRuns
from application.extraction_preview import ExtractionPreviews
from application.knowledge_base import KnowledgeBases
from application.knowledge_base_import import KnowledgeBaseImports
from application.memories import Memories
from application.mental_models import MentalModels
from application.observation_drafts import ObservationDrafts
from application.observations import Observations
from application.operations import Operations
from application.page_search import PageFinder, PageSearch, PageVectors
from application.ports import Clock, Embedder, Identities
from application.recall import Recalls
from application.reflection import Amounts, Reflections, Reflector, Toolbox
from application.refresh import RefreshExecutor
from application.refresh_requests import RefreshRequests
from application.relevance import RelevanceCheck
from application.request_costs import RequestCosts
from application.retries import RetryPolicy
from application.scheduler import Scheduler
from domain.event import Context
from domain.persona import Persona, persona_of
from domain.usage import ModelCall

SECRET_BYTES = 32
"""Of an API key: too many for anybody to try."""


def build(
    settings: Settings,
    conninfo: str,
    *,
    clock: Clock | None = None,
    identities: Identities | None = None,
    minds: Minds | None = None,
    embedder: Embedder | None = None,
    tracing: Tracing | None = None,
) -> Service:
    """Joins the parts over a database that is reachable and migrated; overrides replace single parts."""
    metrics, tracing = ProcessMetrics(), tracing or make_tracing(settings)
    models = ModelWatch(metrics, tracing)
    return _Composition(
        settings,
        conninfo,
        clock or SystemClock(),
        identities or RandomIdentities(),
        embedder or make_embedder(settings, models),
        minds,
        metrics,
        tracing,
        models,
    ).service()


class _Composition:
    """The parts in the order in which one needs another."""

    def __init__(
        self,
        settings: Settings,
        conninfo: str,
        clock: Clock,
        identities: Identities,
        embedder: Embedder,
        minds: Minds | None,
        metrics: ProcessMetrics,
        tracing: Tracing,
        models: ModelWatch,
    ) -> None:
        self.settings, self.conninfo, self.clock, self.identities = settings, conninfo, clock, identities
        self.embedder = embedder
        self.stores = Stores(settings, conninfo, clock, identities, embedder)
        self.metrics, self.tracing, self.models = metrics, tracing, models
        self.minds = minds or make_minds(settings, self.stores.kept, clock, models)
        self.handler = CommandHandler(self.stores.log, self.stores.database)
        self.costs = RequestCosts(self.handler, identities)
        self.banks = self._banks()
        self.refresh_requests = self._refresh_requests()
        self.consolidation_requests = ConsolidationRequests(
            self.handler, identities, self.stores.consolidations_in_flight, self.banks.config
        )
        self.scheduler = self._scheduler()
        self.metrics.tell_looks(self.scheduler.counts)
        self.after_writes = AfterWrites(self.scheduler.after_write)
        self.transfers = BankTransfers(
            settings, self.stores, self.handler, identities, embedder, clock, self.after_writes.written
        )
        self.memories = self._memories()
        self.recalls = self._recalls()
        self.page_search = PageSearch(self.stores.pages)
        self.reflector = self._reflector()
        self.executor = self._executor()

    def _banks(self) -> Banks:
        return Banks(
            self.handler,
            self.stores.log,
            self.stores.memory,
            self.stores.inbox,
            self.stores.kept,
            self.stores.models_of,
            self.settings.bank_defaults,
        )

    # --- what happens by itself ---

    def _refresh_requests(self) -> RefreshRequests:
        resume_after = self.settings.resume_after_seconds
        return RefreshRequests(
            self.handler,
            self.stores.log,
            self.identities,
            self.stores.refreshes_in_flight,
            timedelta(seconds=resume_after) if resume_after else None,
        )

    def _min_interval_of(self, bank_id: str) -> int:
        return self.banks.config(bank_id).mental_model_min_refresh_interval_seconds

    def _scheduler(self) -> Scheduler:
        trigger = ConsolidationTrigger(
            self.consolidation_requests,
            self.stores.observations,
            self.banks.config,
            self.stores.consolidation_failures,
            self.clock,
            able=self.minds.consolidator is not None,
        )
        return Scheduler(
            self.refresh_requests,
            self.stores.log,
            self.stores.memory,
            ReadSchedules(self.stores.reader),
            self.clock,
            min_interval_of=self._min_interval_of,
            consolidations=trigger,
            broken=BROKEN,
        )

    # --- memory ---

    def _memories(self) -> Memories:
        return Memories(
            self.handler,
            self.stores.memory,
            self.stores.inbox,
            self.embedder,
            self.minds.extractor,
            self.identities,
            self.banks.config,
            self.costs,
            self.after_writes.written,
        )

    def _recalls(self) -> Recalls:
        return Recalls(
            self.stores.memory,
            self.embedder,
            first_period,
            self.stores.source_texts,
            self.stores.observations.current,
            self.stores.config_of,
            self.costs,
            self.clock,
            make_reranker(self.settings, self.models),
        )

    def _curation(self) -> Curation:
        return Curation(
            self.handler,
            self.stores.curation,
            self.stores.memory,
            self.embedder,
            self.costs,
            self.banks.config,
            rereads=self.minds.extractor.rereads,
            written=self.after_writes.written,
        )

    def _consolidation(self) -> Consolidation | None:
        mind = self.minds.consolidator
        if mind is None:
            return None
        drafts = ObservationDrafts(self.stores.memory, self.stores.observations, self.embedder, mind)
        return Consolidation(self.handler, self.stores.observations, drafts, mind, self.banks.config)

    # --- documents ---

    def _persona(self, bank_id: str) -> Persona:
        return persona_of(*self.banks.config_and_directives(bank_id))

    def _reflector(self) -> Reflector:
        toolbox = Toolbox(
            self.stores.memory,
            self.embedder,
            self.page_search,
            self.stores.source_texts,
            self.recalls,
            self.stores.observations.count_pending,
            lambda bank_id: self.banks.config(bank_id).store_document_text,
        )
        return Reflector(
            self.stores.memory,
            self.embedder,
            self.minds.policy,
            toolbox=toolbox,
            persona_of=self._persona,
            amounts_of=lambda bank_id: Amounts.of(self.banks.config(bank_id)),
        )

    def _executor(self) -> RefreshExecutor:
        relevance = RelevanceCheck(self.stores.memory, self.embedder) if self.settings.relevance_check else None
        deltas = DeltaRefresh(
            self.stores.memory,
            self.stores.inbox,
            self.minds.editor,
            relevance,
            self._persona,
            self.stores.observations.count_waiting,
        )
        return RefreshExecutor(
            self.stores.memory, self.reflector, deltas, self.minds.policy, self.minds.structured, self.clock
        )

    def _spent_on_pages(self, bank_id: str, calls: Sequence[ModelCall]) -> None:
        self.costs.record(Context("system", self.clock.now()), bank_id, "pages", calls)

    # --- background ---

    def _background(self) -> BackgroundWork:
        settings = self.settings
        automation = Automation(
            tokens_of_day=self.stores.tokens_of_day,
            in_flight=self.stores.refreshes_in_flight,
            min_interval_of=self._min_interval_of,
            tokens_a_day=settings.tokens_per_bank_per_day,
        )
        return BackgroundWork(
            self.handler,
            self.stores.log,
            self.executor,
            self.minds.policy,
            self.memories,
            self.stores.inbox,
            self.clock,
            RetryPolicy(settings.worker_max_retries, timedelta(seconds=settings.worker_retry_seconds)),
            automation,
            self.stores.kept,
            self.stores.progress,
            settings.refresh_wall_seconds,
            self.after_writes.written,
            self._consolidation(),
            self.transfers.work,
            OperationWatch(self.metrics, self.tracing).attempt,
        )

    def service(self) -> Service:
        stores, handler, identities = self.stores, self.handler, self.identities
        mental_models = MentalModels(handler, stores.log, identities)
        knowledge_bases = KnowledgeBases(handler, stores.log, identities, self.refresh_requests, self.banks.config)
        return Service(
            settings=self.settings,
            conninfo=self.conninfo,
            clock=self.clock,
            metrics=self.metrics,
            tracing=self.tracing,
            database=stores.database,
            reader=stores.reader,
            log=stores.log,
            read_models=ReadModels(stores.database, stores.log),
            memory=stores.memory,
            embedder=self.embedder,
            minds=self.minds,
            mental_models=mental_models,
            document_versions=DocumentVersions(mental_models, stores.memory),
            dry_runs=DryRuns(mental_models, self.executor, self.costs),
            banks=self.banks,
            bank_templates=BankTemplates(
                handler, stores.log, identities, self.banks, stores.models_of, stores.refreshes_in_flight
            ),
            directives=Directives(handler, identities),
            api_keys=ApiKeys(handler, identities, partial(secrets.token_urlsafe, SECRET_BYTES)),
            key_uses=PostgresKeyUses(stores.database),
            memories=self.memories,
            extraction_previews=ExtractionPreviews(self.minds.extractor, self.banks.config, self.costs),
            recalls=self.recalls,
            reflections=Reflections(
                stores.memory, self.reflector, self.minds.structured, self.costs, self.settings.refresh_wall_seconds
            ),
            knowledge_bases=knowledge_bases,
            knowledge_base_imports=KnowledgeBaseImports(handler, stores.log, identities, knowledge_bases),
            page_finder=PageFinder(stores.pages, self.embedder, self._spent_on_pages),
            page_search=self.page_search,
            page_vectors=PageVectors(stores.pages, self.embedder, self._spent_on_pages),
            curation=self._curation(),
            request_costs=self.costs,
            background=self._background(),
            refresh_requests=self.refresh_requests,
            consolidation_requests=self.consolidation_requests,
            observations=Observations(handler, stores.observations, self.after_writes.written),
            scheduler=self.scheduler,
            after_writes=self.after_writes,
            transfers=self.transfers,
            operations=Operations(
                handler,
                stores.log,
                stores.inbox,
                stores.ended_before,
                stores.refreshes_in_flight,
                stores.kept,
                stores.progress,
            ),
        )
