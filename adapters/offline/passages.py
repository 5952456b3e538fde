"""The parts of a text that hold sentences: prose, headings, list items, table rows, spoken lines; each with what a
reader of the page knows when reaching it.

Line by line, so that any text is read in linear time; code and link definitions say nothing in prose and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from adapters.offline.sentences import ends_like_a_sentence, split_sentences
from adapters.offline.speakers import Utterance, speakers, utterance
from adapters.offline.tables import cells_of, row_text, starts_table
from adapters.offline.wraps import unwrapped, wrap_width
from domain.period import Period

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
    level: int = 0
    """Of a heading, 1 to 6."""
    begin: int = 0
    """Where in the content the lines begin that it is read from."""
    label: bool = False
    """A heading that only names what is below it."""


def passages_of(content: str, *, known: Sequence[str] = (), context: str | None = None) -> list[Passage]:
    """The passages of a text in order. `known` are names, `context` says what the text is; both help to tell a speaker
    from a label."""
    begins = [0, *accumulate(map(len, content.splitlines(keepends=True)))]
    prose = [(at, line) for at, line in _without_code(content.splitlines()) if not _LINK_DEFINITION.match(line)]
    texts = [line for _, line in prose]
    return _Reader(texts, [begins[at] for at, _ in prose], speakers(texts, known, context)).read()


# --- lines ------------------------------------------------------------------------------------------------------------

_LINK_DEFINITION = re.compile(r" {0,3}\[(?!\^)[^\[\]]+\]:\s+(?:<[^<>]*>|[^\s<]*[/#]\S*)(?:\s+[\"'(].*)?$")
_QUOTE = re.compile(r"\s{0,3}(?:>\s?)+")
_ITEM = re.compile(r"(?P<indent>\s*)(?:[-*+•‣▪]|\d{1,3}[.)])\s+(?P<text>.*)", re.DOTALL)
_NUMBERING = re.compile(r"^\d{1,3}(?:(?:\.\d{1,3})*[.)]|(?:\.\d{1,3})+)\s+(?=\S)")
_FENCE = re.compile(r"[\s>]*(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)", re.DOTALL)


def _without_code(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines outside fenced code with their numbers. A fence that nothing closes fences nothing: what follows is
    read as text."""
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
            yield number, ""
        elif not (fence and bare):
            yield number, line


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


def _unquoted(line: str) -> str:
    quote = _QUOTE.match(line) if ">" in line[:4] else None
    return line[quote.end() :] if quote else line


def _atx_heading(text: str) -> tuple[int, str] | None:
    """Level and title of a heading written as `## Title ##`."""
    level = len(text) - len(text.lstrip("#"))
    if not 1 <= level <= 6 or text[level : level + 1] not in ("", " "):
        return None
    title = _NUMBERING.sub("", text[level:].strip())
    unclosed = title.rstrip("#")
    return level, unclosed.rstrip() if unclosed[-1:] in ("", " ") else title


def _is_rule(line: str) -> bool:
    marks = line.replace(" ", "").replace("\t", "")
    return len(marks) >= 3 and marks[0] in "-*_=" and marks == marks[0] * len(marks)


# --- the reader -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Item:
    indent: int
    passage: Passage | None = None
    """What its first run of text became; None while that is still being read."""


