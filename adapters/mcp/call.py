"""The REST API as a tool calls it: with the caller's own key, below the bank that is meant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from adapters.api_client import ApiFailure, AsyncApi, Params, bank_path

BANKS = "/v1/default/banks"


@dataclass(frozen=True)
class Call:
    """`headers` are those of the caller that the API is to see: its key. Methods raise ApiFailure."""

    api: AsyncApi
    bank_id: str
    headers: Mapping[str, str] = field(default_factory=dict)

    def of(self, bank_id: str) -> Call:
        """The same caller in another bank."""
        return Call(self.api, bank_id, self.headers)

    async def ask(self, method: str, *parts: str, params: Params | None = None, body: Any = None) -> Any:
        """The answer to a request below the bank: `parts` are its path, ids among them as they are."""
        return await self.ask_server(method, self._path(parts), params=params, body=body)

    async def ask_server(self, method: str, path: str, *, params: Params | None = None, body: Any = None) -> Any:
        """The answer to a request at any path of the API."""
        try:
            return await self.api.ask(method, path, params=params, body=body, headers=self.headers)
        except ValueError as error:  # neither half a surrogate pair nor an infinite number can be written as JSON
            raise ApiFailure(422, f"an argument cannot be sent as JSON in UTF-8: {error}") from error

    def _path(self, parts: tuple[str, ...]) -> str:
        try:
            return bank_path(self.bank_id, *parts)
        except UnicodeEncodeError as error:
            raise ApiFailure(422, f"an id is no Unicode text: {error}") from error


def given(**arguments: Any) -> dict[str, Any]:
    """Those arguments that were given."""
    return {name: value for name, value in arguments.items() if value is not None}
