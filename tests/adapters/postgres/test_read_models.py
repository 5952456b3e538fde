"""Read models as a whole: rebuilt equals incremental, twice changes nothing, a broken one is set aside and healed."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from adapters.app import Service
from adapters.postgres import projector
from adapters.verification import verify
from domain.mental_model.trigger import Trigger
from projections import documents, history, staleness
from projections.registry import PROJECTIONS
from tests.support.services import context, retain, run_pending


def a_history_of_everything(service: Service) -> None:
    """Refreshes that wrote, came to the same, found nothing, failed; changes, clears, deletions, failed operations."""
    models = service.mental_models
    policy: Any = service.minds.policy

    def create(bank_id: str, name: str, tags: tuple[str, ...] = ()) -> None:
        models.create(
            context(service),
            bank_id,
            mental_model_id=name,
            name=name,
            source_query=f"What about {name}?",
            tags=tags,
            max_tokens=1024,
            trigger=Trigger(),
        )

    create("a", "empty")
    run_pending(service, "a")
    retain(service, "a", "The team about ships meets on Mondays.", "Ships are painted about white.")
    for name in ("ships", "gone", "failing"):
        create("a", name)
    run_pending(service, "a")
    retain(service, "a", "Ships sail about May.", tags=("sea",))
    for mode in (None, "full"):
        models.refresh(context(service), "a", "ships", mode)  # type: ignore[arg-type]
        run_pending(service, "a")
    policy.says = " \n"
    models.refresh(context(service), "a", "failing")
    run_pending(service, "a")
    policy.says = None
    models.change(context(service), "a", "ships", name="Ships", source_query="How about ships?", tags=("sea",))
    models.change(context(service), "a", "ships", max_tokens=512, trigger={"mode": "delta", "fact_types": ["world"]})
    models.refresh(context(service), "a", "ships")
    run_pending(service, "a")
    models.clear(context(service), "a", "failing")
    models.delete(context(service), "a", "gone")
    create("a", "gone")
    models.refresh(context(service), "a", "gone")
    models.delete(context(service), "a", "gone")
    run_pending(service, "a")
    create("b", "other")
    service.memories.retain_later(context(service), "b", [])
    run_pending(service, "b")
    service.banks.delete(context(service), "b")


def rows(service: Service) -> dict[str, list[Any]]:
    """Every row of every read model."""
    found = {}
    with service.database.connection() as connection:
        for projection in PROJECTIONS:
            order = ", ".join(projection.keys)
            found[projection.name] = connection.execute(f"SELECT * FROM {projection.table} ORDER BY {order}").fetchall()  # type: ignore[arg-type]
    return found


def test_rebuilt_equals_incremental(service: Service) -> None:
    a_history_of_everything(service)
    before = rows(service)
    assert all(before[projection.name] for projection in PROJECTIONS), "the history must reach every read model"

    with service.database.connection() as connection:
        for projection in PROJECTIONS:
            connection.execute(f"TRUNCATE {projection.table}")  # type: ignore[arg-type]
    rebuilt = service.read_models.rebuild()

    assert rows(service) == before
    assert all(each.missing == each.rows for each in rebuilt.comparisons)
    assert verify(service.log, service.reader).differences == ()


def test_every_event_twice_changes_nothing(service: Service) -> None:
    a_history_of_everything(service)
    before = rows(service)
    with service.database.begin() as tx:
        for projection in PROJECTIONS:
            tx.connection.execute(f"TRUNCATE {projection.table}")  # type: ignore[arg-type]
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

    service.mental_models.create(
        context(service),
        "a",
        mental_model_id="ships",
        name="Ships",
        source_query="Which colour have ships?",
        tags=(),
        max_tokens=1024,
        trigger=Trigger(),
    )
    run_pending(service, "a")

    served = service.reader.ask(documents.find("a", "ships"))
    assert served is not None
    assert "Ships are white." in (served.content or "")
    broken = {each.name: each.error for each in service.read_models.states() if each.error}
    assert list(broken) == ["history"]
    assert "kind" in (broken["history"] or "")
    assert "palimpsest rebuild history" in caplog.text

    service.read_models.rebuild()
    assert not [each for each in service.read_models.states() if each.error]
    entries = service.reader.ask(history.entries("a", "ships", per_kind=10))
    assert [(each.kind, each.previous_content) for each in entries] == [("version", "")]


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


def test_a_late_commit_is_read_by_the_next_refresh_and_makes_the_document_stale(service: Service) -> None:
    """Spec 07 item 29, case WS-01: a retain commits after a refresh took its snapshot, with an older time."""
    retain(service, "a", "Ships are white.")
    service.mental_models.create(
        context(service),
        "a",
        mental_model_id="ships",
        name="Ships",
        source_query="What about ships?",
        tags=(),
        max_tokens=1024,
        trigger=Trigger(),
    )
    taken = threading.Event()
    refreshed = threading.Event()

    def late() -> None:
        original = service.memory.write

        def slow_write(*arguments: Any, **named: Any) -> Any:
            written = original(*arguments, **named)
            taken.set()
            assert refreshed.wait(timeout=30)
            return written

        service.memories._memory = _with_write(service.memory, slow_write)
        retain(service, "a", "Ships sail in May.")

    retaining = threading.Thread(target=late)
    retaining.start()
    assert taken.wait(timeout=30)
    run_pending(service, "a")
    refreshed.set()
    retaining.join()

    first = service.mental_models.load("a", "ships").model
    assert "May" not in first.content
    stale = service.reader.ask(staleness.of_models("a", ["ships"]))["ships"]
    assert stale.reasons == ("new_memories",)

    service.mental_models.refresh(context(service), "a", "ships")
    run_pending(service, "a")
    second = service.mental_models.load("a", "ships").model
    assert "Ships sail in May." in second.content
    assert second.covered == first.covered + 1
    assert not service.reader.ask(staleness.of_models("a", ["ships"]))["ships"].is_stale


class _Delegating:
    def __init__(self, inner: Any, write: Any) -> None:
        self._inner = inner
        self.write = write

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _with_write(memory: Any, write: Any) -> Any:
    """A memory store whose write is held open after its rows are in, before its transaction commits."""
    return _Delegating(memory, write)
