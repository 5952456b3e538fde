"""Items of a retain as they are given, made those of the use case."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from adapters.http.requests import MemoryItem
from domain.memory import RetainItem


def item_of(given: MemoryItem, document_tags: Sequence[str], now: datetime) -> RetainItem:
    """The item with what was not given filled in: no timestamp is now."""
    scopes = given.observation_scopes
    return RetainItem(
        content=given.content,
        context=given.context,
        timestamp=moment_of(given.timestamp, now),
        document_id=given.document_id,
        tags=tuple(dict.fromkeys([*(given.tags or ()), *document_tags])),
        metadata=tuple((given.metadata or {}).items()),
        entities=tuple(dict.fromkeys(entity.text for entity in given.entities or ())),
        resolve_entities=given.resolve_entities is not False,
        observation_scopes=tuple(map(tuple, scopes)) if isinstance(scopes, list) else scopes,
        strategy=given.strategy,
        update_mode=given.update_mode or "replace",
    )


def moment_of(given: datetime | Literal["unset"] | None, now: datetime) -> datetime | None:
    if given is None:
        return now
    return None if given == "unset" else given
