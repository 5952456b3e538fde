"""Turns on documents: retains of one document in this process follow each other instead of undoing each other's work.

It spares the extraction of a text that would have to be read again; what guards the document is the transaction that
writes it, which other processes share.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager

Document = tuple[str, str]
"""Bank id and document id."""


class DocumentTurns:
    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._turns: dict[Document, tuple[threading.Lock, int]] = {}

    @contextmanager
    def take(self, documents: Collection[Document]) -> Iterator[None]:
        """Waits for the turn on all of the documents; in one order for everybody, so that nobody waits in a circle."""
        with ExitStack() as held:
            for document in sorted(documents):
                held.enter_context(self._turn(document))
            yield

    @contextmanager
    def _turn(self, document: Document) -> Iterator[None]:
        with self._guard:
            lock, waiting = self._turns.get(document, (threading.Lock(), 0))
            self._turns[document] = lock, waiting + 1
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, waiting = self._turns.pop(document)
                if waiting > 1:
                    self._turns[document] = lock, waiting - 1
