"""The parts of a text that hold sentences: prose, headings, list items, table rows, spoken lines; each with what a
reader of the page knows when reaching it.

Line by line, so that any text is read in linear time; code and link definitions say nothing in prose and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from adapters.offline.dates import Period
from adapters.offline.sentences import ends_like_a_sentence, is_cjk, split_sentences
from adapters.offline.speakers import Utterance, speakers, utterance
from adapters.offline.tables import cells_of, row_text, starts_table

Kind = Literal["prose", "heading", "item", "row"]

LONGEST_CONTEXT = 100
"""Characters of a heading or lead-in at most that is repeated before a sentence."""


@dataclass(slots=True)
class Passage:
    """One run of text without line breaks."""

    text: str
    kind: Kind
    heading: str = ""
    """The heading it stands under; a sentence needs it only when it would be a riddle alone."""
    lead: str = ""
    """What its list was announced with, or the label of the item above it: belongs before the first sentence."""
    speaker: str = ""
    said: Period | None = None
    """When the speaker's line says it was said."""
    carried: bool = False
    """Its last sentence leads every item of the list below it, and so needs no fact of its own."""
    label: bool = False
    """A heading that only names what is below it."""


def passages_of(content: str, *, known: Sequence[str] = (), context: str | None = None) -> list[Passage]:
    """The passages of a text in order. `known` are names, `context` says what the text is; both help to tell a speaker
    from a label."""
    lines = content.splitlines()
    prose = [line for line in _without_code(lines) if not _LINK_DEFINITION.match(line)]
    return _Reader(prose, speakers(prose, known, context)).read()


# --- lines ------------------------------------------------------------------------------------------------------------

_LINK_DEFINITION = re.compile(r" {0,3}\[(?!\^)[^\[\]]+\]:\s+(?:<[^<>]*>|[^\s<]*[/#]\S*)(?:\s+[\"'(].*)?$")
_QUOTE = re.compile(r"\s{0,3}(?:>\s?)+")
_ITEM = re.compile(r"(?P<indent>\s*)(?:[-*+•‣▪]|\d{1,3}[.)])\s+(?P<text>.*)", re.DOTALL)
_FENCE = re.compile(r"[\s>]*(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)", re.DOTALL)


def _without_code(lines: list[str]) -> Iterator[str]:
    """The lines outside fenced code. A fence that nothing closes fences nothing: what follows is read as text."""
    closing = _longest_closing_after(lines)
    open_fence = ""
    for number, line in enumerate(lines):
        match = _FENCE.match(line)
        fence = match["fence"] if match else ""
        bare = match is not None and not match["info"].strip()
        if open_fence:
            if bare and fence[0] == open_fence[0] and len(fence) >= len(open_fence):
                open_fence = ""
        elif fence and closing[number][fence[0]] >= len(fence):
            open_fence = fence
            yield ""
        elif not (fence and bare):
            yield line


def _longest_closing_after(lines: list[str]) -> list[dict[str, int]]:
    """For every line, the longest closing fence of either kind below it."""
    longest = {"`": 0, "~": 0}
    after: list[dict[str, int]] = []
    for line in reversed(lines):
        after.append(longest)
        match = _FENCE.match(line)
        if match and not match["info"].strip():
            fence = match["fence"]
            longest = {**longest, fence[0]: max(longest[fence[0]], len(fence))}
    after.reverse()
    return after


def _atx_title(line: str) -> str | None:
    stripped = line.strip()
    hashes = len(stripped) - len(stripped.lstrip("#"))
    if not 1 <= hashes <= 6 or (len(stripped) > hashes and not stripped[hashes].isspace()):
        return None
    title = stripped[hashes:].strip()
    unclosed = title.rstrip("#")
    return unclosed.rstrip() if unclosed != title and (not unclosed or unclosed[-1].isspace()) else title


def _is_rule(line: str) -> bool:
    marks = line.replace(" ", "").replace("\t", "")
    return len(marks) >= 3 and marks[0] in "-*_=" and marks == marks[0] * len(marks)


# --- soft wraps -------------------------------------------------------------------------------------------------------

_NARROWEST_WRAP = 40
"""Lines of a paragraph that are all shorter than this were broken on purpose, not to fit."""


def _unwrapped(lines: list[str]) -> list[str]:
    """The lines of a paragraph, joined where an editor broke them to fit: the next word would have gone past the
    longest line, or the line stops at a comma and goes on in small letters. Every other line break is meant."""
    width = max(map(len, lines))
    runs: list[list[str]] = []
    for before, line in zip(["", *lines], lines, strict=False):
        if runs and _is_soft(before, line, width):
            runs[-1].append(line)
        else:
            runs.append([line])
    return [_joined(run) for run in runs]


def _is_soft(before: str, line: str, width: int) -> bool:
    if before.endswith((",", ";", "，", "、")) and line[0].islower():
        return True
    first_word = 1 if is_cjk(line[0]) else len(line.split(" ", 1)[0]) + 1
    return width >= _NARROWEST_WRAP and len(before) + first_word > width


def _joined(run: list[str]) -> str:
    parts = [run[0]]
    for before, line in zip(run, run[1:], strict=False):
        parts.append(line if is_cjk(before[-1]) and is_cjk(line[0]) else f" {line}")
    return "".join(parts)


