"""The few elements that all pages are made of. Texts are put into the page as text, never as HTML."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from adapters.console.safe_markdown import sanitised
from adapters.console.words import Tone, ago, in_full

ButtonKind = Literal["main", "plain", "quiet", "bad"]
Handler = Callable[[], Any]
E = TypeVar("E", bound=ui.element)


class Text(TextElement):
    """An HTML element with a text."""

    def __init__(self, tag: str, text: str) -> None:
        super().__init__(tag=tag, text=text)


def box(classes: str = "", tag: str = "div", **attributes: str) -> ui.element:
    """An element to put others in. Attributes are HTML's own, with `_` for `-`."""
    return _with(ui.element(tag), classes, attributes)


def text(told: str, classes: str = "", tag: str = "p", **attributes: str) -> Text:
    return _with(Text(tag, told), classes, attributes)


def link(told: str, address: str, classes: str = "", **attributes: str) -> Text:
    """A link to a page of the console."""
    return _with(Text("a", told), classes, {"href": address, **attributes})


def _with(element: E, classes: str, attributes: Mapping[str, str]) -> E:
    for name, value in attributes.items():
        element.props[name.strip("_").replace("_", "-")] = value
    return element.classes(classes)


def heading(told: str, level: int = 2, classes: str = "") -> Text:
    return text(told, classes, f"h{level}")


def badge(told: str, tone: Tone = "quiet", title: str = "") -> Text:
    return text(told, f"badge {tone}", "span", **({"title": title} if title else {}))


def tags(names: Iterable[str]) -> None:
    for name in names:
        text(name, "tag", "span")


def moment(when: str | None, before: str = "", never: str = "never") -> Text:
    """A time as people count, the exact one at its side."""
    if when is None:
        return text(f"{before}{never}", "muted", "span")
    return text(f"{before}{ago(when)}", "muted nowrap", "time", datetime=when, title=in_full(when))


def safe_html(html: str, classes: str = "") -> ui.html:
    """HTML after the sanitiser: the only way to put HTML on a page."""
    return ui.html(html, sanitize=sanitised).classes(classes)


def button(told: str, on_click: Handler, kind: ButtonKind = "plain", icon: str | None = None) -> ui.button:
    return ui.button(told, on_click=on_click, icon=icon, color=None).props("flat no-caps").classes(f"b-{kind}")


def icon_button(name: str, on_click: Handler, label: str) -> ui.button:
    made = ui.button(icon=name, on_click=on_click, color=None).props("flat round").classes("b-quiet b-icon")
    made.props["aria-label"] = label
    made.props["title"] = label
    return made


def link_button(told: str, address: str, kind: ButtonKind = "plain") -> ui.button:
    made = ui.button(told, color=None).props("flat no-caps").classes(f"b-{kind}")
    made.props["href"] = address
    return made


def field(label: str, value: str = "", hint: str = "", *, lines: int = 1, mono: bool = False) -> ui.input | ui.textarea:
    """A line or some lines of text to write."""
    made: ui.input | ui.textarea = ui.input(label, value=value) if lines == 1 else ui.textarea(label, value=value)
    made.props("outlined dense" + ("" if lines == 1 else f" rows={lines} input-style=resize:vertical"))
    if hint:
        made.props["hint"] = hint
    return made.classes("mono" if mono else "")


def search(label: str, value: str, on_search: Callable[[str], Any]) -> ui.input:
    """The search of a page: "/" goes there, Enter searches."""
    made = ui.input(label, value=value).props("outlined dense clearable").classes("search grow")
    made.props["aria-keyshortcuts"] = "/"
    with made.add_slot("prepend"):
        ui.icon("search").props("size=xs")
    made.on("keydown.enter", lambda: on_search((made.value or "").strip()))
    made.on("clear", lambda: on_search(""))
    return made


def select(label: str, options: Mapping[Any, str], value: Any, on_change: Handler | None = None) -> ui.select:
    made = ui.select(dict(options), label=label, value=value, on_change=on_change)
    return made.props("outlined dense options-dense")


def tile(value: str, label: str, hint: str = "", address: str | None = None) -> None:
    """A number that counts, and where to see what is behind it."""
    with box("panel tile", "a" if address else "div", **({"href": address} if address else {})):
        text(value, "value", "span")
        text(label, "label", "span")
        if hint:
            text(hint, "hint", "span")


def note(told: str, tone: Tone = "calm") -> ui.element:
    return text(told, f"note {tone}", "div")


def empty(title: str, told: str, *addresses: tuple[str, str], code: str = "") -> None:
    """What a page says when it has nothing to show: why, and what to do next."""
    with box("panel empty"):
        heading(title)
        text(told)
        if code:
            with box(tag="pre"):
                text(code, tag="code")
        with box("actions"):
            for label, address in addresses:
                link_button(label, address, "plain")


def pager(address: str, params: Mapping[str, Any], *, offset: int, limit: int, total: int) -> None:
    """Links to the page before and the page after; nothing when all is on one."""
    if total <= limit and offset == 0:
        return
    with box("pager", "nav", aria_label="Pages"):
        _step(address, params, offset - limit, "← Before", possible=offset > 0)
        text(f"{offset + 1:,} to {min(offset + limit, total):,} of {total:,}", "muted", "span")
        _step(address, params, offset + limit, "After →", possible=offset + limit < total)


def _step(address: str, params: Mapping[str, Any], offset: int, label: str, *, possible: bool) -> None:
    if possible:
        link(label, with_query(address, {**params, "offset": max(offset, 0) or None}))
    else:
        text(label, "faint", "span", aria_hidden="true")


def with_query(address: str, params: Mapping[str, Any]) -> str:
    """The address with those parameters that say something."""
    given = {name: value for name, value in params.items() if value not in (None, "", False)}
    return f"{address}?{urlencode(given)}" if given else address


async def confirmed(title: str, told: str, do: str, *, bad: bool = True) -> bool:
    """Asks before something is done. Escape is no."""
    with ui.dialog() as dialog, box("dialog", role="alertdialog", aria_label=title):
        heading(title)
        text(told)
        with box("actions"):
            button("Cancel", lambda: dialog.submit(False), "plain").props("autofocus")
            button(do, lambda: dialog.submit(True), "bad" if bad else "main")
    answer = bool(await dialog)
    dialog.delete()
    return answer


def every(seconds: float, do: Callable[[], Awaitable[None]]) -> ui.timer:
    return ui.timer(seconds, do, immediate=False)
