"""What follows a write of memory, behind the reply to it: one look at each bank that was written to, in a thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

logger = logging.getLogger(__name__)

CLOSES_WITHIN_SECONDS = 5.0


class AfterWrites:
    """Calls `look` with each bank that was written to, one after another. A bank that is written to again before its
    turn is looked at once. What fails is logged: it is looked for again later."""

    def __init__(self, look: Callable[[str], object]) -> None:
        self._look = look
        self._banks: dict[str, None] = {}
        self._changed = threading.Condition()
        self._looking = False
        self._thread: threading.Thread | None = None
        self._closed = False

    @property
    def idle(self) -> bool:
        """Whether every bank that was written to has been looked at since."""
        with self._changed:
            return not self._banks and not self._looking

    def written(self, bank_id: str) -> None:
        """Returns at once; the thread starts with the first write."""
        with self._changed:
            if self._closed:
                return
            self._banks[bank_id] = None
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="after writes", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Finishes the look that is under way; what waits is left to the look for what was missed."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(CLOSES_WITHIN_SECONDS)

    def _run(self) -> None:
        while (bank_id := self._next()) is not None:
            try:
                self._look(bank_id)
            except Exception:
                logger.exception("what follows a write to bank %s failed; it is looked for again later", bank_id)

    def _next(self) -> str | None:
        with self._changed:
            self._looking = False
            self._changed.wait_for(lambda: self._banks or self._closed)
            if self._closed:
                return None
            bank_id = next(iter(self._banks))
            del self._banks[bank_id]
            self._looking = True
            return bank_id
