"""A scripted OpenAI-compatible server over real HTTP, for every test that needs a model.

    with ScriptedLlm() as llm:
        llm.script(tool_call("recall", {"query": "Ada"}), too_many_requests(retry_after=7))
        ... point the code under test at llm.base_url ...
        assert llm.requests[0].tool_choice == "recall"

- Replies of `/v1/chat/completions` are taken from the script in order; when it is empty, `fallback(request)` decides
  (it may return None). A request nobody expected gets a 500 that says so, and is kept in `unexpected`.
- `/v1/embeddings` answers by itself with vectors in which texts that share words are similar; `script_embeddings`
  puts other replies, such as faults, in front.
- Faults: `late`, `hang`, `trickle`, `truncated`, `cut_off`, `refusal`, `garbage`, `wrong_shape`, `too_many_requests`,
  `server_error`, `unauthorized`, `failing` (any status).
- `requests` holds every request: parsed body, path, headers, and what tests usually ask of them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
import select
import socket
import struct
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

MODEL = "scripted-model"


@dataclass(frozen=True)
class Request:
    """One request as received. `body` is the parsed JSON, or the raw text when it is none."""

    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @property
    def tools(self) -> list[str]:
        """Names of the tools offered."""
        return [tool["function"]["name"] for tool in self.body.get("tools", [])]

    @property
    def tool_choice(self) -> str | None:
        """The name of the tool the model must call, or "required", "auto", None."""
        choice: Any = self.body.get("tool_choice")
        name: str | None = choice["function"]["name"] if isinstance(choice, dict) else choice
        return name

    @property
    def text(self) -> str:
        """All that the model reads, in one string: contents of the messages and arguments of earlier tool calls."""
        parts: list[str] = []
        for message in self.messages:
            parts.append(message.get("content") or "")
            parts.extend(call["function"]["arguments"] for call in message.get("tool_calls", []))
        return "\n".join(parts)


@dataclass(frozen=True)
class Reply:
    """What the server sends. `sent` is the share of the body sent before the connection is closed."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0
    until: threading.Event | None = None
    hangs: bool = False
    trickles: bool = False
    sent: float = 1.0


Answering = Callable[[Request], Reply]


@dataclass(frozen=True)
class Usage:
    """Tokens a reply claims to have cost."""

    prompt: int = 10
    completion: int = 5
    cached: int = 0
    reasoning: int = 0

    def wire(self) -> dict[str, Any]:
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "total_tokens": self.prompt + self.completion,
            "prompt_tokens_details": {"cached_tokens": self.cached},
            "completion_tokens_details": {"reasoning_tokens": self.reasoning},
        }


FREE = Usage(0, 0)


# Good replies


def text(content: str, *, usage: Usage = FREE, finish_reason: str = "stop") -> Reply:
    """The model answers with plain text."""
    return _completion({"role": "assistant", "content": content}, finish_reason, usage)


def json_content(value: Any, *, usage: Usage = FREE) -> Reply:
    """The model answers with JSON as plain text."""
    return text(json.dumps(value), usage=usage)


def tool_call(
    name: str, arguments: Mapping[str, Any] | str, *, usage: Usage = FREE, finish_reason: str = "tool_calls"
) -> Reply:
    """The model calls one tool; arguments given as a string are sent as they are, however broken."""
    return tool_calls((name, arguments), usage=usage, finish_reason=finish_reason)


def tool_calls(
    *calls: tuple[str, Mapping[str, Any] | str], usage: Usage = FREE, finish_reason: str = "tool_calls"
) -> Reply:
    """The model calls several tools in one turn."""
    wire = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for number, (name, given) in enumerate(calls)
    ]
    return _completion({"role": "assistant", "content": None, "tool_calls": wire}, finish_reason, usage)


def edits(*operations: Any, usage: Usage = FREE) -> Reply:
    """The model proposes operations on a document."""
    return tool_call("edit_document", {"operations": list(operations)}, usage=usage)


def changes(*entries: Any, usage: Usage = FREE) -> Reply:
    """The model says what becomes of observations."""
    return tool_call("record_observations", {"changes": list(entries)}, usage=usage)


