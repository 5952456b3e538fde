"""A few lines of HTTP: what anybody would write against the REST API."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

POLL_SECONDS = 0.05


class Refused(Exception):
    """The service answered with an error; `str()` is what it says."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


class Client:
    """Asks a service at `address`. Raises Refused, and OSError when there is no answer."""

    def __init__(self, address: str, bank_id: str) -> None:
        self._address = address
        self._bank = f"/v1/default/banks/{bank_id}"

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """`path` is below the bank; the answer is the JSON of the reply."""
        request = urllib.request.Request(
            self._address + self._bank + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=300) as reply:  # the address is our own service
                return json.load(reply)
        except urllib.error.HTTPError as error:
            with error:
                raise Refused(error.code, _detail(error.read()) or str(error)) from error

    def there(self, path: str) -> bool:
        """Whether something is at a path; False for 404."""
        try:
            self.ask("GET", path)
        except Refused as error:
            if error.status == 404:
                return False
            raise
        return True

    def finished(self, operation_id: str, on_wait: Callable[[], None] = lambda: None) -> dict[str, Any]:
        """Waits until an operation has ended, or parks for a retry; returns its state."""
        while True:
            state: dict[str, Any] = self.ask("GET", f"/operations/{operation_id}")
            if state["status"] in ("completed", "failed", "cancelled") or state.get("next_retry_at"):
                return state
            on_wait()
            time.sleep(POLL_SECONDS)


def _detail(body: bytes) -> str | None:
    try:
        return str(json.loads(body)["detail"])
    except (ValueError, KeyError, TypeError):  # not of our service, or a failure it has no words for
        return None


def wait_until_healthy(address: str, seconds: float = 60) -> None:
    """Returns when the service answers; raises TimeoutError when it does not in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{address}/health/live", timeout=5):
                return
        except OSError:
            time.sleep(POLL_SECONDS)
    raise TimeoutError(f"the service at {address} did not answer within {seconds:.0f} seconds")
