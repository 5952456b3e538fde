"""The endpoints by which a knowledge base is taken out as markdown files, and made from such."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from adapters.http import knowledge_base_bundle
from adapters.http.backend import Api
from adapters.http.fields import BankId
from adapters.http.knowledge_base import TAKEN
from adapters.http.knowledge_base import router as tree_router
from adapters.http.knowledge_base_export import Bundle
from adapters.http.requests import Body, example
from adapters.http.responses import respond, respond_with
from adapters.http.wire_route import WireRoute
from application.knowledge_base_import import ImportedPage
from projections import knowledge_tree

FILES_AT_MOST = 2_000
EVERY_TEXT = 2**31 - 1

router = APIRouter(
    prefix=tree_router.prefix, tags=tree_router.tags, route_class=WireRoute, responses=tree_router.responses
)


class KnowledgePageBundleFile(BaseModel):
    path: str
    content: str


class KnowledgePageBundleResponse(BaseModel):
    files: list[KnowledgePageBundleFile]


class BundleFileInput(Body):
    INSIDE = "files."

    path: str
    content: str


class ImportKnowledgeBaseRequest(Body):
    model_config = example(files=[{"path": "people/ada.md", "content": "# Ada\n\nAda works at Acme.\n"}])

    files: Annotated[list[BundleFileInput], Field(min_length=1, max_length=FILES_AT_MOST)]
    dry_run: bool = Field(default=False, description="Tell what would be changed, and change nothing.")


class ImportedPageResponse(BaseModel):
    path: str
    name: str
    change: Literal["created", "updated", "unchanged"]
    page_id: str | None = Field(default=None, description="Absent when a dry run would create it.")
    mental_model_id: str | None = None
    operation_id: str | None = Field(default=None, description="The first refresh of a page without a text.")


class KnowledgeBaseImportResponse(BaseModel):
    dry_run: bool
    folders_created: list[str] = Field(description="Paths of the directories that became folders.")
    pages: list[ImportedPageResponse]
    ignored: list[str] = Field(description="Paths of files that are neither folder nor page: tables of contents.")


@router.get("/export", response_model=KnowledgePageBundleResponse)
async def export_knowledge_base(
    api: Api,
    bank_id: BankId,
    history: Annotated[bool, Query(description="With what each page said before, in files of their own.")] = True,
) -> Response:
    """The knowledge base as markdown files, from which the import makes it again: folders, order, names, questions,
    tags, triggers and texts."""
    settings = api.service.settings
    rows = await api.ask(knowledge_tree.every(bank_id, contents=True))
    if not rows:
        await api.require_bank(bank_id)
    at_most = settings.history_max_entries if settings.history_max_entries > 0 else EVERY_TEXT
    wanted = history and settings.history_enabled and rows
    earlier = await api.ask(knowledge_tree.earlier_texts(bank_id, at_most)) if wanted else {}
    return respond_with({"files": await api.command(Bundle(rows, earlier).files)})


@router.post("/import", response_model=KnowledgeBaseImportResponse, responses=TAKEN)
async def import_knowledge_base(api: Api, bank_id: BankId, body: ImportKnowledgeBaseRequest) -> Response:
    """Makes folders and pages from markdown files, of an export or any others. Creates the bank when there is none.

    A page that is there already (of that name, in that folder) is made to say what its file says; what the files do not
    name stays. A text is one written by hand: it is kept, and the next delta edits it. All of it or nothing."""
    bundle = await api.command(knowledge_base_bundle.read, [(each.path, each.content) for each in body.files])
    imported = await api.command(
        api.service.knowledge_base_imports.import_,
        api.by_user("POST knowledge import"),
        bank_id,
        bundle.folders,
        bundle.pages,
        dry_run=body.dry_run,
    )
    return respond(
        KnowledgeBaseImportResponse(
            dry_run=body.dry_run,
            folders_created=list(imported.folders_created),
            pages=[_told(page, dry_run=body.dry_run) for page in imported.pages],
            ignored=bundle.ignored,
        )
    )


def _told(page: ImportedPage, *, dry_run: bool) -> ImportedPageResponse:
    fields: dict[str, Any] = {"path": page.path, "name": page.name, "change": page.change}
    if not dry_run or page.change != "created":
        fields |= {"page_id": page.page_id, "mental_model_id": page.mental_model_id}
        fields["operation_id"] = str(page.operation_id) if page.operation_id else None
    return ImportedPageResponse(**fields)
