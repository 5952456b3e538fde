"""HTTP to an OpenAI-compatible endpoint: one request, one JSON object back, or a MindFailed that says what to do.

`openai` takes seconds to import, so it is loaded at the first request, never when this module is imported.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self
from urllib.parse import urlsplit

from adapters.llm.failures import explain, one_line, unusable, without
from adapters.llm.storable_text import storable_payload
from application.current_operation import current_deadline
from application.deadline import Deadline
from domain.storable import storable

if TYPE_CHECKING:
    from openai import APIResponse, OpenAI, Timeout

    Send = Callable[[OpenAI], AbstractContextManager[APIResponse[Any]]]
    """Starts a request on the client; the body of the response is still to be read."""

_CONNECT_SECONDS = 10.0


def utc_now() -> datetime:
    return datetime.now(UTC)


class Observe(Protocol):
    """Is told of each request that was made: what for, of which model, how long it took, whether it failed, and what
    the endpoint counted."""

    def __call__(
        self, purpose: str, model: str, seconds: float, *, failed: bool, input_tokens: int = 0, output_tokens: int = 0
    ) -> None: ...


class Connection:
    """A client of one endpoint; safe to share between threads. Close it at the end.

    `timeout_seconds` bounds the whole answer, however slowly it trickles in; the deadline of the current operation
    bounds it too. `now` tells the time in UTC. Nothing is retried here: the jobs that call a model do that.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str | None,
        model: str,
        timeout_seconds: float,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        if not model.strip():
            raise ValueError(f"the endpoint {base_url} needs the name of a model")
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"the base URL of the endpoint of {model} must look like http://host/v1, not {base_url!r}")
        port = f":{parts.port}" if parts.port else ""
        self.target = f"{model} at {parts.scheme}://{parts.hostname}{port}{parts.path}"
        """Model and endpoint as messages name them: without credentials, which a URL may hold."""
        self.model = model
        self.now = now
        self._base_url = base_url
        self._api_key = api_key or "none"  # endpoints without keys still get an Authorization header
        self._timeout = timeout_seconds
        self._client: OpenAI | None = None
        self._opening = threading.Lock()

    def request(self, send: Send) -> dict[str, Any]:
        """The JSON object the endpoint answered, all text in it storable. Raises MindFailed, without calls."""
        import httpx2
        import openai

        deadline = current_deadline()
        timeout = self._within(deadline)
        client = self.open()
        end = time.monotonic() + timeout
        try:
            with send(client if timeout == self._timeout else self._with_timeout(client, timeout)) as response:
                raw = b"".join(_until(end, response.iter_bytes()))
        except (openai.OpenAIError, httpx2.HTTPError, TimeoutError) as error:
            if deadline is not None and not isinstance(error, openai.APIStatusError):
                deadline.check()
            raise explain(error, self.target, timeout_seconds=timeout, secret=self._api_key, now=self.now()) from error
        return self._parsed(raw)

    def _within(self, deadline: Deadline | None) -> float:
        """Seconds that an answer may take. Raises DeadlinePassed."""
        if deadline is None:
            return self._timeout
        deadline.check()
        return min(self._timeout, deadline.remaining())

    def _parsed(self, raw: bytes) -> dict[str, Any]:
        try:
            payload = storable_payload(raw)
        except (ValueError, RecursionError):
            payload = None
        if not isinstance(payload, dict):
            start = storable(without(self._api_key, raw[:2000].decode(errors="replace")))
            raise unusable(
                f"{self.target} answered with something that is no JSON object ({one_line(start, limit=80)!r}); "
                "check that the base URL is that of an OpenAI-compatible API (it usually ends in /v1)",
                raw=start,
            )
        return payload

    def open(self) -> OpenAI:
        """The client, opened if need be; the first time this takes as long as loading the library does."""
        with self._opening:
            if self._client is None:
                self._client = self._open()
            return self._client

    def _open(self) -> OpenAI:
        import openai

        client = openai.OpenAI(
            base_url=self._base_url,
            api_key=self._api_key,
            timeout=_timeouts(self._timeout),
            max_retries=0,
        )
        _ = client.chat.completions, client.embeddings  # loaded by the library only when first used
        return _unaddressed(client)

    def _with_timeout(self, client: OpenAI, seconds: float) -> OpenAI:
        """The same connections with another timeout."""
        return _unaddressed(client.with_options(timeout=_timeouts(seconds)))

    def close(self) -> None:
        """Closes the connections; a later request opens new ones."""
        with self._opening:
            if self._client is not None:
                self._client.close()
                self._client = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _timeouts(seconds: float) -> Timeout:
    import openai

    return openai.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))


def _unaddressed(client: OpenAI) -> OpenAI:
    """Without what the library takes from the environment; whoever set it there did not mean it for this endpoint."""
    client.organization = client.project = client.admin_api_key = None
    return client


def _until(deadline: float, parts: Iterator[bytes]) -> Iterator[bytes]:
    """The parts of a body; raises TimeoutError when they are still coming after the deadline."""
    for part in parts:
        if time.monotonic() > deadline:
            raise TimeoutError
        yield part
