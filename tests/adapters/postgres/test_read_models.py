"""Read models as a whole: rebuilt equals incremental, twice changes nothing, a broken one is set aside and healed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from adapters.postgres import projector
from adapters.postgres.kept_replies import PostgresKeptReplies
from adapters.postgres.retain_inbox import PostgresRetainInbox
from adapters.service import Service
from adapters.verification import verify
from application.banks import Banks
from application.command_handler import CommandHandler
from application.knowledge_base import PageOptions
from application.ports import Transaction
from domain.knowledge_base import MoveTo
from projections import banks, documents, history, operations, staleness, timeline
from projections.registry import PROJECTIONS
from tests.support.eventually import eventually
from tests.support.services import context, define, retain, run_pending

SHIPS = PageOptions("How about ships?")


def a_history_of_everything(service: Service) -> None:
    """Refreshes that wrote, came to the same, found nothing, failed; changes, clears, deletions, failed operations."""
    models = service.mental_models
    policy: Any = service.minds.policy

    define(service, "a", "empty")
    run_pending(service, "a")
    retain(service, "a", "The team about ships meets on Mondays.", "Ships are painted about white.")
    for name in ("ships", "gone", "failing"):
        define(service, "a", name)
    run_pending(service, "a")
    retain(service, "a", "Ships sail about May.", tags=("sea",))
    service.refresh_requests.refresh(context(service), "a", "ships")
    run_pending(service, "a")
    service.refresh_requests.refresh(context(service), "a", "ships", "full")
    run_pending(service, "a")
    policy.says = " \n"
    service.refresh_requests.refresh(context(service), "a", "failing")
    run_pending(service, "a")
    policy.says = None
    models.change(context(service), "a", "ships", name="Ships", source_query="How about ships?", tags=("sea",))
    models.change(context(service), "a", "ships", max_tokens=512, trigger={"mode": "delta", "fact_types": ["world"]})
    service.refresh_requests.refresh(context(service), "a", "ships")
    run_pending(service, "a")
    models.clear(context(service), "a", "failing")
    models.delete(context(service), "a", "gone")
    define(service, "a", "gone")
    service.refresh_requests.refresh(context(service), "a", "gone")
    models.delete(context(service), "a", "gone")
    run_pending(service, "a")
    for bank_id in ("a", "b"):
        service.banks.put(context(service), bank_id, "Harbour", {"retain_chunk_size": 500, "reflect_mission": "Sail."})
        kept = service.directives.add(context(service), bank_id, "Cite", "Name sources.", {"tags": ("sea",)})
        gone = service.directives.add(context(service), bank_id, "Be kind", "Be kind.", {})
        service.directives.change(context(service), bank_id, kept, {"priority": 5})
        service.directives.remove(context(service), bank_id, gone)
        a_tree(service, bank_id)
    define(service, "b", "other")
    with_a_key(service, "a", "ships")
    service.memories.retain_later(context(service), "b", [])
    run_pending(service, "b")
    service.banks.delete(context(service), "b")


def with_a_key(service: Service, bank_id: str, name: str) -> None:
    """A refresh that a key asked for."""
    key = service.api_keys.create(context(service), name="laptop", banks=[bank_id])
    service.refresh_requests.refresh(replace(context(service), key_id=key.key_id), bank_id, name)
    run_pending(service, bank_id)


def a_tree(service: Service, bank_id: str) -> None:
    """Folders and pages: made, renamed, moved, put in another place, deleted."""
    bases, by = service.knowledge_bases, context(service)
    harbour, gone = (bases.create_folder(by, bank_id, name=name) for name in ("Harbour", "Gone"))
    pages = [bases.create_page(by, bank_id, name=name, options=SHIPS, parent_id=gone) for name in ("Piers", "Lost")]
    bases.change(by, bank_id, pages[0].page_id, name="Quays", move=MoveTo(harbour), sort_order=2)
    bases.delete(by, bank_id, gone)


def rows(service: Service) -> dict[str, list[Any]]:
    """Every row of every read model."""
    found = {}
    with service.database.connection() as connection:
        for projection in PROJECTIONS:
            order = ", ".join(projection.keys)
            found[projection.name] = connection.execute(f"SELECT * FROM {projection.table} ORDER BY {order}").fetchall()  # type: ignore[arg-type]  # names of our own
    return found


def test_rebuilt_equals_incremental(service: Service) -> None:
    a_history_of_everything(service)
    before = rows(service)
    assert all(before[projection.name] for projection in PROJECTIONS), "the history must reach every read model"

    with service.database.connection() as connection:
        for projection in PROJECTIONS:
            connection.execute(f"TRUNCATE {projection.table}")  # type: ignore[arg-type]  # names of our own
    rebuilt = service.read_models.rebuild()

    assert rows(service) == before
    with service.database.connection() as connection:
        left = connection.execute("SELECT nspname FROM pg_namespace WHERE nspname LIKE '%shadow%'").fetchall()
    assert left == []
    assert all(each.missing == each.rows for each in rebuilt.comparisons)
    assert verify(service.log, service.reader).differences == ()


def test_every_event_twice_changes_nothing(service: Service) -> None:
    a_history_of_everything(service)
    before = rows(service)
    with service.database.begin() as tx:
        for projection in PROJECTIONS:
            tx.connection.execute(f"TRUNCATE {projection.table}")  # type: ignore[arg-type]  # names of our own
        for recorded in service.log.after(0, limit=10_000):
            for projection in PROJECTIONS:
                for _ in range(2):
                    projector.run(tx.connection, projector.statements_of(projection, [recorded]))
    assert rows(service) == before


def test_a_check_finds_what_was_tampered_with_and_changes_nothing(service: Service) -> None:
    a_history_of_everything(service)
    assert all(each.same for each in service.read_models.rebuild(check_only=True).comparisons)
    with service.database.connection() as connection:
        connection.execute("UPDATE documents SET content = 'forged' WHERE mental_model_id = 'ships'")
        connection.execute("DELETE FROM timeline WHERE mental_model_id = 'ships' AND version = 1")
    before = rows(service)

    checked = {each.name: each for each in service.read_models.rebuild(check_only=True).comparisons}

    assert (checked["documents"].different, checked["documents"].examples) == (1, ("a/ships: content",))
    assert (checked["timeline"].missing, checked["timeline"].same) == (1, False)
    assert checked["history"].same
    assert rows(service) == before
    (difference,) = verify(service.log, service.reader).differences
    assert (difference.mental_model_id, difference.where[:15]) == ("ships", "content, line 1")


def test_a_broken_read_model_never_blocks_a_write_and_a_rebuild_heals_it(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    retain(service, "a", "Ships are white.")
    with service.database.connection() as connection:
        connection.execute("ALTER TABLE history DROP COLUMN kind")

    define(service, "a", "ships")
    created = service.log.after(0, limit=100)[-2]
    run_pending(service, "a")

    served = service.reader.ask(documents.find("a", "ships"))
    assert served is not None
    assert "Ships are white." in (served.content or "")
    broken = {each.name: each.error for each in service.read_models.states() if each.error}
    assert list(broken) == ["history"]
    assert "kind" in (broken["history"] or "")
    assert "palimpsest rebuild history" in caplog.text

    with service.database.connection() as connection:
        aside = connection.execute("SELECT name, set_aside_position FROM read_models WHERE set_aside_at IS NOT NULL")
        assert aside.fetchall() == [{"name": "history", "set_aside_position": created.position}]
    assert caplog.text.count("was set aside") == 1, "what is set aside gets no more events"

    service.read_models.rebuild()
    assert not [each for each in service.read_models.states() if each.error]
    service.mental_models.clear(context(service), "a", "ships")
    entries = service.reader.ask(history.entries("a", "ships", per_kind=10))
    assert [each.kind for each in entries] == ["cleared", "version"]
    assert all(each.same for each in service.read_models.rebuild(check_only=True).comparisons)


def test_a_read_model_of_another_version_is_rebuilt_at_start(service: Service) -> None:
    a_history_of_everything(service)
    before = rows(service)
    with service.database.connection() as connection:
        connection.execute("UPDATE read_models SET version = 0 WHERE name = 'documents'")
        connection.execute("ALTER TABLE documents DROP COLUMN content")

    service.read_models.prepare()

    assert rows(service) == before


def test_a_rebuild_beside_writers_loses_nothing(service: Service) -> None:
    a_history_of_everything(service)
    done = threading.Event()

    def write() -> None:
        number = 0
        while not done.is_set():
            service.mental_models.change(context(service), "a", "ships", name=f"name {number}")
            number += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(3):
            service.read_models.rebuild()
    finally:
        done.set()
        writer.join()
    assert all(each.same for each in service.read_models.rebuild(check_only=True).comparisons)
    assert service.mental_models.load("a", "ships").model.name.startswith("name ")


def test_a_late_commit_is_read_by_the_next_refresh_and_makes_the_document_stale(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Spec 07 item 29, case WS-01: a retain commits after a refresh took its snapshot, with an older time."""
    retain(service, "a", "Ships are white.")
    define(service, "a", "ships")
    taken = threading.Event()
    refreshed = threading.Event()

    write = service.memory.write

    def slow_write(*arguments: Any, **named: Any) -> Any:
        written = write(*arguments, **named)
        taken.set()
        assert refreshed.wait(timeout=30)
        return written

    monkeypatch.setattr(service.memory, "write", slow_write)
    retaining = threading.Thread(target=retain, args=(service, "a", "Ships sail in May."))
    retaining.start()
    assert taken.wait(timeout=30)
    run_pending(service, "a")
    refreshed.set()
    retaining.join()

    first = service.mental_models.load("a", "ships").model
    assert "May" not in first.content
    stale = service.reader.ask(staleness.of_models("a", ["ships"], observations=False))["ships"]
    assert stale.reasons == ("new_memories",)

    service.refresh_requests.refresh(context(service), "a", "ships")
    run_pending(service, "a")
    second = service.mental_models.load("a", "ships").model
    assert "Ships sail in May." in second.content
    assert second.covered == first.covered + 1
    assert not service.reader.ask(staleness.of_models("a", ["ships"], observations=False))["ships"].is_stale


