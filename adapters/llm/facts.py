"""Reading facts out of a retained item with a language model.

Shape and meaning of a fact: spec of the system of reference, "Extraction output per fact".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from datetime import UTC, datetime

from adapters.llm.endpoint import Endpoint
from adapters.llm.extraction_prompts import extraction_messages, labels_missing
from adapters.llm.fact_replies import FactReply, FactsReply, reply_type
from adapters.llm.failures import CutOff
from adapters.offline.dates import first_period, with_dates
from application.ports import Extraction, MindFailed, RetainSteering
from domain.bank_labels import LabelGroup
from domain.chunk_facts import facts_of_chunks
from domain.chunking import chunks_of
from domain.conversation import readable
from domain.entities import cleaned
from domain.fact_labels import NOTHING, labels_of, missing_labels
from domain.memory import Chunk, ExtractedFact, RetainItem
from domain.period import Period
from domain.usage import ModelCall

PURPOSE = "extract_facts"
SHORTEST_SPLIT = 500
"""Characters of a text from which on it is read in parts when its facts do not fit into one answer (the system of
reference, "min split")."""


class LlmFactExtractor:
    """A FactExtractor: one call for each chunk, `parallel` calls at a time."""

    rereads = False

    def __init__(self, endpoint: Endpoint, *, parallel: int = 4) -> None:
        self._endpoint = endpoint
        self._parallel = parallel

    def extract(
        self, item: RetainItem, *, steering: RetainSteering, now: datetime, chunks: Sequence[Chunk] | None = None
    ) -> Extraction:
        """Facts in the order of the text. Raises MindFailed, with all calls made, when one chunk cannot be read."""
        given = [chunk for chunk in (chunks_of(item.content) if chunks is None else chunks) if chunk.text.strip()]
        if steering.mode == "chunks":
            return Extraction(facts=facts_of_chunks(given))
        readings = [
            _Reading(self._endpoint, chunk, number + 1, len(given), item, steering, now, [])
            for number, chunk in enumerate(given)
        ]
        try:
            found = self._each([reading.facts for reading in readings])
        except MindFailed as failure:
            failure.calls = _all(readings)
            raise
        return Extraction(facts=_joined(found), calls=_all(readings))

    def _each(self, readings: Sequence[Callable[[], Sequence[ExtractedFact]]]) -> list[Sequence[ExtractedFact]]:
        if len(readings) <= 1:
            return [read() for read in readings]
        with ThreadPoolExecutor(min(self._parallel, len(readings)), thread_name_prefix=PURPOSE) as threads:
            waiting = [threads.submit(copy_context().run, read) for read in readings]
            try:
                return [each.result() for each in waiting]
            except MindFailed:
                threads.shutdown(wait=True, cancel_futures=True)
                raise


def _all(readings: Iterable[_Reading]) -> tuple[ModelCall, ...]:
    return tuple(call for reading in readings for call in reading.paid)


def _joined(lists: Sequence[Sequence[ExtractedFact]]) -> tuple[ExtractedFact, ...]:
    """The facts of all lists in order; causes point into their own list."""
    joined: list[ExtractedFact] = []
    for facts in lists:
        before = len(joined)
        joined += [
            fact.model_copy(update={"caused_by": tuple(cause + before for cause in fact.caused_by)}) for fact in facts
        ]
    return tuple(joined)


# --- one chunk --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reading:
    """How one chunk is read; `paid` takes the calls."""

    endpoint: Endpoint
    chunk: Chunk
    part: int
    parts: int
    item: RetainItem
    steering: RetainSteering
    now: datetime
    paid: list[ModelCall]

    def facts(self) -> Sequence[ExtractedFact]:
        text = readable(self.chunk.text)
        if self.steering.mode == "verbatim":
            return [self._kept_whole(text)]
        return self._facts_in(text)

    def _facts_in(self, text: str) -> Sequence[ExtractedFact]:
        """The facts of a text, read in parts when they do not fit into one answer."""
        try:
            reply = self._asked(text)
        except CutOff:
            if len(text) < SHORTEST_SPLIT:
                raise
            parts = chunks_of(text, len(text) * 3 // 5)
            return _joined([self._facts_in(part.text) for part in parts if part.text.strip()])
        return self._read(reply)

    def _asked(self, text: str) -> FactsReply:
        """What the model writes down; asked once more when labels are missing. Facts that then still lack one do
        without it: better than no facts."""
        messages = extraction_messages(
            text, part=self.part, parts=self.parts, item=self.item, steering=self.steering, now=self.now
        )
        shape = reply_type(self.steering)
        reply = self.endpoint.typed(messages, shape, purpose=PURPOSE, paid=self.paid)
        missing = self._missing(reply)
        if not missing:
            return reply
        said = reply.model_dump_json(exclude_defaults=True)
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": labels_missing(missing)}]
        try:
            again = self.endpoint.typed(messages, shape, purpose=PURPOSE, paid=self.paid)
        except MindFailed as failure:
            if failure.transient:
                raise
            return reply
        return again if len(again.facts) >= len(reply.facts) else reply

    def _missing(self, reply: FactsReply) -> dict[int, Sequence[LabelGroup]]:
        lacking = (
            (number, missing_labels(self.steering.labels, fact.labels)) for number, fact in enumerate(reply.facts)
        )
        return {number: groups for number, groups in lacking if groups}

    def _read(self, reply: FactsReply) -> list[ExtractedFact]:
        """The facts that say something; a cause is an earlier one of them."""
        facts: list[ExtractedFact] = []
        place: dict[int, int] = {}
        for number, each in enumerate(reply.facts):
            text = _text(each, self.item.timestamp)
            if text:
                causes = each.caused_by if self.steering.causal_links else ()
                earlier = sorted({place[cause] for cause in causes if cause in place})
                place[number] = len(facts)
                facts.append(self._fact(text, each, tuple(earlier)))
        return facts

    def _kept_whole(self, text: str) -> ExtractedFact:
        """The chunk itself as a fact, with what the model says about it, if it can."""
        try:
            replies = self._asked(text).facts
        except CutOff:
            replies = []
        return self._fact(self.chunk.text.strip(), replies[0] if replies else FactReply(), ())

    def _fact(self, text: str, reply: FactReply, caused_by: tuple[int, ...]) -> ExtractedFact:
        labels = labels_of(self.steering.labels, reply.labels)
        names = reply.entities if self.steering.free_form_entities else ()
        period = _occurred(reply, self.item.timestamp)
        return ExtractedFact(
            text=text,
            fact_type="experience" if reply.fact_type == "assistant" else "world",
            occurred_start=period[0],
            occurred_end=period[1],
            entities=cleaned((*map(_line, names), *labels.names)),
            tags=labels.tags,
            chunk=self.chunk.number,
            caused_by=caused_by,
        )


def _text(reply: FactReply, said_at: datetime | None) -> str:
    """The parts that say something, with the date behind a "yesterday" that the model left as it was."""
    when = with_dates(_line(reply.when), said_at)
    said = [_line(reply.what), when, _line(reply.where), _line(reply.who), _line(reply.why)]
    return " | ".join(part for part in said if part)


def _line(text: str | None) -> str:
    """The text in one line; nothing when it only says that there is nothing to say."""
    line = " ".join((text or "").split())
    return "" if line.casefold().rstrip(".") in NOTHING else line


def _occurred(reply: FactReply, said_at: datetime | None) -> tuple[datetime | None, datetime | None]:
    """When it was: as the model reckoned, else as its own words for it say. An end before the start is none."""
    if reply.fact_kind == "conversation":
        return None, None
    start, end = _time(reply.occurred_start), _time(reply.occurred_end)
    if start is None and end is None:
        said: Period | None = first_period(_line(reply.when), said_at)
        return (said.start, said.end) if said else (None, None)
    return start, None if start and end and end < start else end


def _time(text: str | None) -> datetime | None:
    """A UTC time; one without a zone is taken as UTC, one that cannot be read is not known."""
    try:
        read = datetime.fromisoformat((text or "").strip())
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
