"""Retain and recall: items become facts, at once or in the background; facts are found by meaning and by word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from application.command_handler import (
    BANK,
    OPERATION,
    CommandHandler,
    Step,
    bank_stream,
    operation_stream,
)
from application.ports import (
    EmbeddedFact,
    Embedder,
    FactExtractor,
    Identities,
    MemoryStore,
    MemoryWrite,
    RetainedItem,
    RetainInbox,
    Transaction,
)
from domain.bank import OpenBank
from domain.event import Context
from domain.memory import ExtractedFact, RecalledFact, RecallQuery, RetainItem
from domain.operation import RequestOperation, RetainAsked
from domain.usage import ModelCall


@dataclass(frozen=True)
class Retained:
    write: MemoryWrite
    calls: tuple[ModelCall, ...]


@dataclass(frozen=True)
class Recalled:
    facts: Sequence[RecalledFact]
    calls: tuple[ModelCall, ...]


class DocumentMovedOn(Exception):
    """A document that is appended to was changed while its new text was read; the retain is done again."""


@dataclass(frozen=True)
class _Read:
    """Items read into facts, and the stored texts that appended ones were read with."""

    items: tuple[RetainedItem, ...]
    appended_to: dict[str, str | None]
    calls: tuple[ModelCall, ...]


class Memories:
    """`retain_mission` gives the mission that steers what is read out of a bank's items."""

    def __init__(
        self,
        handler: CommandHandler,
        memory: MemoryStore,
        inbox: RetainInbox,
        embedder: Embedder,
        extractor: FactExtractor,
        identities: Identities,
        retain_mission: Callable[[str], str | None],
    ) -> None:
        self._handler = handler
        self._memory = memory
        self._inbox = inbox
        self._embedder = embedder
        self._extractor = extractor
        self._identities = identities
        self._retain_mission = retain_mission

    def retain(
        self,
        context: Context,
        bank_id: str,
        items: Sequence[RetainItem],
        finish: Callable[[int], Step] | None = None,
        along: Callable[[Transaction], None] | None = None,
    ) -> Retained:
        """Reads facts out of the items and stores them, all or none. `finish` makes, of the number of facts read, a
        step that is recorded in the same transaction, and `along` is run in it. Raises MindFailed."""
        named = self._named(items)
        while True:
            read = self._read(context, bank_id, named)
            try:
                return self._store(context, bank_id, read, finish, along)
            except DocumentMovedOn:
                continue

    def retain_later(
        self, context: Context, bank_id: str, items: Sequence[RetainItem], operation_id: UUID | None = None
    ) -> UUID:
        """Takes the items in and asks for their retain in the background. The same operation id is the same request."""
        chosen = operation_id or self._identities.new()
        documents = {item.document_id for item in items}
        work = RetainAsked(items_count=len(items), document_id=documents.pop() if len(documents) == 1 else None)
        self._handler.execute(
            context,
            Step(BANK, bank_stream(bank_id), OpenBank(bank_id)),
            Step(OPERATION, operation_stream(bank_id, chosen), RequestOperation(bank_id, chosen, work)),
            within=lambda tx: self._inbox.put(chosen, bank_id, items, tx),
        )
        return chosen

    def recall(self, query: RecallQuery) -> Recalled:
        """Raises MindFailed when the query could not be embedded."""
        embedded = self._embedder.embed([query.text])
        return Recalled(self._memory.recall(query, embedded.vectors[0]), tuple(embedded.calls))

    def _named(self, items: Sequence[RetainItem]) -> list[RetainItem]:
        """Items without a document get one: one for the request when no item names any, else one each."""
        shared = None if any(item.document_id for item in items) else str(self._identities.new())
        return [
            item if item.document_id else item.model_copy(update={"document_id": shared or str(self._identities.new())})
            for item in items
        ]

    def _read(self, context: Context, bank_id: str, items: Sequence[RetainItem]) -> _Read:
        mission = self._retain_mission(bank_id)
        texts: dict[str, str] = {}
        said: dict[str, set[str]] = {}
        appended_to: dict[str, str | None] = {}
        calls: list[ModelCall] = []
        facts: list[Sequence[ExtractedFact]] = []
        whole: list[str] = []
        for item in items:
            document = item.document_id or ""
            if item.update_mode == "append" and document not in texts:
                appended_to[document] = self._memory.document_text(bank_id, document)
                texts[document] = appended_to[document] or ""
            before = texts.get(document, "")
            texts[document] = f"{before}\n{item.content}" if before else item.content
            reprocessed = texts[document] if item.update_mode == "append" else item.content
            extraction = self._extractor.extract(
                item.model_copy(update={"content": reprocessed}), mission=mission, now=context.now
            )
            calls.extend(extraction.calls)
            heard = said.setdefault(document, set())
            facts.append([fact for fact in extraction.facts if fact.text not in heard])
            heard.update(fact.text for fact in extraction.facts)
            whole.append(texts[document])
        embedded = self._embedder.embed([fact.text for each in facts for fact in each])
        calls.extend(embedded.calls)
        vectors = iter(embedded.vectors)
        retained = tuple(
            RetainedItem(item, item.document_id or "", text, [EmbeddedFact(fact, next(vectors)) for fact in each])
            for item, text, each in zip(items, whole, facts, strict=True)
        )
        return _Read(retained, appended_to, tuple(calls))

    def _store(
        self,
        context: Context,
        bank_id: str,
        read: _Read,
        finish: Callable[[int], Step] | None,
        along: Callable[[Transaction], None] | None,
    ) -> Retained:
        written: list[MemoryWrite] = []

        def write(tx: Transaction) -> None:
            for document, text in read.appended_to.items():
                if self._memory.document_text(bank_id, document, tx) != text:
                    raise DocumentMovedOn(document)
            written.append(self._memory.write(bank_id, read.items, context.now, tx))
            if along is not None:
                along(tx)

        steps = [Step(BANK, bank_stream(bank_id), OpenBank(bank_id))]
        if finish is not None:
            steps.append(finish(sum(len(item.facts) for item in read.items)))
        self._handler.execute(context, *steps, within=write)
        return Retained(written[-1], read.calls)