def test_a_rebuild_and_a_command_that_has_read_a_read_model_do_not_wait_for_each_other(service: Service) -> None:
    define(service, "a", "ships")
    with ThreadPoolExecutor(1) as beside:
        rebuilding: list[Any] = []

        def mental_models_of(bank_id: str, tx: Transaction | None) -> Sequence[str]:
            models = service.reader.ask(documents.ids(bank_id), tx)
            if tx is not None and not rebuilding:
                rebuilding.append(beside.submit(service.read_models.rebuild))
                eventually(lambda: someone_waits_for_a_lock(service))
            return models

        handler = CommandHandler(service.log, service.database)
        inbox = PostgresRetainInbox(service.database)
        kept = PostgresKeptReplies(service.database)
        Banks(handler, service.log, service.memory, inbox, kept, mental_models_of).delete(context(service), "a")
        assert rebuilding[0].result(timeout=30).swapped
    assert service.reader.ask(banks.find("a")) is None
    assert all(each.same for each in service.read_models.rebuild(check_only=True).comparisons)


def someone_waits_for_a_lock(service: Service) -> bool:
    with service.database.connection() as connection:
        row = connection.execute(
            "SELECT EXISTS (SELECT FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock') AS waits"
        ).fetchone()
    return bool(row and row["waits"])


