"""The OpenAPI document of this service, made without a database: describing routes serves none."""

from __future__ import annotations

from functools import cache
from typing import Any

from adapters.http.application import routed


@cache
def our_openapi() -> dict[str, Any]:
    return routed().openapi()
