"""What follows a write of memory, behind the reply to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from adapters.after_writes import AfterWrites
from tests.support.eventually import eventually


class Looks:
    """What was looked at; a look waits while it is held up."""

    def __init__(self) -> None:
        self.banks: list[str] = []
        self.begun = threading.Event()
        self.let_go = threading.Event()
        self.let_go.set()

    def __call__(self, bank_id: str) -> None:
        self.begun.set()
        assert self.let_go.wait(10)
        self.banks.append(bank_id)
        if bank_id == "broken":
            raise ConnectionError("gone")


@pytest.fixture
def looks() -> Looks:
    return Looks()


@pytest.fixture
def after(looks: Looks) -> Iterator[AfterWrites]:
    after = AfterWrites(looks)
    yield after
    looks.let_go.set()
    after.close()


def test_each_bank_that_was_written_to_is_looked_at(after: AfterWrites, looks: Looks) -> None:
    after.written("prague")
    after.written("vienna")
    assert eventually(lambda: looks.banks == ["prague", "vienna"])


def test_writes_do_not_wait_and_a_burst_of_them_is_looked_at_once(after: AfterWrites, looks: Looks) -> None:
    looks.let_go.clear()
    after.written("prague")
    assert looks.begun.wait(10)
    for _ in range(20):
        after.written("prague")
        after.written("vienna")
    assert not after.idle
    looks.let_go.set()
    assert eventually(lambda: after.idle)
    assert looks.banks == ["prague", "prague", "vienna"]


def test_a_look_that_fails_is_logged_and_the_next_is_made(
    after: AfterWrites, looks: Looks, caplog: pytest.LogCaptureFixture
) -> None:
    after.written("broken")
    after.written("prague")
    assert eventually(lambda: looks.banks == ["broken", "prague"])
    assert "bank broken failed" in caplog.text


def test_after_it_was_closed_nothing_is_looked_at(looks: Looks) -> None:
    after = AfterWrites(looks)
    after.written("prague")
    assert eventually(lambda: looks.banks == ["prague"])
    after.close()
    after.written("vienna")
    assert looks.banks == ["prague"]
    assert not any(thread.name == "after writes" for thread in threading.enumerate())
