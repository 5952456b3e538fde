"""Blame and comparisons of documents whose events are not all of today's making."""

from __future__ import annotations

from typing import Any

import pytest

from application.document_versions import Blame, DocumentVersions
from domain.digest import sha256_of
from domain.document import ids_of, parse
from domain.mental_model.events import ContentWritten, MentalModelDeleted, MentalModelRenamed
from domain.mental_model.record import Citation, DeltaRecord, Evidence, PieceGrounds, Relink, RetractionRecord
from domain.refusals import MentalModelNotFound, VersionNotFound
from tests.support.examples import (
    BANK,
    MENTAL_MODEL_STREAM,
    MODEL,
    created,
    evidence,
    fact_id,
    refresh_record,
    unchanged,
    written,
)
from tests.support.world import World

TEXT = "# Bridge\n\nFinished in 1402.\n"


def versions(world: World) -> DocumentVersions:
    return DocumentVersions(world.mental_models, world.memory)


def resting_on(*facts: int, cites: tuple[Evidence, ...] | None = None, **changes: Any) -> ContentWritten:
    """A write whose one paragraph rests on facts; the evidence is of them all unless told."""
    document = parse(TEXT)
    grounds = (PieceGrounds(id=document.sections[0].blocks[0].id, facts=tuple(map(fact_id, facts))),)
    told = tuple(evidence(each) for each in facts) if cites is None else cites
    record = refresh_record(evidence=told, **changes)
    return ContentWritten(text=TEXT, sha256=sha256_of(TEXT), ids=ids_of(document), pieces=grounds, record=record)


def facts_of(blame: Blame) -> list[tuple[int, str | None, bool]]:
    return [
        (fact.fact_id.int - fact_id(0).int, fact.evidence.text if fact.evidence else None, fact.current)
        for fact in blame.pieces[-1].facts
    ]


def test_pieces_that_were_not_recorded_are_blamed_on_the_write_without_facts() -> None:
    blame = versions(World().has_a_model(written(TEXT))).blame(BANK, MODEL)
    assert [(each.kind, each.text) for each in blame.pieces] == [
        ("section", "# Bridge"),
        ("paragraph", "Finished in 1402."),
    ]
    assert {(each.written.version, each.facts) for each in blame.pieces if each.written} == {(2, ())}


def test_pieces_that_the_parser_no_longer_finds_so_are_blamed_on_nobody() -> None:
    recorded_otherwise = written(TEXT).model_copy(update={"ids": ("bridge", "b1", "b2")})
    blame = versions(World().has_a_model(recorded_otherwise)).blame(BANK, MODEL)
    paragraph = blame.pieces[-1]
    assert (paragraph.text, paragraph.piece, paragraph.written, paragraph.facts) == (
        "Finished in 1402.",
        None,
        None,
        (),
    )


def test_a_fact_that_never_was_evidence_is_told_without_text() -> None:
    blame = versions(World().has_a_model(resting_on(1, cites=()))).blame(BANK, MODEL)
    assert facts_of(blame) == [(1, None, False)]


def test_what_was_told_of_a_fact_later_is_not_known_before() -> None:
    world = World().has_a_model(resting_on(1, cites=()), resting_on(1))
    assert facts_of(versions(world).blame(BANK, MODEL, 2)) == [(1, None, False)]
    assert facts_of(versions(world).blame(BANK, MODEL)) == [(1, "Fact 1 about the bridge.", False)]
    facts = versions(world).compare(BANK, MODEL, 1, 2).facts
    assert facts.get(fact_id(1)) is None


def test_only_what_changed_after_the_first_version_is_told() -> None:
    world = World().has_a_model(written(TEXT), written("Second.\n"), written("Third.\n"))
    assert [change.version for change in versions(world).compare(BANK, MODEL, 2, 4).changes] == [3, 4]
    assert [change.version for change in versions(world).compare(BANK, MODEL, 4, 2).changes] == [3, 4]


def test_a_fact_is_told_as_it_was_cited_and_not_as_a_later_version_says() -> None:
    newer = evidence(1, version=2, position=9, text="Finished in 1403.")
    world = World().has_a_model(resting_on(1), resting_on(1, cites=(newer,)))
    world.memory.add(BANK, "Something else.")
    assert facts_of(versions(world).blame(BANK, MODEL)) == [(1, "Finished in 1403.", False)]
    assert facts_of(versions(world).blame(BANK, MODEL, 2)) == [(1, "Fact 1 about the bridge.", False)]


def test_a_fact_that_took_over_from_another_says_the_same() -> None:
    after = Citation(fact_id=fact_id(2), version=1, position=8, fact_type="world")
    retraction = RetractionRecord(relinked=(Relink(before=fact_id(1), after=after),))
    relinked = unchanged(
        effective_mode="delta", delta=DeltaRecord(baseline_sha256=sha256_of(TEXT)), retraction=retraction
    )
    blame = versions(World().has_a_model(resting_on(1), relinked)).blame(BANK, MODEL)
    assert facts_of(blame) == [(2, "Fact 1 about the bridge.", False)]


def test_a_document_is_compared_with_an_earlier_text_of_the_same_life_only() -> None:
    world = World().has_a_model(written("First life.\n"), MentalModelDeleted(), created(), MentalModelRenamed(name="x"))
    compared = versions(world).compare(BANK, MODEL)
    assert (compared.before.version, compared.after.version, compared.changes) == (5, 5, ())
    world.log.record(MENTAL_MODEL_STREAM, written("Second life.\n"))
    compared = versions(world).compare(BANK, MODEL)
    assert (compared.before.version, compared.after.version) == (5, 6)
    assert [change.version for change in compared.changes] == [6]
    across = versions(world).compare(BANK, MODEL, 2, 6)
    assert (across.before.model.content, across.after.model.content) == ("First life.\n", "Second life.\n")
    with pytest.raises(VersionNotFound):
        versions(world).compare(BANK, MODEL, 3)


def test_a_refresh_that_came_to_the_same_is_no_change() -> None:
    world = World().has_a_model(written(TEXT), unchanged())
    compared = versions(world).compare(BANK, MODEL)
    assert (compared.before.version, [change.version for change in compared.changes]) == (1, [2])


def test_what_is_not_there_has_no_versions() -> None:
    world = World().has_a_model(MentalModelDeleted())
    with pytest.raises(MentalModelNotFound):
        versions(world).blame(BANK, MODEL)
    with pytest.raises(MentalModelNotFound):
        versions(world).compare(BANK, MODEL)
    with pytest.raises(MentalModelNotFound):
        versions(world).blame(BANK, "none", 1)
