"""Runs the service or a worker until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import signal
import socket
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from adapters.cli.unusable import Unusable
from adapters.database_server import database_server
from adapters.settings import Settings

if TYPE_CHECKING:
    import uvicorn

    from adapters.service import Service
    from adapters.worker import Worker


CANCELLED_AGAIN_SECONDS = 4.0
"""A little more than a worker takes to end in order."""


Demo = Callable[[str, bool], None]
"""Shows something of the service at an address; the flag tells whether the service stays."""


def serve(settings: Settings, *, demo: Demo | None, run_worker: bool, stay: bool) -> None:
    """Serves until interrupted; a `demo` runs against the service, and without `stay` it ends after that.

    Raises Unusable when the port is taken, or others would be served though there is no API key, DatabaseUnavailable
    when there is no database."""
    with _listening(settings) as listener, database_server(settings) as ready:
        import uvicorn

        from adapters.app import build
        from adapters.http.application import create_app
        from adapters.service import opened

        with opened(build(settings, ready())) as service:
            require_key(settings, service)
            service.keep_vector_index()
            config = uvicorn.Config(
                create_app(service, run_worker=run_worker),
                log_config=None,  # what it logs goes where ours goes
                log_level="warning",
                access_log=False,  # the middleware that knows the route tells it
                lifespan="on",
                timeout_graceful_shutdown=2,
                ws="websockets-sansio" if settings.console_enabled else "none",
            )
            server = uvicorn.Server(config)
            address = _address(listener)
            running_demo = _start_demo(demo, server, address, stay) if demo else None
            if stay and demo is None:
                print(f"palimpsest serves on {address} (API: {address}/docs); Ctrl-C stops it", flush=True)
            signal.signal(signal.SIGTERM, _interrupt)  # or uvicorn, at its end, would have it kill us half-way out
            with contextlib.suppress(KeyboardInterrupt) if stay else contextlib.nullcontext():
                server.run(sockets=[listener])
            if running_demo is not None and not stay:
                running_demo.result()


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _address(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextlib.contextmanager
def _listening(settings: Settings) -> Iterator[socket.socket]:
    """The socket to serve on, bound first: a taken port is found before anything else is started."""
    _check_address(settings.host)
    with _bound(settings.host, settings.port, "--port") as listener:
        yield listener


@contextlib.contextmanager
def _bound(host: str, port: int, option: str) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Said to be TCP, so that asyncio turns Nagle's algorithm off: it would hold back each answer for 40 ms.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
        except OSError as error:
            raise Unusable(
                f"cannot listen on {host} port {port}: {error.strerror}; choose another with {option}"
            ) from error
        yield listener


def _check_address(host: str) -> None:
    if host == "localhost":
        return
    try:
        ipaddress.ip_address(host)
    except ValueError as error:
        raise Unusable(f"'{host}' is not an address to listen on; use 127.0.0.1 or ::1") from error


def require_key(settings: Settings, service: Service) -> None:
    """Others than this machine are served only those who have an API key: there has to be one. While the service runs
    there it asks for keys in any case, also when the last one is revoked. Raises Unusable."""
    from projections.api_keys import any_not_revoked

    if not settings.only_for_this_machine and not service.reader.ask(any_not_revoked()):
        raise Unusable(
            f"listening on {settings.host} is refused: without API keys the service is for this machine only; make one"
            " with `palimpsest keys create`"
        )


def _start_demo(demo: Demo, server: uvicorn.Server, address: str, stay: bool) -> Future[None]:
    """Runs the demo in a thread beside the server, which ends with it unless it is to stay.

    A demo that failed is told: as Unusable in the result, or on standard error when the server stays."""
    from adapters.demo.client import Refused

    ended: Future[None] = Future()

    def run() -> None:
        try:
            demo(address, stay)
        except Exception as error:  # noqa: BLE001 - whatever it is, somebody waits for the demo
            told = f"the demo failed: {error if isinstance(error, (Refused, OSError)) else repr(error)}"
            if stay and not server.should_exit:  # otherwise it was interrupted
                print(f"palimpsest: {told}; the service goes on", file=sys.stderr, flush=True)
            ended.set_exception(Unusable(told))
        else:
            if stay:
                print("Serving until Ctrl-C; the data stays.", flush=True)
            ended.set_result(None)
        finally:
            if not stay:
                server.should_exit = True

    threading.Thread(target=run, name="demo", daemon=True).start()
    return ended


def work(settings: Settings, *, metrics_host: str, metrics_port: int | None) -> None:
    """Runs background work until SIGINT or SIGTERM, and tells of itself at the port, if one is given.

    Raises Unusable when the port is taken, DatabaseUnavailable when there is no database."""
    with contextlib.ExitStack() as stack:
        told_at = None
        if metrics_port is not None:
            told_at = stack.enter_context(_bound(metrics_host, metrics_port, "--metrics-port"))
        ready = stack.enter_context(database_server(settings))
        from adapters.app import build
        from adapters.service import opened

        with opened(build(settings, ready())) as service:
            service.keep_vector_index()
            worker = service.worker()
            with _telling(service, worker, told_at) as told:
                at_once = f"{settings.worker_concurrency} operations at a time"
                print(f"palimpsest worker: {at_once}{told}; Ctrl-C stops it", flush=True)
                asyncio.run(until_stopped(worker.run()))


@contextlib.contextmanager
def _telling(service: Service, worker: Worker, listener: socket.socket | None) -> Iterator[str]:
    """Serves metrics and health of the worker while the block runs; yields where, in words."""
    if listener is None:
        yield ""
        return
    from adapters.http.worker_application import served

    with served(service, worker, listener):
        yield f", metrics on {_address(listener)}/metrics"


async def until_stopped(work: Coroutine[Any, Any, None], *, again_after: float = CANCELLED_AGAIN_SECONDS) -> None:
    """Works until SIGINT or SIGTERM, then cancels the work, again and again until it ends.

    Once is not enough: a worker that loses its database while it ends takes that for a reason to start anew."""
    loop = asyncio.get_running_loop()
    told = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, told.set)
    running, waiting = asyncio.create_task(work), asyncio.create_task(told.wait())
    await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    while not running.done():
        running.cancel()
        await asyncio.wait({running}, timeout=again_after)
    if not running.cancelled():
        running.result()
