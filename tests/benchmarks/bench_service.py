"""The service as its users meet it: a process of its own, real HTTP, the offline engine, and an instant language model.

Every HTTP figure is also given as a ratio to the cheapest answer the same server gives (`/health/live`).
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg

from tests.support.instant_llm import instant
from tests.support.scripted_llm import ScriptedLlm

MODELS = 1000
FACTS = 20_000
CLIENTS = 16
FACTS_ALONE = {"PALIMPSEST_ENABLE_OBSERVATIONS": "false"}
"""Consolidation would work beside what is measured, and its calls of a model would be counted as those of refreshes."""
WORDS = [
    "anchor",
    "barge",
    "canal",
    "deck",
    "engine",
    "freight",
    "gangway",
    "harbour",
    "island",
    "jetty",
    "keel",
    "ladder",
    "mast",
    "night",
    "oar",
    "pilot",
    "quay",
]

Row = tuple[str, float, str]


def rows() -> list[Row]:
    return [*_offline_rows(), *_llm_rows(), *_many_rows()]


class Server:
    """A service process over a data folder, and a client for one bank of it."""

    def __init__(self, data_dir: Path, **env: str) -> None:
        started = time.perf_counter()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "adapters.cli", "serve", "--port", str(port)],
            env={**os.environ, "PALIMPSEST_DATA_DIR": str(data_dir), **env},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
        while not self._healthy():
            assert self.process.poll() is None, "the service ended"
            time.sleep(0.005)
        self.seconds_to_healthy = time.perf_counter() - started

    def _healthy(self) -> bool:
        with contextlib.suppress(OSError, http.client.HTTPException):
            return self.request("GET", "/health/ready")[0] == 200
        self.connection.close()
        return False

    def request(self, method: str, path: str, body: Any = None) -> tuple[int, bytes]:
        """Status and body; the plainest client there is, so that the figures are the server's."""
        data = None if body is None else json.dumps(body)
        self.connection.request(method, path, data, {"Content-Type": "application/json"} if data else {})
        reply = self.connection.getresponse()
        return reply.status, reply.read()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        status, reply = self.request(method, f"/v1/default/banks/bench{path}", body)
        assert status == 200, reply
        return json.loads(reply)

    def finish(self, operation_id: str) -> None:
        while True:
            state = self.ask("GET", f"/operations/{operation_id}")
            assert state["status"] != "failed", state
            if state["status"] == "completed":
                return
            time.sleep(0.002)

    def memory_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    def stop(self) -> None:
        self.connection.close()
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=30)


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="palimpsest-bench-"))
    folder.chmod(0o755)
    try:
        yield folder / "data"
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def p50_ms(action: Callable[[], Any], runs: int = 50) -> float:
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        action()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)


def sentence(number: int) -> str:
    a, b, c = (WORDS[(number * step + shift) % len(WORDS)] for step, shift in ((1, 0), (7, 3), (11, 5)))
    return f"Ship {number} carries a {a} and a {b} past the {c} on day {number % 365}."


def _offline_rows() -> list[Row]:
    found: list[Row] = []
    with _folder() as data_dir:
        cold = Server(data_dir, **FACTS_ALONE)
        found.append(("start, cold (cluster and migrations included)", cold.seconds_to_healthy, "s"))
        cold.stop()
        server = Server(data_dir, **FACTS_ALONE)
        found.append(("start, warm", server.seconds_to_healthy, "s"))
        found.append(("memory, idle after start", server.memory_mb(), "MB"))
        _fill(server)
        _until_indexed(data_dir)
        live = p50_ms(lambda: server.request("GET", "/health/live"))
        found.append(("GET /health/live (baseline)", live, "ms"))
        query = {"query": "which ships carry an anchor past the harbour?", "budget": "mid"}
        for name, action in (
            ("GET one mental model", lambda: server.ask("GET", "/mental-models/m-7")),
            ("list of 1,000 with staleness", lambda: server.ask("GET", f"/mental-models?limit={MODELS}")),
            ("recall at 20,000 facts, mid budget", lambda: server.ask("POST", "/memories/recall", query)),
            ("retain of one fact", _retain(server, 1)),
            ("retain of ten facts, an item each", _retain(server, 10)),
            ("full refresh, offline engine, POST to completed", lambda: _refresh(server, "m-7")),
        ):
            figure = p50_ms(action)
            found.append((name, figure, "ms"))
            found.append((f"{name} / baseline", figure / live, "ratio"))
        found.append((f"recall at 20,000 facts, {CLIENTS} clients", _recalls_a_second(server, query), "requests/s"))
        found.append(("memory, after all of this", server.memory_mb(), "MB"))
        server.stop()
        found.extend(_rebuild_rows(data_dir))
    return found


