"""A live server whose minds do as they are told, over a database of the test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.http.told_minds import Told, told_service


@pytest.fixture
def told(conninfo: str) -> Iterator[Told]:
    with told_service(conninfo) as told:
        yield told
