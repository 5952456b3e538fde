"""The REST API as tests speak it: one bank, real HTTP."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx

from tests.support.eventually import eventually

ENDED = ("completed", "failed", "cancelled")


class RestBank:
    """One bank of a live server. Paths are below the bank."""

    def __init__(self, client: httpx.Client, bank_id: str) -> None:
        self.client = client
        self.bank_id = bank_id
        self.path = f"/v1/default/banks/{quote(bank_id, safe='')}"

    def ask(self, method: str, path: str = "", **options: Any) -> httpx.Response:
        return self.client.request(method, self.path + path, **options)

    def get(self, path: str = "", **params: Any) -> Any:
        """The JSON of a successful GET."""
        return _success(self.ask("GET", path, params=params)).json()

    def post(self, path: str, body: Any = None) -> Any:
        """The JSON of a successful POST."""
        return _success(self.ask("POST", path, json=body)).json()

    def patch(self, path: str, body: Any) -> Any:
        return _success(self.ask("PATCH", path, json=body)).json()

    def retain(self, *texts: str, **item: Any) -> Any:
        """Retains each text as an item, at once."""
        return self.post("/memories", {"items": [{"content": text, **item} for text in texts]})

    def model(self, mental_model_id: str, **fields: Any) -> Any:
        """Creates a mental model, waits for its first refresh, and gives it with all details."""
        body = {"id": mental_model_id, "name": mental_model_id, "source_query": "What is known about Ada?", **fields}
        self.finished(self.post("/mental-models", body)["operation_id"])
        return self.get(f"/mental-models/{mental_model_id}")

    def refreshed(self, mental_model_id: str) -> Any:
        """Refreshes a mental model, waits for the end, and gives it with all details."""
        self.finished(self.post(f"/mental-models/{mental_model_id}/refresh")["operation_id"])
        return self.get(f"/mental-models/{mental_model_id}")

    def finished(self, operation_id: str) -> Any:
        """The operation once it has ended."""

        def ended() -> Any:
            operation = self.get(f"/operations/{operation_id}")
            return operation if operation["status"] in ENDED else None

        return eventually(ended, timeout=20)


def _success(response: httpx.Response) -> httpx.Response:
    assert response.is_success, (
        f"{response.request.method} {response.request.url}: {response.status_code} {response.text}"
    )
    return response


def assert_refused(response: httpx.Response, status: int, *words: str) -> None:
    """The response is an error of this status, and its detail has all the words, of a 422 in its `loc` or `msg`."""
    assert response.status_code == status, response.text
    detail = response.json()["detail"]
    told = detail if isinstance(detail, str) else " ".join(f"{each['loc']} {each['msg']}" for each in detail)
    assert "Traceback" not in told
    for word in words:
        assert word in told, f"{word!r} is not in {told!r}"
