"""Names in a text, by how they are written: capitals where no sentence begins, acronyms, @names, and the values of
labels such as "Owner". In languages without capitals only the names the caller gives are known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from adapters.offline.common_words import NAME_JOINTS, NAMING_LABELS, NO_NAMES
from domain.entities import cleaned, folded

LONGEST_NAME = 6
"""Words of a name at most; a longer run of capitals is a title."""

_MENTION = re.compile(r"(?<![\w@./])@\w[\w.-]*(?<![.-])")
_WORD = re.compile(r"(?<![\w@])(?:(?:[^\W\d_a-z]\.){2,}(?!\w)|[^\W\d_a-z]\w*(?:[’'&.-]\w+)*)")
_LOWER = re.compile(r"\b[a-z]{2,}\b")
_POSSESSIVE = re.compile(r"[’']s$")
_OPENING = re.compile(r"[\W_]*")
_LABEL = re.compile(r"(?:^|(?<=; ))(?P<key>[^\W\d_][^:;.!?]{0,40}):(?=\s)")
_NO_PROSE = re.compile(  # addresses and paths; anchored, so that a long token is read once
    r"https?://\S+|(?<!\S)[^\s@]+@[^\s@]+\.\S+|(?<!\S)[^\s/]*/[^\s/]*/\S*"
)


@dataclass(frozen=True, slots=True)
class _Word:
    """A capitalised word of a sentence, at `[begin, end)`."""

    text: str
    begin: int
    end: int
    opens: bool
    """Whether it begins a sentence, a quotation or the value of a label, where a capital says nothing."""


class Names:
    """Finds names in the sentences of one text. It has read them all before, because a capital at the start of one
    sentence is a name when another has it in the middle."""

    def __init__(self, sentences: Iterable[str], known: Sequence[str] = ()) -> None:
        self._known = cleaned(known)
        self._spelling = {folded(name): name for name in self._known}
        self._capitalised = {word.casefold() for name in self._known for word in name.split()}
        self._lower: set[str] = set()
        for sentence in sentences:
            self._lower.update(_LOWER.findall(sentence))
            self._capitalised.update(word.text.casefold() for word in _words(sentence) if not word.opens)

    def find(self, sentence: str, *, more: Iterable[str] = (), titles: Iterable[str] = ()) -> tuple[str, ...]:
        """The caller's names, `more`, those in the sentence, then those in `titles`, where any word may have a capital
        and only words count that are names elsewhere. A name keeps the spelling it was first found with."""
        found = [*self._known, *more, *self._names_in(sentence, title=False)]
        for title in filter(None, titles):
            found.extend(self._names_in(title, title=True))
        return tuple(self._spelling.setdefault(folded(name), name) for name in cleaned(found))

    def _names_in(self, sentence: str, *, title: bool) -> list[str]:
        labels = list(_labels(sentence)) if ":" in sentence else []
        found = [(match.start(), match[0]) for match in _MENTION.finditer(sentence)] if "@" in sentence else []
        for run in _runs(sentence, _words(sentence)):
            begin = run[0].begin
            if any(label.start("key") <= begin < label.end("key") for label in labels):
                continue
            valued = any(begin == label.end() + 1 and _names_its_value(label["key"]) for label in labels)
            name = self._name_of(run, title=title, certain=valued)
            if name:
                found.append((name[0].begin, sentence[name[0].begin : name[-1].end]))
        return [name for _, name in sorted(found)]

    def _name_of(self, run: list[_Word], *, title: bool, certain: bool) -> list[_Word]:
        """The part of a run of capitalised words that is a name; empty when none is."""
        while run and _is_common(run[0].text):
            run = run[1:]
        while run and _is_common(run[-1].text):
            run = run[:-1]
        if not run or len(run) > LONGEST_NAME:
            return []
        if title:
            return run if all(map(self._is_certain, run)) else []
        if certain or not run[0].opens or self._is_certain(run[0]):
            return run
        return run if len(run) > 1 and run[0].text.casefold() not in self._lower else run[1:]

    def _is_certain(self, word: _Word) -> bool:
        return any(letter.isupper() for letter in word.text[1:]) or word.text.casefold() in self._capitalised


def _words(sentence: str) -> Iterator[_Word]:
    """Capitalised words in order; none in a sentence that is all capitals."""
    if sentence.isupper() and sentence.count(" ") > 1:
        return
    if "/" in sentence or "@" in sentence:
        sentence = _NO_PROSE.sub(lambda match: " " * len(match[0]), sentence)
    opening = _OPENING.match(sentence)
    first = opening.end() if opening else 0
    for match in _WORD.finditer(sentence):
        if match[0][0].isupper():
            text = _POSSESSIVE.sub("", match[0]).rstrip("_")
            begin = match.start()
            yield _Word(text, begin, begin + len(text), begin <= first or _follows_an_opening(sentence, begin))


def _follows_an_opening(sentence: str, begin: int) -> bool:
    before = sentence[max(0, begin - 3) : begin]
    if before[-1:] in "“«‘「『" or before.endswith((' "', " '")):
        return True
    return before.rstrip()[-1:] in (":", "：", "•", "|")


def _runs(sentence: str, words: Iterable[_Word]) -> Iterator[list[_Word]]:
    """Capitalised words that stand together, with nothing or with "of", "van" and the like between them."""
    run: list[_Word] = []
    for word in words:
        if run and not _joined(run[-1], sentence[run[-1].end : word.begin]):
            yield run
            run = []
        run.append(word)
    if run:
        yield run


def _joined(word: _Word, gap: str) -> bool:
    return gap in NAME_JOINTS or (gap == ". " and len(word.text) == 1)


def _is_common(text: str) -> bool:
    plain = text.casefold().replace("’", "'")
    return len(text) == 1 or plain in NO_NAMES or plain.split("'")[0] in NO_NAMES or plain.endswith("n't")


def _labels(sentence: str) -> Iterator[re.Match[str]]:
    """Keys of `Label: value`: up to three words, all of them with a capital or none after the first."""
    for match in _LABEL.finditer(sentence):
        first, *others = (word[0].isupper() for word in match["key"].split())
        if len(others) < 3 and (not any(others) or (first and all(others))):
            yield match


def _names_its_value(key: str) -> bool:
    return key.casefold().split()[-1] in NAMING_LABELS
