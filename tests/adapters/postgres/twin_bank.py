"""A bank in PostgreSQL and in the double that stands for it in tests: the same history, the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import pytest

from application.ports import RetainedItem
from domain.memory import Fact, Standing, UnreadQuery
from domain.mental_model.record import Citation
from domain.scope import EVERYTHING, Scope
from tests.support.in_memory import InMemoryMemoryStore, InMemoryTransactions
from tests.support.memories import NOON, BankMemory, documents_of


def citation(fact: Fact) -> Citation:
    return Citation(fact_id=fact.id, version=fact.version, position=fact.position, fact_type=fact.fact_type)


@dataclass
class TwinBank:
    """A bank kept in PostgreSQL and, by the same name, in the double: whatever it is asked, both must answer the same.

    Their facts differ in nothing but their ids; answers have those of PostgreSQL."""

    real: BankMemory
    double: InMemoryMemoryStore = field(default_factory=InMemoryMemoryStore)

    def retain(self, *items: RetainedItem, at: datetime = NOON) -> int:
        """Retains one after another; the position after that."""
        for item in items:
            written = self.real.retain(item, at=at)
            with InMemoryTransactions().begin() as tx:
                assert self.double.write(self.real.bank_id, documents_of(item), at, tx) == written
        return self.real.store.position(self.real.bank_id)

    def unread(self, scope: Scope = EVERYTHING, **query: Any) -> list[Fact]:
        asked = UnreadQuery(
            bank_id=self.real.bank_id,
            scope=scope,
            **{"after": 0, "upto": self.real.store.position(self.real.bank_id), **query},
        )
        found = list(self.real.store.unread(asked))
        assert [without_id(fact) for fact in found] == [without_id(fact) for fact in self.double.unread(asked)]
        return found

    def standings(self, *cited: int | Citation, upto: int | None = None) -> list[Standing]:
        """Those of facts cited by the position of their version, or by a citation that neither store knows."""
        at = self.real.store.position(self.real.bank_id) if upto is None else upto
        asked, asked_of_double = (
            [each if isinstance(each, Citation) else {known.position: known for known in has}[each] for each in cited]
            for has in (self._citations(), [citation(row.fact) for row in self.double.rows])
        )
        found = list(self.real.store.standings(self.real.bank_id, asked, at))
        doubled = self.double.standings(self.real.bank_id, asked_of_double, at)
        assert [each.fact_id for each in found] == [each.fact_id for each in asked]
        assert [each.fact_id for each in doubled] == [each.fact_id for each in asked_of_double]
        assert [_standing_without_ids(each) for each in found] == [_standing_without_ids(each) for each in doubled]
        return found

    def nearness(self, positions: Sequence[int], *vectors: Sequence[float]) -> dict[int, float]:
        found = self.real.store.nearness(self.real.bank_id, positions, vectors)
        # PostgreSQL keeps vectors in 16 bits a number.
        assert found == pytest.approx(self.double.nearness(self.real.bank_id, positions, vectors), abs=0.002)
        return found

    def revise(self, position: int, text: str) -> int:
        """Closes the version at a position and gives its fact the next one, of another text; returns its position."""
        bank_id = self.real.bank_id
        with self.real.database.begin() as tx:
            tx.connection.execute(
                "WITH c AS (UPDATE memory_clock SET position = position + 2 WHERE bank_id = %(bank_id)s RETURNING"
                " position), old AS (UPDATE fact_versions f SET to_position = c.position - 1 FROM c"
                " WHERE f.bank_id = %(bank_id)s AND from_position = %(position)s RETURNING f.*)"
                " INSERT INTO fact_versions (bank_id, fact_id, version, from_position, tag_set, fact_type, terms, tags,"
                " text, document_id, recorded_at) SELECT old.bank_id, fact_id, version + 1, c.position, tag_set,"
                " fact_type, terms, tags, %(text)s, document_id, recorded_at FROM old, c",
                {"bank_id": bank_id, "position": position, "text": text},
            )
        [old] = [row.fact for row in self.double.rows if row.fact.position == position]
        self.double.close(bank_id, old)
        changes = old.model_dump(include={"id", "fact_type", "tags", "document_id", "recorded_at"})
        return self.double.add(bank_id, text, version=old.version + 1, **changes).position

    def _citations(self) -> list[Citation]:
        """Of all versions that PostgreSQL has."""
        rows = self.real.rows(
            "SELECT fact_id, version, from_position AS position, fact_type FROM fact_versions WHERE bank_id = %s"
        )
        return [Citation.model_validate(row) for row in rows]


def without_id(fact: Fact | None) -> Fact | None:
    return None if fact is None else fact.model_copy(update={"id": UUID(int=0)})


def _standing_without_ids(standing: Standing) -> tuple[int, Fact | None, Fact | None, Fact | None]:
    return standing.version, without_id(standing.cited), without_id(standing.now), without_id(standing.same_text)
