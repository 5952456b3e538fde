"""The endpoint of the preview of an extraction: which facts would be read out of a text, told and not stored."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from adapters.http.backend import Api
from adapters.http.fields import CONTEXT_LENGTH, BankId, Content, Timestamp
from adapters.http.requests import Body, example
from adapters.http.responses import Problem, respond
from adapters.http.retained_items import moment_of
from adapters.http.times import iso_or_none
from adapters.http.wire_route import WireRoute
from application.extraction_preview import Preview
from domain.bank_config_changes import changes_of
from domain.memory import RetainItem
from domain.usage import TokenUsage, total

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}/memories",
    tags=["Memory"],
    route_class=WireRoute,
    responses={
        400: {"model": Problem, "description": "A setting is not valid"},
        404: {"model": Problem, "description": "No such bank"},
        502: {"model": Problem, "description": "A model gave nothing usable"},
        503: {"model": Problem, "description": "A model or the database cannot serve just now"},
    },
)

_SETTINGS = (
    "retain_mission",
    "retain_extraction_mode",
    "retain_custom_instructions",
    "retain_chunk_size",
    "entity_labels",
    "entities_allow_free_form",
)


class DryRunExtractRequest(Body):
    """Settings that are given replace those of the bank for this call."""

    model_config = example(content="The team talks in a shared channel.", retain_extraction_mode="verbatim")

    content: Content
    context: str | None = Field(default="", max_length=CONTEXT_LENGTH)
    timestamp: Timestamp = Field(default=None, description="When it was said; null is now.")
    strategy: str | None = Field(default=None, description="One of the bank's retain strategies, by its name.")
    retain_mission: str | None = None
    retain_extraction_mode: str | None = None
    retain_custom_instructions: str | None = None
    retain_extract_causal_links: bool | None = None
    retain_chunk_size: int | None = None
    entity_labels: list[dict[str, Any]] | None = None
    entities_allow_free_form: bool | None = None

    def settings(self) -> dict[str, Any]:
        return {name: value for name in _SETTINGS if (value := getattr(self, name)) is not None}


class PreviewedFact(BaseModel):
    text: str
    fact_type: str
    occurred_start: str | None
    occurred_end: str | None
    entities: list[str]
    tags: list[str] = Field(description="Labels that are tags too (not in the contract).")
    chunk_index: int | None
    attachments: list[Any] = []


class PreviewedChunk(BaseModel):
    text: str
    fact_count: int


class DryRunExtractionResult(BaseModel):
    facts: list[PreviewedFact]
    chunks: list[PreviewedChunk]
    usage: TokenUsage


@router.post("/dry-run-extract", response_model=DryRunExtractionResult)
async def dry_run_extract_memories(api: Api, bank_id: BankId, body: DryRunExtractRequest) -> Response:
    """Reads the text as a retain would, tells the facts that would come of it, and stores nothing. It costs what the
    reading of a retain costs."""
    await api.require_bank(bank_id)
    context = api.by_user("POST dry-run-extract")
    item = RetainItem(
        content=body.content,
        context=body.context or None,
        timestamp=moment_of(body.timestamp, context.now),
        strategy=body.strategy,
    )
    preview = await api.with_model(
        api.service.extraction_previews.extract,
        context,
        bank_id,
        item,
        changes_of(body.settings()),
        causal_links=body.retain_extract_causal_links is not False,
    )
    return respond(_result(preview), keep_nulls=True)


def _result(preview: Preview) -> DryRunExtractionResult:
    return DryRunExtractionResult(
        facts=[
            PreviewedFact(
                text=fact.text,
                fact_type=fact.fact_type,
                occurred_start=iso_or_none(fact.occurred_start),
                occurred_end=iso_or_none(fact.occurred_end),
                entities=list(fact.entities),
                tags=list(fact.tags),
                chunk_index=fact.chunk,
            )
            for fact in preview.facts
        ],
        chunks=[
            PreviewedChunk(text=chunk.text, fact_count=sum(fact.chunk == chunk.number for fact in preview.facts))
            for chunk in preview.chunks
        ],
        usage=total(preview.calls),
    )
