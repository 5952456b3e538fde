"""Headless Chromium over its DevTools protocol: as much of a browser as the tests of the console need."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from websockets.sync.client import ClientConnection, connect

from tests.support.eventually import eventually

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WITHIN_SECONDS = 20.0
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb", "--remote-debugging-port=0",
)  # fmt: skip


KEY_CODES = {"Enter": 13, "Escape": 27, "/": 191, "Tab": 9, "ArrowLeft": 37, "ArrowRight": 39}


class Tab:
    """One page of the browser. Notes every request it makes and everything its console says."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._last = 0
        self._answers: dict[int, dict[str, Any]] = {}
        self._answered = threading.Condition()
        self.requests: list[str] = []
        self.said: list[str] = []
        self.dialogs: list[str] = []
        threading.Thread(target=self._listen, name="browser", daemon=True).start()
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **params: Any) -> dict[str, Any]:
        """A command and its answer."""
        with self._answered:
            self._last += 1
            number = self._last
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        with self._answered:
            assert self._answered.wait_for(lambda: number in self._answers, WITHIN_SECONDS), f"{method}: no answer"
            answer = self._answers.pop(number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return dict(answer.get("result", {}))

    def _listen(self) -> None:
        for message in self._socket:
            told = json.loads(message)
            if "id" in told:
                with self._answered:
                    self._answers[told["id"]] = told
                    self._answered.notify_all()
            else:
                self._note(told["method"], told["params"])

    def _note(self, event: str, params: Mapping[str, Any]) -> None:
        if event == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif event == "Network.webSocketCreated":
            self.requests.append(params["url"])
        elif event == "Page.javascriptDialogOpening":
            self.dialogs.append(params["message"])
        elif event == "Log.entryAdded":
            self.said.append(f"{params['entry']['level']}: {params['entry']['text']}")
        elif event == "Runtime.exceptionThrown":
            self.said.append(f"exception: {params['exceptionDetails']}")
        elif event == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.said.append(f"console: {[each.get('value') for each in params['args']]}")

    def open(self, url: str) -> Self:
        """Goes there and waits until the page is alive."""
        self.send("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")
        self.until("!document.querySelector('#app') || window.did_handshake === true")
        return self

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        told = self.send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def until(self, script: str) -> Any:
        """Waits until an expression is true; while a page goes, it has no value."""

        def value() -> Any:
            told = self.send("Runtime.evaluate", expression=script, returnByValue=True)
            return None if "exceptionDetails" in told else told["result"].get("value")

        return eventually(value, timeout=WITHIN_SECONDS)

    def text(self) -> str:
        return str(self.run("document.body.innerText"))

    def sees(self, words: str) -> None:
        """Waits until the words are on the page."""
        self.until(f"document.body.innerText.includes({_js(words)})")

    def click(self, label: str) -> None:
        """The button, link or menu item that is named so."""
        found = _NAMED % _js(label)
        self.until(f"!!({found})")
        self.run(f"({found}).click()")

    def write(self, label: str, text: str) -> None:
        """Writes into the field with this label, in place of what it says."""
        found = f"document.querySelector('[aria-label=' + CSS.escape({_js(label)}) + ']')"
        self.until(f"!!({found})")
        self.run(f"(() => {{ const it = {found}; it.focus(); it.select(); }})()")
        self.send("Input.insertText", text=text)

    def press(self, key: str) -> None:
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = KEY_CODES.get(key, 0)
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, text=text, windowsVirtualKeyCode=code)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def point_at(self, selector: str) -> None:
        """Moves the mouse over the first element that the selector names."""
        box = self.run(
            f"(() => {{ const r = document.querySelector({_js(selector)}).getBoundingClientRect();"
            " return [r.left + r.width / 2, r.top + r.height / 2]; })()"
        )
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])

    def shape(self, width: int, height: int, *, dark: bool = False) -> None:
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        told = self.send("Page.captureScreenshot", format="png")
        file.write_bytes(base64.b64decode(told["data"]))

    def strangers(self, address: str) -> list[str]:
        """Requests that went anywhere else than to this address."""
        host = urlsplit(address).netloc
        return [url for url in self.requests if urlsplit(url).scheme != "data" and urlsplit(url).netloc != host]


def _js(value: object) -> str:
    return json.dumps(value)


_NAMED = """[...document.querySelectorAll('button, a, .q-item, [role=button]')]
  .filter((it) => it.offsetParent !== null)
  .find((it) => [it.innerText.trim(), it.getAttribute('aria-label')].includes(%s))"""


OpenTab = Callable[[], AbstractContextManager[Tab]]


@contextmanager
def browser() -> Iterator[OpenTab]:
    """A browser of its own; yields how to open a tab, in a session that shares nothing with other tabs."""
    assert CHROMIUM, "there is no Chromium"
    with tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True) as folder:
        command = [CHROMIUM, *FLAGS, f"--user-data-dir={folder}", "about:blank"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            port, path = eventually(lambda: _address(Path(folder)), timeout=WITHIN_SECONDS)
            address = f"ws://127.0.0.1:{port}"
            with connect(address + path, max_size=None, proxy=None) as whole:
                yield lambda: _tab(whole, address)
        finally:
            process.terminate()
            process.wait(WITHIN_SECONDS)


@contextmanager
def _tab(whole: ClientConnection, address: str) -> Iterator[Tab]:
    context = _ask(whole, "Target.createBrowserContext")["browserContextId"]
    target = _ask(whole, "Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
    try:
        with connect(f"{address}/devtools/page/{target}", max_size=None, proxy=None) as socket:
            yield Tab(socket)
    finally:
        _ask(whole, "Target.disposeBrowserContext", browserContextId=context)


def _ask(whole: ClientConnection, method: str, **params: Any) -> dict[str, Any]:
    """A command to the browser as a whole, and its answer; what else it tells is not for us."""
    whole.send(json.dumps({"id": 1, "method": method, "params": params}))
    while "id" not in (answer := json.loads(whole.recv(WITHIN_SECONDS))):
        pass
    return dict(answer["result"])


def _address(folder: Path) -> tuple[int, str] | None:
    try:
        port, path = (folder / "DevToolsActivePort").read_text().split("\n")
    except (OSError, ValueError):
        return None
    return int(port), path
