"""What a language model wrote is hostile: nothing in it runs, and nothing in it makes the browser ask anybody."""

from __future__ import annotations

import httpx
import pytest

from tests.support.browser import Tab
from tests.support.rest import RestBank

HOSTILE = """# <script>window.hit = 1; alert('heading')</script>

<script>window.hit = 1; alert('script')</script>

<img src=x onerror="window.hit = 1; alert('img')"> <svg onload="alert('svg')"><animate onbegin=alert(1)></svg>

<iframe src="https://evil.example/frame"></iframe> <object data="https://evil.example/o"></object>

[a](javascript:alert('link')) [b](data:text/html,<script>alert(1)</script>) ![c](https://evil.example/pixel.png)

> <style>@import "https://evil.example/x.css"; body { background: url(https://evil.example/css.png) }</style>

- <details open ontoggle="alert(2)"><summary>x</summary></details>
- <div style="background: url(https://evil.example/style.png); position: fixed; inset: 0">styled</div>

| <b onmouseover=alert(3)>x</b> |
|---|
| <video autoplay src="https://evil.example/v.mp4"></video> |

<link rel=stylesheet href="https://evil.example/l.css"><base href="https://evil.example/"><meta http-equiv=refresh
content="0;url=https://evil.example/">

<form action="https://evil.example/"><input autofocus onfocus="alert(4)"></form>

{{ constructor.constructor('alert(5)')() }} ${alert(6)} `</script><script>alert(7)</script>` &#x3C;script>alert(8)\u2028
"""
# Short enough for names, tags and questions.
LINE = "</script><script>alert(9)</script><img src=x onerror=alert(10)> {{ 7 * 7 }} ${alert(11)} `x`"


@pytest.fixture
def hostile(bank: RestBank) -> str:
    """A bank in which everything is hostile: its documents, its facts, its names, its questions."""
    bank.ask("PUT", json={"name": LINE, "mission": LINE})
    bank.retain(f"Ada works here. {LINE}", context=LINE, tags=[LINE], document_id=LINE)
    bank.model("ada", name=LINE, source_query=f"Who is Ada? {LINE}", tags=[LINE])
    bank.patch("/mental-models/ada", {"content": HOSTILE})
    bank.patch("/mental-models/ada", {"content": HOSTILE.replace("alert", "alert.call")})
    bank.patch("/mental-models/ada", {"content": HOSTILE})
    return f"/banks/{bank.bank_id}"


PAGES = ("", "/models", "/models/ada", "/models/ada/history", "/models/ada/events", "/models/ada/trigger",
         "/operations", "/memory", "/recall?q=Ada", "/documents")  # fmt: skip


def test_no_script_runs_and_no_request_leaves(tab: Tab, address: str, hostile: str) -> None:
    tab.open(address + "/")
    for page in PAGES:
        tab.open(address + hostile + page)
        tab.until("!!document.querySelector('main h1')")
        assert tab.run("window.hit") is None
        assert "49" not in tab.run("document.querySelector('main h1').innerText")
    assert tab.dialogs == []
    assert tab.strangers(address) == []
    assert tab.said == []


def test_a_hostile_document_is_shown_as_text(tab: Tab, address: str, hostile: str) -> None:
    tab.open(f"{address}{hostile}/models/ada")
    tab.sees("window.hit = 1; alert('script')")
    assert (
        tab.run("document.querySelectorAll('.document :is(script, img, svg, iframe, style, input, video)').length") == 0
    )
    assert tab.run("[...document.querySelectorAll('.document a[href]')].map((it) => it.protocol).join()") == "https:"
    assert tab.run("document.querySelector('.document a[href]').rel") == "noopener noreferrer nofollow"
    tab.point_at(".document [data-piece]")
    tab.sees("Written by a person")
    tab.click("Dry run")
    tab.sees("Refresh now")
    assert tab.dialogs == []
    assert tab.strangers(address) == []


def test_even_a_script_that_came_into_the_page_would_not_run(tab: Tab, address: str, hostile: str) -> None:
    """The policy of the page holds by itself, should the sanitiser ever fail."""
    tab.open(f"{address}{hostile}/models/ada")
    broken = (
        "<img src='https://evil.example/p.png' onerror='window.hit = 1'><a id=j href='javascript:window.hit=1'>x</a>"
    )
    tab.run(f"document.querySelector('.document').insertAdjacentHTML('beforeend', `{broken}`)")
    tab.run("document.body.append(Object.assign(document.createElement('script'), {textContent: 'window.hit = 1'}))")
    tab.run("document.getElementById('j').click()")
    tab.until("document.querySelector('.document img').complete")
    assert tab.run("window.hit") is None
    assert any("Content Security Policy" in each for each in tab.said)


def test_pages_say_what_a_browser_may_do(client: httpx.Client, hostile: str) -> None:
    page = client.get(f"{hostile}/models/ada")
    assert page.status_code == 200
    assert page.headers["X-Content-Type-Options"] == "nosniff"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    policy = page.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "unsafe-inline" not in policy
    nonce = policy.split("'nonce-")[1].split("'")[0]
    assert page.text.count("<script") == page.text.count(f'<script nonce="{nonce}"') > 3
    assert nonce not in client.get(f"{hostile}/models/ada").headers["Content-Security-Policy"]


def test_everything_a_page_needs_is_of_the_service_itself(client: httpx.Client, hostile: str) -> None:
    page = client.get(f"{hostile}/models/ada").text
    files = [
        each.split('"')[0] for each in page.split('src="')[1:] + page.split('url("')[1:] + page.split('href="')[1:]
    ]
    files = [each for each in files if not each.startswith(("\\", "data:image/svg+xml,"))]  # that is the icon
    assert len(files) > 8
    assert [each for each in files if not each.startswith("/")] == []
    assert [each for each in files if client.get(each).status_code != 200] == []


def test_other_paths_are_as_they_were(client: httpx.Client) -> None:
    for path in ("/v1/nothing", "/nothing", "/mcpx"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert answer.json()["detail"].startswith("Nothing is served at this path")
    assert client.get("/docs").status_code == 200
    refused = client.post("/")
    assert refused.status_code == 405
    assert refused.headers["Allow"] == "GET, HEAD"


def test_a_page_of_another_address_gets_no_connection(client: httpx.Client) -> None:
    path = "/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    assert client.get(path, headers={"Origin": "https://evil.example"}).status_code == 403
    assert client.get(path, headers={"Origin": str(client.base_url).rstrip("/")}).status_code == 200
