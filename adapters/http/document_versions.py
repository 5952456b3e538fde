"""The endpoints of a document's versions: any of them, what changed between two, where each piece comes from, and back.

The wire contract has none of them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from adapters.http import document_wire
from adapters.http.backend import Api
from adapters.http.document_responses import BlameResponse, DiffResponse
from adapters.http.fields import BankId
from adapters.http.mental_model_reads import as_it_was, in_full, unless_known
from adapters.http.moments import LAST_VERSION, AsOf, moment_of
from adapters.http.preconditions import MOVED_ON, IfMatch, IfNoneMatch, expected_version
from adapters.http.requests import RevertMentalModelRequest
from adapters.http.responses import MentalModelResponse, Problem, respond
from adapters.http.visibility import require_whole_life, require_writable_model
from adapters.http.wire_route import WireRoute
from application.text_diff import CONTEXT
from projections.documents import Detail

MOST_CONTEXT = 1_000_000

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}/mental-models/{mental_model_id}",
    tags=["Document Versions"],
    route_class=WireRoute,
    responses={404: {"model": Problem, "description": "No such mental model, or it has no such version"}},
)

From = Annotated[
    int | None, Query(alias="from", ge=1, le=LAST_VERSION, description="Default: the last version with another text.")
]
To = Annotated[int | None, Query(alias="to", ge=1, le=LAST_VERSION, description="Default: the version it is at.")]
Version = Annotated[int, Path(ge=1, le=LAST_VERSION, description="A version of its stream of events.")]


@router.get("/versions/{version}", response_model=MentalModelResponse)
async def get_mental_model_version(
    api: Api,
    bank_id: BankId,
    mental_model_id: str,
    version: Version,
    detail: Detail = "full",
    if_none_match: IfNoneMatch = None,
) -> Response:
    """The mental model as it was at a version: the same as `?as_of=`."""
    await require_whole_life(api, bank_id, mental_model_id)
    return unless_known(await as_it_was(api, bank_id, mental_model_id, version, detail), if_none_match)


@router.get("/diff", response_model=DiffResponse)
async def diff_mental_model(
    api: Api,
    bank_id: BankId,
    mental_model_id: str,
    before: From = None,
    after: To = None,
    context: Annotated[int, Query(ge=0, le=MOST_CONTEXT, description="Lines around a change.")] = CONTEXT,
) -> Response:
    """What changed in the document from one version to another, and what was done to it, by whom and on which facts."""
    await require_whole_life(api, bank_id, mental_model_id)
    comparison = await api.command(api.service.document_versions.compare, bank_id, mental_model_id, before, after)
    return respond(await api.command(document_wire.diff, comparison, context), keep_nulls=True)


@router.get("/blame", response_model=BlameResponse)
async def blame_mental_model(api: Api, bank_id: BankId, mental_model_id: str, as_of: AsOf = None) -> Response:
    """Where each piece of the document comes from: the write, who made it, and the facts it rests on."""
    await require_whole_life(api, bank_id, mental_model_id)
    moment = None if as_of is None else moment_of(as_of)
    blamed = await api.command(api.service.document_versions.blame, bank_id, mental_model_id, moment)
    return respond(document_wire.blame(blamed), keep_nulls=True)


@router.post(
    "/revert",
    response_model=MentalModelResponse,
    responses={412: MOVED_ON},
)
async def revert_mental_model(
    api: Api, bank_id: BankId, mental_model_id: str, body: RevertMentalModelRequest, if_match: IfMatch = None
) -> Response:
    """Puts the document back to what it said at a version, and to the facts it rested on. Nothing else goes back."""
    await require_writable_model(api, bank_id, mental_model_id)
    await require_whole_life(api, bank_id, mental_model_id)
    expected = await expected_version(api, bank_id, mental_model_id, if_match)
    await api.command(
        api.service.mental_models.revert,
        api.by_user("POST revert"),
        bank_id,
        mental_model_id,
        body.version,
        expected=expected,
    )
    return await in_full(api, bank_id, mental_model_id)
