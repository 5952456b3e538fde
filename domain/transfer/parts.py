"""What of a bank goes along when it is exported, imported or cloned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from domain.bank import BankOpened
from domain.event import Recorded


@dataclass(frozen=True)
class Parts:
    """`data` is the memory with all documents and pages, `config` the bank's config and its directives."""

    data: bool = True
    config: bool = True

    @property
    def any(self) -> bool:
        return self.data or self.config

    def within(self, others: Parts) -> Parts:
        return Parts(self.data and others.data, self.config and others.config)

    def of(self, events: Iterable[Recorded]) -> Iterator[Recorded]:
        """The events that go along; a bank is always opened."""
        for recorded in events:
            wanted = self.config if recorded.stream.kind == "bank" else self.data
            if wanted or isinstance(recorded.event, BankOpened):
                yield recorded
