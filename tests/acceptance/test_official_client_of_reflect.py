"""The official client asks a bank a question."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from uuid import uuid4

import pytest
from hindsight_client import Hindsight


@pytest.fixture
def hindsight(address: str) -> Iterator[Hindsight]:
    """The client's sync methods run on the thread's event loop; it is made and closed here."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    with Hindsight(base_url=address, timeout=30) as client:
        yield client
    asyncio.set_event_loop(None)
    loop.close()


def test_an_answer_with_its_facts_and_without(hindsight: Hindsight) -> None:
    bank = f"bank-{uuid4().hex[:12]}"
    hindsight.retain(bank, "Ada drinks green tea.", tags=["user:ada"])
    answer = hindsight.reflect(
        bank, "What does Ada drink?", tags=["user:ada"], tags_match="any_strict", include_facts=True
    )
    assert "green tea" in answer.text
    assert answer.based_on is not None
    assert [fact.text for fact in answer.based_on.memories] == ["Ada drinks green tea."]
    none = hindsight.reflect(bank, "What does Ada drink?", tags=["user:eve"], tags_match="any_strict")
    assert (none.text, none.based_on) == ("", None)
