"""Files as text: which kinds are read, and how. What is not read is refused, never guessed."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import PurePosixPath

from starlette.exceptions import HTTPException

from adapters.http import errors
from adapters.http.unstorable import Location, find_unstorable, printable
from domain.candidate import is_blank

_PLAIN = {
    ".txt", ".text", ".md", ".markdown", ".rst", ".adoc", ".org", ".log", ".csv", ".tsv", ".yaml", ".yml", ".toml",
    ".ini", ".xml",
}  # fmt: skip
_JSON = {".json", ".jsonl", ".ndjson"}
_HTML = {".html", ".htm", ".xhtml"}
READ = "plain text, Markdown, CSV, YAML, XML, JSON, JSON lines and HTML"
_TYPES = {"application/json": ".json", "application/x-ndjson": ".jsonl", "text/html": ".html"}
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def text_of(data: bytes, filename: str, media_type: str | None, at: Location) -> str:
    """The text of a file, of HTML what a reader sees. Its kind is told by the ending of its name, without one by its
    media type. Raises HTTPException (415) for a kind that is not read, a 422 for one that is not what it says."""
    kind = _kind(filename, media_type)
    text = _decoded(data, filename, at)
    if kind in _JSON:
        _require_json(text, kind, filename, at)
    elif kind in _HTML:
        text = _visible(text)
    if is_blank(text):
        raise errors.unprocessable(at, f"the file '{printable(filename)}' has no text")
    if found := find_unstorable({at[-1]: text}, at[:-1] or at):
        raise errors.unprocessable(at, f"the file '{printable(filename)}' {found.problem}", "unstorable")
    return text


def _kind(filename: str, media_type: str | None) -> str:
    ending = PurePosixPath(filename).suffix.lower()
    declared = (media_type or "").partition(";")[0].strip().lower()
    if not ending:
        ending = _TYPES.get(declared) or (".txt" if declared.startswith("text/") else "")
    if ending not in _PLAIN | _JSON | _HTML:
        told = f"'{ending}'" if ending else f"the media type '{declared or 'unknown'}'"
        raise HTTPException(
            415,
            f"The file '{printable(filename)}' cannot be read: {told} is none of the kinds that are ({READ});"
            " convert it to one of them",
        )
    return ending


def _decoded(data: bytes, filename: str, at: Location) -> str:
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise errors.unprocessable(
            at, f"the file '{printable(filename)}' is not text in UTF-8 (byte {error.start}); convert it to UTF-8"
        ) from error


def _require_json(text: str, kind: str, filename: str, at: Location) -> None:
    try:
        if kind == ".json":
            json.loads(text)
        else:
            for line in text.splitlines():
                if line.strip():
                    json.loads(line)
    except (ValueError, RecursionError) as error:
        raise errors.unprocessable(at, f"the file '{printable(filename)}' is not valid JSON: {error}") from error


# --- HTML -------------------------------------------------------------------------------------------------------------

_SILENT = {"script", "style", "template", "noscript", "svg", "head"}
_BLOCKS = {
    "p", "div", "section", "article", "header", "footer", "main", "aside", "nav", "ul", "ol", "table", "blockquote",
    "pre", "figure", "form", "dl", "h1", "h2", "h3", "h4", "h5", "h6",
}  # fmt: skip
_LINES = {"li", "tr", "br", "dt", "dd", "hr"}


def _visible(html: str) -> str:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return reader.text()


class _Reader(HTMLParser):
    """Headings, list items and table rows become those of Markdown, other blocks paragraphs."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._pieces: list[str] = []
        self._silent: list[str] = []
        self._title: list[str] | None = None
        self._preformatted = 0

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        del attrs
        if tag == "title":
            self._title = []
        elif tag in _SILENT:
            self._silent.append(tag)
        elif not self._silent:
            self._begin(tag)

    def _begin(self, tag: str) -> None:
        if tag in _BLOCKS:
            self._pieces.append("\n\n")
        if tag in _LINES:
            self._pieces.append("\n")
        if re.fullmatch(r"h[1-6]", tag):
            self._pieces.append("#" * int(tag[1]) + " ")
        elif tag == "li":
            self._pieces.append("- ")
        elif tag in ("td", "th"):
            self._pieces.append(" | ")
        elif tag == "pre":
            self._preformatted += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "title" and self._title is not None:
            self._pieces.extend(("# ", " ".join("".join(self._title).split()), "\n\n"))
            self._title = None
        elif tag in self._silent:
            while self._silent.pop() != tag:
                pass
        elif not self._silent:
            if tag == "tr":
                self._pieces.append(" |")
            if tag == "pre":
                self._preformatted = max(0, self._preformatted - 1)
            if tag in _BLOCKS:
                self._pieces.append("\n\n")

    def handle_data(self, data: str) -> None:
        if self._title is not None:
            self._title.append(data)
        elif not self._silent:
            self._pieces.append(data if self._preformatted else re.sub(r"\s+", " ", data))

    def text(self) -> str:
        joined = "".join(self._pieces)
        lines = [line.rstrip() if line.startswith("    ") else line.strip() for line in joined.split("\n")]
        return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n" if joined.strip() else ""