def _recalls_a_second(server: Server, query: Any, seconds: float = 5.0) -> float:
    """Of clients that each ask again as soon as they are answered."""
    end = time.perf_counter() + seconds

    def ask() -> int:
        connection, answered = http.client.HTTPConnection("127.0.0.1", server.connection.port, timeout=300), 0
        while time.perf_counter() < end:
            body = json.dumps(query)
            path = "/v1/default/banks/bench/memories/recall"
            connection.request("POST", path, body, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            reply.read()
            assert reply.status == 200
            answered += 1
        connection.close()
        return answered

    with ThreadPoolExecutor(CLIENTS) as clients:
        return sum(clients.map(lambda _: ask(), range(CLIENTS))) / seconds


def _fill(server: Server) -> None:
    """A thousand models first, while there is nothing to read, then the facts, then documents for some of them."""
    body = {"source_query": "Which ships carry an anchor?", "max_tokens": 512}
    created = [
        server.ask("POST", "/mental-models", {**body, "id": f"m-{number}", "name": f"Ships {number}"})
        for number in range(MODELS)
    ]
    server.finish(created[-1]["operation_id"])
    step = 1000
    for start in range(0, FACTS, step):
        text = "\n".join(sentence(number) for number in range(start, start + step))
        server.ask("POST", "/memories", {"items": [{"content": text, "document_id": f"d{start}"}]})
    for number in range(10):
        _refresh(server, f"m-{number}")


def _until_indexed(data_dir: Path) -> None:
    """The service builds the graph of the vectors beside its work, soon after a bank has grown enough to need it."""
    from adapters.database_server import database_server
    from adapters.embeddings.static import DIMENSIONS
    from adapters.postgres.vector_index import index_name
    from adapters.settings import Settings

    with database_server(Settings(data_dir=data_dir)) as ready, psycopg.connect(ready(), autocommit=True) as connection:
        valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
        while connection.execute(valid, (index_name(DIMENSIONS),)).fetchone() != (True,):
            time.sleep(0.1)


def _retain(server: Server, facts: int) -> Callable[[], Any]:
    numbers = iter(range(facts * FACTS, 10 * facts * FACTS))
    return lambda: server.ask(
        "POST", "/memories", {"items": [{"content": sentence(next(numbers))} for _ in range(facts)]}
    )


def _refresh(server: Server, model: str) -> None:
    server.finish(server.ask("POST", f"/mental-models/{model}/refresh")["operation_id"])


def _rebuild_rows(data_dir: Path) -> list[Row]:
    from adapters.app import build
    from adapters.database_server import database_server
    from adapters.service import opened
    from adapters.settings import Settings

    settings = Settings(data_dir=data_dir)
    with database_server(settings) as ready, opened(build(settings, ready())) as service:
        started = time.perf_counter()
        position, events = 0, 0
        while batch := service.log.after(position, limit=1000):
            position, events = batch[-1].position, events + len(batch)
        reading = time.perf_counter() - started
        started = time.perf_counter()
        service.read_models.rebuild()
        rebuilding = time.perf_counter() - started
    return [
        ("rebuild of all read models", events / rebuilding, "events/s"),
        ("rebuild / reading and validating the log alone", rebuilding / reading, "ratio"),
    ]


def _llm_rows() -> list[Row]:
    """The overhead of the pipeline: the model answers at once, over HTTP."""
    with _folder() as data_dir, ScriptedLlm(fallback=instant) as llm:
        engine = {
            "PALIMPSEST_LLM_BASE_URL": llm.base_url,
            "PALIMPSEST_LLM_API_KEY": "none",
            "PALIMPSEST_LLM_MODEL": "instant",
            **FACTS_ALONE,
        }
        server = Server(data_dir, **engine)
        server.ask("POST", "/memories", {"items": [{"content": sentence(1)}]})
        body = {"id": "m", "name": "Ships", "source_query": "Which ships carry an anchor?"}
        server.finish(server.ask("POST", "/mental-models", body)["operation_id"])
        live = p50_ms(lambda: server.request("GET", "/health/live"))
        figure = p50_ms(lambda: _refresh(server, "m"), runs=30)
        delta, waiting = _delta_ms(server, llm)
        nothing = p50_ms(lambda: _refresh(server, "m"), runs=30)
        server.stop()
    return [
        ("full refresh, instant language model, POST to completed", figure, "ms"),
        ("full refresh, instant language model / baseline", figure / live, "ratio"),
        ("delta of one new fact, instant language model, POST to completed", delta, "ms"),
        ("delta of one new fact, the run without its model call", waiting, "ms"),
        ("delta with nothing new, POST to completed", nothing, "ms"),
    ]


def _delta_ms(server: Server, llm: ScriptedLlm) -> tuple[float, float]:
    """One new fact and one call: from POST to completed, and what the run itself took beside the call."""
    server.ask("PATCH", "/mental-models/m", {"trigger": {"mode": "delta"}})
    whole, own = [], []
    for number in range(30):
        server.ask("POST", "/memories", {"items": [{"content": sentence(number + 2)}]})
        asked = len(llm.requests)
        started = time.perf_counter()
        _refresh(server, "m")
        whole.append((time.perf_counter() - started) * 1000)
        assert len(llm.requests) == asked + 1, "a delta of one fact is one call"
        record = server.ask("GET", "/mental-models/m/events?detail=full&limit=1000")["items"][-1]["payload"]["record"]
        own.append(record["duration_ms"] - sum(call["duration_ms"] for call in record["calls"]))
    return statistics.median(whole), statistics.median(own)


AT_ONCE = 50


def _many_rows() -> list[Row]:
    """Fifty documents at once, with a model that answers at once; and one fact that concerns all of them."""
    with _folder() as data_dir, ScriptedLlm(fallback=instant) as llm:
        engine = {
            "PALIMPSEST_LLM_BASE_URL": llm.base_url,
            "PALIMPSEST_LLM_API_KEY": "none",
            "PALIMPSEST_LLM_MODEL": "instant",
            **FACTS_ALONE,
        }
        server = Server(data_dir, **engine)
        server.ask("POST", "/memories", {"items": [{"content": sentence(1)}]})
        for number in range(AT_ONCE):
            body = {"id": f"m-{number}", "name": "Palimpsest", "source_query": "What was Palimpsest told?"}
            server.ask("POST", "/mental-models", body)
        _until_idle(server)
        full = _refreshed_at_once(server)
        for number in range(AT_ONCE):
            trigger = {"mode": "delta", "refresh_after_consolidation": True}
            server.ask("PATCH", f"/mental-models/m-{number}", {"trigger": trigger})
        nothing = _refreshed_at_once(server)
        asked = len(llm.requests)
        started = time.perf_counter()
        server.ask("POST", "/memories", {"items": [{"content": sentence(2)}]})
        retained = time.perf_counter() - started
        while any(model["is_stale"] for model in server.ask("GET", f"/mental-models?limit={AT_ONCE}")["items"]):
            time.sleep(0.005)
        all_fresh = time.perf_counter() - started
        calls = len(llm.requests) - asked
        server.stop()
    return [
        (f"{AT_ONCE} full refreshes at once, instant language model", AT_ONCE / full, "refreshes/s"),
        (f"{AT_ONCE} deltas with nothing new at once", AT_ONCE / nothing, "refreshes/s"),
        (f"one fact into a bank with {AT_ONCE} delta documents, its retain", retained * 1000, "ms"),
        (f"one fact into a bank with {AT_ONCE} delta documents, until all are fresh", all_fresh * 1000, "ms"),
        (f"one fact into a bank with {AT_ONCE} delta documents, calls of the model", calls, "calls"),
    ]


def _refreshed_at_once(server: Server) -> float:
    """Seconds from the first request to the end of the last refresh."""
    started = time.perf_counter()
    for number in range(AT_ONCE):
        server.ask("POST", f"/mental-models/m-{number}/refresh")
    _until_idle(server)
    return time.perf_counter() - started


def _until_idle(server: Server) -> None:
    for status in ("pending", "processing"):
        while server.ask("GET", f"/operations?status={status}&limit=1")["total"]:
            time.sleep(0.002)
