"""Cutting an asynchronous retain into batches that are retained, and retried, each on its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID, uuid5

from domain.memory import RetainItem, estimated_tokens

TOKENS_OF_A_BATCH = 10_000
"""Estimated; as in the system of reference."""


def batches_of(items: Sequence[RetainItem], tokens: int = TOKENS_OF_A_BATCH) -> list[list[int]]:
    """The places of the items of each batch. A document is never cut: all of its items are in one batch, in their
    order, and one that is larger than a batch is alone in its own. When no item names a document, each batch is one."""
    documents: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        documents.setdefault(item.document_id or f"\x00{place}", []).append(place)
    batches: list[list[int]] = []
    left = 0
    for places in documents.values():
        size = sum(estimated_tokens(items[place].content) for place in places)
        if batches and size <= left:
            batches[-1].extend(places)
            left -= size
        else:
            batches.append(list(places))
            left = tokens - size
    return [sorted(batch) for batch in batches]


def part_id(operation_id: UUID, number: int) -> UUID:
    """The id of a batch's operation: the same request makes the same ones."""
    return uuid5(operation_id, f"batch {number}")


def with_documents(
    items: Sequence[RetainItem], new_id: Callable[[], UUID], of: Sequence[RetainItem] | None = None
) -> list[RetainItem]:
    """Items without a document get one: one for all when no item names any, else one each. `of` are all items of the
    request when these are a batch of it."""
    shared = None if any(item.document_id for item in of or items) else str(new_id())
    return [
        item if item.document_id else item.model_copy(update={"document_id": shared or str(new_id())}) for item in items
    ]
