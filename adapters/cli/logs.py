"""What the program logs on standard error: warnings, one line each."""

from __future__ import annotations

import logging


def log_to_standard_error() -> None:
    """Sets up logging for the whole process."""
    handler = logging.StreamHandler()
    handler.setFormatter(OneLine("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    # It logs the loss of the database with its whole stack; the worker says the same in one line.
    logging.getLogger("procrastinate.utils").setLevel(logging.CRITICAL)


class OneLine(logging.Formatter):
    """Messages of the database come in several lines; here each is one. Stack traces stay as they are."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is that of the library
        return " ".join(super().formatMessage(record).split())
