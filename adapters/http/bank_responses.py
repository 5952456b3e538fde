"""Bodies of responses about banks, their config, their directives and their templates."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from adapters.http.responses import NULLS_LEFT_OUT


class Disposition(BaseModel):
    skepticism: int
    literalism: int
    empathy: int


class BankProfileResponse(BaseModel):
    bank_id: str
    name: str
    disposition: Disposition
    mission: str
    retain_mission: str | None = None
    observations_mission: str | None = None


class BankConfigResponse(BaseModel):
    bank_id: str
    config: dict[str, Any] = Field(description="Every key with the value that counts in this bank.")
    overrides: dict[str, Any] = Field(description="What the bank sets itself; the rest comes from the server.")


class BankListItem(BaseModel):
    model_config = NULLS_LEFT_OUT

    bank_id: str
    name: str
    disposition: Disposition
    mission: str | None
    created_at: str
    updated_at: str
    fact_count: int
    last_document_at: str | None
    last_write_at: str | None
    matched_aliases: list[str] = Field(default_factory=list)


class BankListResponse(BaseModel):
    banks: list[BankListItem]
    total: int
    limit: int
    offset: int


class DirectiveResponse(BaseModel):
    id: str
    bank_id: str
    name: str
    content: str
    priority: int
    is_active: bool
    tags: list[str]
    created_at: str
    updated_at: str


class DirectiveListResponse(BaseModel):
    items: list[DirectiveResponse]
    total: int
    limit: int
    offset: int


class BankTemplateImportResponse(BaseModel):
    bank_id: str
    config_applied: bool
    mental_models_created: list[str]
    mental_models_updated: list[str]
    directives_created: list[str]
    directives_updated: list[str]
    operation_ids: list[str]
    dry_run: bool
