"""What an operation is asked to do, and what it came to."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from domain.mental_model.record import FailureReason
from domain.usage import ModelCall
from domain.value import Value


class RefreshAsked(Value):
    """A refresh of one mental model; `mode` overrides its trigger for this run. One that nobody asked for is
    `automatic`: it keeps to the minimum interval and the budget, and a paused model has none."""

    type: Literal["refresh_mental_model"] = "refresh_mental_model"
    mental_model_id: str
    mode: Literal["full"] | None = None
    automatic: bool = False


class RetainAsked(Value):
    """A retain of items that wait in the inbox under the operation's id."""

    type: Literal["retain"] = "retain"
    items_count: int
    items_sha256: str
    """Tells a repeated request from another one under the same id."""
    document_id: str | None = None


class ConsolidationAsked(Value):
    """A consolidation of all that waits for it in the bank or, with `observation_scopes`, of the facts that have all
    tags of one of them. One that nobody asked for is `automatic`."""

    type: Literal["consolidation"] = "consolidation"
    observation_scopes: tuple[tuple[str, ...], ...] | None = None
    automatic: bool = False


class BatchPart(Value):
    """An operation that retains a part of a request, and the places of its items there."""

    operation_id: UUID
    items: tuple[int, ...]


class BatchRetainAsked(Value):
    """A retain of many items: each part is an operation of its own. This one has no job; how it stands is how they
    do."""

    type: Literal["batch_retain"] = "batch_retain"
    items_count: int
    items_sha256: str
    parts: tuple[BatchPart, ...]


class BankExportAsked(Value):
    """An archive of the bank; `include_data` is its memory and its documents, `include_bank_config` its config and its
    directives."""

    type: Literal["bank_export"] = "bank_export"
    include_data: bool = True
    include_bank_config: bool = True


class BankImportAsked(Value):
    """An archive that was sent made into a bank, under an id of its own."""

    type: Literal["bank_import"] = "bank_import"
    target_bank_id: str
    storage_key: str
    byte_size: int
    include_data: bool = True
    include_bank_config: bool = True


class BankCloneAsked(Value):
    """The bank as it stands when this is done, once more, under another id."""

    type: Literal["bank_clone"] = "bank_clone"
    target_bank_id: str
    include_data: bool = True
    include_bank_config: bool = True


Work = Annotated[
    RefreshAsked
    | RetainAsked
    | ConsolidationAsked
    | BatchRetainAsked
    | BankExportAsked
    | BankImportAsked
    | BankCloneAsked,
    Field(discriminator="type"),
]


class RefreshDone(Value):
    """What a finished or failed attempt at a refresh came to."""

    type: Literal["refresh_mental_model"] = "refresh_mental_model"
    outcome: str
    failure_reason: FailureReason | None = None
    content_length: int = 0


class RetainDone(Value):
    """What a finished retain read, and what that cost."""

    type: Literal["retain"] = "retain"
    facts: int
    calls: tuple[ModelCall, ...] = ()


class FailedItem(Value):
    """An item that was not retained: its place in the request, its document, and why."""

    index: int
    document_id: str
    reason: str


class RetainFailed(Value):
    """What an attempt at a retain came to that could not read all of its items. The `facts` of the others are kept."""

    type: Literal["retain_failed"] = "retain_failed"
    facts: int
    failed_items: tuple[FailedItem, ...]


class ConsolidationDone(Value):
    """What a finished consolidation made of how many facts, and what that cost. `failed` facts are set aside until
    somebody has them tried again."""

    type: Literal["consolidation"] = "consolidation"
    facts: int
    created: int = 0
    updated: int = 0
    deleted: int = 0
    failed: int = 0
    calls: tuple[ModelCall, ...] = ()


class BankTransferred(Value):
    """What a bank has that was exported or copied: `facts` and `observations` are current, `fact_versions` all there
    ever were of both; `history` are writes of documents and refreshes that failed."""

    documents: int
    chunks: int
    facts: int
    observations: int
    fact_versions: int
    entities: int
    mental_models: int
    history: int
    directives: int
    events: int


class BankExportDone(BankTransferred):
    """Where the archive is to be had, and until when."""

    type: Literal["bank_export"] = "bank_export"
    storage_key: str
    download_url: str
    filename: str
    byte_size: int
    sha256: str
    expires_at: datetime


class BankImportDone(BankTransferred):
    """What a finished import, or clone, wrote. Its calls are for vectors of another model than the source had."""

    type: Literal["bank_import"] = "bank_import"
    source_bank_id: str
    target_bank_id: str
    exported_at: datetime
    digest: str
    calls: tuple[ModelCall, ...] = ()


Result = Annotated[
    RefreshDone | RetainDone | RetainFailed | ConsolidationDone | BankExportDone | BankImportDone,
    Field(discriminator="type"),
]
