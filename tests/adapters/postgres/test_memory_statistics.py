"""The counts that writes keep, against the facts themselves, on real PostgreSQL."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.postgres import memory_statistics
from adapters.postgres.database import Database
from adapters.postgres.reader import Reader
from domain.terms import terms
from tests.support.memories import BankMemory, document, hours_later, said


def changes(memory: BankMemory) -> list[int]:
    """Positions of all changes, in order."""
    rows = memory.rows(
        "SELECT p FROM fact_versions, unnest(ARRAY[from_position, to_position]) p WHERE bank_id = %s AND p IS NOT NULL"
    )
    return sorted({row["p"] for row in rows})


def test_tags_are_counted_over_current_facts(memory: BankMemory) -> None:
    reader = Reader(memory.database)
    memory.retain(
        document("d1", "a", "b", tags=("user:alice", "work")),
        document("d2", "c", tags=("USER:bob",)),
        document("d3", said("d", fact_type="experience"), tags=("work", "100%")),
    )
    memory.retain(document("d4", "e", tags=("gone",)))
    memory.retain(document("d4"))

    def page(pattern: str | None = None, limit: int = 100, offset: int = 0) -> tuple[list[tuple[str, int]], int]:
        return reader.ask(memory_statistics.tags_page(memory.bank_id, pattern, limit, offset))

    found, total = page()
    assert found[:2] == [("work", 3), ("user:alice", 2)]
    assert sorted(found[2:]) == [("100%", 1), ("USER:bob", 1)]
    assert total == 4
    assert page("user:%") == ([("user:alice", 2), ("USER:bob", 1)], 2)
    assert page(limit=1, offset=1) == ([("user:alice", 2)], 4)
    assert page(offset=9) == ([], 4)


def test_statistics_of_banks_count_what_is_current(memory: BankMemory) -> None:
    reader, other = Reader(memory.database), memory.neighbour()
    memory.retain(document("d1", "a", "b"), document("d2", said("c", fact_type="observation")))
    memory.retain(document("d1", "a"), at=hours_later(1))
    memory.retain(document("d1", "a"), at=hours_later(2))

    assert reader.ask(memory_statistics.of_bank(memory.bank_id)) == memory_statistics.MemoryStatistics(
        facts=2,
        facts_by_type={"world": 1, "observation": 1},
        documents=2,
        document_at=hours_later(2),
        written_at=hours_later(1),
    )
    nothing = reader.ask(memory_statistics.of_bank(other.bank_id))
    assert (nothing.facts, nothing.facts_by_type, nothing.documents, nothing.written_at) == (0, {}, 0, None)
    assert reader.ask(memory_statistics.of_banks([memory.bank_id, other.bank_id])) == {
        memory.bank_id: memory_statistics.MemorySize(2, document_at=hours_later(2), written_at=hours_later(1))
    }


@settings(max_examples=30, deadline=None)
@given(
    requests=st.lists(
        st.lists(
            st.tuples(
                st.sampled_from(["d1", "d2", "d3"]),
                st.lists(st.sampled_from(["green tea", "tea", "black coffee", "teas"]), max_size=3),
                st.sampled_from([(), ("a",), ("a", "b")]),
                st.sampled_from(["replace", "append"]),
            ),
            max_size=3,
        ),
        max_size=5,
    )
)
def test_kept_counts_always_agree_with_the_facts(
    shared_database: Database, requests: list[list[tuple[str, list[str], tuple[str, ...], str]]]
) -> None:
    memory = BankMemory(shared_database)
    for request in requests:
        memory.retain(*(document(name, *facts, tags=tags, update_mode=mode) for name, facts, tags, mode in request))

    current = memory.rows("SELECT * FROM fact_versions WHERE bank_id = %s AND to_position IS NULL")
    assert changes(memory) == list(range(1, memory.store.position(memory.bank_id) + 1))
    kept = "SELECT from_position, to_position, tag_set, fact_type FROM {} WHERE bank_id = %s ORDER BY from_position"
    assert memory.rows(kept.format("fact_vectors")) == memory.rows(kept.format("fact_versions"))
    clock = memory.rows("SELECT facts FROM memory_clock WHERE bank_id = %s")
    assert [row["facts"] for row in clock] == [len(current)][: len(clock)]
    scopes = memory.rows("SELECT tags, fact_type, facts FROM scope_clock WHERE bank_id = %s AND facts <> 0")
    assert {tuple(row["tags"]): row["facts"] for row in scopes} == counted(tuple(row["tags"]) for row in current)
    found = memory.rows("SELECT term, facts FROM memory_terms WHERE bank_id = %s AND facts <> 0")
    assert {row["term"]: row["facts"] for row in found} == counted(
        term for row in current for term in terms(row["text"])
    )


def counted(things: Any) -> dict[Any, int]:
    counts: dict[Any, int] = {}
    for thing in things:
        counts[thing] = counts.get(thing, 0) + 1
    return counts


def test_what_comes_of_what_is_counted_while_both_are_current(memory: BankMemory) -> None:
    rain, floods = said("It rained."), said("The cellar is under water.", fact_type="experience", caused_by=(0,))
    memory.retain(document("d1", rain, floods), document("d2", "It was dry."))
    reader = Reader(memory.database)
    assert reader.ask(memory_statistics.causal_links(memory.bank_id)) == {"experience": 1}

    memory.retain(document("d1", floods))
    assert reader.ask(memory_statistics.causal_links(memory.bank_id)) == {}
