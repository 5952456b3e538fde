"""Bodies of responses about the versions of a document. The contract has none of them.

Fields that do not apply are null."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class CitedFact(BaseModel):
    """A fact as it was read; without text, type and position when it is no longer known what it said."""

    id: str
    text: str | None
    type: str | None
    position: int | None


class BlamedFact(CitedFact):
    current: bool = Field(description="Whether the memory has this fact with this text now.")


class BlamedPiece(BaseModel):
    """A heading, block, item or row, with the write it comes from and the facts it rests on (none: not known)."""

    id: str
    kind: str = Field(
        description="`section` (its heading), `item` of a list, `row` of a table, or the kind of a block: `paragraph`,"
        " `list`, `table`, `fence`, `code`, `html`, `quote`, `rule`, `reference`, `front_matter`."
    )
    section_id: str
    block_id: str | None
    text: str = Field(description="Its own text only: of a list or table, what stands before its items.")
    version: int | None = Field(description="The version that wrote this text.")
    written_at: str | None
    actor: str | None
    operation_id: str | None
    facts: list[BlamedFact]


class BlameResponse(BaseModel):
    mental_model_id: str
    bank_id: str
    version: int
    pieces: list[BlamedPiece] = Field(description="In the order of the text.")
    structured_content: dict[str, Any] = Field(
        description="Sections with their blocks, in the shape in which the system of reference keeps a document."
    )


class DocumentOperation(BaseModel):
    """What was done to a document: an operation of a refresh, or a change of the whole text."""

    version: int
    occurred_at: str
    actor: str
    cause: str
    operation_id: str | None
    op: str | None = Field(
        description="One of the document operations; `rewrite`, `edit_by_hand`, `revert` or `clear` for the whole text;"
        " null for an entry of a reply that was no operation."
    )
    edit_pass: str | None = Field(description="`blame`, `retraction`, `edit` or `compaction`.")
    operation: dict[str, Any] | None = Field(description="The whole operation, as it was proposed.")
    facts: list[CitedFact] = Field(description="What it rests on.")
    before: str | None = Field(description="The text it changed; null when the whole text changed.")
    after: str | None
    skipped: str | None = Field(description="Why it did nothing.")


class DiffResponse(BaseModel):
    mental_model_id: str
    bank_id: str
    from_version: int
    to_version: int
    diff: str = Field(description="Unified, with line feeds between the lines; empty when the texts are the same.")
    operations: list[DocumentOperation] = Field(description="What was done between the two, oldest first.")
