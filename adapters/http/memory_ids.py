"""Ids of memories in paths."""

from __future__ import annotations

from uuid import UUID

from adapters.http.backend import Backend
from adapters.http.fields import uuid_or_none
from domain.refusals import FactNotFound


async def known_memory(api: Backend, bank_id: str, memory_id: str) -> UUID:
    """The id; what is no UUID names no memory. Raises BankNotFound, FactNotFound."""
    known = uuid_or_none(memory_id)
    if known is None:
        await api.require_bank(bank_id)
        raise FactNotFound(bank_id, memory_id)
    return known
