"""Vectors from any OpenAI-compatible embeddings endpoint."""

from __future__ import annotations

import array
import base64
import math
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from adapters.llm.connection import Connection, Observe
from adapters.llm.failures import of_error_body, one_line, unusable
from adapters.llm.replies import counted
from application.ports import Embeddings, MindFailed
from domain.storable import storable
from domain.usage import ModelCall

BATCH = 128
"""Texts in one request at most."""
_PURPOSE = "embed"


class OpenAICompatibleEmbedder:
    """An Embedder; safe to use from several threads. Close it at the end.

    `dimensions` given is asked of the endpoint, which only some models can follow; left out, it is the size of the
    first vector received. `timeout_seconds` is for one request. Texts are not shortened: what a model cannot take as a
    whole, the endpoint refuses. `observe` is told of each request.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str | None,
        model: str,
        dimensions: int | None = None,
        timeout_seconds: float = 60.0,
        observe: Observe | None = None,
    ) -> None:
        self.model = model
        self._connection = Connection(base_url=base_url, api_key=api_key, model=model, timeout_seconds=timeout_seconds)
        self._observe = observe
        self._asked_dimensions = dimensions
        self._dimensions = dimensions
        self._unreported: list[ModelCall] = []
        self._discovery = threading.Lock()

    @property
    def dimensions(self) -> int:
        """Size of a vector. When it is not known yet the endpoint is asked; the next `embed` reports that call.

        Raises MindFailed.
        """
        with self._discovery:
            if self._dimensions is None:
                self._dimensions = len(self._batch(["dimensions"], self._unreported)[0])
            return self._dimensions

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """One unit vector a text, in order; a blank text has the vector of a space. Raises MindFailed."""
        with self._discovery:
            paid, self._unreported = self._unreported, []
        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            vectors.extend(self._batch(texts[start : start + BATCH], paid))
        return Embeddings(vectors=vectors, calls=tuple(paid))

    def _batch(self, texts: Sequence[str], paid: list[ModelCall]) -> list[list[float]]:
        # Endpoints refuse empty texts. base64 is what the official clients ask for, and a fifth of the bytes.
        request: dict[str, Any] = {
            "input": [storable(text) if text.strip() else " " for text in texts],
            "encoding_format": "base64",
        }
        if self._asked_dimensions is not None:
            request["dimensions"] = self._asked_dimensions
        try:
            return self._vectors(self._sent(request, paid), len(texts))
        except MindFailed as failure:
            failure.calls = tuple(paid)
            raise

    def _sent(self, request: Mapping[str, Any], paid: list[ModelCall]) -> dict[str, Any]:
        payload: dict[str, Any] = {}
        self._connection.open()
        started = time.perf_counter()
        try:
            payload = self._connection.request(
                lambda client: client.embeddings.with_streaming_response.create(model=self.model, **request)
            )
        finally:
            seconds = time.perf_counter() - started
            call = counted(payload, purpose=_PURPOSE, model=self.model, seconds=seconds)
            if self._observe is not None:
                failed = not payload or bool(payload.get("error"))
                self._observe(_PURPOSE, self.model, seconds, failed=failed, input_tokens=call.input_tokens)
            paid.append(call)
        return payload

    def _vectors(self, payload: Mapping[str, Any], count: int) -> list[list[float]]:
        target = self._connection.target
        if error := payload.get("error"):
            raise of_error_body(error, target, self._connection.now())
        try:
            rows = sorted(payload["data"], key=lambda row: int(row.get("index", 0)))
            vectors = [_unit(_numbers(row["embedding"])) for row in rows]
        except (KeyError, TypeError, ValueError, AttributeError) as wrong:
            shown = one_line(str(dict(payload)), limit=120)
            raise unusable(f"{target} answered with JSON that is no list of embeddings: {shown}") from wrong
        if len(vectors) != count:
            raise unusable(f"{target} gave {len(vectors)} vectors for {count} texts")
        sizes = {len(vector) for vector in vectors}
        expected = self._dimensions or len(vectors[0])
        if sizes != {expected}:
            given = ", ".join(map(str, sorted(sizes)))
            raise unusable(f"{target} gave vectors of {given} dimensions instead of {expected}; was its model changed?")
        self._dimensions = expected
        return vectors

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _numbers(embedding: object) -> Sequence[float]:
    """The numbers of a vector, sent as a list or as base64 of little-endian 32-bit floats. Raises ValueError."""
    if isinstance(embedding, list):
        return [float(number) for number in embedding]
    if not isinstance(embedding, str):
        raise ValueError("a vector must be a list or base64")
    numbers = array.array("f", base64.b64decode(embedding, validate=True))
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _unit(vector: Sequence[float]) -> list[float]:
    """The vector at length one. Raises ValueError for one without direction."""
    length = math.hypot(*vector)
    if not 0 < length < math.inf:
        raise ValueError("a vector must have a finite length above zero")
    return [number / length for number in vector]
