"""Sessions, headers and paths of the console."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from adapters.console.charts import Bar, Series, bars, round_up
from adapters.console.headers import content_security_policy, with_nonce
from adapters.console.mounting import is_console_path, is_same_origin
from adapters.console.sessions import IDLE_SECONDS, MOST_SESSIONS, Sessions


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_session_knows_its_key_until_it_ends() -> None:
    sessions = Sessions()
    token = sessions.begin("a key")
    assert sessions.key_of(token) == "a key"
    assert "a key" not in token
    sessions.end(token)
    assert sessions.key_of(token) is None


def test_a_session_that_is_not_used_ends() -> None:
    clock = _Clock()
    sessions = Sessions(clock)
    token = sessions.begin("a key")
    clock.now = IDLE_SECONDS - 1
    assert sessions.key_of(token) == "a key"
    clock.now += IDLE_SECONDS - 1
    assert sessions.key_of(token) == "a key"
    clock.now += IDLE_SECONDS + 1
    assert sessions.key_of(token) is None


def test_sessions_are_bounded_and_the_oldest_goes_first() -> None:
    sessions = Sessions()
    first = sessions.begin("first")
    for _ in range(MOST_SESSIONS):
        last = sessions.begin("last")
    assert sessions.key_of(first) is None
    assert sessions.key_of(last) == "last"


@pytest.mark.parametrize("token", [None, "", "guessed"])
def test_without_a_session_there_is_no_key(token: str | None) -> None:
    assert Sessions().key_of(token) is None


def test_only_scripts_with_the_nonce_run_and_nothing_loads_from_elsewhere() -> None:
    policy = dict(rule.split(" ", 1) for rule in content_security_policy("n0").split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self' 'nonce-n0' 'unsafe-eval'"
    assert policy["style-src"] == "'self' 'nonce-n0'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["object-src"] == "'none'"
    assert not any("unsafe-inline" in rule or "http" in rule or "*" in rule for rule in policy.values())


def test_the_nonce_is_put_on_inline_scripts_and_styles_and_nowhere_else() -> None:
    page = b"<style>a</style><script src=x></script><scripty>&lt;script&gt;</scripty>"
    assert with_nonce(page, "n") == (
        b'<style nonce="n">a</style><script nonce="n" src=x></script><scripty>&lt;script&gt;</scripty>'
    )


@pytest.mark.parametrize("path", ["/", "/banks/a/models/b", "/login", "/_nicegui/3/static/x", "/console/theme.css"])
def test_paths_of_the_console(path: str) -> None:
    assert is_console_path(path)


@pytest.mark.parametrize("path", ["/v1/default/banks", "/mcp", "/mcp/a/", "/docs", "/nothing", "/bank", "/metrics"])
def test_paths_of_others(path: str) -> None:
    assert not is_console_path(path)


@pytest.mark.parametrize(
    ("origin", "same"),
    [(None, True), ("http://127.0.0.1:8888", True), ("https://evil.example", False), ("null", False)],
)
def test_only_pages_of_the_same_address_may_connect(origin: str | None, same: bool) -> None:
    headers = {"host": "127.0.0.1:8888", **({"origin": origin} if origin else {})}
    assert is_same_origin(Headers(headers)) is same


def test_a_chart_escapes_its_labels_and_scales_to_a_round_number() -> None:
    chart = bars([Bar("<script>", {"a": 37})], (Series("<b>", "a", "a"),))
    assert "<script" not in chart
    assert "<b>" not in chart
    assert ">50</text>" in chart
    assert [round_up(number) for number in (0, 1, 3, 11, 51, 999)] == [1, 1, 5, 20, 100, 1000]
