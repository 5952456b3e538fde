"""A bank as the official client drives it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from hindsight_client import Hindsight

from tests.support.eventually import eventually


class ClientBank:
    """A bank that makes observations, and the client with a loop for its async methods."""

    def __init__(self, client: Hindsight, loop: asyncio.AbstractEventLoop) -> None:
        self.client = client
        self.run = loop.run_until_complete
        self.id = f"bank-{uuid4().hex[:12]}"
        client.create_bank(self.id, name="Ada's", reflect_mission="Know Ada.", enable_observations=True)

    def settled(self) -> ClientBank:
        """With nothing left to do in the background."""

        def idle() -> bool:
            stats = self.run(self.client.banks.get_agent_stats(self.id))
            return not (stats.pending_consolidation or stats.pending_operations)

        eventually(idle, timeout=20)
        return self

    def texts(self, **chosen: Any) -> list[str]:
        return [str(each.text) for each in self.client.list_memories(self.id, **chosen).items]

    def fact(self, **chosen: Any) -> str:
        return str(self.client.list_memories(self.id, **{"type": "world", **chosen}).items[0].id)


@contextmanager
def official_client(address: str) -> Iterator[tuple[Hindsight, asyncio.AbstractEventLoop]]:
    """The client's sync methods run on the thread's event loop; it is made and closed here."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        with Hindsight(base_url=address, timeout=30) as client:
            yield client, loop
    finally:
        asyncio.set_event_loop(None)
        loop.close()


@contextmanager
def client_bank(address: str) -> Iterator[ClientBank]:
    with official_client(address) as (client, loop):
        yield ClientBank(client, loop)
