"""Retains of one document by several processes at once, each with turns of its own, over one real database."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from uuid import uuid4

import pytest

from adapters.app import build
from adapters.service import Service, opened
from adapters.settings import Settings
from domain.event import Context
from domain.memory import RetainItem


@pytest.fixture(scope="module")
def processes(shared_conninfo: str) -> Iterator[list[Service]]:
    """What matters of processes: they share nothing but the database."""
    with ExitStack() as stack:
        yield [stack.enter_context(opened(build(Settings(_env_file=None), shared_conninfo))) for _ in range(3)]


def append(service: Service, bank_id: str, text: str) -> None:
    item = RetainItem(content=text, document_id="talk", update_mode="append")
    service.memories.retain(Context("user", service.clock.now(), cause="test"), bank_id, [item])


def test_re_01_appends_of_several_processes_are_all_kept(processes: list[Service]) -> None:
    """RE-01: whoever else appends, in whichever process: no turn is lost, none is there twice."""
    bank_id = f"bank-{uuid4().hex[:8]}"
    turns = [f"Turn {number} is said." for number in range(12)]
    with ThreadPoolExecutor(len(processes) * 2) as threads:
        list(threads.map(lambda numbered: append(processes[numbered[0] % 3], bank_id, numbered[1]), enumerate(turns)))
    text = processes[0].memory.document_text(bank_id, "talk") or ""
    assert sorted(text.split("\n")) == sorted(turns)
    with processes[0].database.connection() as connection:
        rows = connection.execute(
            "SELECT text FROM fact_versions WHERE bank_id = %s AND to_position IS NULL", (bank_id,)
        ).fetchall()
    assert sorted(row["text"] for row in rows) == sorted(turns)
