"""Reading a retain: facts out of the chunks that are not known yet, with their vectors and the names of the bank."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from application.current_operation import report
from application.ports import (
    EmbeddedFact,
    Embedder,
    Extraction,
    FactExtractor,
    MemoryStore,
    MindFailed,
    RetainedDocument,
    RetainedItem,
    RetainSteering,
    StoredDocument,
)
from application.retain_asked import AskedItem, asked_items
from application.retain_names import with_names
from application.retain_plan import DocumentPlan, ItemPlan, plan_anew, plan_of
from domain.bank_config import BankConfig
from domain.chunk_facts import facts_of_chunks
from domain.memory import Chunk, ExtractedFact, RetainItem
from domain.recall.embedded_text import embedded_text
from domain.retain_facts import of_chunks, shifted, verbatim
from domain.usage import ModelCall


@dataclass(frozen=True)
class RetainRequest:
    """Items of which each has a document. `asked` is their place in the order of retains, `asked_at` when that was;
    `places` are those of the items in the request as it came. `partly`: when some documents cannot be read, the others
    are retained all the same."""

    bank_id: str
    items: Sequence[RetainItem]
    asked: int
    asked_at: datetime
    places: Sequence[int]
    partly: bool = False

    @property
    def document_ids(self) -> list[str]:
        return list(dict.fromkeys(item.document_id or "" for item in self.items))


@dataclass(frozen=True)
class Unread:
    """A document that could not be read: the places of its items, and why; None: it was not tried any more."""

    document_id: str
    places: Sequence[int]
    failure: MindFailed | None = None


@dataclass(frozen=True)
class Reading:
    """Documents as they are to be written; `revisions` are those of the documents that it rests on, without those that
    were not there."""

    documents: Sequence[RetainedDocument]
    revisions: Mapping[str, int]
    calls: Sequence[ModelCall]
    unread: Sequence[Unread] = ()

    @property
    def facts(self) -> int:
        """How many there are; what is said several times in a document is one."""
        return sum(len(_statements(document)) for document in self.documents)


def _statements(document: RetainedDocument) -> set[Hashable]:
    return {
        (fact.text, fact.fact_type, fact.occurred_start, fact.occurred_end, item.item.tags, fact.tags)
        for item in document.items
        for fact in (each.fact for each in item.facts)
    }


class RetainReader:
    def __init__(self, memory: MemoryStore, embedder: Embedder, extractor: FactExtractor) -> None:
        self._memory = memory
        self._embedder = embedder
        self._extractor = extractor

    def begin(self, request: RetainRequest, config: BankConfig) -> RequestReading:
        """`config` is that of the bank."""
        return RequestReading(request, self._memory, self._embedder, self._extractor, config)


@dataclass
class _Known:
    """What was read of an item so far, and out of which chunks, by their texts."""

    facts: list[tuple[str, ExtractedFact]] = field(default_factory=list)
    chunks: set[str] = field(default_factory=set)


class RequestReading:
    """The reading of one request; done again, it asks for nothing that it has read already."""

    def __init__(
        self,
        request: RetainRequest,
        memory: MemoryStore,
        embedder: Embedder,
        extractor: FactExtractor,
        config: BankConfig,
    ) -> None:
        self._request = request
        self._memory = memory
        self._embedder = embedder
        self._extractor = extractor
        self._config = config
        ids = [item.document_id or "" for item in request.items]
        self._asked = asked_items(
            request.items, ids, config, request.asked_at, rereads=extractor.rereads, places=request.places
        )
        self._known: dict[tuple[int, str], _Known] = {}
        self._vectors: dict[str, Sequence[float]] = {}
        self.calls: list[ModelCall] = []

    def read(self) -> Reading:
        """Raises MindFailed, with all that was paid for, and DocumentTextNotStored."""
        stored = self._memory.stored_documents(self._request.bank_id, self._request.document_ids)
        documents, unread = self._documents(stored)
        failures = [each.failure for each in unread if each.failure is not None]
        if failures and not (documents and self._request.partly):
            raise self._telling(failures[-1], self._naming(failures[-1], unread)) from failures[-1]
        report("embedding", total=sum(len(item.facts) for document in documents for item in document.items))
        embedded = self._with_vectors(with_names(self._memory, self._request.bank_id, documents))
        revisions = {each: known.revision for each, known in stored.items()}
        return Reading(embedded, revisions, tuple(self.calls), tuple(unread))

    def _documents(self, stored: Mapping[str, StoredDocument]) -> tuple[list[RetainedDocument], list[Unread]]:
        """What could be read, and what could not; when the mind is out of reach, it is not asked for the others."""
        documents: list[RetainedDocument] = []
        unread: list[Unread] = []
        by_document = _by_document(self._asked)
        for document_id, items in by_document.items():
            places = [each.place for each in items]
            if unread and (not self._request.partly or _passes(unread[-1].failure)):
                unread.append(Unread(document_id, places))
                continue
            plan = self._plan(items, stored.get(document_id))
            try:
                documents.extend([] if plan is None else [_document(plan, list(self._facts(plan)))])
            except MindFailed as failure:
                self.calls.extend(failure.calls)
                unread.append(Unread(document_id, places, failure))
        return documents, unread

    def _plan(self, items: Sequence[AskedItem], stored: StoredDocument | None) -> DocumentPlan | None:
        request = self._request
        if items[0].item.anew:
            again = items[0]
            return plan_anew(
                request.bank_id,
                again.document_id,
                again.place,
                stored,
                self._config,
                rereads=self._extractor.rereads,
            )
        return plan_of(request.bank_id, items, stored, request.asked, rereads=self._extractor.rereads)

    def _naming(self, failure: MindFailed, unread: Sequence[Unread]) -> str:
        """The message of a failure, with the items that it is about when there are others."""
        asked = len(self._request.items)
        named = ", ".join(f"item {each.places[0]} (document '{each.document_id}')" for each in unread if each.failure)
        return str(failure) if asked == 1 else f"{named}: {failure}; nothing of the {asked} items was retained"

    def _telling(self, failure: MindFailed, message: str) -> MindFailed:
        return MindFailed(
            message,
            reason=failure.reason,
            transient=failure.transient,
            calls=tuple(self.calls),
            raw=failure.raw,
            resume_at=failure.resume_at,
        )

    # --- facts --------------------------------------------------------------------------------------------------------

    def _facts(self, plan: DocumentPlan) -> Iterator[tuple[AskedItem, Sequence[ExtractedFact]]]:
        for item in plan.items:
            report("reading", self._request.places.index(item.asked.place), len(self._request.items))
            yield item.asked, self._facts_of(item)

    def _facts_of(self, plan: ItemPlan) -> Sequence[ExtractedFact]:
        if self._extractor.rereads or plan.asked.steering.mode == "chunks":
            return self._extracted(plan, plan.to_read)
        known = self._known.setdefault((plan.asked.place, plan.asked.read_with), _Known())
        new = [chunk for chunk in plan.to_read if chunk.text not in known.chunks]
        if new:
            texts = {chunk.number: chunk.text for chunk in new}
            for fact in shifted(self._extracted(plan, new), len(known.facts)):
                known.facts.append((texts.get(fact.chunk or 0, new[0].text), fact))
            known.chunks.update(chunk.text for chunk in new)
        return of_chunks(known.facts, plan.to_read)

    def _extracted(self, plan: ItemPlan, chunks: Sequence[Chunk]) -> Sequence[ExtractedFact]:
        item = plan.asked.item.model_copy(update={"content": plan.content})
        extraction = extracted(self._extractor, item, plan.asked.steering, chunks, self._request.asked_at)
        self.calls.extend(extraction.calls)
        return extraction.facts

    # --- vectors ------------------------------------------------------------------------------------------------------

    def _with_vectors(self, documents: Sequence[RetainedDocument]) -> list[RetainedDocument]:
        said = [
            embedded_text(each.fact, item.item.timestamp)
            for document in documents
            for item in document.items
            for each in item.facts
        ]
        texts = [text for text in dict.fromkeys(said) if text not in self._vectors]
        if texts:
            try:
                embedded = self._embedder.embed(texts)
            except MindFailed as failure:
                self.calls.extend(failure.calls)
                raise self._telling(failure, str(failure)) from failure
            self.calls.extend(embedded.calls)
            self._vectors.update(zip(texts, embedded.vectors, strict=True))

        def with_vectors(item: RetainedItem) -> RetainedItem:
            at = item.item.timestamp
            return replace(
                item, facts=[replace(each, vector=self._vectors[embedded_text(each.fact, at)]) for each in item.facts]
            )

        return [replace(document, items=[with_vectors(item) for item in document.items]) for document in documents]


def extracted(
    extractor: FactExtractor, item: RetainItem, steering: RetainSteering, chunks: Sequence[Chunk], now: datetime
) -> Extraction:
    """The facts of chunks of an item, as they are to be read; when the chunks are the facts, nobody is asked. Raises
    MindFailed."""
    if steering.mode == "chunks":
        return Extraction(facts_of_chunks(chunks))
    if not chunks:
        return Extraction([])
    extraction = extractor.extract(item, steering=steering, now=now, chunks=chunks)
    return replace(extraction, facts=verbatim(extraction.facts, chunks)) if steering.mode == "verbatim" else extraction


def _by_document(asked: Sequence[AskedItem]) -> dict[str, list[AskedItem]]:
    documents: dict[str, list[AskedItem]] = {}
    for each in asked:
        documents.setdefault(each.document_id, []).append(each)
    return documents


def _document(plan: DocumentPlan, facts: Sequence[tuple[AskedItem, Sequence[ExtractedFact]]]) -> RetainedDocument:
    items = [
        RetainedItem(asked.item, plan.document_id, [EmbeddedFact(fact, ()) for fact in found]) for asked, found in facts
    ]
    return RetainedDocument(
        plan.document_id,
        plan.text,
        items,
        plan.chunks,
        plan.parts,
        plan.replaces,
        plan.resets,
        plan.keeps_unplaced,
        plan.text_stored,
    )


def _passes(failure: MindFailed | None) -> bool:
    """Whether the mind is out of reach for now: it need not be asked for the next document."""
    return failure is None or failure.transient
