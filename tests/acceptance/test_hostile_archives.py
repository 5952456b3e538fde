"""Archives that are damaged, forged or meant to do harm: refused clearly, and nothing of them is left behind."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.support.rest import RestBank
from tests.support.transferring import entries, exported, imported, rewritten, sent, signed, zipped

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def source(client: httpx.Client) -> RestBank:
    bank = RestBank(client, f"source-{uuid4().hex[:12]}")
    bank.retain("Ada Lovelace works at Acme.", document_id="guide", tags=["work"])
    bank.model("ada")
    return bank


@pytest.fixture(scope="module")
def archive(source: RestBank) -> bytes:
    return exported(source)


@pytest.fixture
def target(source: RestBank) -> RestBank:
    """A bank that is not there."""
    return RestBank(source.client, f"target-{uuid4().hex[:12]}")


def refused(source: RestBank, archive: bytes, target: RestBank) -> str:
    """Why an archive was not taken, at once or by its operation; nothing of it may have been kept."""
    answer = sent(source, archive, target.bank_id)
    if answer.status_code == 202:
        ended = source.finished(answer.json()["operation_id"])
        assert ended["status"] == "failed"
        why = str(ended["error_message"])
    else:
        assert 400 <= answer.status_code < 500, answer.text
        why = str(answer.json()["detail"])
    assert target.ask("GET", "/stats").status_code == 404
    assert target.ask("GET", "/mental-models").status_code == 404
    return why


def with_entry(archive: bytes, name: str, content: bytes = b"{}\n") -> bytes:
    return zipped({**entries(archive), name: content})


def with_an_entry_twice(archive: bytes) -> bytes:
    file = io.BytesIO(archive)
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(file, "a") as packed:
        packed.writestr("facts.jsonl", b"")
    return file.getvalue()


def with_a_flipped_byte(archive: bytes) -> bytes:
    """In the middle of the packed events, so that what is unpacked is something else, or nothing at all."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        info = packed.getinfo("events.jsonl")
    at = info.header_offset + 30 + len("events.jsonl") + info.compress_size // 2
    return archive[:at] + bytes([archive[at] ^ 0xFF]) + archive[at + 1 :]


def said_to_be_huge(archive: bytes) -> bytes:
    """An archive whose directory says that an entry unpacks to 4 GB: as bombs are recognised, before they go off."""
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        size = packed.getinfo("facts.jsonl").file_size
    directory = archive.rindex(b"facts.jsonl") - 46
    assert archive[directory : directory + 4] == b"PK\x01\x02"
    assert struct.unpack_from("<I", archive, directory + 24) == (size,)
    return archive[: directory + 24] + struct.pack("<I", 0xFFFFFFF0) + archive[directory + 28 :]


def bomb(archive: bytes) -> bytes:
    """A section of a thousand times as many bytes as it takes, said to be what it is."""
    held = entries(archive)
    return signed({**held, "facts.jsonl": b" " * 40_000_000 + b"\n"})


def without(name: str) -> Callable[[bytes], bytes]:
    return lambda archive: zipped({each: held for each, held in entries(archive).items() if each != name})


@pytest.mark.parametrize(
    ("harmed", "why"),
    [
        (lambda _archive: b"", "zip"),
        (lambda _archive: b"no archive at all", "zip"),
        (lambda archive: archive[: len(archive) // 2], "zip"),
        (lambda archive: archive[:-30], "zip"),
        (with_a_flipped_byte, "cannot be read|digest|not as it should|line"),
        (lambda archive: with_entry(archive, "../../etc/passwd"), "no part of a bank"),
        (lambda archive: with_entry(archive, "/facts.jsonl"), "no part of a bank"),
        (lambda archive: with_entry(archive, "facts.jsonl/"), "no part of a bank"),
        (with_an_entry_twice, "more than once"),
        (without("events.jsonl"), "holds no 'events.jsonl'"),
        (without("manifest.json"), "holds no 'manifest.json'"),
        (said_to_be_huge, "unpacks to|another size|zip"),
        (bomb, "line"),
    ],
    ids=["nothing", "no zip", "half", "no end", "a flipped byte", "a way up", "a way down", "a folder", "twice",
         "no events", "no manifest", "said to be huge", "a bomb"],
)  # fmt: skip
def test_what_is_no_archive_of_a_bank_is_refused(
    source: RestBank, archive: bytes, target: RestBank, harmed: Callable[[bytes], bytes], why: str
) -> None:
    assert re.search(why, refused(source, harmed(archive), target))


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        ({"version": 2}, "version 2"),
        ({"format": "zip of holidays"}, "holidays"),
        ({"bank_id": "\x00"}, "bank"),
        ({"digest": "0" * 64}, "digest"),
        ({"counts": {}}, "manifest|counts"),
    ],
)
def test_a_manifest_that_is_of_another_kind_or_untrue_is_refused(
    source: RestBank, archive: bytes, target: RestBank, manifest: dict[str, Any], why: str
) -> None:
    assert re.search(why, refused(source, signed(entries(archive), **manifest), target))


def changed(**fields: Any) -> Callable[[Rows], None]:
    return lambda rows: rows[0].update(fields)


@pytest.mark.parametrize(
    ("section", "change"),
    [
        ("facts", changed(fact_id="not an id")),
        ("facts", changed(from_position=-1)),
        ("facts", changed(text="nul \x00 inside")),
        ("facts", lambda rows: rows.append(dict(rows[0]))),
        ("facts", lambda rows: rows.clear()),
        ("documents", lambda rows: rows.append(dict(rows[0]))),
        ("clock", lambda rows: rows.clear()),
        ("clock", lambda rows: rows.append(dict(rows[0]))),
        ("events", lambda rows: rows.append(dict(rows[0]))),
        ("events", lambda rows: rows.reverse()),
        ("events", lambda rows: rows.clear()),
        ("events", changed(topic="bank.flooded")),
    ],
    ids=["an id", "a position", "a character", "a fact twice", "no facts", "a document twice", "no clock", "two clocks",
         "an event twice", "events backwards", "no events", "an event unknown"],
)  # fmt: skip
def test_rows_that_cannot_be_are_refused_though_their_digests_are_right(
    source: RestBank, archive: bytes, target: RestBank, section: str, change: Callable[[Rows], Any]
) -> None:
    forged = rewritten(archive, section, lambda rows: [change(rows), rows][1])
    why = refused(source, forged, target)
    assert why
    assert "Unexpected" not in why
    assert "Traceback" not in why


def test_a_target_that_was_refused_once_takes_the_right_archive_then(
    source: RestBank, archive: bytes, target: RestBank
) -> None:
    refused(source, rewritten(archive, "facts", changed(fact_id="not an id")), target)
    assert imported(source, archive, target.bank_id)["status"] == "completed"
    assert target.get("/mental-models/ada")["content"] == source.get("/mental-models/ada")["content"]
