"""One attempt at an asynchronous retain: what can be read is stored, the rest waits for the next attempt."""

from __future__ import annotations

from application.attempt_account import AttemptAccount
from application.attempt_ends import AttemptEnds
from application.command_handler import OPERATION, Done, Step, operation_stream
from application.memories import Memories
from application.ports import MindFailed, RetainInbox, Transaction, WaitingItems
from application.retain_reading import Reading
from domain.operation import (
    FailedItem,
    Operation,
    OperationCommand,
    OperationParked,
    OperationRetryScheduled,
    RetainDone,
    RetainFailed,
)
from domain.refusals import BankNotFound

REASON_AT_MOST = 500
"""Characters of a reason that an item is named with."""


class RetainAttempts:
    def __init__(self, memories: Memories, inbox: RetainInbox, ends: AttemptEnds) -> None:
        self._memories = memories
        self._inbox = inbox
        self._ends = ends

    def run(self, operation: Operation, account: AttemptAccount) -> None:
        """The bank was opened when the retain was asked for: a retain never brings back a bank deleted since.

        Raises MindFailed when nothing could be read, BankNotFound."""
        bank_id, operation_id = operation.bank_id, operation.operation_id
        waiting = self._inbox.take(operation_id)
        if waiting is None:
            raise BankNotFound(bank_id)
        last: list[Reading] = []

        def finish(read: Reading) -> Step:
            last[:] = [read]
            if not read.unread:
                done = RetainDone(facts=waiting.facts + read.facts, calls=tuple(read.calls))
                return self._ends.completed(operation, account, done)
            account.tells(read.calls)
            return Step(
                OPERATION, operation_stream(bank_id, operation_id), self._failed(operation, account, waiting, read)
            )

        def settle(tx: Transaction, results: tuple[Done, ...]) -> None:
            (read,) = last
            left = _left(waiting, read)
            there = (
                self._inbox.keep(operation_id, bank_id, left, tx) if left.items else self._inbox.drop(operation_id, tx)
            )
            if not there:  # the bank was deleted, and maybe put anew, since they were read
                raise BankNotFound(bank_id)
            waits = isinstance(results[-1].events[-1], OperationRetryScheduled | OperationParked)
            self._ends.settle(operation, account, "of_use" if waits else "useless", tx)

        context = self._ends.context(operation_id)
        self._memories.finish_retain(context, bank_id, waiting, finish, settle, asked_at=operation.requested_at)

    def _failed(
        self, operation: Operation, account: AttemptAccount, waiting: WaitingItems, read: Reading
    ) -> OperationCommand:
        """Tried again while any failure may pass. Told are all that are left, also those that were not tried."""
        failures = [each.failure for each in read.unread if each.failure is not None]
        passing = next((failure for failure in failures if failure.transient), None)
        if passing is not None and passing.resume_at is not None:
            return self._ends.parked(operation, account, passing.resume_at, "of_use", read.calls)
        failed = _failed_items(read, failures[-1])
        return self._ends.failure(
            operation,
            account,
            _message(failed, len(waiting.items)),
            retry=passing is not None,
            replies="useless" if passing is None else "of_use",
            result=RetainFailed(facts=waiting.facts + read.facts, failed_items=failed),
            calls=read.calls,
        )


def _left(waiting: WaitingItems, read: Reading) -> WaitingItems:
    places = {place for each in read.unread for place in each.places}
    left = [(item, place) for item, place in zip(waiting.items, waiting.places, strict=True) if place in places]
    return WaitingItems(
        [item for item, _ in left], waiting.asked, [place for _, place in left], waiting.facts + read.facts
    )


def _failed_items(read: Reading, last: MindFailed) -> tuple[FailedItem, ...]:
    return tuple(
        FailedItem(index=place, document_id=each.document_id, reason=str(each.failure or last)[:REASON_AT_MOST])
        for each in read.unread
        for place in each.places
    )


def _message(failed: tuple[FailedItem, ...], of: int) -> str:
    named = "; ".join(f"item {each.index} (document '{each.document_id}'): {each.reason}" for each in failed[:20])
    more = "" if len(failed) <= 20 else f"; and {len(failed) - 20} more"
    return f"{len(failed)} of {of} items could not be retained: {named}{more}. The others are retained"
