"""Retain: items become facts, all or none; what is appended to is read as it stands."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest

from application.command_handler import ATTEMPTS
from application.ports import EmbeddedFact, MindFailed, RetainedChunk, RetainedDocument, RetainedItem
from domain.bank import BankOpened, Missions, MissionsChanged
from domain.memory import ExtractedFact, RetainItem
from domain.refusals import StaleVersion
from domain.request import ModelsAsked
from domain.retain import Part, chunk_ids
from tests.support.examples import BANK, BANK_STREAM, NOW
from tests.support.scripted_minds import unusable
from tests.support.world import World

ARCHES = "It has 16 arches."
STATUES = "It has 30 statues."
TOWERS = "It has 3 towers."
OPENED = BankOpened(bank_id=BANK, name=BANK)


def item(content: str, document_id: str | None = None, *, append: bool = False) -> RetainItem:
    return RetainItem(content=content, document_id=document_id, update_mode="append" if append else "replace")


def known(world: World) -> list[str]:
    """The texts of the facts that are valid now."""
    return [row.fact.text for row in world.memory.rows if row.to_position is None]


def documents(world: World) -> list[str | None]:
    return [row.fact.document_id for row in world.memory.rows]


def meanwhile_appended(world: World, text: str) -> Callable[[], None]:
    """Someone else appends to the guide; their reading does not disturb ours."""

    def append() -> None:
        stored = world.memory.stored_documents(BANK, ["guide"]).get("guide")
        texts = [*(chunk.text for chunk in stored.chunks), text] if stored else [text]
        ids = enumerate(zip(chunk_ids(BANK, "guide", texts), texts, strict=True))
        last = len(texts) - 1
        chunks = [RetainedChunk(chunk_id, number, each, kept=number < last) for number, (chunk_id, each) in ids]
        fact = EmbeddedFact(ExtractedFact(text=text, chunk=last), ())
        retained = RetainedItem(item(text, "guide", append=True), "guide", [fact])
        parts = [*(stored.parts if stored else ()), Part(asked=0, length=len(text), chunks=1)]
        theirs = RetainedDocument("guide", "\n".join(texts), [retained], chunks, parts, replaces=False, resets=False)
        with world.transactions.begin() as tx:
            world.memory.write(BANK, [theirs], NOW, tx)

    return append


def test_the_first_retain_opens_the_bank_and_stores_the_facts_in_one_transaction() -> None:
    world = World()
    retained = world.memories.retain(world.context, BANK, [item(f"{ARCHES}\n{STATUES}")])
    assert world.log.of(BANK_STREAM) == [OPENED]
    assert (known(world), retained.write.written, retained.write.position) == ([ARCHES, STATUES], 2, 2)
    assert world.transactions.committed == 1


def asked(world: World) -> list[tuple[str, list[str]]]:
    """What requests had models asked for, and the purposes of their calls."""
    events = [event for stream in world.log.streams if stream.kind == "request" for event in world.log.of(stream)]
    assert all(isinstance(event, ModelsAsked) for event in events)
    return [(event.request, [call.purpose for call in event.calls]) for event in events]  # type: ignore[attr-defined]


def test_a_retain_into_an_open_bank_records_only_what_it_cost() -> None:
    world = World()
    world.log.record(BANK_STREAM, OPENED)
    world.memories.retain(world.context, BANK, [item(ARCHES)])
    assert world.log.of(BANK_STREAM) == [OPENED]
    (own,) = [stream for stream in world.log.streams if stream.kind == "request"]
    assert world.log.locked == [((own,), (BANK_STREAM,))], "retains into one bank do not wait for each other"
    assert asked(world) == [("retain", ["extract_facts", "embed"])]


def test_facts_are_written_at_the_time_of_the_request() -> None:
    world = World()
    world.memories.retain(world.context, BANK, [item(ARCHES)])
    assert world.memory.rows[0].fact.recorded_at == NOW


def test_every_call_is_counted_and_all_facts_are_embedded_at_once() -> None:
    world = World()
    retained = world.memories.retain(world.context, BANK, [item(f"{ARCHES}\n{STATUES}"), item(TOWERS)])
    assert [call.purpose for call in retained.calls] == ["extract_facts", "extract_facts", "embed"]
    assert world.embedder.texts == [(ARCHES, STATUES, TOWERS)]


def test_items_without_documents_are_one_document_when_none_is_named() -> None:
    world = World()
    world.memories.retain(world.context, BANK, [item(ARCHES), item(STATUES)])
    assert documents(world) == [str(UUID(int=1))] * 2
    assert world.memory.document_text(BANK, str(UUID(int=1))) == f"{ARCHES}\n{STATUES}"


def test_items_without_documents_are_documents_of_their_own_beside_a_named_one() -> None:
    world = World()
    world.memories.retain(world.context, BANK, [item(ARCHES, "guide"), item(STATUES), item(TOWERS)])
    assert documents(world) == ["guide", str(UUID(int=1)), str(UUID(int=2))]


def test_an_empty_document_id_is_none() -> None:
    world = World()
    world.memories.retain(world.context, BANK, [item(ARCHES, "")])
    assert documents(world) == [str(UUID(int=1))]


def test_a_document_retained_again_replaces_what_it_no_longer_says() -> None:
    world = World()
    world.memories.retain(world.context, BANK, [item(f"{ARCHES}\n{STATUES}", "guide")])
    retained = world.memories.retain(world.context, BANK, [item(f"{STATUES}\n{TOWERS}", "guide")])
    assert known(world) == [STATUES, TOWERS]
    assert (retained.write.written, retained.write.closed) == (1, 1)


def test_an_appended_item_is_read_together_with_what_the_document_says() -> None:
    world = World()
    world.memories.retain(world.context, BANK, [item(ARCHES, "guide")])
    world.memories.retain(world.context, BANK, [item(STATUES, "guide", append=True)])
    assert world.extractor.read[-1] == (f"{ARCHES}\n{STATUES}", None)
    assert known(world) == [ARCHES, STATUES]
    assert world.memory.document_text(BANK, "guide") == f"{ARCHES}\n{STATUES}"


def test_an_item_appended_to_nothing_is_the_document() -> None:
    world = World()
    world.memories.retain(world.context, BANK, [item(ARCHES, "guide", append=True)])
    assert world.memory.document_text(BANK, "guide") == ARCHES


def test_several_items_appended_in_one_request_follow_one_another() -> None:
    world = World()
    world.memories.retain(world.context, BANK, [item(ARCHES, "guide")])
    appended = [item(STATUES, "guide", append=True), item(TOWERS, "guide", append=True)]
    world.memories.retain(world.context, BANK, appended)
    assert world.memory.document_text(BANK, "guide") == f"{ARCHES}\n{STATUES}\n{TOWERS}"
    assert known(world) == [ARCHES, STATUES, TOWERS]


def test_a_fact_said_twice_in_a_document_is_stored_once() -> None:
    world = World()
    world.memories.retain(world.context, BANK, [item(ARCHES, "guide"), item(f"{ARCHES}\n{TOWERS}", "guide")])
    assert known(world) == [ARCHES, TOWERS]


def test_the_same_fact_of_two_documents_is_stored_for_each() -> None:
    world = World()
    world.memories.retain(world.context, BANK, [item(ARCHES, "guide"), item(ARCHES, "leaflet")])
    assert documents(world) == ["guide", "leaflet"]


def test_an_append_that_loses_a_race_reads_the_new_text_and_loses_nothing() -> None:
    world = World()
    world.memories.retain(world.context, BANK, [item(ARCHES, "guide")])
    world.extractor.meanwhile = [meanwhile_appended(world, STATUES)]
    world.memories.retain(world.context, BANK, [item(TOWERS, "guide", append=True)])
    assert [content for content, _ in world.extractor.read[1:]] == [
        f"{ARCHES}\n{TOWERS}",
        f"{ARCHES}\n{STATUES}\n{TOWERS}",
    ]
    assert known(world) == [ARCHES, STATUES, TOWERS]
    assert world.memory.document_text(BANK, "guide") == f"{ARCHES}\n{STATUES}\n{TOWERS}"


def test_an_append_that_loses_a_race_for_a_new_document_is_read_again_too() -> None:
    world = World()
    world.extractor.meanwhile = [meanwhile_appended(world, STATUES)]
    world.memories.retain(world.context, BANK, [item(TOWERS, "guide", append=True)])
    assert world.memory.document_text(BANK, "guide") == f"{STATUES}\n{TOWERS}"


def test_a_conflict_in_the_log_stores_the_facts_once_and_reads_nothing_again() -> None:
    world = World()
    world.log.meanwhile.append(lambda: world.log.record(BANK_STREAM, OPENED))
    retained = world.memories.retain(world.context, BANK, [item(ARCHES)])
    assert (known(world), retained.write.position, len(world.extractor.read)) == ([ARCHES], 1, 1)


def test_the_mission_of_the_bank_reaches_the_extractor() -> None:
    world = World()
    missions = MissionsChanged(missions=Missions(retain="Keep numbers.", reflect="Answer as a guide."))
    world.log.record(BANK_STREAM, OPENED, missions)
    world.memories.retain(world.context, BANK, [item(ARCHES)])
    assert world.extractor.read == [(ARCHES, "Keep numbers.")]


def test_a_bank_without_a_mission_gives_the_extractor_none() -> None:
    world = World()
    world.memories.retain(world.context, BANK, [item(ARCHES)])
    assert world.extractor.read == [(ARCHES, None)]


def test_an_extractor_that_fails_stores_nothing() -> None:
    world = World()
    world.extractor.broken = unusable()
    with pytest.raises(MindFailed, match="500"):
        world.memories.retain(world.context, BANK, [item(ARCHES)])
    assert (known(world), world.log.of(BANK_STREAM)) == ([], [])
    assert asked(world) == [("retain", ["failed"])]


def test_an_embedder_that_fails_stores_nothing_and_tells_what_was_paid_before() -> None:
    world = World()
    world.embedder.broken = unusable("embeddings: 503", transient=True)
    with pytest.raises(MindFailed, match="embeddings: 503") as failed:
        world.memories.retain(world.context, BANK, [item(ARCHES), item(TOWERS)])
    assert (known(world), world.log.of(BANK_STREAM)) == ([], [])
    assert asked(world) == [("retain", ["extract_facts", "extract_facts", "failed"])]
    assert [each.purpose for each in failed.value.calls] == ["extract_facts", "extract_facts", "failed"]
    assert (failed.value.transient, failed.value.reason, failed.value.raw) == (True, "unexpected_error", "<html>")


def test_an_extractor_that_fails_tells_what_was_paid_for_the_items_before() -> None:
    world = World()

    def breaks() -> None:
        world.extractor.broken = unusable()

    world.extractor.meanwhile = [breaks]
    with pytest.raises(MindFailed) as failed:
        world.memories.retain(world.context, BANK, [item(ARCHES), item(TOWERS)])
    assert [each.purpose for each in failed.value.calls] == ["extract_facts", "failed"]


def test_a_lost_race_is_paid_for_too() -> None:
    world = World()
    world.extractor.meanwhile = [meanwhile_appended(world, STATUES)]
    retained = world.memories.retain(world.context, BANK, [item(TOWERS, "guide", append=True)])
    assert [each.purpose for each in retained.calls] == ["extract_facts", "embed", "extract_facts"]


def test_an_append_that_loses_every_race_gives_up_and_stores_nothing() -> None:
    world = World()
    world.extractor.meanwhile = [meanwhile_appended(world, f"Change {number}.") for number in range(ATTEMPTS)]
    with pytest.raises(StaleVersion, match="a document of the request was changed"):
        world.memories.retain(world.context, BANK, [item(TOWERS, "guide", append=True)])
    assert (TOWERS in known(world), len(known(world)), len(world.extractor.read)) == (False, ATTEMPTS, ATTEMPTS)
    ((request, purposes),) = asked(world)
    assert (request, purposes) == ("retain", ["extract_facts", "embed", *["extract_facts"] * (ATTEMPTS - 1)])


def test_whoever_follows_writes_is_told_of_those_that_changed_something() -> None:
    world = World()
    told: list[str] = []
    world.memories._written = told.append
    world.memories.retain(world.context, BANK, [RetainItem(content="It has 16 arches.", document_id="guide")])
    world.memories.retain(world.context, BANK, [RetainItem(content="It has 16 arches.", document_id="guide")])
    assert told == [BANK]
    for content in (f"It has 16 arches.\n{STATUES}", "It has 16 arches."):
        world.memories.retain(world.context, BANK, [RetainItem(content=content, document_id="guide")])
    assert told == [BANK] * 3