def values(value: Mapping[str, Any] | str, *, usage: Usage = FREE) -> Reply:
    """The model gives the values of a client's schema."""
    return tool_call("record_values", value, usage=usage)


def body(value: Any, *, status: int = 200) -> Reply:
    """Any JSON at all as the body of the reply."""
    return Reply(status=status, body=json.dumps(value).encode(), headers={"content-type": "application/json"})


def _completion(message: dict[str, Any], finish_reason: str, usage: Usage) -> Reply:
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return body(
        {
            "id": "chatcmpl-scripted",
            "object": "chat.completion",
            "created": 0,
            "model": MODEL,
            "choices": [choice],
            "usage": usage.wire(),
        }
    )


# Faults


def late(seconds: float, reply: Reply) -> Reply:
    """The reply comes after some time."""
    return replace(reply, delay=seconds)


def held(release: threading.Event, reply: Reply | None = None) -> Reply:
    """The reply comes once a test releases it; without one, it is what the server answers by itself."""
    return replace(reply or Reply(status=0), until=release)


def hang() -> Reply:
    """Nothing comes, until the client gives up or the server closes."""
    return Reply(hangs=True)


def trickle() -> Reply:
    """The body begins and never ends: a blank now and then, as gateways send to keep a connection alive."""
    return Reply(trickles=True)