class _Reader:
    """Reads lines into passages; what it remembers is what a reader has above the line."""

    def __init__(self, lines: list[str], begins: list[int], speaking: frozenset[str]) -> None:
        self._lines = lines
        self._begins = begins
        self._number = 0
        self._open_begin = 0
        self._turn_begin = 0
        self._speaking = speaking
        self._wrap = wrap_width(lines)
        self._passages: list[Passage] = []
        self._open: list[str] = []
        self._items: list[_Item] = []
        self._announcement: Passage | None = None
        self._heading: Passage | None = None
        self._speaker = ""
        self._said: Period | None = None
        self._stamp = ""
        self._silent = False
        """Whether the speaker was named and has said nothing yet."""

    def read(self) -> list[Passage]:
        number = 0
        while number < len(self._lines):
            number += self._take(number)
        self._end_turn()
        self._end_section(0)
        return self._passages

    def _take(self, number: int) -> int:
        """Reads what starts at a line; returns how many lines that was."""
        self._number = number
        line = _unquoted(self._lines[number])
        text = " ".join(line.split())
        if not text:
            self._close()
        elif heading := self._underlined(text) or _atx_heading(text):
            self._take_heading(*heading)
        elif _is_rule(text):
            self._end_list()
        elif "|" in line and number + 1 < len(self._lines) and starts_table(line, _unquoted(self._lines[number + 1])):
            return self._take_table(number)
        elif (said := utterance(text)) is not None and said.speaker.casefold() in self._speaking:
            self._take_utterance(said)
        elif item := _ITEM.fullmatch(line):
            self._take_item(len(item["indent"].expandtabs(4)), " ".join(item["text"].split()))
        else:
            self._take_line(text, indented=line[:1].isspace())
        return 1

    def _underlined(self, text: str) -> tuple[int, str] | None:
        """The heading that a line makes of the single line above it."""
        if len(self._open) != 1 or self._items or self._speaker or not _is_rule(text) or text[0] not in "=-":
            return None
        return 1 if text[0] == "=" else 2, self._open.pop()

    def _take_heading(self, level: int, title: str) -> None:
        self._end_turn()
        self._end_section(level)
        begin = self._begins[self._number]
        self._heading = Passage(title, "heading", level=level, label=_only_names(title, level), begin=begin)
        self._passages.append(self._heading)

    def _end_section(self, level: int) -> None:
        """A heading with nothing below it, not even a deeper heading, is no label but says something itself."""
        last = self._passages[-1] if self._passages else None
        if last is not None and last.kind == "heading" and last.level >= level:
            last.label = False

    def _take_table(self, number: int) -> int:
        self._end_list()
        header = cells_of(_unquoted(self._lines[number]))
        end = number + 2
        while end < len(self._lines) and "|" in (row := _unquoted(self._lines[end])):
            self._add(" ".join(row_text(header, cells_of(row)).split()), "row", self._begins[end])
            end += 1
        if end == number + 2:
            self._add("; ".join(header), "row", self._begins[number])
        return end - number

    def _take_utterance(self, said: Utterance) -> None:
        self._end_turn()
        self._speaker, self._said, self._stamp, self._silent = said.speaker, said.said, said.unread_stamp, True
        self._turn_begin = self._begins[self._number]
        if said.text:
            self._open_with(said.text)

    def _take_item(self, indent: int, text: str) -> None:
        self._close()
        while self._items and self._items[-1].indent >= indent:
            self._items.pop()
        self._items.append(_Item(indent))
        if text:
            self._open_with(text)

    def _take_line(self, text: str, *, indented: bool) -> None:
        if self._items and not indented and not (self._open and text[0].islower()):
            self._end_list()
        self._open_with(text)

    def _open_with(self, text: str) -> None:
        if not self._open:
            self._open_begin = self._begins[self._number]
        self._open.append(text)

    def _end_list(self) -> None:
        self._close()
        self._items.clear()
        self._announcement = None

    def _end_turn(self) -> None:
        """Ends what the speaker says; one who says nothing is still named."""
        self._end_list()
        name, self._speaker, self._said = self._speaker, "", None
        if self._silent:
            self._add(name, "prose", self._turn_begin)

    def _close(self) -> None:
        """Ends the paragraph or item that is open."""
        # Lines that go on with an item were indented to belong to it: all of them are wraps.
        runs = unwrapped(self._open, 1 if self._items else self._wrap)
        self._open.clear()
        for run in runs:
            text = f"{self._stamp} {run}" if self._stamp else run
            self._stamp = ""
            if self._items:
                self._add_item(text)
            else:
                self._announcement = self._add(text, "prose", self._open_begin)

    def _add_item(self, text: str) -> None:
        passage, item = self._add(text, "item", self._open_begin), self._items[-1]
        if item.passage is not None:
            return
        item.passage = passage
        above = self._items[-2].passage if len(self._items) > 1 else self._announcement
        if above is not None:
            passage.lead = _lead_of(above)
            above.carried = above.carried or bool(passage.lead)

    def _add(self, text: str, kind: Kind, begin: int) -> Passage:
        heading = self._heading.text if self._heading else ""
        passage = Passage(text, kind, heading=heading, speaker=self._speaker, said=self._said, begin=begin)
        self._passages.append(passage)
        self._silent = self._silent and not any(map(str.isalnum, text))
        return passage


def _only_names(title: str, level: int) -> bool:
    """Whether a heading is a name ("Storage", or the title of the page) rather than a statement ("We store events")."""
    words, letters = (6, 60) if level == 1 else (3, 30)
    return len(title.split()) < words and len(title) <= letters and not ends_like_a_sentence(title)


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
