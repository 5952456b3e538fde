"""What a bank has, counted while it is written to an archive or read out of one: both must come to the same."""

from __future__ import annotations

from datetime import datetime

from domain.bank import DirectiveAdded, DirectiveRemoved
from domain.event import Recorded
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentReverted,
    ContentWritten,
    MentalModelCreated,
    MentalModelDeleted,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    RefreshFailedStructuredOutput,
)
from domain.transfer.rows import ChunkRow, DocumentRow, EntityRow, FactRow
from domain.value import Value

HISTORY = (
    ContentWritten,
    ContentEdited,
    ContentReverted,
    ContentCleared,
    RefreshFailedEmptyCandidate,
    RefreshFailedDeltaNotApplied,
    RefreshFailedStructuredOutput,
    RefreshFailedError,
)
"""Events that a document's history tells."""


class BankCounts(Value):
    """`facts` and `observations` are current, `fact_versions` all there ever were of both; `history` are the writes of
    documents and the refreshes that failed."""

    documents: int = 0
    chunks: int = 0
    facts: int = 0
    observations: int = 0
    fact_versions: int = 0
    entities: int = 0
    mental_models: int = 0
    history: int = 0
    directives: int = 0
    events: int = 0


class Tally:
    """Counts what it is shown."""

    def __init__(self) -> None:
        self._counted = dict.fromkeys(BankCounts.model_fields, 0)

    @property
    def counts(self) -> BankCounts:
        return BankCounts(**self._counted)

    def see_event(self, recorded: Recorded) -> None:
        event = recorded.event
        self._counted["events"] += 1
        if isinstance(event, HISTORY):
            self._counted["history"] += 1
        self._counted["mental_models"] += isinstance(event, MentalModelCreated) - isinstance(event, MentalModelDeleted)
        self._counted["directives"] += isinstance(event, DirectiveAdded) - isinstance(event, DirectiveRemoved)

    def see_row(self, row: object) -> None:
        match row:
            case FactRow(to_position=ended, fact_type=fact_type):
                self._counted["fact_versions"] += 1
                if ended is None:
                    self._counted["observations" if fact_type == "observation" else "facts"] += 1
            case DocumentRow():
                self._counted["documents"] += 1
            case ChunkRow():
                self._counted["chunks"] += 1
            case EntityRow():
                self._counted["entities"] += 1
            case _:
                pass


def file_name(bank_id: str, at: datetime) -> str:
    """Of the archive of a bank: plain characters only, as it becomes a header and a name on any disk."""
    plain = "".join(each if each.isascii() and (each.isalnum() or each in "-_") else "-" for each in bank_id)[:80]
    return f"{plain.strip('-') or 'bank'}-{at:%Y%m%dT%H%M%SZ}.zip"