def test_statements_prepared_before_a_rebuild_answer_after_it(service: Service) -> None:
    a_history_of_everything(service)
    queries: list[Any] = [
        banks.page(None, 10, 0),
        documents.page("a", tags=[], match="any", detail="full", limit=10, offset=0),
        staleness.of_models("a", ["ships"], observations=False),
        operations.counts("a"),
        history.entries("a", "ships", per_kind=10),
    ]
    with service.database.connection() as connection:

        def answers() -> list[Any]:
            return [each.read(connection.execute(each.sql, each.params, prepare=True).fetchall()) for each in queries]

        before = answers()
        service.read_models.rebuild()
        assert answers() == before


def test_what_happens_to_one_model_leaves_the_others_alone(service: Service) -> None:
    """Other models of the bank, and those of the same name in other banks."""
    for bank_id, name in (("a", "ships"), ("a", "boats"), ("b", "ships")):
        retain(service, bank_id, f"The {name} are white.")
        define(service, bank_id, name)
        service.knowledge_bases.create_page(context(service), bank_id, name=name, options=SHIPS)
        run_pending(service, bank_id)
        service.directives.add(context(service), bank_id, name, "Be kind.", {})
    with_a_key(service, "b", "ships")
    before = {name: [row for row in found if is_of_another(row)] for name, found in rows(service).items()}
    assert all(before[name] for name in before), "every read model must know the others"

    service.mental_models.change(
        context(service),
        "a",
        "ships",
        name="S",
        source_query="Q?",
        tags=("t",),
        max_tokens=512,
        trigger={"mode": "delta"},
    )
    service.refresh_requests.refresh(context(service), "a", "ships")
    run_pending(service, "a")
    service.mental_models.clear(context(service), "a", "ships")
    service.mental_models.delete(context(service), "a", "ships")

    after = {name: [row for row in found if is_of_another(row)] for name, found in rows(service).items()}
    assert after == before


