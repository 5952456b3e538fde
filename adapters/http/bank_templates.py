"""The endpoints of bank templates."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from adapters.http import bank_template_wire
from adapters.http.backend import Api
from adapters.http.bank_responses import BankTemplateImportResponse
from adapters.http.bank_template_wire import BankTemplateManifest
from adapters.http.banks import NO_SUCH_BANK
from adapters.http.fields import BankId
from adapters.http.responses import Problem, respond, respond_with
from adapters.http.wire_route import WireRoute

router = APIRouter(tags=["Bank Templates"], route_class=WireRoute)

REFUSED: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "The manifest says what cannot be"},
    409: {"model": Problem, "description": "The bank was changed meanwhile"},
}


@router.post("/v1/default/banks/{bank_id}/import", response_model=BankTemplateImportResponse, responses=REFUSED)
async def import_bank_template(
    api: Api, bank_id: BankId, body: BankTemplateManifest, dry_run: bool = False
) -> Response:
    """Makes a bank as a manifest says, and creates it when there is none: config, mental models (by id) and directives
    (by name). What is the same already is left alone, what is created or updated is refreshed. All or nothing."""
    template = bank_template_wire.read(body)
    imported = await api.command(
        api.service.bank_templates.import_, api.by_user("POST import"), bank_id, template, dry_run=dry_run
    )
    return respond(
        BankTemplateImportResponse(
            bank_id=bank_id,
            config_applied=imported.config_applied,
            mental_models_created=list(imported.mental_models_created),
            mental_models_updated=list(imported.mental_models_updated),
            directives_created=list(imported.directives_created),
            directives_updated=list(imported.directives_updated),
            operation_ids=[str(each) for each in imported.operation_ids],
            dry_run=dry_run,
        )
    )


@router.get("/v1/default/banks/{bank_id}/export", response_model=BankTemplateManifest, responses={404: NO_SUCH_BANK})
async def export_bank_template(api: Api, bank_id: BankId) -> Response:
    """The bank as a manifest: what it sets itself, its mental models without their documents, its directives."""
    return respond_with(bank_template_wire.written(await api.command(api.service.bank_templates.export, bank_id)))


@router.get("/v1/bank-template-schema")
async def get_bank_template_schema() -> dict[str, Any]:
    """The JSON Schema of a manifest."""
    return bank_template_wire.schema()
