"""Tools of operations: work that runs in the background."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from adapters.mcp.arguments import Offset, OperationId
from adapters.mcp.call import Call, given
from adapters.mcp.tool import ADDS, DESTROYS, READS, SETS, Tools

TOOLS = Tools()


@TOOLS.tool("List operations", READS)
async def list_operations(
    call: Call,
    status: Literal["pending", "processing", "completed", "failed", "cancelled"] | None = None,
    type: Annotated[str | None, Field(description="Such as retain, consolidation, refresh_mental_model.")] = None,
    limit: Annotated[int, Field(ge=1, le=100, description="Entries at most.")] = 20,
    offset: Offset = 0,
) -> Any:
    """Lists work in the background, newest first: what waits, runs, failed or is done."""
    params = given(status=status, type=type, limit=limit, offset=offset)
    return await call.ask("GET", "operations", params=params)


@TOOLS.tool("Get an operation", READS)
async def get_operation(call: Call, operation_id: OperationId) -> Any:
    """Tells how work in the background stands: its status, progress, result or error."""
    return await call.ask("GET", "operations", operation_id)


@TOOLS.tool("Cancel an operation", SETS)
async def cancel_operation(call: Call, operation_id: OperationId) -> Any:
    """Cancels work that waits or runs; it can be retried."""
    return await call.ask("DELETE", "operations", operation_id)


@TOOLS.tool("Retry an operation", ADDS)
async def retry_operation(call: Call, operation_id: OperationId) -> Any:
    """Queues work again that failed or was cancelled; work that waits for a time runs now."""
    return await call.ask("POST", "operations", operation_id, "retry")


@TOOLS.tool("Delete an operation", DESTROYS)
async def delete_operation(call: Call, operation_id: OperationId) -> Any:
    """Takes work that has ended off the list."""
    return await call.ask("DELETE", "operations", operation_id, "delete")
