"""A mental model read for an answer: as it stands, by the read models, or as it was, by its events."""

from __future__ import annotations

from datetime import datetime

from starlette.responses import Response

from adapters.http import etag, mental_model_wire
from adapters.http.backend import Backend
from adapters.http.responses import MentalModelResponse, respond
from adapters.http.visibility import require_model
from domain.refusals import MentalModelNotFound
from projections import documents, knowledge_tree, staleness
from projections.documents import Detail


async def as_it_stands(api: Backend, bank_id: str, mental_model_id: str, detail: Detail) -> MentalModelResponse:
    """How stale it is only with all details. Raises MentalModelNotFound."""
    await require_model(api, bank_id, mental_model_id)
    find = documents.find(bank_id, mental_model_id, detail)
    stale: dict[str, staleness.Staleness] = {}
    if detail == "full":
        asked = staleness.of_models(bank_id, [mental_model_id], observations=api.makes_observations)
        row, stale = await api.ask_both(find, asked)
    else:
        row = await api.ask(find)
    if row is None:
        raise MentalModelNotFound(bank_id, mental_model_id)
    return mental_model_wire.of_row(row, stale.get(mental_model_id))


async def as_it_was(
    api: Backend, bank_id: str, mental_model_id: str, moment: int | datetime, detail: Detail
) -> MentalModelResponse:
    """Whether it is a page is told of now. Raises MentalModelNotFound, VersionNotFound."""
    then = await api.command(api.service.mental_models.as_of, bank_id, mental_model_id, moment)
    events = await api.command(api.service.mental_models.events, bank_id, mental_model_id)
    told = mental_model_wire.as_it_was(then.model, then.version, events, detail)
    is_page = await api.ask(knowledge_tree.is_page(bank_id, mental_model_id))
    return told.model_copy(update={"is_knowledge_page": is_page})


async def in_full(api: Backend, bank_id: str, mental_model_id: str) -> Response:
    """The answer to a change: the whole object, with its ETag."""
    body = await as_it_stands(api, bank_id, mental_model_id, "full")
    return respond(body, headers={"ETag": etag.of(body.version)})


def unless_known(body: MentalModelResponse, if_none_match: str | None) -> Response:
    """The object with its ETag, or 304 when the caller has it.

    A document turns stale without an event of its own, so a stale one is always told anew."""
    headers = {"ETag": etag.of(body.version)}
    if not body.is_stale and etag.already_has(if_none_match, body.version):
        return Response(status_code=304, headers=headers)
    return respond(body, headers=headers)
