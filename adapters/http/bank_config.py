"""The endpoints of a bank's config, and the retired ones that it took the place of."""

from __future__ import annotations

from typing import Any, NoReturn

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.responses import Response

from adapters.http.backend import Api, Backend
from adapters.http.bank_requests import BankConfigUpdate
from adapters.http.bank_responses import BankConfigResponse
from adapters.http.banks import NO_SUCH_BANK, NOT_ACCEPTED
from adapters.http.fields import BankId
from adapters.http.responses import Problem, respond
from adapters.http.wire_route import WireRoute
from domain.bank_config import BankConfig
from domain.bank_config_changes import changes_of
from domain.refusals import BankNotFound
from projections import banks

router = APIRouter(prefix="/v1/default/banks/{bank_id}", tags=["Banks"], route_class=WireRoute)

RETIRED: dict[int | str, dict[str, Any]] = {410: {"model": Problem, "description": "Retired"}}


@router.get("/config", response_model=BankConfigResponse, responses={404: NO_SUCH_BANK})
async def get_bank_config(api: Api, bank_id: BankId) -> Response:
    """Every key with the value that counts in this bank, and those that the bank sets itself."""
    row = await api.ask(banks.find(bank_id))
    if row is None:
        raise BankNotFound(bank_id)
    return _told(api, bank_id, row.config)


@router.patch("/config", response_model=BankConfigResponse, responses={400: NOT_ACCEPTED})
async def update_bank_config(api: Api, bank_id: BankId, body: BankConfigUpdate) -> Response:
    """Sets keys of the bank's own; null takes one away, so that the server's value counts. All of them or none.
    Creates the bank when there is none."""
    changes = changes_of(body.updates)
    by = api.by_user("PATCH bank config")
    bank = await api.command(api.service.banks.put, by, bank_id, changes=changes)
    return _told(api, bank_id, bank.config)


@router.delete("/config", response_model=BankConfigResponse, responses={404: NO_SUCH_BANK})
async def reset_bank_config(api: Api, bank_id: BankId) -> Response:
    """Takes away all that the bank sets itself, missions and disposition included."""
    bank = await api.command(api.service.banks.reset_config, api.by_user("DELETE bank config"), bank_id)
    return _told(api, bank_id, bank.config)


@router.get("/profile", responses=RETIRED, deprecated=True)
async def get_bank_profile(bank_id: BankId) -> Response:
    """Retired: see the config."""
    _retired(bank_id, "profile", "GET .../config")


@router.put("/profile", responses=RETIRED, deprecated=True)
async def update_bank_disposition(bank_id: BankId) -> Response:
    """Retired: see the config."""
    _retired(bank_id, "profile", "PATCH .../config with disposition_skepticism, _literalism, _empathy")


@router.post("/background", responses=RETIRED, deprecated=True)
async def add_bank_background(bank_id: BankId) -> Response:
    """Retired: see the config."""
    _retired(bank_id, "background", "PATCH .../config with reflect_mission, which replaces the text")


def _retired(bank_id: str, what: str, instead: str) -> NoReturn:
    raise HTTPException(410, f"The {what} of bank '{bank_id}' is part of its config now: use {instead}")


def _told(api: Backend, bank_id: str, own: BankConfig) -> Response:
    config = own.over(api.service.settings.bank_defaults).wire()
    body = BankConfigResponse(bank_id=bank_id, config=config, overrides=own.wire(only_set=True))
    return respond(body, keep_nulls=True)
