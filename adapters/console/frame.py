"""What is around every page: where one is, where one can go, light or dark, and the way out."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nicegui import ui

from adapters.console.elements import box, icon_button, link, text

if TYPE_CHECKING:
    from adapters.console.page_api import Bank, PageApi

THEME_COOKIE = "palimpsest_theme"
THEMES: dict[str, bool | None] = {"auto": None, "light": False, "dark": True}
_ICONS = {"auto": "brightness_auto", "light": "light_mode", "dark": "dark_mode"}
HEAD = "".join(f'<link rel="stylesheet" href="/console/{name}.css">' for name in ("theme", "console", "document")) + (
    '<meta name="robots" content="noindex"><script src="/console/page.js" defer></script>'
)
SECTIONS = (
    ("", "Overview"),
    ("/models", "Mental models"),
    ("/knowledge", "Knowledge"),
    ("/memory", "Memory"),
    ("/operations", "Operations"),
)


@contextmanager
def frame(api: PageApi, bank: Bank | None = None, section: str | None = None) -> Iterator[None]:
    """Puts what is made inside it into the frame of the console."""
    ui.add_head_html(HEAD)
    ui.on_exception(_went_wrong)
    with box("frame"):
        link("Skip to the content", "#content", "skip")
        with box("top", "header"):
            _bar(api, bank)
            if bank is not None:
                _sections(bank, section)
        with box("page", "main", id="content"):
            yield


def _went_wrong() -> None:
    ui.notify("This did not work; the log of the service tells why", type="negative", close_button="Close")


def _bar(api: PageApi, bank: Bank | None) -> None:
    with box("bar"):
        with box("brand-link", "a", href="/"):
            box("", "img", src="/console/icon.svg", alt="")
            text("Palimpsest", tag="span")
        with box("crumb grow"):
            if bank is not None:
                link(bank.id, bank.page, title=bank.id)
            else:
                link("Banks", "/")
        link("API", "/docs", "muted")
        _theme()
        if api.is_logged_in:
            with box("", "form", method="post", action="/logout"):
                out = ui.button("Log out", color=None).props("flat no-caps type=submit").classes("b-quiet")
                out.props["aria-label"] = "Log out"


def _sections(bank: Bank, section: str | None) -> None:
    with box("tabs", "nav", aria_label="Sections of the bank"):
        for path, label in SECTIONS:
            link(label, bank.page + path, **({"aria_current": "page"} if path == section else {}))


def _theme() -> None:
    chosen = ui.context.client.request.cookies.get(THEME_COOKIE, "auto")
    state = {"name": chosen if chosen in THEMES else "auto"}
    dark = ui.dark_mode(THEMES[state["name"]])

    def turn() -> None:
        names = list(THEMES)
        state["name"] = names[(names.index(state["name"]) + 1) % len(names)]
        dark.set_value(THEMES[state["name"]])
        toggle.props["icon"] = _ICONS[state["name"]]
        toggle.props["aria-label"] = toggle.props["title"] = f"Colours: {state['name']}"
        kept = f"{THEME_COOKIE}={state['name']}; path=/; max-age=31536000; samesite=strict"
        ui.run_javascript(f'document.cookie = "{kept}"')

    toggle = icon_button(_ICONS[state["name"]], turn, f"Colours: {state['name']}")


@contextmanager
def title(name: str, told: str = "") -> Iterator[None]:
    """The head of a page, with its actions inside."""
    with box("head"):
        with box("grow"):
            text(name, tag="h1")
            if told:
                text(told, "muted")
        with box("actions"):
            yield
