"""Retain: items become facts, at once or in the background, a document at a time.

Retains of one document are done in any order, by any process, and come to what they would have come to in the order
in which they were asked for (`domain.retain`). What a retain rests on is checked in the transaction that writes it; a
document that has moved on meanwhile is read again, without asking for anything twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from uuid import UUID, uuid5

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
from application.current_operation import report
from application.document_turns import DocumentTurns
from application.ports import (
    Embedder,
    FactExtractor,
    Identities,
    MemoryStore,
    MemoryWrite,
    MindFailed,
    RetainInbox,
    Transaction,
    WaitingItems,
)
from application.request_costs import RequestCosts
from application.retain_asked import require_known_strategies
from application.retain_reading import Reading, RequestReading, RetainReader, RetainRequest
from domain.bank_config import BankConfig
from domain.digest import sha256_of
from domain.event import Context
from domain.memory import RetainItem
from domain.memory_defense import screened_items
from domain.operation import BatchPart, BatchRetainAsked, RequestOperation, RetainAsked, Work
from domain.refusals import DocumentNotFound, DocumentTextNotStored, Refusal, StaleVersion
from domain.retain_batches import batches_of, part_id, with_documents
from domain.usage import ModelCall

Steps = Callable[[Reading], list[Step]]
Along = Callable[[Transaction, tuple[Done, ...]], None]


@dataclass(frozen=True)
class Retained:
    write: MemoryWrite
    calls: tuple[ModelCall, ...]


class DocumentMovedOn(Exception):
    """A document was changed while a text of it was read; the retain is done again."""


@dataclass(frozen=True)
class Batch:
    """Items that are retained by one operation, and their places in the request."""

    operation_id: UUID
    items: Sequence[RetainItem]
    places: Sequence[int]


class Memories:
    """`config_of` gives the configuration of a bank; `written` is told of each bank whose memory changed, after it did,
    and neither waits nor raises."""

    def __init__(
        self,
        handler: CommandHandler,
        memory: MemoryStore,
        inbox: RetainInbox,
        embedder: Embedder,
        extractor: FactExtractor,
        identities: Identities,
        config_of: Callable[[str], BankConfig],
        costs: RequestCosts,
        written: Callable[[str], object] = lambda _bank_id: None,
    ) -> None:
        self._handler = handler
        self._memory = memory
        self._inbox = inbox
        self._identities = identities
        self._config_of = config_of
        self._costs = costs
        self._written = written
        self._reader = RetainReader(memory, embedder, extractor)
        self._turns = DocumentTurns()

    def retain(self, context: Context, bank_id: str, items: Sequence[RetainItem]) -> Retained:
        """Reads facts out of the items and stores them, all or none; opens the bank if need be. Secrets are taken out
        first, where the bank says so.

        Raises InvalidInput, DocumentTextNotStored, and MindFailed, which names the items that could not be read."""
        config = self._config_of(bank_id)
        require_known_strategies(items, config)
        allowed = screened_items(items, config.memory_defense)
        named = with_documents(list(allowed.values()), self._identities.new)
        request = RetainRequest(bank_id, named, self._memory.next_order(), context.now, list(allowed))
        reading = self._reader.begin(request, config)

        def steps(read: Reading) -> list[Step]:
            return [open_bank(bank_id), *self._costs.steps(bank_id, "retain", read.calls)]

        try:
            return self._retain(context, request, reading, steps, None)
        except (MindFailed, Refusal):
            self._costs.record(context, bank_id, "retain", reading.calls)
            raise

    def finish_retain(
        self,
        context: Context,
        bank_id: str,
        waiting: WaitingItems,
        finish: Callable[[Reading], Step],
        along: Along,
        *,
        asked_at: datetime,
    ) -> Retained:
        """The same for a retain asked for earlier, of the documents that can be read, if any: `finish` makes of what
        was read a step recorded in the same transaction, and `along` is run in it. A mind is told that it is
        `asked_at`, the same in every attempt. Raises MindFailed, and BankNotFound for a bank deleted since."""
        items, places = waiting.items, waiting.places
        request = RetainRequest(bank_id, items, waiting.asked, asked_at, places, partly=True)

        def steps(read: Reading) -> list[Step]:
            return [require_bank(bank_id), finish(read)]

        return self._retain(context, request, self._reader.begin(request, self._config_of(bank_id)), steps, along)

    def _retain(
        self, context: Context, request: RetainRequest, reading: RequestReading, steps: Steps, along: Along | None
    ) -> Retained:
        appended_to = {
            (request.bank_id, item.document_id or "") for item in request.items if item.update_mode == "append"
        }
        with self._turns.take(appended_to):
            for _ in range(ATTEMPTS):
                read = reading.read()
                with suppress(DocumentMovedOn):
                    retained = self._store(context, request, read, steps(read), along)
                    if retained.write.written or retained.write.closed:
                        self._written(request.bank_id)
                    return retained
        raise StaleVersion("a document of the request")

    def _store(
        self, context: Context, request: RetainRequest, read: Reading, steps: Sequence[Step], along: Along | None
    ) -> Retained:
        report("storing")
        written: list[MemoryWrite] = []

        def write(tx: Transaction, results: tuple[Done, ...]) -> None:
            if self._memory.revisions(request.bank_id, request.document_ids, tx) != read.revisions:
                raise DocumentMovedOn
            written.append(self._memory.write(request.bank_id, read.documents, context.now, tx))
            if along is not None:
                along(tx, results)

        self._handler.execute(context, *steps, within=write)
        return Retained(written[-1], tuple(read.calls))

    def reprocess_later(self, context: Context, bank_id: str, document_id: str) -> UUID:
        """Asks for a document to be read again in the background, whatever was read of it before, as it stands then;
        its items are read with what they were given with. Raises DocumentNotFound, DocumentTextNotStored."""
        stored = self._memory.stored_documents(bank_id, [document_id]).get(document_id)
        if stored is None:
            raise DocumentNotFound(bank_id, document_id)
        if stored.text is None:
            raise DocumentTextNotStored(document_id)
        return self.retain_later(context, bank_id, [RetainItem(content="", document_id=document_id, anew=True)])

    def retain_each_later(self, context: Context, bank_id: str, requests: Sequence[Sequence[RetainItem]]) -> list[UUID]:
        """Asks for each of several retains, all of them or none are refused. Raises InvalidInput."""
        for items in requests:
            require_known_strategies(items, self._config_of(bank_id))
            screened_items(items, self._config_of(bank_id).memory_defense)
        return [self.retain_later(context, bank_id, items) for items in requests]

    def retain_later(
        self, context: Context, bank_id: str, items: Sequence[RetainItem], operation_id: UUID | None = None
    ) -> UUID:
        """Takes the items in and asks for their retain in the background, in batches when they are many. The same
        operation id with the same items is the same request.

        Raises OperationIdTaken for the same id with others, InvalidInput, DocumentTextNotStored."""
        require_known_strategies(items, self._config_of(bank_id))
        allowed = screened_items(items, self._config_of(bank_id).memory_defense)
        items, places = list(allowed.values()), list(allowed)
        chosen = operation_id or self._identities.new()
        parts = batches_of(items)
        batches = [Batch(chosen, items, places)]
        if len(parts) > 1:
            batches = [
                Batch(part_id(chosen, number), [items[each] for each in part], [places[each] for each in part])
                for number, part in enumerate(parts)
            ]

        def take_in(tx: Transaction, results: tuple[Done, ...]) -> None:
            for batch, asked in zip(batches, results[1:], strict=False):
                if asked.events:
                    named = with_documents(batch.items, _ids_of(batch.operation_id), items)
                    self._inbox.put(batch.operation_id, bank_id, named, tx, batch.places)

        asked = [_request(bank_id, batch.operation_id, _work(batch.items, context)) for batch in batches]
        if len(batches) > 1:
            whole = BatchRetainAsked(
                items_count=len(items),
                items_sha256=_digest(items, context),
                parts=tuple(BatchPart(operation_id=each.operation_id, items=tuple(each.places)) for each in batches),
            )
            asked.append(_request(bank_id, chosen, whole))
        self._handler.execute(context, open_bank(bank_id), *asked, within=take_in)
        return chosen


def _request(bank_id: str, operation_id: UUID, work: Work) -> Step:
    def request(bank: Done, *_others: Done) -> RequestOperation:
        return RequestOperation(bank_id, operation_id, work, bank.state.created_at)

    return Step(OPERATION, operation_stream(bank_id, operation_id), request)


def _work(items: Sequence[RetainItem], context: Context) -> RetainAsked:
    documents = {item.document_id for item in items}
    return RetainAsked(
        items_count=len(items),
        items_sha256=_digest(items, context),
        document_id=documents.pop() if len(documents) == 1 else None,
    )


def _digest(items: Sequence[RetainItem], context: Context) -> str:
    """Of the items as their request gave them: one said to be of now has another time whenever it is repeated."""
    return sha256_of("".join(_as_asked(item, context) for item in items))


def _as_asked(item: RetainItem, context: Context) -> str:
    if item.timestamp != context.now:
        return item.model_dump_json()
    return f"now {item.model_copy(update={'timestamp': None}).model_dump_json()}"


def _ids_of(operation_id: UUID) -> Callable[[], UUID]:
    """Ids of documents of an operation: the same in every attempt."""
    numbers = count()
    return lambda: uuid5(operation_id, f"document {next(numbers)}")
