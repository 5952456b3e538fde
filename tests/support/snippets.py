"""The snippets of a page of documentation: what a reader would copy, and why some of it is not run by a test.

A fenced block is run when its language is `sh` or `python`. One that cannot be is marked in the page, for readers of
its source, by a comment before it: `<!-- not run: why -->`. What is shown only (`text`, `json`) is no snippet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

RUN = ("sh", "python")
SHOWN = ("text", "json", "mermaid", "toml", "ini", "yaml", "diff", "markdown", "sql")
_FENCE = re.compile(
    r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE
)
_WHY_NOT = re.compile(r"<!-- not run: (?P<why>[^>]+?) -->\s*\Z")


@dataclass(frozen=True)
class Snippet:
    """A block of a page; `line` is that of its fence, `why_not` is empty for one that is run."""

    page: Path
    line: int
    language: str
    code: str
    why_not: str

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"


def snippets_of(page: Path) -> Iterator[Snippet]:
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        marked = _WHY_NOT.search(text[: found.start()])
        yield Snippet(
            page,
            text.count("\n", 0, found.start()) + 1,
            found["language"],
            "\n".join(line.removeprefix(found["indent"]) for line in found["code"].splitlines()) + "\n",
            marked["why"] if marked else "",
        )
