"""The endpoint that answers a question from a bank's memory."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from adapters.http.backend import Api, Backend
from adapters.http.errors import ServiceStopping
from adapters.http.fields import BankId
from adapters.http.reflect_wire import (
    ReflectBasedOn,
    ReflectDirective,
    ReflectFact,
    ReflectInclude,
    ReflectLLMCall,
    ReflectMentalModel,
    ReflectRequest,
    ReflectResponse,
    ReflectToolCall,
    ReflectTrace,
)
from adapters.http.responses import Problem, respond
from adapters.http.tag_filters import exact
from adapters.http.times import iso, iso_or_none
from adapters.http.wire_route import WireRoute
from application.reflection import Answered, Asked, Reflection
from domain.api_keys import Forbidden
from domain.memory import Fact
from domain.reflection import PageShown, ToolResult
from domain.scope import Scope
from domain.usage import total
from projections.refresh_trace import tool_input

LONGEST_ANSWER = 32_000
"""Tokens; more is not aimed at, whatever is asked for: what is read has to have room beside it."""
LOOK_SECONDS = 0.5
"""How often it is looked whether whoever asked is still there."""

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}/reflect",
    tags=["Memory"],
    route_class=WireRoute,
    responses={
        404: {"model": Problem, "description": "No such bank"},
        502: {"model": Problem, "description": "A model gave nothing usable"},
        503: {"model": Problem, "description": "A model, the memory or the database cannot serve just now"},
        504: {"model": Problem, "description": "The answer took too long"},
    },
)


@router.post("", response_model=ReflectResponse)
async def reflect(api: Api, request: Request, bank_id: BankId, body: ReflectRequest) -> Response:
    """Answers from mental models, observations and facts, and says what the answer rests on."""
    await api.require_bank(bank_id)
    if body.apply_all_directives and api.principal.tags is not None:
        raise Forbidden("apply_all_directives is of all tags, and this API key is held to some; leave it out")
    asked = _asked(bank_id, body)
    asked = replace(asked, scope=api.principal.narrowed(await exact(api, bank_id, asked.scope)))
    answered = await _while_there(api, request, asked)
    include = body.include or ReflectInclude()
    reflection = answered.reflection
    return respond(
        ReflectResponse(
            text=answered.text,
            answer_found=answered.found,
            no_answer_reason=None if answered.found else answered.reason,
            based_on=None if include.facts is None else _based_on(answered),
            structured_output=answered.structured,
            structured_output_error=answered.structured_error,
            usage=total(answered.calls),
            trace=None if include.tool_calls is None else _trace(answered, with_output=include.tool_calls.output),
            warnings=list(reflection.warnings) or None,
        )
    )


async def _while_there(api: Backend, request: Request, asked: Asked) -> Answered:
    """The answer, as long as somebody waits for it. Raises ClientDisconnect and ServiceStopping: what is under way ends
    at its next step then."""
    reflections = api.service.reflections
    deadline = reflections.deadline()
    context = api.by_user("POST reflect")
    answering = asyncio.ensure_future(api.with_model(reflections.answer, context, asked, deadline))
    try:
        while not (await asyncio.wait({answering}, timeout=LOOK_SECONDS))[0]:
            if await request.is_disconnected():
                raise ClientDisconnect
    except (ClientDisconnect, asyncio.CancelledError) as gone:
        deadline.pass_now()
        answering.add_done_callback(_nobody_reads)
        if isinstance(gone, asyncio.CancelledError):  # only a server that stops cancels a request
            raise ServiceStopping from gone
        raise
    return answering.result()


def _nobody_reads(answering: asyncio.Future[Answered]) -> None:
    if not answering.cancelled():
        answering.exception()


def _asked(bank_id: str, body: ReflectRequest) -> Asked:
    scope = Scope(
        tags=tuple(body.tags or ()),
        tags_match=body.tags_match,
        tag_groups=tuple(body.tag_groups) if body.tag_groups else None,
        fact_types=tuple(body.fact_types) if body.fact_types else None,
    )
    context = (body.context or "").strip()
    return Asked(
        bank_id=bank_id,
        query=f"{body.query}\n\n{context}" if context else body.query,
        scope=scope,
        budget=body.budget,
        max_tokens=min(body.max_tokens, LONGEST_ANSWER),
        all_directives=body.apply_all_directives,
        exclude_pages=body.exclude_mental_models,
        excluded_page_ids=frozenset(body.exclude_mental_model_ids or ()),
        response_schema=body.response_schema,
        observation_tokens=body.reflect_search_observations_max_tokens,
    )


def _based_on(answered: Answered) -> ReflectBasedOn:
    reflection = answered.reflection
    return ReflectBasedOn(
        memories=[_fact(fact) for fact in reflection.used_facts],
        mental_models=[
            ReflectMentalModel(id=page.mental_model_id, text=f"{page.name}: {page.content}")
            for page in reflection.used_pages
        ],
        directives=[
            ReflectDirective(id=str(each.directive_id), name=each.name, content=each.content)
            for each in reflection.directives
        ],
    )


def _fact(fact: Fact) -> ReflectFact:
    return ReflectFact(
        id=str(fact.id),
        text=fact.text,
        type=fact.fact_type,
        context=fact.context,
        occurred_start=iso_or_none(fact.occurred_start),
        occurred_end=iso_or_none(fact.occurred_end),
        mentioned_at=iso_or_none(fact.mentioned_at),
        document_id=fact.document_id,
        chunk_id=fact.chunk_id,
        tags=list(fact.tags),
        metadata=dict(fact.metadata) or None,
    )


def _trace(answered: Answered, *, with_output: bool) -> ReflectTrace:
    reflection: Reflection = answered.reflection
    return ReflectTrace(
        tool_calls=[
            ReflectToolCall(
                tool=call.tool,
                input={**tool_input(call), "reason": call.reason},
                output=output_of(result) if with_output else None,
                duration_ms=call.duration_ms,
                iteration=call.iteration,
            )
            for call, result in zip(reflection.tool_calls, reflection.tool_results, strict=True)
        ],
        llm_calls=[ReflectLLMCall(scope=call.purpose, duration_ms=call.duration_ms) for call in answered.calls],
    )


def output_of(result: ToolResult) -> dict[str, Any]:
    """What a call gave, as it was shown."""
    told: dict[str, Any] = {}
    if result.problem:
        told["error"] = result.problem
    if result.call.tool in ("recall", "search_observations"):
        kind = "memories" if result.call.tool == "recall" else "observations"
        found = [_fact(each.fact).model_dump(exclude_none=True) for each in result.facts]
        told[kind] = [each for each in found if kind == "memories" or each["type"] == "observation"]
        if sources := [each for each in found if each not in told[kind]]:
            told["source_facts"] = sources
    if result.freshness is not None:
        told |= {"is_stale": result.freshness != "up_to_date", "freshness": result.freshness}
    if result.call.tool in ("search_mental_models", "read_mental_models"):
        told["mental_models"] = [_page(shown) for shown in result.pages]
    if result.not_read:
        told["not_read"] = list(result.not_read)
    if result.call.tool == "expand":
        told["results"] = [passage.model_dump(exclude_defaults=True) for passage in result.passages]
    return told


def _page(shown: PageShown) -> dict[str, Any]:
    page = shown.page
    told: dict[str, Any] = {
        "id": page.mental_model_id,
        "name": page.name,
        "tags": list(page.tags),
        "relevance": round(page.relevance, 4),
        "updated_at": iso(page.updated_at),
        "is_stale": page.is_stale,
        "staleness_reason": ", ".join(page.stale_because) or None,
    }
    texts: dict[str, dict[str, Any]] = {
        "whole": {"content": shown.text},
        "snippet": {"snippet": shown.text, "content_chars": len(page.content)},
        "stub": {"shown": "above"},
    }
    return {**told, **texts[shown.form]}
