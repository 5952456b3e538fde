"""Addresses below the console at which there is no page. Registered last."""

from __future__ import annotations

from typing import Any

from adapters.api_client import ApiFailure
from adapters.console.page_api import PageApi, page


def register() -> None:
    page("/banks/{bank_id}/{rest:path}", "Not found")(nothing)


async def nothing(_: PageApi, **__: Any) -> None:
    raise ApiFailure(404, "There is no page at this address.")
