"""Ids that a shell completes: asked of the server, in no time, or there are none. A shell is never told of errors."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import typer

from adapters.cli.unusable import Unusable

SECONDS = 0.4
"""For each step of an answer: whoever presses the tab key does not wait."""
AT_MOST = 1000


def complete_profile(incomplete: str) -> list[str]:
    from adapters.cli.remote import profiles

    with contextlib.suppress(Unusable):
        return [name for name in profiles.read(profiles.place()).named if name.startswith(incomplete)]
    return []


def complete_bank(ctx: typer.Context, incomplete: str) -> list[str]:
    def banks(ask: Callable[..., Any], _: str | None) -> Iterator[str]:
        told = ask("GET", "/v1/default/banks", params={"limit": AT_MOST})
        yield from (each["bank_id"] for each in told["banks"])

    return _completed(ctx, incomplete, banks)


def complete_model(ctx: typer.Context, incomplete: str) -> list[str]:
    def models(ask: Callable[..., Any], bank: str | None) -> Iterator[str]:
        from adapters.api_client import bank_path

        if bank is not None:
            told = ask("GET", bank_path(bank, "mental-models"), params={"limit": AT_MOST})
            yield from (each["id"] for each in told["items"])

    return _completed(ctx, incomplete, models)


def _completed(
    ctx: typer.Context, incomplete: str, found: Callable[[Callable[..., Any], str | None], Iterator[str]]
) -> list[str]:
    from adapters.api_client import Api, ApiFailure
    from adapters.cli.remote import profiles
    from adapters.cli.remote.connection import connection
    from adapters.cli.remote.profiles import Profile

    given = ctx.params
    with contextlib.suppress(ApiFailure, Unusable, LookupError, TypeError):
        options = Profile(given.get("server"), given.get("key"), given.get("bank"))
        to = connection(options, given.get("profile"), os.environ, profiles.read(profiles.place()))
        with Api(to.server, to.key, SECONDS) as api:
            return [name for name in found(api.ask, to.bank) if name.startswith(incomplete)]
    return []
