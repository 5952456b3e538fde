"""Retains of one document follow each other; those of others do not wait."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from application.document_turns import DocumentTurns


def test_one_at_a_time_on_one_document() -> None:
    turns = DocumentTurns()
    inside = 0
    most = 0

    def work(_number: int) -> None:
        nonlocal inside, most
        with turns.take({("b", "d"), ("b", "e")}):
            inside += 1
            most = max(most, inside)
            inside -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(200)))
    assert most == 1
    assert turns._turns == {}, "nothing is kept of documents nobody works on"


def test_other_documents_do_not_wait() -> None:
    turns = DocumentTurns()
    entered = threading.Event()

    def other() -> None:
        with turns.take({("b", "other")}):
            entered.set()

    with turns.take({("b", "d")}):
        thread = threading.Thread(target=other)
        thread.start()
        assert entered.wait(timeout=10)
    thread.join()


def test_no_document_no_waiting() -> None:
    with DocumentTurns().take(()):
        pass
