"""NiceGUI, which knows one application in a process: ours, in which it serves the pages of the console."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from fastapi import FastAPI
from nicegui import ui

from adapters.console import pages as all_pages
from adapters.console.assets import ASSETS_BY_NAME

RECONNECT_SECONDS = 30.0
"""How long a page may lose its connection and go on where it was: a phone that slept, a service that started anew."""


@cache
def pages() -> FastAPI:
    """The application that serves the pages. Made once: NiceGUI's own is one for the process.

    It gets no storage: sessions are ours, and nothing of them is written to disk."""
    host = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    all_pages.register()
    ui.run_with(
        host,
        title="Palimpsest",
        favicon=ASSETS_BY_NAME["icon.svg"].file.read_text(encoding="utf-8").strip(),
        dark=None,
        tailwind=False,
        language="en-US",
        reconnect_timeout=RECONNECT_SECONDS,
        show_welcome_message=False,
        binding_refresh_interval=None,
    )
    return host


@asynccontextmanager
async def running() -> AsyncIterator[None]:
    """Runs NiceGUI in this event loop, until the end."""
    host = pages()
    async with host.router.lifespan_context(host):
        yield
