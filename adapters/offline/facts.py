"""Facts of an item: its sentences, with what the page says around them, their dates and names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.offline.attribution import Chunks, Places
from adapters.offline.dates import first_period
from adapters.offline.entities import Names
from adapters.offline.labels import NamedLabels
from adapters.offline.languages import language_of
from adapters.offline.passages import LONGEST_CONTEXT, Passage, passages_of
from adapters.offline.sentences import ends_like_a_sentence, is_cjk, split_long, split_sentences
from adapters.offline.small_talk import is_only_addressed, is_small_talk
from adapters.offline.speakers import ASSISTANTS
from application.ports import Extraction, RetainSteering
from domain.chunk_facts import facts_of_chunks
from domain.chunking import chunks_of
from domain.conversation import transcript
from domain.entities import cleaned
from domain.memory import Chunk, ExtractedFact, RetainItem
from domain.scope import FactType


class OfflineFactExtractor:
    """Every sentence with a letter or digit is a fact, once an item (once in each chunk, when those are told apart),
    unless it is small talk in a conversation. A table row reads `Header: value; Header: value`, a spoken line keeps its
    speaker, a list item what announced it; code is left out.

    Dates count from what the text itself says: from the stamp of a chat line or the item's timestamp. Without either,
    "yesterday" gives no date; the machine's clock never does. Labels are values that are named in a fact."""

    rereads = True

    def extract(
        self, item: RetainItem, *, steering: RetainSteering, now: datetime, chunks: Sequence[Chunk] | None = None
    ) -> Extraction:
        """Never fails and costs nothing. The whole item is understood; with `chunks`, facts that stand in none of them
        are left out. A mission is an instruction and this engine follows rules only: of the modes, `verbatim` and
        `chunks` keep chunks whole, the others select nothing. `now` is not when the item was said, so no date may count
        from it."""
        del now
        if steering.mode in ("verbatim", "chunks"):
            kept = facts_of_chunks(chunks_of(item.content) if chunks is None else chunks)
            about = [_about(fact, item, steering) for fact in kept] if steering.mode == "verbatim" else kept
            return Extraction(facts=tuple(about))
        if chunks is None:
            return Extraction(facts=tuple(_once(_Reading(item, steering).facts())))
        found = Chunks(item.content, chunks)
        facts = list(_Reading(item, steering).facts(found))
        for chunk in found.elsewhere:
            alone = _Reading(item.model_copy(update={"content": chunk.text}), steering)
            facts += [fact.model_copy(update={"chunk": chunk.number}) for fact in alone.facts()]
        return Extraction(facts=tuple(_once(facts)))


def _once(facts: Iterable[ExtractedFact]) -> Iterable[ExtractedFact]:
    """The facts without those that say the same as an earlier one of their chunk."""
    said: dict[tuple[str, int | None], ExtractedFact] = {}
    for fact in facts:
        said.setdefault((fact.text, fact.chunk), fact)
    return said.values()


def _about(kept: ExtractedFact, item: RetainItem, steering: RetainSteering) -> ExtractedFact:
    """A chunk with the dates, names and labels of its sentences."""
    facts = list(_Reading(item.model_copy(update={"content": kept.text}), steering).facts())
    dated = next((fact for fact in facts if fact.occurred_start), None)
    return kept.model_copy(
        update={
            "fact_type": "experience" if facts and all(it.fact_type == "experience" for it in facts) else "world",
            "occurred_start": dated.occurred_start if dated else None,
            "occurred_end": dated.occurred_end if dated else None,
            "entities": cleaned(name for fact in facts for name in fact.entities),
            "tags": tuple(dict.fromkeys(tag for fact in facts for tag in fact.tags)),
        }
    )


_BYTE_ORDER_MARK = re.compile("^\ufeff", re.MULTILINE)
"""Of a file: no letter of the word behind it."""


class _Reading:
    """One item, read as a whole."""

    def __init__(self, item: RetainItem, steering: RetainSteering) -> None:
        self._item = item
        self._steering = steering
        self._transcript = transcript(item.content)
        self._text = self._transcript.text if self._transcript else _BYTE_ORDER_MARK.sub(" ", item.content)
        context = f"conversation, {item.context or ''}" if self._transcript else item.context
        passages = passages_of(self._text, known=item.entities, context=context)
        self._language = language_of(self._text)
        stated = [it for passage in passages for it in _statements(passage, self._language)]
        self._statements = _without_small_talk(stated)
        sentences = (it.body for it in self._statements if it.passage.kind != "heading")
        self._names = Names(sentences if steering.free_form_entities else (), item.entities)
        self._labels = NamedLabels(steering.labels)
        self._by_assistant = _is_written_by_an_assistant(item.context)

    def facts(self, chunks: Chunks | None = None) -> Iterator[ExtractedFact]:
        """All facts, each once, or those that stand in the chunks, each once in a chunk."""
        places = Places(self._text) if chunks else None
        said: set[tuple[str, int | None]] = set()
        for statement in self._statements:
            number = None
            if chunks and places:
                place = places.of(statement.body, statement.passage.begin)
                number = chunks.at(self._transcript.origin(place) if self._transcript else place)
                if number is None:
                    continue
            if (statement.text, number) in said:
                continue
            said.add((statement.text, number))
            yield self._fact(statement, number)

    def _fact(self, statement: _Statement, chunk: int | None) -> ExtractedFact:
        passage = statement.passage
        said = passage.said
        period = first_period(statement.body, said.start if said else self._item.timestamp, self._language) or said
        labels = self._labels.find(statement.text)
        return ExtractedFact(
            text=statement.text,
            fact_type=_fact_type(statement, by_assistant=self._by_assistant),
            occurred_start=period.start if period else None,
            occurred_end=period.end if period else None,
            entities=cleaned((*self._entities(statement), *labels.names)),
            tags=labels.tags,
            chunk=chunk,
        )

    def _entities(self, statement: _Statement) -> tuple[str, ...]:
        if not self._steering.free_form_entities:
            return self._names.find("")
        passage = statement.passage
        is_title = passage.kind == "heading"
        found = self._names.find(
            "" if is_title else statement.body,
            more=[passage.speaker],
            titles=[statement.body] if is_title else [statement.context, _topic(passage.heading)],
        )
        if not passage.speaker:
            return found
        kept = {passage.speaker, *self._item.entities}
        return tuple(name for name in found if name in kept or not is_only_addressed(name, statement.body))


@dataclass(frozen=True, slots=True)
class _Statement:
    """A sentence: `body` as it stands, `text` as it is understood alone: with `context` before it if it needs one."""

    body: str
    text: str
    context: str
    passage: Passage


def _statements(passage: Passage, language: str) -> Iterator[_Statement]:
    if passage.label:
        return
    sentences = [passage.text] if passage.kind in ("row", "heading") else split_sentences(passage.text, language)
    if passage.carried:
        sentences = sentences[:-1]
    for number, sentence in enumerate(sentences):
        context = _context(passage, sentence, first=number == 0)
        prefix = "".join(f"{part}: " for part in (passage.speaker, context) if part)
        for body in split_long(sentence):
            if any(map(str.isalnum, body)):
                yield _Statement(body, prefix + body, context, passage)


def _without_small_talk(statements: Sequence[_Statement]) -> list[_Statement]:
    """What is said to each other only; what one alone says, as in a log, is all meant."""
    speakers = {it.passage.speaker for it in statements if it.passage.speaker}
    if len(speakers) < 2:
        return list(statements)
    return [it for it in statements if not (it.passage.speaker and is_small_talk(it.body, speakers))]


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
