"""Tools of single memories and of the documents they were read from."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from adapters.mcp.arguments import DocumentId, Limit, Match, MemoryId, Offset, Tags
from adapters.mcp.call import Call, given
from adapters.mcp.tool import DESTROYS, READS, SETS, Tools
from domain.scope import FactType

TOOLS = Tools()

Part = Annotated[str | None, Field(description="Part of the text, in any case.")]
Clearable = Annotated[str | None, Field(description='In ISO 8601; "" clears it.')]


@TOOLS.tool("List memories", READS)
async def list_memories(
    call: Call,
    type: FactType | None = None,
    q: Part = None,
    state: Annotated[
        Literal["valid", "invalidated"], Field(description="Those that count, or those set aside.")
    ] = "valid",
    document_id: Annotated[str | None, Field(description="Those read from this document.")] = None,
    tags: Tags | None = None,
    tags_match: Match = "any",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Any:
    """Lists memories, the latest first."""
    params = given(
        type=type,
        q=q,
        state=state,
        document_id=document_id,
        tags=tags,
        tags_match=None if tags is None else tags_match,
        limit=limit,
        offset=offset,
    )
    return await call.ask("GET", "memories", "list", params=params)


@TOOLS.tool("Get a memory", READS)
async def get_memory(call: Call, memory_id: MemoryId) -> Any:
    """Gives one memory with all that is known of it, also one that was set aside."""
    return await call.ask("GET", "memories", memory_id)


@TOOLS.tool("Correct a memory", SETS)
async def update_memory(
    call: Call,
    memory_id: MemoryId,
    text: str | None = None,
    context: Annotated[str | None, Field(description='"" clears it.')] = None,
    occurred_start: Clearable = None,
    occurred_end: Clearable = None,
    mentioned_at: Clearable = None,
    fact_type: Literal["world", "experience"] | None = None,
    entities: Annotated[list[str] | None, Field(description="Replace those it has; [] takes all away.")] = None,
) -> Any:
    """Corrects what is given of a fact and leaves the rest. Observations made of it are made anew, and documents that
    rest on it turn stale."""
    body = given(
        text=text,
        context=context,
        occurred_start=occurred_start,
        occurred_end=occurred_end,
        mentioned_at=mentioned_at,
        fact_type=fact_type,
        entities=entities,
    )
    return await call.ask("PATCH", "memories", memory_id, body=body)


@TOOLS.tool("Set a memory aside", DESTROYS)
async def invalidate_memory(
    call: Call,
    memory_id: MemoryId,
    reason: Annotated[str | None, Field(description="Why it no longer holds.")] = None,
    restore: Annotated[bool, Field(description="Take it back instead.")] = False,
) -> Any:
    """Sets a fact aside that no longer holds: nothing recalls it, and documents that rest on it turn stale. It is kept,
    and `restore` takes it back."""
    body = given(state="valid" if restore else "invalidated", reason=reason)
    return await call.ask("PATCH", "memories", memory_id, body=body)


@TOOLS.tool("Delete memories", DESTROYS)
async def clear_memories(
    call: Call, type: Annotated[FactType | None, Field(description="Only those of this type; default: all.")] = None
) -> Any:
    """Deletes all memories of a bank for good, or those of one type."""
    return await call.ask("DELETE", "memories", params=given(type=type))


@TOOLS.tool("List documents", READS)
async def list_documents(
    call: Call,
    q: Annotated[str | None, Field(description="Part of the id or the text, in any case.")] = None,
    tags: Tags | None = None,
    tags_match: Match = "any_strict",
    limit: Limit = 100,
    offset: Offset = 0,
) -> Any:
    """Lists the documents that memories were read from, the last written first; no text."""
    match = None if tags is None else tags_match
    params = given(q=q, tags=tags, tags_match=match, limit=limit, offset=offset)
    return await call.ask("GET", "documents", params=params)


@TOOLS.tool("Get a document", READS)
async def get_document(call: Call, document_id: DocumentId) -> Any:
    """Gives a document that memories were read from, with its text."""
    return await call.ask("GET", "documents", document_id)


@TOOLS.tool("Delete a document", DESTROYS)
async def delete_document(call: Call, document_id: DocumentId) -> Any:
    """Deletes a document with all memories that were read from it."""
    return await call.ask("DELETE", "documents", document_id)
