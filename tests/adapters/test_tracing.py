"""Traces of a service that works for real: what is inside of what, what each span tells, and what none does."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import threading
import timeit
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from adapters.app import build
from adapters.opentelemetry_spans import Spans
from adapters.service import opened
from adapters.settings import Settings
from adapters.tracing import Tracing, make_tracing
from tests.adapters.cli.processes import running
from tests.support.eventually import eventually
from tests.support.instant_llm import instant
from tests.support.live_server import live_server
from tests.support.scripted_llm import Reply, Request, ScriptedLlm

BANK = "/v1/default/banks/b"
WORD = "Quetzalcoatl"
TRACE = "0af7651916cd43dd8448eb211c80319c"
CALLER = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01", "X-Request-Id": "mine"}


def failing_on_request(request: Request) -> Reply:
    return Reply(status=400, body=b'{"error": {"message": "no"}}') if "REFUSED" in request.text else instant(request)


@contextmanager
def traced(conninfo: str, llm: ScriptedLlm) -> Iterator[tuple[httpx.Client, InMemorySpanExporter]]:
    spans = InMemorySpanExporter()
    provider = TracerProvider(resource=Resource.create({"service.name": "palimpsest"}), shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(spans))
    configured = Settings(
        _env_file=None,
        llm_base_url=llm.base_url,
        llm_api_key="none",
        llm_model="m",
        embeddings_base_url=llm.base_url,
        embeddings_model="e",
        worker_max_retries=0,
        console_enabled=False,
        mcp_enabled=False,
    )
    with (
        opened(build(configured, conninfo, tracing=Spans(provider))) as service,
        live_server(service) as address,
        httpx.Client(base_url=address, timeout=30) as client,
    ):
        yield client, spans


def named(spans: InMemorySpanExporter, name: str) -> list[ReadableSpan]:
    return [each for each in spans.get_finished_spans() if each.name == name]


def inside(spans: InMemorySpanExporter, outer: ReadableSpan) -> list[ReadableSpan]:
    return [
        each
        for each in spans.get_finished_spans()
        if each.parent is not None and outer.context is not None and each.parent.span_id == outer.context.span_id
    ]


def test_spans_of_requests_operations_and_model_calls_lie_in_each_other(conninfo: str) -> None:
    with ScriptedLlm(fallback=failing_on_request) as llm, traced(conninfo, llm) as (client, spans):
        item = {"content": f"{WORD} works at Acme."}
        client.post(f"{BANK}/memories", json={"items": [item]}, headers=CALLER).raise_for_status()
        created = {"id": "acme", "name": WORD, "source_query": f"What does {WORD} do?"}
        operation_id = client.post(f"{BANK}/mental-models", json=created).json()["operation_id"]
        eventually(lambda: named(spans, "refresh"), timeout=30)
        client.post(f"{BANK}/memories/recall", json={"query": WORD}).raise_for_status()
        client.post(f"{BANK}/reflect", json={"query": WORD})  # this model has no answer, and is asked all the same
        assert client.post(f"{BANK}/memories", json={"items": [{"content": "REFUSED"}]}).status_code == 502
        client.post(f"{BANK}/memories", json={"items": [item], "async": True}).raise_for_status()
        eventually(lambda: any("palimpsest.attempt" in (each.attributes or {}) for each in named(spans, "retain")))

        first, *_ = named(spans, "POST /v1/default/banks/{bank_id}/memories")
        assert first.context is not None
        assert f"{first.context.trace_id:032x}" == TRACE, "the caller's trace goes on"
        assert first.attributes is not None
        assert first.attributes["palimpsest.request_id"] == "mine"
        assert first.attributes["http.response.status_code"] == 200
        (retain,) = inside(spans, first)
        assert retain.name == "retain"
        call, embedding = inside(spans, retain)
        assert embedding.name == "embeddings e"
        assert dict(call.attributes or {}) == {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "m",
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 20,
            "palimpsest.purpose": "extract_facts",
        }
        (refresh,) = named(spans, "refresh")
        assert dict(refresh.attributes or {}) == {
            "palimpsest.operation_id": operation_id,
            "palimpsest.bank_id": "b",
            "palimpsest.attempt": 1,
            "palimpsest.mental_model_id": "acme",
        }
        assert {each.name for each in inside(spans, refresh)} == {"chat m", "embeddings e"}
        (recall,) = named(spans, "recall")
        (reflect,) = named(spans, "reflect")
        assert recall.parent is not None
        assert inside(spans, reflect)
        assert_failures_are_told(spans)
        told = [each.to_json() for each in spans.get_finished_spans()]
        assert not [each for each in told if WORD in each], "a span tells nothing of what was stored, asked or answered"


def assert_failures_are_told(spans: InMemorySpanExporter) -> None:
    failed = {each.name: each for each in spans.get_finished_spans() if each.status.status_code == StatusCode.ERROR}
    assert failed.keys() >= {"chat m", "retain", "POST /v1/default/banks/{bank_id}/memories"}
    assert failed["retain"].status.description == "MindFailed"
    assert failed["retain"].events == (), "the text of an error may quote what was stored"


def test_it_is_off_unless_it_is_asked_for_and_then_costs_next_to_nothing() -> None:
    tracing = make_tracing(Settings(_env_file=None))
    assert type(tracing) is Tracing

    def one() -> None:
        with tracing.span("recall") as span:
            assert span is None

    assert min(timeit.repeat(one, number=1000, repeat=5)) / 1000 < 20e-6


def test_it_is_loaded_only_when_it_is_asked_for() -> None:
    code = "import sys, adapters.app; print('opentelemetry.sdk' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert told.stdout == "False\n"


def test_without_the_extra_it_is_one_line_and_exit_code_2(folder: Path, tmp_path: Path) -> None:
    """As in an environment that has the API, which other libraries bring, but not the SDK."""
    hidden = tmp_path / "sitecustomize.py"
    hidden.write_text("import sys\nsys.modules['opentelemetry.sdk'] = None\n")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith(("PALIMPSEST_", "DATABASE_"))},
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{Path(__file__).parents[2]}",
        "PALIMPSEST_DATA_DIR": str(folder / "data"),
        "HINDSIGHT_API_OTEL_TRACES_ENABLED": "true",
    }
    command = [sys.executable, "-m", "adapters.cli", "serve", "--port", "0"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == (
        "palimpsest: PALIMPSEST_OTEL_ENABLED is set and OpenTelemetry is not installed; install palimpsest[otel], or"
        " unset it\n"
    )


def test_spans_are_sent_to_where_the_standard_variables_say(conninfo: str, folder: Path) -> None:
    with collecting() as (endpoint, received):
        environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_SERVICE_NAME": "mine"}
        with running(
            folder,
            "serve",
            "--port",
            "0",
            "--no-worker",
            DATABASE_URL=conninfo,
            PALIMPSEST_OTEL_ENABLED="1",
            **environment,
        ) as service:
            httpx.get(f"{service.address}/version").raise_for_status()
        ((path, body),) = received
    assert path == "/v1/traces"
    assert b"GET /version" in body
    assert b"mine" in body


@contextmanager
def collecting() -> Iterator[tuple[str, list[tuple[str, bytes]]]]:
    """A collector: its address, and what it was sent."""
    received: list[tuple[str, bytes]] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append((self.path, gzip.decompress(body) if "Content-Encoding" in self.headers else body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", received
        finally:
            server.shutdown()
            thread.join()
