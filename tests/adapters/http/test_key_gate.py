"""How often somebody may ask, and what a process knows of keys while its database does not answer."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest

from adapters.http.key_gate import MOST_BUCKETS, RequestRate
from adapters.http.key_ring import KNOWN_SECONDS, NOTED_EVERY, KeyRing
from domain.api_keys import ANYBODY
from domain.api_keys.token import digest_of, token_of
from projections.api_keys import KeyRow
from tests.support.examples import NOW


class Seconds:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


# --- how often --------------------------------------------------------------------------------------------------------


def test_a_minutes_worth_may_be_asked_at_once_and_then_as_it_comes() -> None:
    seconds = Seconds()
    rate = RequestRate(60, seconds)
    assert [rate.wait_seconds("a") for _ in range(61)] == [0.0] * 60 + [1.0]
    assert rate.wait_seconds("b") == 0.0, "each has a bucket of its own"
    seconds.now = 0.5
    assert rate.wait_seconds("a") == pytest.approx(0.5)
    seconds.now = 1.0
    assert rate.wait_seconds("a") == 0.0
    assert rate.wait_seconds("a") == pytest.approx(1.0), "what was refused took nothing"
    seconds.now = 3600.0
    assert [rate.wait_seconds("a") for _ in range(61)].count(0.0) == 60, "a bucket holds a minute, not an hour"


def test_callers_without_number_are_not_all_kept() -> None:
    rate = RequestRate(1, Seconds())
    for caller in range(MOST_BUCKETS + 5):
        rate.wait_seconds(str(caller))
    assert rate.wait_seconds("0") == 0.0, "forgotten"
    assert rate.wait_seconds(str(MOST_BUCKETS + 4)) > 0


# --- what is known of keys --------------------------------------------------------------------------------------------

TOKEN = token_of("0123456789ab", "s" * 43)
ROW = KeyRow("0123456789ab", "n", ["b"], None, True, digest_of(TOKEN), NOW, None, None)


class ScriptedReader:
    """Answers in turn; an error is raised."""

    def __init__(self, *answers: Any) -> None:
        self.answers: Sequence[Any] = answers
        self.asked = 0

    async def ask(self, query: Any) -> Any:  # noqa: ARG002 - whatever is asked
        answer = self.answers[self.asked]
        self.asked += 1
        if isinstance(answer, Exception):
            raise answer
        return answer


class Notes:
    def __init__(self) -> None:
        self.noted: list[tuple[str, datetime]] = []

    def note(self, key_id: str, at: datetime) -> None:
        self.noted.append((key_id, at))


class World:
    def __init__(self, *answers: Any, always: bool = False) -> None:
        self.seconds, self.notes, self.now = Seconds(), Notes(), NOW
        self.reader = ScriptedReader(*answers)
        self.ring = KeyRing(self.reader, self.notes, lambda: self.now, always=always, seconds=self.seconds)  # type: ignore[arg-type]  # it asks nothing else


DOWN = psycopg.OperationalError("gone")


def test_a_service_that_had_no_keys_stays_open_while_its_database_is_away() -> None:
    async def told() -> None:
        world = World(False, DOWN, True)
        assert await world.ring.authenticate(None) is ANYBODY
        assert await world.ring.authenticate(None) is ANYBODY
        assert world.reader.asked == 1, "once a second"
        world.seconds.now += KNOWN_SECONDS
        assert await world.ring.authenticate(None) is ANYBODY
        world.seconds.now += KNOWN_SECONDS
        assert await world.ring.authenticate(None) is None, "there is a key now"

    asyncio.run(told())


def test_nothing_is_taken_for_open_that_was_never_known() -> None:
    with pytest.raises(psycopg.OperationalError):
        asyncio.run(World(DOWN).ring.authenticate(None))


def test_a_key_that_cannot_be_looked_up_opens_nothing() -> None:
    async def told() -> None:
        world = World(ROW, DOWN, None, always=True)
        assert await world.ring.authenticate(f"Bearer {TOKEN}") == ROW.principal
        assert await world.ring.authenticate(TOKEN) == ROW.principal
        assert world.reader.asked == 1
        world.seconds.now += KNOWN_SECONDS
        with pytest.raises(psycopg.OperationalError):
            await world.ring.authenticate(f"Bearer {TOKEN}")
        assert await world.ring.authenticate(f"Bearer {TOKEN}") is None, "it is gone"

    asyncio.run(told())


def test_a_use_is_noted_once_a_minute() -> None:
    async def told() -> None:
        world = World(ROW, always=True)
        for _ in range(3):
            await world.ring.authenticate(TOKEN)
        await world.ring.authenticate(f"{TOKEN}x")
        world.now += NOTED_EVERY
        await world.ring.authenticate(TOKEN)
        await world.ring.close()
        assert world.notes.noted == [(ROW.key_id, NOW), (ROW.key_id, NOW + timedelta(minutes=1))]

    asyncio.run(told())
