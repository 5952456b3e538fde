"""Files that are retained: as documents like any other, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.client_bank import official_client
from tests.support.rest import RestBank, assert_refused


def send(
    bank: RestBank, *files: tuple[str, bytes, str], metadata: list[dict[str, Any]] | None = None
) -> httpx.Response:
    data = {} if metadata is None else {"request": json.dumps({"files_metadata": metadata})}
    return bank.ask("POST", "/files/retain", files=[("files", each) for each in files], data=data)


def retained(bank: RestBank, response: httpx.Response) -> None:
    assert response.status_code == 200, response.text
    for operation_id in response.json()["operation_ids"]:
        assert bank.finished(operation_id)["status"] == "completed"


HTML = b"""<!doctype html><html><head><title>The bridge</title><style>p {color: red}</style></head><body>
<h1>Charles   Bridge</h1><p>It has <b>16</b> arches &amp; 30 statues.</p><script>alert("no")</script>
<ul><li>Stone</li><li>Old</li></ul><table><tr><th>Built</th><td>1357</td></tr></table></body></html>"""


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("a.txt", "Ano, č.".encode(), "Ano, č."),
        ("a.txt", b"\xef\xbb\xbfWith a mark.", "With a mark."),
        ("a.txt", "Wide.".encode("utf-16"), "Wide."),
        ("a.md", b"# Title\n\nA line.", "# Title\n\nA line."),
        ("a.json", b'[{"role": "user", "content": "Hello"}]', '[{"role": "user", "content": "Hello"}]'),
        (
            "a.html",
            HTML,
            "# The bridge\n\n# Charles Bridge\n\nIt has 16 arches & 30 statues.\n\n"
            "- Stone\n- Old\n\n| Built | 1357 |\n",
        ),
    ],
    ids=["text", "marked", "utf-16", "markdown", "json", "html"],
)
def test_kinds_of_files_that_are_read(bank: RestBank, name: str, content: bytes, text: str) -> None:
    retained(bank, send(bank, (name, content, "application/octet-stream"), metadata=[{"document_id": "d"}]))
    assert bank.get("/documents/d")["original_text"] == text


def test_several_files_are_documents_of_their_own_unless_they_name_the_same(bank: RestBank) -> None:
    files = [(f"{name}.txt", f"It has {name} arches.".encode(), "text/plain") for name in ("one", "two", "three")]
    named = [{"document_id": "d"}, {}, {"document_id": "d"}]
    response = send(bank, *files, metadata=named)
    assert len(response.json()["operation_ids"]) == 2
    retained(bank, response)
    assert bank.get("/documents/d")["original_text"] == "It has one arches.\nIt has three arches."
    assert bank.get("/documents")["total"] == 2


BAD: dict[str, tuple[list[tuple[str, bytes, str]], str | None, int, tuple[str, ...]]] = {
    "a kind that is not read": ([("a.pdf", b"%PDF-1.7", "application/pdf")], None, 415, (".pdf", "Markdown")),
    "no kind": ([("a", b"x", "application/octet-stream")], None, 415, ("octet-stream", "HTML")),
    "no text": ([("a.txt", b" \n", "text/plain")], None, 422, ("a.txt", "no text")),
    "not UTF-8": ([("a.txt", b"\xe9t\xe9", "text/plain")], None, 422, ("a.txt", "UTF-8")),
    "NUL": ([("a.txt", b"a\x00b", "text/plain")], None, 422, ("a.txt", "NUL")),
    "no JSON": ([("a.json", b"{", "application/json")], None, 422, ("a.json", "JSON")),
    "a request that is no JSON": ([("a.txt", b"A.", "text/plain")], "{", 422, ("request", "JSON")),
    "too many entries": (
        [("a.txt", b"A.", "text/plain")],
        '{"files_metadata": [{}, {}]}',
        422,
        ("files_metadata", "2 entries for 1 files"),
    ),
    "a bad tag": (
        [("a.txt", b"A.", "text/plain")],
        '{"files_metadata": [{"tags": [" "]}]}',
        422,
        ("files_metadata", "tags", "blank"),
    ),
    "a strategy that is not there": (
        [("a.txt", b"A.", "text/plain")],
        '{"files_metadata": [{"strategy": "slow"}]}',
        422,
        ("strategy", "slow"),
    ),
}


@pytest.mark.parametrize(("files", "request_part", "status", "words"), BAD.values(), ids=BAD.keys())
def test_what_cannot_be_retained_is_refused_and_nothing_is_taken_in(
    bank: RestBank, files: list[tuple[str, bytes, str]], request_part: str | None, status: int, words: tuple[str, ...]
) -> None:
    good = ("good.txt", b"It has 16 arches.", "text/plain")
    data = {} if request_part is None else {"request": request_part}
    sent = files if request_part else [good, *files]
    response = bank.ask("POST", "/files/retain", files=[("files", each) for each in sent], data=data)
    assert_refused(response, status, *words)
    assert bank.ask("GET", "/operations").status_code == 404


def test_a_request_without_files_or_form_says_what_to_send(bank: RestBank) -> None:
    assert_refused(bank.ask("POST", "/files/retain", json={"files": []}), 415, "multipart/form-data")
    empty = bank.ask("POST", "/files/retain", files=[("other", ("a.txt", b"A.", "text/plain"))])
    assert_refused(empty, 422, "files", "at least one")
    broken = bank.ask(
        "POST", "/files/retain", content=b"nonsense", headers={"Content-Type": "multipart/form-data; boundary=x"}
    )
    assert broken.status_code in (400, 422), broken.text


def test_the_official_client_retains_files(bank: RestBank, address: str, tmp_path: Path) -> None:
    file = tmp_path / "guide.md"
    file.write_text("It has 16 arches.")
    with official_client(address) as (client, _loop):
        answer = client.retain_files(bank.bank_id, [file], files_metadata=[{"document_id": "guide", "tags": ["stone"]}])
        for operation_id in answer.operation_ids:
            bank.finished(operation_id)
    assert bank.get("/documents/guide")["tags"] == ["stone"]