# --- the reader -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Item:
    indent: int
    passage: Passage | None
    """What its text became; None while it is still being read."""


class _Reader:
    """Reads lines into passages; what it remembers is what a reader has above the line."""

    def __init__(self, lines: list[str], speaking: frozenset[str]) -> None:
        self._lines = lines
        self._speaking = speaking
        self._passages: list[Passage] = []
        self._open: list[str] = []
        self._items: list[_Item] = []
        self._announcement: Passage | None = None
        self._heading = ""
        self._speaker = ""
        self._said: Period | None = None
        self._stamp = ""

    def read(self) -> list[Passage]:
        number = 0
        while number < len(self._lines):
            number += self._take(number)
        self._close()
        return self._passages

    def _take(self, number: int) -> int:
        """Reads what starts at a line; returns how many lines that was."""
        line = _QUOTE.sub("", self._lines[number], count=1)
        text = " ".join(line.split())
        if not text:
            self._close()
            return 1
        title = self._title(text)
        if title is not None:
            self._take_heading(title)
            return 1
        if _is_rule(text):
            self._close()
            return 1
        following = self._lines[number + 1] if number + 1 < len(self._lines) else None
        if starts_table(line, _QUOTE.sub("", following, count=1) if following else None):
            return self._take_table(number)
        said = utterance(text)
        if said is not None and said.speaker.casefold() in self._speaking:
            self._take_utterance(said)
        elif match := _ITEM.fullmatch(line):
            self._take_item(len(match["indent"].expandtabs(4)), " ".join(match["text"].split()))
        else:
            self._take_line(text, indented=line[:1].isspace())
        return 1

    def _title(self, text: str) -> str | None:
        """The heading that a line is, or that it makes of the single line above it by underlining it."""
        underlined = len(self._open) == 1 and not self._items and len(text) > 1 and text in ("=" * len(text), "-" * len(text))
        return self._open.pop() if underlined else _atx_title(text)

    def _take_heading(self, title: str) -> None:
        self._end_list()
        self._speaker, self._said = "", None
        if title:
            self._heading = title
            self._add(Passage(title, "heading", label=True))

    def _take_table(self, number: int) -> int:
        self._end_list()
        header = cells_of(_QUOTE.sub("", self._lines[number], count=1))
        rows = 0
        for line in self._lines[number + 2 :]:
            bare = _QUOTE.sub("", line, count=1)
            if "|" not in bare:
                break
            rows += 1
            self._add(self._passage(" ".join(row_text(header, cells_of(bare)).split()), "row"))
        if not rows:
            self._add(self._passage("; ".join(header), "row"))
        return rows + 2

    def _take_utterance(self, said: Utterance) -> None:
        self._end_list()
        self._speaker, self._said = said.speaker, said.said
        self._stamp = said.unread_stamp
        if said.text:
            self._open.append(said.text)

    def _take_item(self, indent: int, text: str) -> None:
        self._close()
        while self._items and self._items[-1].indent >= indent:
            self._items.pop()
        self._items.append(_Item(indent, None))
        if text:
            self._open.append(text)

    def _take_line(self, text: str, *, indented: bool) -> None:
        if self._items and not self._open and not indented:
            self._end_list()
        self._open.append(text)

    def _end_list(self) -> None:
        self._close()
        self._items.clear()
        self._announcement = None

    def _close(self) -> None:
        """Ends the paragraph or item that is open."""
        runs = _unwrapped(self._open) if self._open else []
        self._open.clear()
        for run in runs:
            if self._stamp:
                run, self._stamp = f"{self._stamp} {run}", ""
            passage = self._passage(run, "item" if self._items else "prose")
            if self._items:
                self._add_item(passage)
            else:
                self._add(passage)
                self._announcement = passage

    def _add_item(self, passage: Passage) -> None:
        item = self._items[-1]
        if item.passage is None:
            item.passage = passage
            above = self._items[-2].passage if len(self._items) > 1 else self._announcement
            if above is not None:
                passage.lead = _lead_of(above)
                above.carried = above.carried or bool(passage.lead)
        self._add(passage)

    def _passage(self, text: str, kind: Kind) -> Passage:
        return Passage(text, kind, heading=self._heading, speaker=self._speaker, said=self._said)

    def _add(self, passage: Passage) -> None:
        if self._passages and passage.kind == "heading":
            self._end_section()
        self._passages.append(passage)

    def _end_section(self) -> None:
        """A heading with nothing below it is no label but says something itself."""
        self._passages[-1].label = False


def _lead_of(above: Passage) -> str:
    """What a list item inherits from the sentence or item above it; empty when that stands well alone or is long."""
    sentences = split_sentences(above.text)
    last = sentences[-1] if sentences else ""
    announces = last.endswith((":", "："))
    names_only = above.kind == "item" and len(sentences) == 1 and not ends_like_a_sentence(last) and len(last) <= 40
    if not announces and not names_only:
        return ""
    own = last.rstrip(":： ")
    lead = f"{above.lead}: {own}" if above.lead and len(sentences) == 1 else own
    return lead if len(lead) <= LONGEST_CONTEXT else own if len(own) <= LONGEST_CONTEXT else ""
