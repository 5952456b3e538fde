"""Documents in chunks on real PostgreSQL: facts of chunks that are kept stay, chunks and causes are stored."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from application.ports import RetainedChunk, RetainedDocument, RetainedItem
from domain.memory import RetainItem
from domain.retain import Part, chunk_ids
from tests.support.memories import NOON, BankMemory, hours_later, said


def chunk(number: int, text: str, *, kept: bool = False) -> RetainedChunk:
    (chunk_id,) = chunk_ids("bank", "d", [text])
    return RetainedChunk(chunk_id, number, text, "same", kept)


def retain(memory: BankMemory, *chunks: RetainedChunk, facts: list[Any], **more: Any) -> tuple[int, int]:
    """How many facts were written and closed."""
    text = "".join(each.text for each in chunks)
    item = RetainedItem(RetainItem(content=text, document_id="d"), "d", facts)
    parts = (Part(asked=1, length=len(text), chunks=len(chunks), replaces=True),)
    document = RetainedDocument("d", text, [item], chunks, parts, **more)
    with memory.database.begin() as tx:
        written = memory.store.write(memory.bank_id, [document], hours_later(1), tx)
    return written.written, written.closed


def test_facts_of_a_chunk_that_is_kept_stay_without_being_said(memory: BankMemory) -> None:
    a, b, c = chunk(0, "A. "), chunk(1, "B. "), chunk(1, "C. ")
    retain(memory, a, b, facts=[said("a", chunk=0), said("b", chunk=1)])
    before = memory.current()
    assert {text: row["chunk_id"] for text, row in before.items()} == {"a": str(a.chunk_id), "b": str(b.chunk_id)}

    assert retain(memory, chunk(0, "A. ", kept=True), c, facts=[said("c", chunk=1)]) == (1, 1)

    assert set(memory.current()) == {"a", "c"}
    assert memory.current()["a"] == before["a"]


def test_a_fact_said_again_in_another_chunk_moves_there_and_stays_the_same(memory: BankMemory) -> None:
    retain(memory, chunk(0, "A. "), facts=[said("a", chunk=0)])
    before = memory.current()["a"]
    longer = chunk(0, "A. And more.")
    assert retain(memory, longer, facts=[said("a", chunk=0)]) == (0, 0)
    assert memory.current()["a"] == {**before, "chunk_id": str(longer.chunk_id)}


def test_what_a_kept_chunk_says_is_not_added_again(memory: BankMemory) -> None:
    retain(memory, chunk(0, "A. "), facts=[said("a", chunk=0)])
    kept = chunk(0, "A. ", kept=True)
    assert retain(memory, kept, chunk(1, "A again. "), facts=[said("a", chunk=1)]) == (0, 0)
    assert memory.current()["a"]["chunk_id"] == str(kept.chunk_id)


def test_facts_of_no_chunk_stay_only_when_they_are_to(memory: BankMemory) -> None:
    retain(memory, facts=[said("a")])
    assert retain(memory, chunk(0, "B. "), facts=[said("b", chunk=0)], keeps_unplaced=True) == (1, 0)
    assert retain(memory, chunk(0, "B. ", kept=True), facts=[]) == (0, 1)


def test_chunks_come_back_and_are_replaced(memory: BankMemory) -> None:
    a, b = chunk(0, "A. "), chunk(1, "B. ")
    retain(memory, a, b, facts=[])
    stored = memory.store.stored_documents(memory.bank_id, ["d", "none"])["d"]
    assert (stored.text, [each.text for each in stored.chunks]) == ("A. B. ", ["A. ", "B. "])
    assert stored.parts == [Part(asked=1, length=6, chunks=2, replaces=True)]
    known = memory.store.chunks(memory.bank_id, [str(b.chunk_id), str(UUID(int=1)), "no id"])
    assert [(each.document_id, each.number, each.text) for each in known.values()] == [("d", 1, "B. ")]

    retain(memory, chunk(0, "B. "), facts=[])
    again = memory.store.stored_documents(memory.bank_id, ["d"])["d"]
    assert [(each.chunk_id, each.number) for each in again.chunks] == [(str(b.chunk_id), 0)]
    assert again.revision != stored.revision
    assert memory.neighbour().store.chunks("other", [str(b.chunk_id)]) == {}


def test_a_text_that_is_not_stored_is_gone(memory: BankMemory) -> None:
    retain(memory, chunk(0, "A. "), facts=[said("a", chunk=0)])
    item = RetainedItem(RetainItem(content="Secret.", document_id="d"), "d", [said("s")])
    with memory.database.begin() as tx:
        memory.store.write(memory.bank_id, [RetainedDocument("d", "Secret.", [item], text_stored=False)], NOON, tx)
    assert memory.store.document_text(memory.bank_id, "d") is None
    stored = memory.store.stored_documents(memory.bank_id, ["d"])["d"]
    assert (stored.text, stored.chunks) == (None, [])
    assert memory.rows("SELECT text FROM memory_documents WHERE bank_id = %s") == [{"text": ""}]


def test_causes_are_kept_between_facts_new_and_old(memory: BankMemory) -> None:
    retain(memory, chunk(0, "A. "), facts=[said("a", chunk=0)])
    facts = [said("a", chunk=0), said("b", chunk=0, caused_by=(0,)), said("c", chunk=0, caused_by=(0, 1, 2, 9))]
    retain(memory, chunk(0, "A, so B, so C. "), facts=facts)
    names = {row["fact_id"]: text for text, row in memory.current().items()}
    rows = memory.rows("SELECT fact_id, cause_id FROM fact_causes WHERE bank_id = %s")
    pairs = sorted((names[row["fact_id"]], names[row["cause_id"]]) for row in rows)
    assert pairs == [("b", "a"), ("c", "a"), ("c", "b")]


def test_tags_of_labels_are_beside_those_of_the_item(memory: BankMemory) -> None:
    retain(memory, chunk(0, "A. "), facts=[said("a", chunk=0, tags=("mood:good", "a"))])
    assert memory.current()["a"]["tags"] == ["a", "mood:good"]
