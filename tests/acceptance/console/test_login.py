"""Who has a key gets in, and sees what the key may; the key itself stays on the server."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from adapters.service import Service
from domain.event import Context
from tests.acceptance.console.conftest import PICTURES
from tests.support.browser import Tab
from tests.support.eventually import eventually
from tests.support.rest import RestBank


@pytest.fixture(scope="module")
def keys(live_service: Service, address: str) -> dict[str, str]:
    """Two banks were written; then keys were made: for all, for one bank, for a tag of it, and to read it."""
    with httpx.Client(base_url=address, timeout=30) as client:
        for name in ("ours", "theirs"):
            bank = RestBank(client, name)
            bank.retain("Ada Lovelace works at Acme.", tags=["public"])
            bank.model("ada", tags=["public"])
        context = Context("user", datetime.now(UTC), cause="test")
        make = live_service.api_keys.create
        made = {
            "all": make(context).token,
            "ours": make(context, banks=["ours"]).token,
            "tag": make(context, banks=["ours"], tags=["public"]).token,
            "reader": make(context, banks=["ours"], read_only=True).token,
        }
        eventually(lambda: client.get("/v1/default/banks").status_code == 401)
        return made


@pytest.fixture
def out(client: httpx.Client, keys: dict[str, str]) -> httpx.Client:
    assert keys
    client.cookies.clear()
    return client


def log_in(tab: Tab, address: str, key: str) -> None:
    tab.open(address + "/login")
    tab.run("document.getElementById('key').focus()")
    tab.send("Input.insertText", text=key)
    tab.press("Enter")
    tab.until("location.pathname === '/'")


@pytest.mark.parametrize("path", ["/", "/banks/ours", "/banks/ours/models/ada", "/banks/ours/operations"])
def test_without_a_key_every_page_leads_to_the_login(out: httpx.Client, path: str) -> None:
    answer = out.get(path)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/login")
    assert "Ada" not in answer.text


def test_the_login_needs_no_script_and_says_what_a_browser_may_do(out: httpx.Client) -> None:
    page = out.get("/login")
    assert page.status_code == 200
    assert "<script" not in page.text
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]


@pytest.mark.parametrize("key", ["wrong", "", "x" * 2000, "ä", "a\x00b", "<script>"])
def test_what_is_no_key_does_not_get_in(out: httpx.Client, key: str) -> None:
    answer = out.post("/login", data={"key": key})
    assert answer.status_code in (401, 422)
    assert "Set-Cookie" not in answer.headers
    assert 'role="alert"' in answer.text
    assert out.get("/").headers["Location"] == "/login"


def test_a_form_of_another_address_logs_nobody_in_or_out(out: httpx.Client, keys: dict[str, str]) -> None:
    out.post("/login", data={"key": keys["ours"]})
    elsewhere = {"Sec-Fetch-Site": "cross-site", "Origin": "null"}
    assert out.post("/login", data={"key": keys["all"]}, headers=elsewhere).status_code == 403
    assert out.post("/logout", headers=elsewhere).status_code == 403
    assert out.get("/").status_code == 200
    assert out.get("/login", headers=elsewhere).status_code == 200


def test_a_key_stays_on_the_server(out: httpx.Client, keys: dict[str, str]) -> None:
    answer = out.post("/login", data={"key": keys["all"]})
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert keys["all"] not in cookie
    page = out.get("/banks/ours/models/ada")
    assert page.status_code == 200
    assert keys["all"] not in page.text


def test_a_key_sees_its_banks_and_no_other(out: httpx.Client, keys: dict[str, str]) -> None:
    out.post("/login", data={"key": keys["ours"]})
    assert "/banks/theirs" not in out.get("/").text
    assert "/banks/ours" in out.get("/").text
    assert out.get("/banks/theirs").status_code == 404
    assert out.get("/banks/theirs/models/ada").status_code == 404


def test_who_logs_out_is_out_also_in_pages_that_are_open(
    tab: Tab, address: str, client: httpx.Client, keys: dict[str, str]
) -> None:
    log_in(tab, address, keys["ours"])
    tab.sees("Log out")
    tab.picture(PICTURES / "logged-in.png")
    tab.open(f"{address}/banks/ours/models/ada")
    token = next(
        each["value"] for each in tab.send("Network.getCookies")["cookies"] if each["name"].endswith("session")
    )
    answer = client.post("/logout", headers={"Cookie": f"palimpsest_session={token}"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/login")
    tab.click("Refresh")
    tab.until("location.pathname === '/login'")
    tab.picture(Path(PICTURES / "login.png"))


def test_a_key_that_only_reads_is_told_what_it_may_not(tab: Tab, address: str, keys: dict[str, str]) -> None:
    log_in(tab, address, keys["reader"])
    tab.open(f"{address}/banks/ours/models/ada")
    tab.click("Refresh")
    tab.until("document.querySelector('.q-notification')?.innerText.length > 10")
    assert "Traceback" not in tab.text()


def test_a_key_of_a_tag_sees_the_bank_without_what_it_may_not_see(tab: Tab, address: str, keys: dict[str, str]) -> None:
    log_in(tab, address, keys["tag"])
    for page in ("", "/models", "/models/ada", "/memory", "/documents", "/operations", "/knowledge", "/recall?q=Ada"):
        tab.open(f"{address}/banks/ours{page}")
        tab.until("!!document.querySelector('main h1')")
        assert "This page could not be made" not in tab.text(), page
