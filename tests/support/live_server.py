"""A real HTTP server over a service, in a thread of the test's process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from adapters.http.application import create_app
from adapters.service import Service
from tests.support.eventually import eventually

STOPS_WITHIN_SECONDS = 15.0


@contextmanager
def live_server(service: Service, *, run_worker: bool = True) -> Iterator[str]:
    """Serves on a free port of this machine; yields the address. Fails when the server does not stop in time."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            create_app(service, run_worker=run_worker),
            log_level="error",
            lifespan="on",
            ws="websockets-sansio" if service.settings.console_enabled else "none",
            timeout_graceful_shutdown=5,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="live server", daemon=True)
        thread.start()
        try:
            eventually(lambda: server.started or not thread.is_alive(), timeout=20)
            assert server.started, "the server did not start"
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(STOPS_WITHIN_SECONDS)
            assert not thread.is_alive(), f"the server did not stop within {STOPS_WITHIN_SECONDS} seconds"
