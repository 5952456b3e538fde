"""What is seen from outside of an attempt at an operation: lines of the log, a span, and how long it took."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

from adapters.log_context import logged_about
from adapters.metrics import ProcessMetrics
from adapters.tracing import Attributes, Tracing
from domain.operation import Operation, RefreshAsked
from domain.usage import purpose_of

logger = logging.getLogger(__name__)


class OperationWatch:
    def __init__(self, metrics: ProcessMetrics, tracing: Tracing) -> None:
        self._metrics = metrics
        self._tracing = tracing

    @contextmanager
    def attempt(self, operation: Operation, number: int) -> Iterator[None]:
        """Around an attempt: it failed when an error leaves the block. What it came to is on record, and not told
        here."""
        kind, began, outcome = operation.work.type, time.perf_counter(), "failed"
        logger.info("%s begins, attempt %d", kind, number)
        try:
            with self._tracing.span(_SPAN_NAMES.get(kind, kind), _about(operation, number)):
                yield
            outcome = "ended"
        finally:
            seconds = time.perf_counter() - began
            self._metrics.attempted(kind, seconds, failed=outcome == "failed")
            logger.info("%s %s after %.3f s", kind, outcome, seconds)


class ModelWatch:
    """Is told of each request to a model."""

    def __init__(self, metrics: ProcessMetrics, tracing: Tracing) -> None:
        self._metrics = metrics
        self._tracing = tracing

    def __call__(
        self, purpose: str, model: str, seconds: float, *, failed: bool, input_tokens: int = 0, output_tokens: int = 0
    ) -> None:
        self._metrics.model_asked(
            purpose, model, seconds, failed=failed, input_tokens=input_tokens, output_tokens=output_tokens
        )
        if self._tracing.enabled:
            about: dict[str, str | int] = {
                "gen_ai.operation.name": _MODEL_OPERATIONS.get(purpose, "chat"),
                "gen_ai.request.model": model,
                "gen_ai.usage.input_tokens": input_tokens,
                "gen_ai.usage.output_tokens": output_tokens,
                "palimpsest.purpose": purpose_of(purpose),
            }
            self._tracing.model_called(about, seconds, failed=failed)


_MODEL_OPERATIONS = {"embed": "embeddings", "rerank": "rerank"}
_SPAN_NAMES = {"refresh_mental_model": "refresh"}


def _about(operation: Operation, number: int) -> Attributes:
    about: dict[str, str | int] = {
        "palimpsest.operation_id": str(operation.operation_id),
        "palimpsest.bank_id": operation.bank_id,
        "palimpsest.attempt": number,
    }
    if isinstance(operation.work, RefreshAsked):
        about["palimpsest.mental_model_id"] = operation.work.mental_model_id
    return about


def logged_by_operation(run: Callable[[str, UUID], None]) -> Callable[[str, UUID], None]:
    """The same, with every line that is logged meanwhile telling the operation."""

    def logged(bank_id: str, operation_id: UUID) -> None:
        with logged_about(operation_id=str(operation_id), bank_id=bank_id):
            run(bank_id, operation_id)

    return logged
