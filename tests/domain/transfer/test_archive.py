"""What must hold of the events and the manifest of an archive before they are believed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from domain.bank import BankDeleted, BankOpened, BankRenamed
from domain.event import Event, Recorded, StreamId
from domain.refusals import ArchiveRefused
from domain.transfer import (
    FORMAT,
    SECTIONS,
    VERSION,
    BankCounts,
    Manifest,
    Parts,
    Section,
    StreamsRead,
    Tally,
    check_manifest,
    digest_of,
    file_name,
)
from tests.support.event_examples import EVENT_EXAMPLES
from tests.support.examples import BANK, MODEL, NOW, OPERATION

OPENED = BankOpened(bank_id=BANK, name="Prague")
CREATED = EVENT_EXAMPLES["mental_model.created"]
WRITTEN = EVENT_EXAMPLES["mental_model.content_written"]


def at(position: int, event: Event, version: int, kind: Any = "mental_model", name: str = MODEL) -> Recorded:
    return Recorded(StreamId(kind, BANK, name), version, position, event, "user", OPERATION, "", NOW)


BANK_IS_OPENED = at(1, OPENED, 3, "bank", BANK)


def read(*events: Recorded) -> StreamsRead:
    streams = StreamsRead(BANK)
    for each in events:
        streams.see(each)
    return streams


def test_streams_begin_where_the_life_of_their_bank_does() -> None:
    streams = read(BANK_IS_OPENED, at(2, CREATED, 5), at(3, WRITTEN, 6), at(4, BankRenamed(name="x"), 4, "bank", BANK))
    assert streams.has_bank
    assert streams.names == {BANK, MODEL}


@pytest.mark.parametrize(
    ("events", "word"),
    [
        ([at(1, CREATED, 1)], "before its bank was opened"),
        ([at(1, BankRenamed(name="x"), 1, "bank", BANK)], "does not begin"),
        ([BANK_IS_OPENED, at(2, OPENED, 4, "bank", BANK)], "does not begin"),
        ([BANK_IS_OPENED, at(2, BankDeleted(), 4, "bank", BANK)], "ends it"),
        ([BANK_IS_OPENED, at(2, CREATED, 1), at(3, WRITTEN, 3)], "version 3"),
        ([BANK_IS_OPENED, at(2, CREATED, 1), at(3, WRITTEN, 1)], "version 1"),
        ([BANK_IS_OPENED, at(2, CREATED, 1, name="another")], "another mental model"),
        ([BANK_IS_OPENED, at(2, CREATED, 1, "bank", BANK)], "of the kind 'bank'"),
        ([BANK_IS_OPENED, at(2, EVENT_EXAMPLES["operation.started"], 1, "operation")], "of the kind 'operation'"),
        ([BANK_IS_OPENED, at(2, EVENT_EXAMPLES["api_key.created"], 1, "api_key")], "of the kind 'api_key'"),
        ([at(1, OPENED, 1, "bank", "another")], "another bank"),
        ([at(1, BankOpened(bank_id="another", name="x"), 1, "bank", BANK)], "another bank"),
        ([BANK_IS_OPENED, at(2, WRITTEN.model_copy(update={"text": "# Forged\n"}), 1)], "sha256"),
    ],
)
def test_events_that_cannot_be_are_refused(events: Sequence[Recorded], word: str) -> None:
    with pytest.raises(ArchiveRefused, match=word):
        read(*events)


# --- parts ------------------------------------------------------------------------------------------------------------


def test_a_bank_is_opened_whatever_goes_along() -> None:
    events = [BANK_IS_OPENED, at(2, CREATED, 1), at(3, BankRenamed(name="x"), 4, "bank", BANK)]
    assert list(Parts(data=True, config=False).of(events)) == events[:2]
    assert list(Parts(data=False, config=True).of(events)) == [events[0], events[2]]
    assert list(Parts().of(events)) == events


def test_events_are_counted_by_what_they_mean() -> None:
    tally = Tally()
    for topic in ("bank.directive_added", "mental_model.created", "mental_model.content_edited", "bank.renamed"):
        tally.see_event(at(1, EVENT_EXAMPLES[topic], 1))
    assert tally.counts == BankCounts(directives=1, mental_models=1, history=1, events=4)
    tally.see_event(at(5, EVENT_EXAMPLES["mental_model.deleted"], 2))
    assert tally.counts.mental_models == 0


# --- the manifest -----------------------------------------------------------------------------------------------------

HELD = tuple(Section(name=name, rows=1, bytes=2, sha256="0" * 64) for name in SECTIONS)
MANIFEST = Manifest(
    format=FORMAT,
    version=VERSION,
    made_by="palimpsest 1",
    bank_id=BANK,
    exported_at=NOW,
    space="words/256",
    include_data=True,
    include_bank_config=True,
    counts=BankCounts(),
    sections=HELD,
    digest=digest_of(HELD),
)


def test_a_manifest_that_says_what_there_is_is_believed() -> None:
    check_manifest(MANIFEST)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"format": "something"}, "format 'something'"),
        ({"version": VERSION + 1}, f"version {VERSION + 1}"),
        ({"bank_id": "../etc"}, "as no bank is named"),
        ({"bank_id": ""}, "as no bank is named"),
        ({"sections": HELD[:-1]}, "sections of a bank"),
        ({"sections": (*HELD, HELD[0])}, "sections of a bank"),
        ({"sections": (HELD[0].model_copy(update={"rows": 2}), *HELD[1:])}, "digest"),
    ],
)
def test_a_manifest_of_something_else_is_refused(changes: dict[str, Any], word: str) -> None:
    with pytest.raises(ArchiveRefused, match=word):
        check_manifest(MANIFEST.model_copy(update=changes))


@pytest.mark.parametrize(
    ("bank_id", "name"),
    [("team", "team"), ('a"b\nc', "a-b-c"), ("Příliš", "P--li"), ("日本", "bank"), ("x" * 200, "x" * 80)],
)
def test_an_archive_has_a_name_that_any_disk_takes(bank_id: str, name: str) -> None:
    assert file_name(bank_id, datetime(2026, 3, 1, 8, 5, 9, tzinfo=UTC)) == f"{name}-20260301T080509Z.zip"
