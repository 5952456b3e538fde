"""Whatever is done to a bank's memory, in whatever order, what is kept beside its facts says what they say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from hypothesis import HealthCheck, Phase, settings
from hypothesis import given as for_all
from hypothesis import strategies as st

from adapters.clock import RandomIdentities
from adapters.postgres.memory_consolidation import PostgresObservationStore
from adapters.postgres.memory_curation import PostgresFactCuration
from adapters.postgres.memory_rows import LEXEME_MARK_LENGTH, tag_set
from application.ports import EmbeddedChanges, EmbeddedFact, RetainedChunk, RetainedDocument, RetainedItem
from application.ports.curation import DocumentSettings, Replacement
from domain.consolidation import ObservationChanges, WrittenObservation
from domain.curation import CuratedFact, DocumentEdit, FactEdit, edited, given_again, retagged
from domain.memory import ExtractedFact, RetainItem
from domain.retain import chunk_ids
from domain.scope import Scope
from tests.support.memories import NOON, SOME_VECTOR, BankMemory

TAGS: tuple[tuple[str, ...], ...] = ((), ("a",), ("a", "b"))
TEXTS = ("Ada runs.", "Bob swims.", "Ada and Bob rest.", "Nobody sleeps.")
NAMES: tuple[tuple[str, ...], ...] = ((), ("Ada",), ("ada", "Bob"), ("Ada", "ADA"))
KINDS = (
    "replace", "replace", "append", "edit", "edit", "invalidate", "restore", "retag", "delete", "delete_document",
    "delete_scope", "observe", "observe", "update", "drop", "clear", "fail", "recover", "forget",
)  # fmt: skip
Step = tuple[str, int, int, int]
STEPS = st.lists(st.tuples(st.sampled_from(KINDS), *[st.integers(0, 11)] * 3), min_size=4, max_size=24)


@dataclass
class Bank:
    """A bank to which things are done; `then` has what was current at each position that could be read."""

    memory: BankMemory
    begin: int = 0
    then: dict[int, set[tuple[UUID, int]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.curation = PostgresFactCuration(self.memory.database, lambda: self.memory.store.space)
        self.observations = PostgresObservationStore(
            self.memory.database, RandomIdentities(), space=lambda: self.memory.store.space
        )

    @property
    def id(self) -> str:
        return self.memory.bank_id

    def rows(self, columns: str, table: str, condition: str = "TRUE") -> list[dict[str, Any]]:
        return self.memory.rows(f"SELECT {columns} FROM {table} f WHERE bank_id = %s AND {condition}")

    def do(self, kind: str, one: int, two: int, three: int) -> None:
        rested = {row["fact_id"]: row["source_ids"] for row in self._current("fact_type = 'observation'")}
        getattr(self, kind)(one, two, three)
        if kind != "drop":
            self._check_what_waits_again(rested)

    def _check_what_waits_again(self, rested: dict[UUID, list[UUID]]) -> None:
        """What an observation rested on that is gone, and is itself still there."""
        there = {row["fact_id"] for row in self._current()}
        again = {source for gone in set(rested) - there for source in rested[gone]} & there
        done = self.rows("fact_id", "consolidation", "(consolidated_at IS NOT NULL OR failed_at IS NOT NULL)")
        assert again.isdisjoint({row["fact_id"] for row in done})

    # --- what is done -------------------------------------------------------------------------------------------------

    def replace(self, one: int, two: int, three: int) -> None:
        self._retain(one, two, three, replaces=True)

    def append(self, one: int, two: int, three: int) -> None:
        self._retain(one, two, three, replaces=False)

    def _retain(self, one: int, two: int, three: int, *, replaces: bool) -> None:
        """Every text is a chunk with one fact; chunks that are there already are kept."""
        document_id = f"d{one % 2}"
        known = [each.text for each in self._stored(document_id)]
        new = [TEXTS[(two + number) % len(TEXTS)] for number in range(three % 4)]
        texts = new if replaces else [*known, *new]
        chunks = [
            RetainedChunk(chunk_id, number, text, kept=text in known)
            for number, (chunk_id, text) in enumerate(zip(chunk_ids(self.id, document_id, texts), texts, strict=True))
        ]
        facts = [
            EmbeddedFact(
                ExtractedFact(text=each.text, entities=NAMES[(one + two) % len(NAMES)], chunk=each.number), SOME_VECTOR
            )
            for each in chunks
            if not each.kept
        ]
        item = RetainItem(content="\n".join(new), document_id=document_id, tags=TAGS[three % 3])
        retained = RetainedItem(item, document_id, facts)
        document = RetainedDocument(
            document_id, "\n".join(texts), [retained], chunks, replaces=replaces, resets=replaces,
            keeps_unplaced=not replaces,
        )  # fmt: skip
        with self.memory.database.begin() as tx:
            self.memory.store.write(self.id, [document], NOON, tx)

    def _stored(self, document_id: str) -> Sequence[Any]:
        stored = self.memory.store.stored_documents(self.id, [document_id]).get(document_id)
        return stored.chunks if stored else ()

    def edit(self, one: int, two: int, three: int) -> None:
        if found := self._fact(one):
            edit = FactEdit(text=TEXTS[two % len(TEXTS)], entities=NAMES[three % len(NAMES)])
            if (after := edited(found.fact, edit)) is not None:
                with self.memory.database.begin() as tx:
                    self.curation.replace(self.id, [Replacement(after, SOME_VECTOR)], NOON, tx)

    def invalidate(self, one: int, _two: int, _three: int) -> None:
        if found := self._fact(one):
            with self.memory.database.begin() as tx:
                self.curation.invalidate(self.id, found.fact, "why", NOON, tx)

    def restore(self, one: int, two: int, _three: int) -> None:
        aside = self.rows("fact_id", "facts_set_aside", "TRUE ORDER BY fact_id")
        if aside:
            found = self.curation.fact(self.id, aside[one % len(aside)]["fact_id"])
            assert found is not None
            assert not found.valid
            vector = SOME_VECTOR if two % 2 else None
            with self.memory.database.begin() as tx:
                self.curation.restore(self.id, Replacement(found.fact, vector), NOON, tx)

    def retag(self, one: int, two: int, three: int) -> None:
        edit, document_id = DocumentEdit(tags=TAGS[two % 3]), f"d{one % 2}"
        with self.memory.database.begin() as tx:
            self.curation.hold(self.id, tx)
            found = self.curation.document(self.id, document_id, tx)
            if found is None:
                return
            changed = [after for fact in found.facts if (after := retagged(fact, edit, found.tags))]
            replacements = [Replacement(after, keeps_observations=three % 2 == 0) for after in changed]
            self.curation.replace(self.id, replacements, NOON, tx)
            aside = [after for fact in found.set_aside if (after := retagged(fact, edit, found.tags))]
            self.curation.retag_set_aside(self.id, aside, tx)
            parts = given_again(found.parts, edit, found.tags)
            settings = DocumentSettings(edit.tags, parts, found.observation_scopes, {})
            self.curation.keep_settings(self.id, document_id, settings, NOON, tx)

    def delete(self, one: int, _two: int, _three: int) -> None:
        current = self._current()
        if current:
            chosen = current[one % len(current)]["fact_id"]
            with self.memory.database.begin() as tx:
                assert self.curation.erase(self.id, Scope(), NOON, tx, [chosen]).facts == 1

    def delete_document(self, one: int, _two: int, _three: int) -> None:
        with self.memory.database.begin() as tx:
            self.curation.erase_document(self.id, f"d{one % 2}", NOON, tx)

    def delete_scope(self, one: int, two: int, _three: int) -> None:
        kinds: list[Any] = [None, ("world",), ("observation",)]
        scope = Scope(tags=TAGS[one % 3], tags_match="any_strict", fact_types=kinds[two % 3])
        with self.memory.database.begin() as tx:
            erased = self.curation.erase(self.id, scope, NOON, tx)
            self.curation.erase_documents(self.id, scope, erased.document_ids, tx)

    def observe(self, one: int, two: int, _three: int) -> None:
        facts = self.observations.pending(self.id, 1 + one % 3)
        if facts:
            sources = tuple(fact.id for fact in facts)
            self._write(
                facts, written=(WrittenObservation(text=TEXTS[two % 4], source_ids=sources),), scope=TAGS[two % 3]
            )

    def update(self, one: int, two: int, _three: int) -> None:
        facts, before = self.observations.pending(self.id, 1 + one % 3), self._observation(two)
        if facts and before:
            sources = tuple({*before.source_ids, *(fact.id for fact in facts)})
            written = WrittenObservation(before=before, text=TEXTS[two % 4], source_ids=sources)
            self._write(facts, written=(written,), scope=before.tags)

    def drop(self, _one: int, two: int, _three: int) -> None:
        facts, before = self.observations.pending(self.id, 1), self._observation(two)
        if facts and before:
            self._write(facts, dropped=(before,), scope=before.tags)

    def _write(self, facts: Sequence[Any], **changes: Any) -> None:
        made = ObservationChanges(**changes)
        with self.memory.database.begin() as tx:
            vectors = [SOME_VECTOR] * len(made.written)
            self.observations.write(self.id, facts, [EmbeddedChanges(made, vectors)], NOON, tx)

    def clear(self, one: int, two: int, _three: int) -> None:
        found = self._fact(one)
        with self.memory.database.begin() as tx:
            self.observations.clear(self.id, NOON, tx, found.fact.id if found and two % 3 else None)

    def fail(self, one: int, _two: int, _three: int) -> None:
        with self.memory.database.begin() as tx:
            self.observations.set_aside(self.id, self.observations.pending(self.id, 1 + one % 2), "no", NOON, tx)

    def recover(self, _one: int, _two: int, _three: int) -> None:
        with self.memory.database.begin() as tx:
            self.observations.recover(self.id, tx)

    def forget(self, one: int, _two: int, _three: int) -> None:
        if one % 4 == 0:
            with self.memory.database.begin() as tx:
                self.memory.store.forget_bank(self.id, tx)
            self.begin, self.then = self.memory.store.position(self.id), {}

    def _current(self, kind: str = "TRUE") -> list[dict[str, Any]]:
        return self.rows("*", "fact_versions", f"to_position IS NULL AND {kind} ORDER BY from_position")

    def _fact(self, number: int) -> CuratedFact | None:
        current = self._current("fact_type <> 'observation'")
        return self.curation.fact(self.id, current[number % len(current)]["fact_id"]) if current else None

    def _observation(self, number: int) -> Any:
        current = self._current("fact_type = 'observation'")
        if not current:
            return None
        (found,) = self.observations.current(self.id, [current[number % len(current)]["fact_id"]])
        return found

    # --- what is then so ----------------------------------------------------------------------------------------------

    def check(self) -> None:
        versions = self.rows("*", "fact_versions")
        current = [row for row in versions if row["to_position"] is None]
        self._check_clocks(versions, current)
        self._check_vectors(versions)
        self._check_words_and_names()
        self._check_observations(current)
        self._check_documents(versions, current)
        self.then[self.memory.store.position(self.id)] = {(row["fact_id"], row["version"]) for row in current}

    def _check_clocks(self, versions: Sequence[dict[str, Any]], current: Sequence[dict[str, Any]]) -> None:
        clock = self.rows("position, facts", "memory_clock") or [{"position": 0, "facts": 0}]
        position = clock[0]["position"]
        moved = [at for row in versions for at in (row["from_position"], row["to_position"]) if at is not None]
        assert sorted(moved) == list(range(self.begin + 1, position + 1))
        assert clock[0]["facts"] == len(current)
        kept = {(tuple(row["tags"]), row["fact_type"]): row for row in self.rows("*", "scope_clock")}
        facts = Counter((tuple(row["tags"]), row["fact_type"]) for row in current)
        last: dict[Any, int] = {}
        for row in versions:
            key = tuple(row["tags"]), row["fact_type"]
            last[key] = max(last.get(key, 0), row["from_position"])
        assert {key: (row["facts"], row["position"]) for key, row in kept.items()} == {
            key: (facts[key], at) for key, at in last.items()
        }
        assert all(row["tag_set"] == tag_set(row["tags"]) for row in (*kept.values(), *versions))

    def _check_vectors(self, versions: Sequence[dict[str, Any]]) -> None:
        columns = ("from_position", "to_position", "tag_set", "fact_type")
        vectors = self.rows(", ".join(columns), "fact_vectors")
        assert Counter(tuple(row[name] for name in columns) for row in vectors) == Counter(
            tuple(row[name] for name in columns) for row in versions
        )

    def _check_words_and_names(self) -> None:
        terms = self.rows(
            f"substr(lexeme, {LEXEME_MARK_LENGTH + 1}) AS term",
            "(SELECT bank_id, unnest(tsvector_to_array(terms)) AS lexeme FROM fact_versions WHERE to_position IS NULL)",
        )
        kept = {row["term"]: row["facts"] for row in self.rows("term, facts", "memory_terms") if row["facts"]}
        assert kept == Counter(row["term"] for row in terms)
        names = self.rows(
            "left(lower(name), 300) AS folded",
            "(SELECT bank_id, unnest(entities) AS name FROM fact_versions WHERE to_position IS NULL)",
        )
        kept = {row["folded"]: row["facts"] for row in self.rows("folded, facts", "memory_entities") if row["facts"]}
        assert kept == Counter(row["folded"] for row in names)

    def _check_observations(self, current: Sequence[dict[str, Any]]) -> None:
        facts = {row["fact_id"]: row for row in current if row["fact_type"] != "observation"}
        waiting = {row["fact_id"]: row for row in self.rows("*", "consolidation")}
        assert {id: (row["position"], row["tag_set"]) for id, row in waiting.items()} == {
            id: (row["from_position"], row["tag_set"]) for id, row in facts.items()
        }
        rest_on = {source for row in current for source in row["source_ids"]}
        assert rest_on <= set(facts)

    def _check_documents(self, versions: Sequence[dict[str, Any]], current: Sequence[dict[str, Any]]) -> None:
        documents = {row["document_id"] for row in self.rows("document_id", "memory_documents")}
        chunks = {str(row["chunk_id"]): row["document_id"] for row in self.rows("*", "memory_chunks")}
        assert set(chunks.values()) <= documents
        for row in current:
            assert row["document_id"] is None or row["document_id"] in documents
            assert row["chunk_id"] is None or chunks[row["chunk_id"]] == row["document_id"]
        last = {row["fact_id"]: row["version"] for row in sorted(versions, key=lambda row: row["version"])}
        for row in self.rows("*", "facts_set_aside"):
            assert row["version"] == last[row["fact_id"]]
            assert row["to_position"] is not None
            assert row["document_id"] in documents

    def check_the_past(self) -> None:
        for position, readable in self.then.items():
            at = f"from_position <= {position} AND (to_position IS NULL OR to_position > {position})"
            assert {(row["fact_id"], row["version"]) for row in self.rows("*", "fact_versions", at)} == readable


@settings(
    max_examples=30,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
)
@for_all(steps=STEPS)
def test_what_is_kept_beside_the_facts_says_what_they_say(memory: BankMemory, steps: list[Step]) -> None:
    bank = Bank(memory.neighbour())
    for step in steps:
        bank.do(*step)
        bank.check()
    bank.check_the_past()