def truncated(content: str, *, usage: Usage = FREE) -> Reply:
    """The model ran out of tokens: half of the text and finish_reason "length"."""
    return text(content[: len(content) // 2], usage=usage, finish_reason="length")


def cut_off(reply: Reply) -> Reply:
    """The connection is closed half-way through the body."""
    return replace(reply, sent=0.5)


def refusal(reason: str, *, usage: Usage = FREE) -> Reply:
    """The model refuses."""
    return _completion({"role": "assistant", "content": None, "refusal": reason}, "stop", usage)


def garbage() -> Reply:
    """A 200 whose body is no JSON, as a proxy or a login page would send."""
    return Reply(body=b"<html><body>Welcome! Please sign in.</body></html>", headers={"content-type": "text/html"})


def wrong_shape() -> Reply:
    """A 200 with JSON that is no completion and no list of embeddings."""
    return body({"status": "ok", "choices": "none today"})


def failing(status: int, message: str, *, headers: Mapping[str, str] | None = None, param: str | None = None) -> Reply:
    """An error in the wire shape of OpenAI. `param` names the request field at fault."""
    error = {"message": message, "type": "scripted", "param": param, "code": None}
    reply = body({"error": error}, status=status)
    return replace(reply, headers={**reply.headers, **(headers or {})})


def too_many_requests(retry_after: float | None = None) -> Reply:
    headers = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
    return failing(429, "Rate limit reached.", headers=headers)


def server_error() -> Reply:
    return failing(500, "The server had an error.")


def unauthorized(message: str = "Incorrect API key provided.") -> Reply:
    return failing(401, message)


# Embeddings


def hashed_words(content: str, dimensions: int) -> list[float]:
    """A unit vector in which every word has its own direction: texts that share words are similar."""
    vector = [0.0] * dimensions
    for word in re.findall(r"\w+", content.lower()):
        number = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest())
        vector[number % dimensions] += 1.0 if number >> 63 else -1.0
    length = math.hypot(*vector)
    return [value / length for value in vector] if length else [1.0] + [0.0] * (dimensions - 1)


def embeddings(vectors: Sequence[Sequence[float]], *, encoding: str = "float", prompt_tokens: int = 0) -> Reply:
    """A list of embeddings, as floats or as base64."""
    data = [
        {"object": "embedding", "index": index, "embedding": _encoded(vector) if encoding == "base64" else list(vector)}
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": prompt_tokens, "total_tokens": prompt_tokens}
    return body({"object": "list", "model": MODEL, "data": data, "usage": usage})


def _encoded(vector: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


# The server


class ScriptedLlm:
    """The server; it listens from `with` on to the end of it. `dimensions` is the size of its embeddings."""

    def __init__(self, *, dimensions: int = 64, fallback: Callable[[Request], Reply | None] | None = None) -> None:
        self.dimensions = dimensions
        self.fallback = fallback
        self.requests: list[Request] = []
        self.unexpected: list[Request] = []
        self.closing = threading.Event()
        self._chat: deque[Reply | Answering] = deque()
        self._embeddings: deque[Reply] = deque()
        self._lock = threading.Lock()
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, *replies: Reply | Answering) -> None:
        """Appends replies for chat requests, used in order; a function answers what the request asks."""
        self._chat.extend(replies)

    def script_embeddings(self, *replies: Reply) -> None:
        """Appends replies for embedding requests; the server answers by itself when there are none."""
        self._embeddings.extend(replies)

    @property
    def unused(self) -> int:
        """Scripted replies nobody has asked for yet."""
        return len(self._chat) + len(self._embeddings)

    def forget(self) -> None:
        """Drops what nobody has asked for, and the requests nobody expected: for the next test to start anew."""
        with self._lock:
            self._chat.clear()
            self._embeddings.clear()
            self.unexpected.clear()

    def answer(self, request: Request) -> Reply:
        """Records the request and picks its reply."""
        with self._lock:
            self.requests.append(request)
            reply = self._scripted(request)
        if reply is None and self.fallback is not None and request.path == "/v1/chat/completions":
            reply = self.fallback(request)
        if reply is None:
            self.unexpected.append(request)
            return failing(500, f"The script did not expect this request: {request.path}")
        return reply

    def _scripted(self, request: Request) -> Reply | None:
        if request.path == "/v1/embeddings":
            embedded = self._embeddings.popleft() if self._embeddings else self._embedded(request)
            return embedded if embedded.status else replace(self._embedded(request), until=embedded.until)
        if request.path == "/v1/chat/completions" and self._chat:
            reply = self._chat.popleft()
            return reply if isinstance(reply, Reply) else reply(request)
        return None

    def _embedded(self, request: Request) -> Reply:
        given = request.body["input"]
        texts = [given] if isinstance(given, str) else given
        dimensions = request.body.get("dimensions", self.dimensions)
        return embeddings(
            [hashed_words(each, dimensions) for each in texts],
            encoding=request.body.get("encoding_format", "float"),
            prompt_tokens=sum(len(each.split()) for each in texts),
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # closing the server then waits for its threads, so that no socket outlives a test
    request_queue_size = 128

    def __init__(self, llm: ScriptedLlm) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.llm = llm

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):  # clients under test drop connections on purpose
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """HTTP/1.0: one request a connection, so that no thread waits for a client that keeps one open."""

    server: _Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            parsed: Any = json.loads(raw)
        except ValueError:
            parsed = raw.decode(errors="replace")
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.llm.answer(Request(self.path, headers, parsed))
        if reply.trickles:
            self._trickle()
        elif self._client_waited(reply):
            self._send(reply)

    def _client_waited(self, reply: Reply) -> bool:
        if reply.delay:
            self.server.llm.closing.wait(reply.delay)
        while reply.until is not None and not reply.until.wait(0.01):
            if self.server.llm.closing.is_set() or _dropped(self.connection):
                return False
        while reply.hangs and not self.server.llm.closing.wait(0.01):
            if _dropped(self.connection):
                return False
        return not reply.hangs

    def _trickle(self) -> None:
        self.send_response(200)
        self.end_headers()
        while not self.server.llm.closing.wait(0.01) and not _dropped(self.connection):
            self.wfile.write(b" ")

    def _send(self, reply: Reply) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body[: int(len(reply.body) * reply.sent)])

    def log_message(self, format: str, *args: Any) -> None:
        """Tests read `requests`; nothing is printed."""


def _dropped(connection: socket.socket) -> bool:
    """Whether the client closed its end."""
    readable, _, _ = select.select([connection], [], [], 0)
    if not readable:
        return False
    try:
        return connection.recv(1, socket.MSG_PEEK) == b""
    except ConnectionError:
        return True
