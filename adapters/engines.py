"""Engines, made as the settings name them. Modules of one that is not used are not imported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from adapters.clock import SystemClock
from adapters.settings import Settings
from application.ports import (
    Clock,
    Consolidator,
    DocumentEditor,
    Embedder,
    FactExtractor,
    KeptReplies,
    ReflectPolicy,
    Reranker,
    StructuredExtractor,
)

if TYPE_CHECKING:
    from adapters.llm.connection import Observe


@dataclass(frozen=True)
class Minds:
    """The decisions that an engine makes; the same ports for a language model and for the offline engine."""

    extractor: FactExtractor
    policy: ReflectPolicy
    editor: DocumentEditor
    structured: StructuredExtractor | None = None
    consolidator: Consolidator | None = None
    close: Callable[[], None] = lambda: None
    """Frees the connections of the engine."""


def make_minds(
    settings: Settings,
    kept: KeptReplies | None = None,
    clock: Clock | None = None,
    observe: Observe | None = None,
) -> Minds:
    """The engine that the settings name; its modules are imported only when it is used."""
    return _llm_minds(settings, kept, clock, observe) if settings.uses_llm else _offline_minds()


def _llm_minds(settings: Settings, kept: KeptReplies | None, clock: Clock | None, observe: Observe | None) -> Minds:
    from adapters.llm.consolidation import LlmConsolidator
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
        observe=observe,
    )
    return Minds(
        extractor=LlmFactExtractor(endpoint),
        policy=LlmReflectPolicy(endpoint),
        editor=LlmDocumentEditor(endpoint),
        structured=LlmStructuredExtractor(endpoint),
        consolidator=LlmConsolidator(endpoint),
        close=endpoint.close,
    )


def _offline_minds() -> Minds:
    from adapters.offline.consolidation import OfflineConsolidator
    from adapters.offline.editor import OfflineDocumentEditor
    from adapters.offline.facts import OfflineFactExtractor
    from adapters.offline.reflect import OfflineReflectPolicy

    return Minds(
        OfflineFactExtractor(),
        OfflineReflectPolicy(),
        OfflineDocumentEditor(),
        consolidator=OfflineConsolidator(),
    )


def make_embedder(settings: Settings, observe: Observe | None = None) -> Embedder:
    if settings.embeddings_base_url:
        from adapters.embeddings.openai_compatible import OpenAICompatibleEmbedder

        return OpenAICompatibleEmbedder(
            base_url=settings.embeddings_base_url,
            api_key=settings.embeddings_api_key.get_secret_value() if settings.embeddings_api_key else None,
            model=settings.embeddings_model or "",
            observe=observe,
        )
    from adapters.embeddings.static import StaticEmbedder

    return StaticEmbedder()


def make_reranker(settings: Settings, observe: Observe | None = None) -> Reranker | None:
    if not settings.rerank_base_url:
        return None
    from adapters.llm.rerank import RerankEndpoint

    return RerankEndpoint(
        base_url=settings.rerank_base_url,
        api_key=settings.rerank_api_key.get_secret_value() if settings.rerank_api_key else None,
        model=settings.rerank_model or "",
        observe=observe,
    )
