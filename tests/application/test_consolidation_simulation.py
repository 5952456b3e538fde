"""Many random steps of a bank that is written to, changed, and consolidated, with minds that fail and workers that die.

Whatever happens, no observation rests on a fact that is gone, none mixes what its scope is not for, nothing is lost."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID

import pytest

from adapters.postgres.database import connection_of
from adapters.postgres.fact_versions import Closing, NewVersion, VersionWriter, lock_clock
from adapters.service import Service
from domain.consolidation import (
    ChangedObservation,
    ConsolidationProposal,
    ConsolidationRequest,
    DroppedObservation,
    NewObservation,
    resolved_scopes,
)
from domain.memory import ObservationScopes, RetainItem
from projections import consolidation_operations
from tests.support.consolidating import ToldConsolidator, failing, observations, observing, waiting
from tests.support.services import context, running_service

BANK = "b"
STEPS = 160
TAGS = ("ada", "bob", "team", "x:1", "x:2")
SCOPES: tuple[ObservationScopes | None, ...] = (None, "per_tag", "all_combinations", "shared", (("x:*",), ("team",)))


class Died(BaseException):
    """The worker is gone."""


class RandomMind(ToldConsolidator):
    """Proposes what it likes, also what it may not; fails, and has others change the memory while it thinks."""

    def __init__(self, drawn: random.Random) -> None:
        super().__init__(self.propose)
        self._drawn = drawn
        self.before = self._mishap
        self.meanwhile: Any = lambda: None
        self.calm = False

    def _mishap(self, _request: ConsolidationRequest) -> None:
        if self.calm:
            return
        drawn = self._drawn.random()
        if drawn < 0.08:
            raise failing(transient=True)
        if drawn < 0.16:
            raise failing()
        if drawn < 0.20:
            raise Died
        if drawn < 0.30:
            self.meanwhile()

    def propose(self, request: ConsolidationRequest) -> ConsolidationProposal:
        ids = [fact.id for fact in request.facts]
        shown = [each.observation.id for each in request.related]
        some = ids[: self._drawn.randint(0, len(ids))]
        rest = [each for each in ids if each not in some]
        text = f"{'/'.join(request.scope)}: " + " & ".join(fact.text for fact in request.facts)
        creates = (NewObservation(text=text[:1500], source_ids=(*some, UUID(int=0))),)
        if not shown:
            return ConsolidationProposal(creates=creates)
        update = ChangedObservation(observation_id=shown[0], text=f"more {text}"[:1500], source_ids=tuple(rest))
        delete = DroppedObservation(observation_id=shown[-1], merged_into=self._drawn.choice([None, shown[0]]))
        return ConsolidationProposal(
            creates=creates,
            updates=(update,) if self._drawn.random() < 0.7 else (),
            deletes=(delete,) if len(shown) > 1 and self._drawn.random() < 0.4 else (),
        )


class Simulation:
    def __init__(self, service: Service, mind: RandomMind, drawn: random.Random) -> None:
        self.service, self.mind, self.drawn = service, mind, drawn
        mind.meanwhile = self.change
        self.said = 0

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.drawn.choices((self.change, self.consolidate, self.recover), (6, 3, 0.3))[0]()

    def change(self) -> None:
        self.drawn.choices((self.retain, self.retag, self.clear), (8, 2, 0.2))[0]()

    def retain(self) -> None:
        """New facts, or other ones for a document that was there; now and then none at all."""
        lines = []
        for _ in range(self.drawn.randint(0, 3)):
            self.said += 1
            lines.append(f"Worker number {self.said} sorts box {self.said * 7}.")
        item = RetainItem(
            content=" ".join(lines) or "Hm?",
            document_id=f"d{self.drawn.randint(0, 25)}",
            tags=tuple(self.drawn.sample(TAGS, self.drawn.randint(0, 3))),
            observation_scopes=self.drawn.choice(SCOPES),
        )
        self.service.memories.retain(context(self.service), BANK, [item])

    def retag(self) -> None:
        """One fact gets other tags; what was observed of it goes when its scopes are others, and stays else."""
        row = self.one("world")
        if row is None:
            return
        tags = tuple(sorted(self.drawn.sample(TAGS, self.drawn.randint(0, 2))))
        own = scopes_of(row)
        same = resolved_scopes(row["tags"], own) == resolved_scopes(tags, own)
        with self.service.database.begin() as tx:
            connection = connection_of(tx)
            before = lock_clock(connection, BANK)
            if self.row_of(connection, row) is None:
                return
            writer = VersionWriter(connection, BANK, self.service.clock.now(), self.service.memory.space)
            closing = Closing(
                row["from_position"], row["fact_id"], "world", tuple(row["tags"]), keeps_observations=same
            )
            new = NewVersion(
                fact_id=row["fact_id"],
                version=row["version"] + 1,
                text=row["text"],
                fact_type="world",
                tags=tags,
                document_id=row["document_id"],
                observation_scopes=own,
                consolidated=same,
            )
            writer.apply(before, [closing], [new])

    def clear(self) -> None:
        row = self.one("world")
        if row is not None:
            self.service.observations.clear_of(context(self.service), BANK, row["fact_id"])

    def recover(self) -> None:
        self.service.observations.recover(context(self.service), BANK)

    def consolidate(self) -> None:
        self.service.consolidation_requests.consolidate(context(self.service), BANK)
        self.attempt()

    def attempt(self) -> bool:
        """One attempt at everything that waits, or was left by a worker that died; whether there was anything."""
        found = self.service.reader.ask(consolidation_operations.in_flight(BANK))
        for each in found:
            with suppress(Died):
                self.service.background.run(BANK, UUID(each.operation_id))
        return bool(found)

    def one(self, fact_type: str) -> dict[str, Any] | None:
        rows = [row for row in self.current() if row["fact_type"] == fact_type]
        return self.drawn.choice(rows) if rows else None

    def row_of(self, connection: Any, row: dict[str, Any]) -> Any:
        return connection.execute(
            "SELECT FROM fact_versions WHERE bank_id = %s AND from_position = %s AND to_position IS NULL",
            (BANK, row["from_position"]),
        ).fetchone()

    def current(self) -> list[dict[str, Any]]:
        return self.rows(
            "SELECT * FROM fact_versions WHERE bank_id = %s AND to_position IS NULL ORDER BY from_position"
        )

    def rows(self, query: str) -> list[dict[str, Any]]:
        with self.service.database.connection() as connection:
            return connection.execute(query.encode(), (BANK,)).fetchall()

    # --- what must hold ---

    def check(self) -> None:
        current = {row["fact_id"]: row for row in self.current()}
        for row in current.values():
            if row["fact_type"] != "observation":
                continue
            assert row["source_ids"], "an observation rests on something"
            for source in row["source_ids"]:
                assert source in current, "an observation rests on a fact that is gone"
                fact = current[source]
                allowed = resolved_scopes(fact["tags"], scopes_of(fact))
                assert tuple(row["tags"]) in allowed, "an observation tells a fact in a scope that is not the fact's"
        queued = {row["fact_id"]: row for row in self.rows("SELECT * FROM consolidation WHERE bank_id = %s")}
        facts = {key: row for key, row in current.items() if row["fact_type"] != "observation"}
        assert queued.keys() == facts.keys(), "every fact is consolidated, waits, or failed"
        assert all(queued[key]["position"] == row["from_position"] for key, row in facts.items())
        ends = "SELECT to_position AS at FROM fact_versions WHERE bank_id = %s AND to_position IS NOT NULL"
        positions = self.rows("SELECT from_position AS at FROM fact_versions WHERE bank_id = %s") + self.rows(ends)
        clock = self.service.memory.position(BANK)
        assert sorted(row["at"] for row in positions) == list(range(1, clock + 1)), "positions have no gaps"
        self.check_counts(list(current.values()))

    def check_counts(self, current: list[dict[str, Any]]) -> None:
        counted = {
            (tuple(row["tags"]), row["fact_type"]): row["facts"]
            for row in self.rows("SELECT tags, fact_type, facts FROM scope_clock WHERE bank_id = %s AND facts <> 0")
        }
        really: dict[tuple[tuple[str, ...], str], int] = {}
        for row in current:
            key = tuple(row["tags"]), row["fact_type"]
            really[key] = really.get(key, 0) + 1
        assert counted == really


def scopes_of(row: dict[str, Any]) -> ObservationScopes | None:
    own = row["observation_scopes"]
    return tuple(map(tuple, own)) if isinstance(own, list) else own


@pytest.fixture(params=range(2))
def simulation(conninfo: str, request: pytest.FixtureRequest) -> Iterator[Simulation]:
    drawn = random.Random(request.param)
    mind = RandomMind(drawn)
    with running_service(conninfo, mind, worker_retry_seconds=0, worker_max_retries=2) as service:
        service.after_writes.close()
        observing(service, BANK, consolidation_llm_batch_size=3, consolidation_llm_parallelism=1)
        yield Simulation(service, mind, drawn)


def test_whatever_happens_observations_rest_on_what_is_there(simulation: Simulation) -> None:
    for _ in range(10):
        simulation.run(STEPS // 10)
        simulation.check()
    simulation.mind.calm = True
    simulation.recover()
    for _ in range(10):
        if not simulation.attempt() and waiting(simulation.service, BANK) == (0, 0):
            break
        simulation.consolidate()
    simulation.check()
    assert waiting(simulation.service, BANK) == (0, 0)
    assert observations(simulation.service, BANK)
