"""Facts of an item: its sentences, with what the page says around them, their dates and names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from adapters.offline.dates import first_period
from adapters.offline.entities import Names
from adapters.offline.passages import LONGEST_CONTEXT, Passage, passages_of
from adapters.offline.sentences import ends_like_a_sentence, is_cjk, split_long, split_sentences
from adapters.offline.speakers import ASSISTANTS
from application.ports import Extraction
from domain.memory import ExtractedFact, RetainItem
from domain.scope import FactType


class OfflineFactExtractor:
    """Every sentence with a letter or digit is a fact, once an item. A table row reads `Header: value; Header: value`,
    a spoken line keeps its speaker, a list item what announced it; code is left out.

    Dates count from what the text itself says: from the stamp of a chat line or the item's timestamp. Without either,
    "yesterday" gives no date; the machine's clock never does."""

    def extract(self, item: RetainItem, *, mission: str | None, now: datetime) -> Extraction:
        """Never fails and costs nothing. `mission` is an instruction and this engine follows rules only; `now` is not
        when the item was said, so no date may count from it."""
        del mission, now
        passages = passages_of(item.content, known=item.entities, context=item.context)
        statements = [statement for passage in passages for statement in _statements(passage)]
        names = Names((it.body for it in statements if it.passage.kind != "heading"), item.entities)
        by_assistant = _is_written_by_an_assistant(item.context)
        facts: dict[str, ExtractedFact] = {}
        for statement in statements:
            if statement.text not in facts:
                facts[statement.text] = _fact(statement, item.timestamp, names, by_assistant=by_assistant)
        return Extraction(facts=tuple(facts.values()))


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence: `body` as it stands, `text` as it is understood alone: with `context` before it if it needs one."""

    body: str
    text: str
    context: str
    passage: Passage


def _statements(passage: Passage) -> Iterator[_Statement]:
    if passage.label:
        return
    sentences = [passage.text] if passage.kind in ("row", "heading") else split_sentences(passage.text)
    if passage.carried:
        sentences = sentences[:-1]
    for number, sentence in enumerate(sentences):
        context = _context(passage, sentence, first=number == 0)
        prefix = "".join(f"{part}: " for part in (passage.speaker, context) if part)
        for body in split_long(sentence):
            if any(map(str.isalnum, body)):
                yield _Statement(body, prefix + body, context, passage)


def _fact(statement: _Statement, timestamp: datetime | None, names: Names, *, by_assistant: bool) -> ExtractedFact:
    passage = statement.passage
    said = passage.said
    period = first_period(statement.body, said.start if said else timestamp) or said
    is_title = passage.kind == "heading"
    entities = names.find(
        "" if is_title else statement.body,
        more=[passage.speaker],
        titles=[statement.body] if is_title else [statement.context, _topic(passage.heading)],
    )
    return ExtractedFact(
        text=statement.text,
        fact_type=_fact_type(statement, by_assistant=by_assistant),
        occurred_start=period.start if period else None,
        occurred_end=period.end if period else None,
        entities=entities,
    )


def _topic(heading: str) -> str:
    """The heading when it is short enough to be a name that all below it is about."""
    return heading if len(heading.split()) < 3 else ""


# --- whose experience -------------------------------------------------------------------------------------------------

_FIRST_PERSON = re.compile(r"\b(?:I|[Mm]e|[Mm]y|[Mm]ine|[Mm]yself|[Ww]e|[Uu]s|[Oo]ur|[Oo]urs)\b|[我私]")
_ASSISTANT = re.compile(r"\b(?:assistant|agent|ai)\b", re.IGNORECASE)
_SOMEONE_ELSE = re.compile(r"\b(?:user|human|customer|client|with|between|about|for)\b", re.IGNORECASE)


def _is_written_by_an_assistant(context: str | None) -> bool:
    """Whether the item's context names an assistant as its only voice ("assistant log"), not a talk with one."""
    return context is not None and bool(_ASSISTANT.search(context)) and not _SOMEONE_ELSE.search(context)


def _fact_type(statement: _Statement, *, by_assistant: bool) -> FactType:
    speaker = statement.passage.speaker
    spoken_by_assistant = speaker.casefold() in ASSISTANTS if speaker else by_assistant
    return "experience" if spoken_by_assistant and _FIRST_PERSON.search(statement.body) else "world"


# --- what a sentence needs to be understood ---------------------------------------------------------------------------

_POINTS_BACK = re.compile(
    r"(?:it|its|they|them|their|he|she|his|her|him|this|these|those)\b"
    r"|(?:we|you|i|do|don't|never|always|use|run|keep|set|call|see|please)\s(?:\w+\s){0,2}(?:it|them)\b",
    re.IGNORECASE,
)
_WORDS = re.compile(r"\w+")
_FEWEST_WORDS = 4
_FEWEST_CJK = 8


def _context(passage: Passage, sentence: str, *, first: bool) -> str:
    """What must stand before a sentence: the lead of its list before the first one, else the heading, and that only
    when the sentence is a fragment or speaks of "it" or "they"."""
    if passage.kind in ("row", "heading"):
        return ""
    if first and passage.lead:
        return passage.lead
    heading = passage.heading
    if not heading or len(heading) > LONGEST_CONTEXT or heading.casefold() in sentence.casefold():
        return ""
    return heading.rstrip(":： ") if _POINTS_BACK.match(sentence) or _is_fragment(sentence) else ""


def _is_fragment(sentence: str) -> bool:
    if ends_like_a_sentence(sentence):
        return False
    letters = sum(map(is_cjk, sentence[:_FEWEST_CJK]))
    return letters < _FEWEST_CJK if letters else len(_WORDS.findall(sentence[:200])) < _FEWEST_WORDS
