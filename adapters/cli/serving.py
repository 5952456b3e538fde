"""Runs the service or a worker until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import signal
import socket
import threading
from collections.abc import Coroutine, Iterator
from typing import TYPE_CHECKING, Any

from adapters.cli.unusable import Unusable
from adapters.database_server import database_server
from adapters.settings import Settings

if TYPE_CHECKING:
    import uvicorn


def serve(settings: Settings, *, demo: bool, run_worker: bool, stay: bool) -> None:
    """Serves until interrupted; with `demo` the demo runs against the service, and without `stay` it ends after that.

    Raises Unusable when the port is taken, DatabaseUnavailable when there is no database."""
    with _listening(settings) as listener, database_server(settings) as ready:
        import uvicorn

        from adapters.app import build, keep_vector_index, opened
        from adapters.http.application import create_app

        with opened(build(settings, ready())) as service:
            keep_vector_index(service)
            config = uvicorn.Config(
                create_app(service, run_worker=run_worker),
                log_level="warning",
                lifespan="on",
                timeout_graceful_shutdown=2,
                ws="none",
            )
            server = uvicorn.Server(config)
            host, port = listener.getsockname()[:2]
            address = f"http://{host}:{port}"
            if demo:
                _show_demo(server, address, stay)
            elif stay:
                print(f"palimpsest serves on {address} (API: {address}/docs); Ctrl-C stops it", flush=True)
            with contextlib.suppress(KeyboardInterrupt):
                server.run(sockets=[listener])


@contextlib.contextmanager
def _listening(settings: Settings) -> Iterator[socket.socket]:
    """The socket to serve on, bound first: a taken port is found before anything else is started."""
    if not _is_loopback(settings.host):
        raise Unusable(
            f"listening on {settings.host} is refused: without API keys the service is for this machine only"
        )
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Said to be TCP, so that asyncio turns Nagle's algorithm off: it would hold back each answer for 40 ms.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except OSError as error:
            raise Unusable(
                f"cannot listen on {settings.host} port {settings.port}: {error.strerror}; choose another with --port"
            ) from error
        yield listener


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError as error:
        raise Unusable(f"'{host}' is not an address to listen on; use 127.0.0.1 or ::1") from error


def _show_demo(server: uvicorn.Server, address: str, stay: bool) -> None:
    """Runs the demo in a thread beside the server; a demo that fails is told and, without `stay`, ends the program."""
    from adapters.demo.show import show

    def run() -> None:
        try:
            show(address)
            if stay:
                print("Serving until Ctrl-C; the data stays.", flush=True)
        finally:
            if not stay:
                server.should_exit = True

    threading.Thread(target=run, name="demo", daemon=True).start()


def work(settings: Settings) -> None:
    """Runs background work until SIGINT or SIGTERM."""
    with database_server(settings) as ready:
        from adapters.app import build, keep_vector_index, opened

        with opened(build(settings, ready())) as service:
            keep_vector_index(service)
            print(f"palimpsest worker: {settings.worker_concurrency} operations at a time; Ctrl-C stops it", flush=True)
            asyncio.run(_until_stopped(service.worker().run()))


async def _until_stopped(work: Coroutine[Any, Any, None]) -> None:
    loop = asyncio.get_running_loop()
    running = asyncio.create_task(work)
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, running.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await running