def is_of_another(row: Any) -> bool:
    return (row.get("bank_id"), row.get("mental_model_id", "ships")) not in (("a", "ships"), ("a", None))


def test_a_cleared_document_rests_on_nothing_and_a_corrected_fact_makes_only_its_documents_stale(
    service: Service,
) -> None:
    retain(service, "a", "Ships are white.", document_id="ships")
    for name in ("ships", "cleared-ships"):
        define(service, "a", name)
    run_pending(service, "a")
    service.mental_models.clear(context(service), "a", "cleared-ships")
    retain(service, "a", "Boats are red.", tags=("boats",))
    define(service, "a", "white-ships")
    run_pending(service, "a")
    retain(service, "a", "Ships are blue.", document_id="ships")

    found = service.reader.ask(staleness.of_models("a", ["ships", "cleared-ships", "white-ships"], observations=False))
    assert {name: each.reasons for name, each in found.items()} == {
        "ships": ("new_memories", "evidence_changed"),
        "cleared-ships": ("new_memories",),
        "white-ships": ("new_memories", "evidence_changed"),
    }
    service.refresh_requests.refresh(context(service), "a", "ships")
    run_pending(service, "a")
    found = service.reader.ask(staleness.of_models("a", ["ships", "white-ships"], observations=False))
    assert {name: each.reasons for name, each in found.items()} == {
        "ships": (),
        "white-ships": ("new_memories", "evidence_changed"),
    }


def test_a_page_of_the_timeline_begins_with_the_oldest(service: Service) -> None:
    define(service, "a", "ships")
    for number in range(4):
        service.mental_models.change(context(service), "a", "ships", name=f"name {number}")
    first, total = service.reader.ask(timeline.page("a", "ships", 2, 0))
    second, _ = service.reader.ask(timeline.page("a", "ships", 2, 2))
    beyond, still = service.reader.ask(timeline.page("a", "ships", 2, 9))
    assert [each.version for each in (*first, *second)] == [1, 2, 3, 4]
    assert (total, beyond, still) == (5, [], 5)


def test_a_bank_is_found_by_any_part_of_its_id_or_name_whatever_the_case(service: Service) -> None:
    service.banks.put(context(service), "Harbour", "The North Quay")
    service.banks.put(context(service), "other", "100%")
    for asked, expected in (("harb", ["Harbour"]), ("NORTH q", ["Harbour"]), ("%", ["other"]), ("x", [])):
        found, total = service.reader.ask(banks.page(asked, 10, 0))
        assert ([each.bank_id for each in found], total) == (expected, len(expected))
