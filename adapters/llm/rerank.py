"""A second opinion on the order of facts, of any endpoint with the common `POST /rerank`.

It is asked for `{model, query, documents, top_n}` and answers `{results: [{index, relevance_score}]}`, as servers of
cross-encoders do. Scores outside 0 to 1 are logits and are put there, all of an answer alike.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from adapters.llm.connection import Observe, utc_now
from adapters.llm.failures import error_text, explain, of_error_body, of_status, one_line, unusable
from adapters.llm.storable_text import storable_payload
from application.ports import Judgement, MindFailed
from domain.storable import storable
from domain.usage import ModelCall

if TYPE_CHECKING:
    from httpx2 import Client

TIMEOUT_SECONDS = 10.0
"""A recall waits for it."""
_CONNECT_SECONDS = 2.0
_PURPOSE = "rerank"


class RerankEndpoint:
    """A Reranker; safe to use from several threads. Close it at the end. Nothing is retried: without it the order is
    that of the arms. `observe` is told of each request."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str | None,
        model: str,
        timeout_seconds: float = TIMEOUT_SECONDS,
        observe: Observe | None = None,
    ) -> None:
        self.model = model
        parts = urlsplit(base_url)
        port = f":{parts.port}" if parts.port else ""
        self._target = f"{model} at {parts.scheme}://{parts.hostname}{port}{parts.path}"
        self._url = f"{base_url.rstrip('/')}/rerank"
        self._api_key = api_key or "none"
        self._timeout = timeout_seconds
        self._observe = observe
        self._opening = threading.Lock()
        self._client: Client | None = None

    def rerank(self, query: str, texts: Sequence[str]) -> Judgement:
        """Texts that the answer leaves out are not judged. Raises MindFailed, with the call that was made."""
        began = time.perf_counter()
        payload: dict[str, Any] = {}
        try:
            payload = self._answer(
                {
                    "model": self.model,
                    "query": storable(query),
                    "documents": [storable(text) for text in texts],
                    "top_n": len(texts),
                }
            )
            scores = self._scores(payload, len(texts))
        except MindFailed as failed:
            failed.calls = (self._counted(payload, began, failed=True),)
            raise
        return Judgement(scores, (self._counted(payload, began, failed=False),))

    def _counted(self, payload: Mapping[str, Any], began: float, *, failed: bool) -> ModelCall:
        call = self._call(payload, began)
        if self._observe is not None:
            seconds = call.duration_ms / 1000
            self._observe(_PURPOSE, self.model, seconds, failed=failed, input_tokens=call.input_tokens)
        return call

    def close(self) -> None:
        with self._opening:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        import httpx2

        try:
            response = self._open().post(self._url, json=body)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise explain(
                error, self._target, timeout_seconds=self._timeout, secret=self._api_key, now=utc_now()
            ) from error
        try:
            payload = storable_payload(response.content)
        except (ValueError, RecursionError):
            payload = None
        if response.status_code >= 400:
            said = one_line(error_text(payload) if payload else "no reason given", self._api_key)
            raise of_status(response.status_code, said, self._target, now=utc_now())
        if not isinstance(payload, dict):
            raise unusable(f"{self._target} answered with something that is no JSON object")
        return payload

    def _open(self) -> Client:
        import httpx2

        with self._opening:
            if self._client is None:
                self._client = httpx2.Client(
                    headers={"Authorization": f"Bearer {self._api_key}"},
                    timeout=httpx2.Timeout(self._timeout, connect=_CONNECT_SECONDS),
                )
            return self._client

    def _scores(self, payload: Mapping[str, Any], count: int) -> list[float | None]:
        if error := payload.get("error"):
            raise of_error_body(error, self._target, utc_now())
        given: dict[int, float] = {}
        try:
            for row in payload["results"]:
                index, score = int(row["index"]), float(row["relevance_score"])
                if not (0 <= index < count and math.isfinite(score)):
                    raise ValueError(f"index {index}, score {score}")
                given[index] = score
        except (KeyError, TypeError, ValueError, OverflowError) as wrong:
            shown = one_line(str(dict(payload)), limit=120)
            raise unusable(f"{self._target} answered with JSON that is no list of scores: {shown}") from wrong
        if not given:
            raise unusable(f"{self._target} judged none of {count} texts")
        if any(not 0 <= score <= 1 for score in given.values()):
            given = {index: _logistic(score) for index, score in given.items()}
        return [given.get(index) for index in range(count)]

    def _call(self, payload: Mapping[str, Any], began: float) -> ModelCall:
        usage = payload.get("usage")
        counted = usage.get("prompt_tokens") or usage.get("total_tokens") if isinstance(usage, Mapping) else None
        return ModelCall(
            purpose=_PURPOSE,
            model=self.model,
            input_tokens=counted if isinstance(counted, int) and 0 <= counted < 2**31 else 0,
            duration_ms=round((time.perf_counter() - began) * 1000),
        )


def _logistic(score: float) -> float:
    return 1 / (1 + math.exp(-max(-60.0, min(60.0, score))))
