"""Retain and recall: items become facts, at once or in the background; facts are found by meaning and by word."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from application.command_handler import (
    ATTEMPTS,
    OPERATION,
    CommandHandler,
    Done,
    Step,
    open_bank,
    operation_stream,
    require_bank,
)
from application.document_turns import DocumentTurns
from application.ports import (
    EmbeddedFact,
    Embedder,
    FactExtractor,
    Identities,
    MemoryStore,
    MemoryWrite,
    MindFailed,
    RetainedItem,
    RetainInbox,
    Transaction,
)
from domain.digest import sha256_of
from domain.event import Context
from domain.memory import ExtractedFact, RecalledFact, RecallQuery, RetainItem
from domain.operation import RequestOperation, RetainAsked
from domain.refusals import StaleVersion
from domain.usage import ModelCall

Finish = Callable[[int, Sequence[ModelCall]], Step]
Along = Callable[[Transaction], None]


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
    """`retain_mission` gives the mission that steers what is read out of a bank's items; `written` is told of each bank
    whose memory changed, after it did, and neither waits nor raises."""

    def __init__(
        self,
        handler: CommandHandler,
        memory: MemoryStore,
        inbox: RetainInbox,
        embedder: Embedder,
        extractor: FactExtractor,
        identities: Identities,
        retain_mission: Callable[[str], str | None],
        written: Callable[[str], object] = lambda _bank_id: None,
    ) -> None:
        self._handler = handler
        self._memory = memory
        self._inbox = inbox
        self._embedder = embedder
        self._extractor = extractor
        self._identities = identities
        self._retain_mission = retain_mission
        self._written = written
        self._turns = DocumentTurns()

    def retain(self, context: Context, bank_id: str, items: Sequence[RetainItem]) -> Retained:
        """Reads facts out of the items and stores them, all or none; opens the bank if need be. Raises MindFailed."""
        return self._retain(context, bank_id, items, lambda _read: [open_bank(bank_id)], None, context.now)

    def finish_retain(
        self,
        context: Context,
        bank_id: str,
        items: Sequence[RetainItem],
        finish: Finish,
        along: Along,
        *,
        asked_at: datetime | None = None,
    ) -> Retained:
        """The same for a retain asked for earlier: `finish` makes, of the facts read and the calls, a step recorded in
        the same transaction, and `along` is run in it. A mind is told that it is `asked_at`, the same in every attempt.
        Raises MindFailed, and BankNotFound for a bank deleted since."""

        def steps(read: _Read) -> list[Step]:
            return [require_bank(bank_id), finish(sum(len(item.facts) for item in read.items), read.calls)]

        return self._retain(context, bank_id, items, steps, along, asked_at or context.now)

    def _retain(
        self,
        context: Context,
        bank_id: str,
        items: Sequence[RetainItem],
        steps: Callable[[_Read], list[Step]],
        along: Along | None,
        asked_at: datetime,
    ) -> Retained:
        named = self._named(items)
        appended_to = {(bank_id, item.document_id or "") for item in named if item.update_mode == "append"}
        with self._turns.take(appended_to):
            return self._retain_in_turn(context, bank_id, named, steps, along, asked_at)

    def _retain_in_turn(
        self,
        context: Context,
        bank_id: str,
        named: Sequence[RetainItem],
        steps: Callable[[_Read], list[Step]],
        along: Along | None,
        asked_at: datetime,
    ) -> Retained:
        paid: tuple[ModelCall, ...] = ()
        for _ in range(ATTEMPTS):
            read = self._read(bank_id, named, asked_at, paid)
            with suppress(DocumentMovedOn):
                retained = self._store(context, bank_id, read, steps(read), along)
                self._tell_written(bank_id, retained)
                return retained
            paid = read.calls
        raise StaleVersion("a document that is appended to")

    def _tell_written(self, bank_id: str, retained: Retained) -> None:
        if retained.write.written or retained.write.closed:
            self._written(bank_id)

    def retain_later(
        self, context: Context, bank_id: str, items: Sequence[RetainItem], operation_id: UUID | None = None
    ) -> UUID:
        """Takes the items in and asks for their retain in the background. The same operation id with the same items is
        the same request. Raises OperationIdTaken for the same id with others."""
        chosen = operation_id or self._identities.new()
        documents = {item.document_id for item in items}
        work = RetainAsked(
            items_count=len(items),
            items_sha256=sha256_of("".join(_as_asked(item, context) for item in items)),
            document_id=documents.pop() if len(documents) == 1 else None,
        )

        def take_in(tx: Transaction, results: tuple[Done, ...]) -> None:
            if results[-1].events:
                self._inbox.put(chosen, bank_id, items, tx)

        def request(bank: Done) -> RequestOperation:
            return RequestOperation(bank_id, chosen, work, bank.state.created_at)

        asked = Step(OPERATION, operation_stream(bank_id, chosen), request)
        self._handler.execute(context, open_bank(bank_id), asked, within=take_in)
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

    def _read(self, bank_id: str, items: Sequence[RetainItem], asked_at: datetime, paid: Sequence[ModelCall]) -> _Read:
        """Reads facts and vectors. What a failure cost so far is told with it."""
        calls = list(paid)
        try:
            return self._extract_and_embed(bank_id, items, asked_at, calls)
        except MindFailed as failed:
            raise MindFailed(
                str(failed),
                reason=failed.reason,
                transient=failed.transient,
                calls=(*calls, *failed.calls),
                raw=failed.raw,
                resume_at=failed.resume_at,
            ) from failed

    def _extract_and_embed(
        self, bank_id: str, items: Sequence[RetainItem], asked_at: datetime, calls: list[ModelCall]
    ) -> _Read:
        mission = self._retain_mission(bank_id)
        texts: dict[str, str] = {}
        said: dict[str, set[str]] = {}
        appended_to: dict[str, str | None] = {}
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
                item.model_copy(update={"content": reprocessed}), mission=mission, now=asked_at
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
        self, context: Context, bank_id: str, read: _Read, steps: Sequence[Step], along: Along | None
    ) -> Retained:
        written: list[MemoryWrite] = []

        def write(tx: Transaction, _results: tuple[Done, ...]) -> None:
            for document, text in read.appended_to.items():
                if self._memory.document_text(bank_id, document, tx) != text:
                    raise DocumentMovedOn(document)
            written.append(self._memory.write(bank_id, read.items, context.now, tx))
            if along is not None:
                along(tx)

        self._handler.execute(context, *steps, within=write)
        return Retained(written[-1], read.calls)


def _as_asked(item: RetainItem, context: Context) -> str:
    """The item as its request gave it: one said to be of now has another time whenever it is repeated."""
    if item.timestamp != context.now:
        return item.model_dump_json()
    return f"now {item.model_copy(update={'timestamp': None}).model_dump_json()}"
