"""Whether new facts could change a page, told cheaply before a language model is asked to work them in.

Two looks, the cheaper first. Words: a fact that shares a name, or a word the page is about, may belong to it whatever
its vector says, for an embedding hardly sees a name that is said once in a long text. Meaning: the vectors of the facts
against those of the question and of the parts of the page. Both err towards reading: a fact read in vain costs a call,
a fact set aside is missing until the next refresh that reads. How often that happens is in docs/relevance.md.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from application.ports import Embedder, MemoryStore, MindFailed
from domain.document import Document, plain_text
from domain.memory import Fact
from domain.terms import fact_terms, terms
from domain.usage import ModelCall

THRESHOLD = 0.15
"""Cosine similarity from which a fact that shares no telling word with a page may still change it."""
PART = 700
"""Characters of a part of a page that is compared, about 120 words; the mean of a longer one says little of a fact."""
MOST_TEXTS = 40
"""Texts embedded for one page at most; parts of a page that has more are longer."""

FEWEST_LINES = 4
"""Lines of a page from which a word can be in most of them."""


@dataclass(frozen=True)
class Relevance:
    """`near`: at least one fact may change the page, so all are to be read. `calls` are the embedding calls paid.
    `nearest` is the largest cosine similarity of a fact to the page, None when vectors were not compared."""

    near: bool
    calls: tuple[ModelCall, ...] = ()
    nearest: float | None = None


class RelevanceCheck:
    """`threshold` is a cosine similarity and fits the static embeddings; other models put similarities elsewhere."""

    def __init__(self, memory: MemoryStore, embedder: Embedder, threshold: float = THRESHOLD) -> None:
        self._memory = memory
        self._embedder = embedder
        self._threshold = threshold

    def check(self, bank_id: str, name: str, source_query: str, document: Document, facts: Sequence[Fact]) -> Relevance:
        """Compares facts stored in a bank with a page. A fact without a vector to compare is near, and so are all when
        the page cannot be embedded. No facts are not near."""
        page = page_of(name, source_query, document)
        if not facts or any(map(page.shares_a_telling_word, facts)):
            return Relevance(near=bool(facts))
        try:
            embedded = self._embedder.embed(page.texts)
        except MindFailed as failed:
            return Relevance(near=True, calls=failed.calls)
        positions = [fact.position for fact in facts]
        found = self._memory.nearness(bank_id, positions, embedded.vectors)
        return Relevance(
            # Not "at least the threshold": what is no number is no reason to set a fact aside.
            near=not all(position in found and found[position] < self._threshold for position in positions),
            calls=tuple(embedded.calls),
            nearest=max(found.values(), default=None),
        )


@dataclass(frozen=True)
class Page:
    """What facts are compared with. `about` are the words of its question, name and headings, `words` all of it, and
    `frequent` those in most of its lines; `texts` are to be embedded, the question first."""

    about: frozenset[str]
    words: frozenset[str]
    frequent: frozenset[str]
    texts: tuple[str, ...]

    def shares_a_telling_word(self, fact: Fact) -> bool:
        """Whether a word of the fact is one the page is about, or a name in it is anywhere on the page. What most lines
        of the page have does not tell: on a page about Alice every fact about her would belong."""
        said = frozenset(fact_terms(fact.text, fact.entities))
        shared = (said & self.about) | (_names(fact, said) & self.words)
        return not shared <= self.frequent | COMMON_WORDS


def page_of(name: str, source_query: str, document: Document) -> Page:
    """A page made ready to be compared with facts."""
    question = f"{name}\n{source_query}".strip()
    headings = [section.heading.title for section in document.sections if section.heading]
    sections = [plain_text(replace(document, leading="", sections=(section,))) for section in document.sections]
    lines = [frozenset(terms(line)) for section in sections for line in section.splitlines()]
    about = frozenset(term for text in (question, *headings) for term in terms(text))
    return Page(
        about=about,
        words=about.union(*lines),
        frequent=_in_most_of(lines),
        texts=(question, *_parts(sections)),
    )


# --- words ------------------------------------------------------------------------------------------------------------

COMMON_WORDS = frozenset(
    terms(
        "able actually add ago already also always another anything around ask assistant away back become begin best "
        "better big bring call came change come common consider could current currently day describe detail different "
        "done early easy else end enough even ever every everyone everything example explain fact far feel few find "
        "first found gave general get give given go going gone good got great hard help high important information "
        "interest keep key kind know known last late lately later learn least less let like list little ll long look "
        "lot made main make making many matter may maybe mean mention might mind month most much must name need never "
        "new next nice none note nothing now number off often ok old one part past people person place please point "
        "possible pretty put question quite re real really reason recent recently relate remember right said say "
        "second see seem set several short show since small someone something soon start started still stuff sum "
        "summary sure take tell thank thing think third thought time today together told tomorrow took top topic try "
        "turn two type update upon us use used useful user using usual usually ve want way week well went without "
        "word work would year yes yesterday yet "
        "background conclusion introduction overview section "
        "january february march april june july august september october november december "
        "monday tuesday wednesday thursday friday saturday sunday and/or"
    )
)
"""Words that say nothing of a subject, in the form in which `terms` gives them, beyond those it leaves out."""

_CAPITALISED = re.compile(r"\b[^\W\d_a-z]\w*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_LONG_NUMBER = re.compile(r"\d{3,}")
_LETTER = re.compile(r"[^\W\d_]")
_INSIDE_A_CODE = re.compile(r"\d|.{3,}[._/:@]|[._/:@].{3,}")


def _names(fact: Fact, said: Iterable[str]) -> frozenset[str]:
    """Terms of the fact's entities (of its capitalised words when it has none), and of what is written like a name of a
    thing: `v1.2`, `memory_store`, an address, an invoice number. Years and dates are not."""
    named = fact.entities or _CAPITALISED.findall(fact.text)
    return frozenset((*terms("\n".join(named)), *filter(_is_a_code, said)))


def _is_a_code(term: str) -> bool:
    if _LETTER.search(term):
        return bool(_INSIDE_A_CODE.search(term))
    return bool(_LONG_NUMBER.fullmatch(term)) and not _YEAR.fullmatch(term)


def _in_most_of(lines: Sequence[frozenset[str]]) -> frozenset[str]:
    if len(lines) < FEWEST_LINES:
        return frozenset()
    counted = Counter(term for line in lines for term in line)
    return frozenset(term for term, times in counted.items() if 2 * times > len(lines))


# --- texts to embed ---------------------------------------------------------------------------------------------------


def _parts(sections: Sequence[str]) -> list[str]:
    """Sections, long ones in parts. When they are too many, parts grow over the borders of sections: nothing of the
    page is left out."""
    parts = [part for section in sections for part in _packed(section.splitlines(), PART)]
    longest = PART
    while len(parts) >= MOST_TEXTS:
        longest *= 2
        parts = list(_packed([line for section in sections for line in section.splitlines()], longest))
    return parts


def _packed(lines: Iterable[str], longest: int) -> Iterator[str]:
    """Texts of whole lines, as many as fit into `longest` characters; a longer line is broken between words."""
    packed = ""
    for line in lines:
        for piece in textwrap.wrap(line, longest):
            if packed and len(packed) + len(piece) >= longest:
                yield packed
                packed = ""
            packed = f"{packed}\n{piece}" if packed else piece
    if packed:
        yield packed
