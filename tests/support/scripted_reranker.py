"""A `POST /rerank` endpoint over real HTTP that answers what it is told to.

with ScriptedReranker() as endpoint:
    endpoint.answers({"results": [{"index": 0, "relevance_score": 0.9}]})
    ... point the code under test at endpoint.base_url ...
    assert endpoint.requests[0]["query"] == "tea"
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


class ScriptedReranker:
    """Answers every request alike until it is told otherwise. `requests` are the bodies, `keys` the API keys."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        self._answer: tuple[int, bytes] = (500, b"")
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def answers(self, body: Any, status: int = 200) -> None:
        """`body` is sent as JSON, bytes as they are."""
        self._answer = (status, body if isinstance(body, bytes) else json.dumps(body).encode())

    def judges(self, *scores: float) -> None:
        self.answers({"results": [{"index": index, "relevance_score": score} for index, score in enumerate(scores)]})

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                endpoint.paths.append(self.path)
                endpoint.keys.append(self.headers["Authorization"])
                endpoint.requests.append(json.loads(body))
                status, answer = endpoint._answer
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                """Says nothing."""

        return Handler
