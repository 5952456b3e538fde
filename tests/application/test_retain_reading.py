"""A retain that is read again, for its document has moved on: nothing that was read is asked for twice, or lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from application.ports import Extraction, RetainSteering, StoredChunk, StoredDocument
from application.retain_reading import Reading, RetainReader, RetainRequest
from domain.bank_config import BankConfig
from domain.memory import Chunk, ExtractedFact, RetainItem
from domain.retain import PARTS_AT_MOST, Part
from tests.support.in_memory import InMemoryMemoryStore
from tests.support.scripted_minds import CountingEmbedder

CHUNKS = ["First line of it. \n", "Second line of it.\n", "Third line of all.\n"]
ITEM = RetainItem(content="".join(CHUNKS), document_id="d", timestamp=datetime(2026, 1, 1, tzinfo=UTC))
SMALL = BankConfig(retain_chunk_size=20)


class TwoFactsOfEachChunk:
    """FactExtractor: the second fact of a chunk is caused by the first."""

    rereads = False

    def __init__(self) -> None:
        self.read: list[list[str]] = []

    def extract(
        self, item: RetainItem, *, steering: RetainSteering, now: datetime, chunks: Sequence[Chunk] | None = None
    ) -> Extraction:
        del item, steering, now
        self.read.append([chunk.text for chunk in chunks or ()])
        facts: list[ExtractedFact] = []
        for chunk in chunks or ():
            first = len(facts)
            facts.append(ExtractedFact(text=f"one of {chunk.text}", chunk=chunk.number))
            facts.append(ExtractedFact(text=f"two of {chunk.text}", chunk=chunk.number, caused_by=(first,)))
        return Extraction(facts)


class Documents(InMemoryMemoryStore):
    """A memory whose documents are what a test says."""

    stored: Mapping[str, StoredDocument] = {}

    def stored_documents(self, bank_id: str, document_ids: Sequence[str]) -> Mapping[str, StoredDocument]:
        del bank_id, document_ids
        return self.stored


def told(reading: Reading) -> list[tuple[str, int | None, tuple[int, ...]]]:
    return [
        (each.fact.text[:3] + each.fact.text[7:12], each.fact.chunk, each.fact.caused_by)
        for document in reading.documents
        for item in document.items
        for each in item.facts
    ]


def test_what_was_read_of_each_chunk_is_known_when_others_have_to_be_read_too() -> None:
    memory, extractor = Documents(), TwoFactsOfEachChunk()
    request = RetainRequest("bank", [ITEM], 5, datetime(2026, 1, 1, tzinfo=UTC), [0])
    reading = RetainReader(memory, CountingEmbedder(), extractor).begin(request, SMALL)
    (whole,) = RetainReader(memory, CountingEmbedder(), TwoFactsOfEachChunk()).begin(request, SMALL).read().documents

    def has(*numbers: int) -> None:
        chunks = [
            StoredChunk(str(each.chunk_id), "d", each.number, each.text, each.read_with)
            for each in whole.chunks
            if each.number in numbers
        ]
        part = Part(asked=1, length=len(ITEM.content), chunks=len(chunks), replaces=True)
        memory.stored = {"d": StoredDocument("".join(each.text for each in chunks), 1, [part], chunks)}

    has(2)
    first, second = [("oneFirst", 0, ()), ("twoFirst", 0, (0,))], [("oneSecon", 1, ()), ("twoSecon", 1, (2,))]
    assert told(reading.read()) == [*first, *second]
    has()
    third = [("oneThird", 2, ()), ("twoThird", 2, (4,))]
    assert told(reading.read()) == [*first, *second, *third]
    has(0)
    moved = [(text, chunk, tuple(cause - 2 for cause in causes)) for text, chunk, causes in [*second, *third]]
    assert told(reading.read()) == moved
    assert extractor.read == [CHUNKS[:2], CHUNKS[2:]]


def test_a_document_of_too_many_appends_is_kept_in_fewer_parts() -> None:
    memory = Documents()
    parts = [Part(asked=number, length=1, chunks=0, replaces=number == 0) for number in range(PARTS_AT_MOST)]
    memory.stored = {"d": StoredDocument("\n".join("x" * PARTS_AT_MOST), 1, parts, [])}
    item = ITEM.model_copy(update={"update_mode": "append"})
    request = RetainRequest("bank", [item], PARTS_AT_MOST, datetime(2026, 1, 1, tzinfo=UTC), [0])
    reader = RetainReader(memory, CountingEmbedder(), TwoFactsOfEachChunk())
    (document,) = reader.begin(request, SMALL).read().documents
    assert len(document.parts) == PARTS_AT_MOST
    assert (document.parts[0].length, document.parts[0].replaces) == (3, True)
    assert document.text == "\n".join([*"x" * PARTS_AT_MOST, ITEM.content])
