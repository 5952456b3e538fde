"""Reports from the field about retains: turns and documents that got lost, names and secrets as they were not meant."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest

from adapters.app import build
from adapters.service import opened
from adapters.settings import Settings
from tests.support.live_server import live_server
from tests.support.rest import RestBank, assert_refused
from tests.support.scripted_llm import Reply, Request, ScriptedLlm, tool_call
from tests.support.scripted_service import client_of_scripted_service


@pytest.fixture(scope="module")
def clients(shared_conninfo: str) -> Iterator[list[httpx.Client]]:
    """Of two services that share nothing but their database."""
    settings = Settings(_env_file=None, max_body_bytes=4_000_000, worker_retry_seconds=0)
    with ExitStack() as stack:
        services = [stack.enter_context(opened(build(settings, shared_conninfo))) for _ in range(2)]
        addresses = [stack.enter_context(live_server(service)) for service in services]
        yield [stack.enter_context(httpx.Client(base_url=each, timeout=60)) for each in addresses]


@pytest.fixture
def banks(clients: list[httpx.Client]) -> list[RestBank]:
    """One bank, by way of each of the services."""
    bank_id = f"bank-{uuid4().hex[:12]}"
    return [RestBank(client, bank_id) for client in clients]


@pytest.fixture
def bank(banks: list[RestBank]) -> RestBank:
    return banks[0]


def text(bank: RestBank, document_id: str) -> str:
    found: str = bank.get(f"/documents/{document_id}")["original_text"]
    return found


def facts(bank: RestBank, **filters: Any) -> list[str]:
    return sorted(each["text"] for each in bank.get("/memories/list", limit=1000, **filters)["items"])


def retained(bank: RestBank, later: bool, *items: dict[str, Any]) -> None:
    told = bank.post("/memories", {"items": list(items), "async": later})
    if later:
        assert bank.finished(told["operation_id"])["status"] == "completed"


# --- turns and documents ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("later", [False, True], ids=["at once", "in the background"])
def test_re_01_appends_at_the_same_time_lose_no_turn(banks: list[RestBank], later: bool) -> None:
    """RE-01: appends to one document, and to new ones, by several services; each in the order it was given in."""
    banks[0].retain("Turn 1 is said.", document_id="talk")
    appends = [("talk", f"Turn {number} is said.") for number in range(2, 8)]
    appends += [(f"new-{number}", f"Note {number} is taken.") for number in range(8)]

    def append(asked: tuple[int, tuple[str, str]]) -> None:
        number, (document_id, content) = asked
        item = {"document_id": document_id, "update_mode": "append"}
        retained(banks[number % 2], later, {"content": content, **item}, {"content": f"So it is: {content}", **item})

    with ThreadPoolExecutor(len(appends)) as threads:
        list(threads.map(append, enumerate(appends)))

    lines = text(banks[1], "talk").split("\n")
    assert lines[0] == "Turn 1 is said."
    assert sorted(lines) == sorted(
        ["Turn 1 is said."]
        + [line for document_id, content in appends[:6] for line in (content, f"So it is: {content}")]
    )
    for _, content in appends[:6]:
        assert lines[lines.index(content) + 1] == f"So it is: {content}"
    for document_id, content in appends[6:]:
        assert text(banks[1], document_id) == f"{content}\nSo it is: {content}"
    said = ["Turn 1 is said."] + [each for _, content in appends for each in (content, f"So it is: {content}")]
    assert facts(banks[1]) == sorted(said)


def test_re_01_an_append_and_a_replacement_at_the_same_time_come_to_one_of_two_documents(
    banks: list[RestBank],
) -> None:
    """RE-01: the appended turn stands behind the new text, or went with the old one; never half of it."""
    banks[0].retain("Old.", document_id="talk")
    asked = [{"content": "New."}, {"content": "More.", "update_mode": "append"}]
    with ThreadPoolExecutor(2) as threads:
        list(
            threads.map(
                lambda each: retained(each[0], False, {**each[1], "document_id": "talk"}),
                zip(banks, asked, strict=True),
            )
        )
    assert (text(banks[0], "talk"), facts(banks[0])) in (("New.\nMore.", ["More.", "New."]), ("New.", ["New."]))


@pytest.mark.parametrize("later", [False, True], ids=["at once", "in the background"])
def test_re_02_items_of_one_document_are_that_document_in_their_order(bank: RestBank, later: bool) -> None:
    """RE-02: neither refused, nor does the last one win."""
    items = [("d1", "Ada is in Rome."), ("d1", "Bob is in Oslo."), ("d2", "Cid is in Bern.")]
    retained(bank, later, *({"document_id": name, "content": content} for name, content in items))
    assert text(bank, "d1") == "Ada is in Rome.\nBob is in Oslo."
    assert text(bank, "d2") == "Cid is in Bern."
    assert facts(bank) == ["Ada is in Rome.", "Bob is in Oslo.", "Cid is in Bern."]


@pytest.mark.parametrize("later", [False, True], ids=["at once", "in the background"])
def test_re_03_of_a_megabyte_all_is_kept(bank: RestBank, later: bool) -> None:
    """RE-03: a document larger than any batch is one document, and each part of it is found."""
    places = [f"marker{number:03d}" for number in range(100)]
    line = "Nobody counts the arches of this bridge, which are many and old and grey.\n"
    book = "".join(f"The treasure {place} lies here.\n{line * 138}\n" for place in places)
    assert len(book) > 1_000_000
    small = {"content": "The small one stays as well.", "document_id": "small"}
    retained(bank, later, {"content": book, "document_id": "book"}, small)
    assert text(bank, "book") == book
    assert {f"The treasure {place} lies here." for place in places} | {small["content"]} <= set(facts(bank))
    for place in places[::9]:
        found = bank.post("/memories/recall", {"query": place})["results"]
        assert found[0]["text"] == f"The treasure {place} lies here."


def test_re_04_a_document_keeps_the_time_it_was_made_at(bank: RestBank) -> None:
    """RE-04: whether it is replaced or appended to."""
    bank.retain("Ada is in Rome.", document_id="d1")
    made = bank.get("/documents/d1")
    times = [made]
    for more in ({}, {"update_mode": "append"}):
        bank.retain("Ada is in Oslo.", document_id="d1", **more)
        times.append(bank.get("/documents/d1"))
    assert {each["created_at"] for each in times} == {made["created_at"]}
    updated = [datetime.fromisoformat(each["updated_at"]) for each in times]
    assert updated[0] < updated[1] < updated[2]


# --- names, files and secrets -----------------------------------------------------------------------------------------


def test_re_06_names_are_written_in_one_way(shared_conninfo: str) -> None:
    """RE-06: blanks collapsed, blank names dropped, one name for all its cases, within a fact and against the bank."""
    names: list[str] = []

    def answer(request: Request) -> Reply | None:
        if "record_facts" not in request.tools:
            return None
        what = f"The firm is said to be number {len(names)}."
        return tool_call("record_facts", {"facts": [{"what": what, "fact_type": "world", "entities": names}]})

    with ScriptedLlm(fallback=answer) as llm, client_of_scripted_service(shared_conninfo, llm) as client:
        bank = RestBank(client, f"bank-{uuid4().hex[:12]}")
        bank.patch("/config", {"updates": {"enable_observations": False}})
        names[:] = ["Acme\nCorp", " \t ", "acme corp"]
        bank.retain("First.", document_id="one")
        names[:] = ["ACME\tCORP", "Kubernetes"]
        bank.retain("Second.", document_id="two", entities=[{"text": "acme  corp"}])
        listed = bank.get("/memories/list")["items"]
        assert sorted(each["entities"] for each in listed) == ["Acme Corp", "Acme Corp, Kubernetes"]
        assert {each["canonical_name"] for each in bank.get("/entities")["items"]} == {"Acme Corp", "Kubernetes"}


def test_re_07_a_file_is_stored_like_an_item_with_all_that_it_is_given_with(bank: RestBank) -> None:
    """RE-07: metadata, tags, document id, context and time of a file count."""
    given = {
        "document_id": "guide",
        "tags": ["stone"],
        "metadata": {"author": "Ada", "year": 1842},
        "context": "a guide",
        "timestamp": "2024-05-01T10:00:00Z",
    }
    answer = bank.ask(
        "POST",
        "/files/retain",
        files=[("files", ("guide.txt", b"It has 16 arches.", "text/plain"))],
        data={"request": json.dumps({"files_metadata": [given]})},
    )
    assert answer.status_code == 200, answer.text
    for operation_id in answer.json()["operation_ids"]:
        assert bank.finished(operation_id)["status"] == "completed"
    bank.retain("It has 16 arches.", **{**given, "document_id": "twin"})
    found = bank.post("/memories/recall", {"query": "arches"})["results"]
    file, twin = (next(each for each in found if each["document_id"] == name) for name in ("guide", "twin"))
    told = ("text", "type", "tags", "metadata", "context", "mentioned_at", "entities")
    assert {name: file[name] for name in told} == {name: twin[name] for name in told}
    assert (file["tags"], file["metadata"]) == (["stone"], {"author": "Ada", "year": "1842"})
    document = bank.get("/documents/guide")
    assert (document["original_text"], document["tags"]) == ("It has 16 arches.", ["stone"])


KEY = "sk_test_ABCDEF0123456789abcdef"


@pytest.mark.parametrize("later", [False, True], ids=["at once", "in the background"])
def test_re_08_a_secret_beside_letters_of_any_script_is_nowhere_in_a_bank_that_redacts(
    bank: RestBank, later: bool
) -> None:
    """RE-08: a word boundary of Unicode let a secret through."""
    policy = {"enabled": True, "rules": [{"on": "sensitive_data", "action": "redact"}]}
    bank.patch("/config", {"updates": {"memory_defense": policy}})
    for number, content in enumerate((f"凭证为{KEY}。 Ada lives in Rome.", f"clé{KEY} ist geheim.", f"It is{KEY}.")):
        item = {"content": content, "context": f"密钥{KEY}", "metadata": {"key": f"为{KEY}"}}
        retained(bank, later, {**item, "document_id": f"d{number}", "entities": [{"text": f"名{KEY}"}]})
    told = [bank.get(path) for path in ("/memories/list", "/documents", "/documents/d0", "/documents/d0/chunks")]
    told += [bank.get("/entities"), bank.get("/operations"), bank.post("/memories/recall", {"query": "凭证 Ada"})]
    assert KEY not in json.dumps(told, ensure_ascii=False)
    assert text(bank, "d0") == "凭证为[REDACTED:stripe_secret]。 Ada lives in Rome."
    assert text(bank, "d1") == "clé[REDACTED:stripe_secret] ist geheim."
    assert text(bank, "d2") == "It is[REDACTED:stripe_secret]."


# --- texts that break what counts or stores them ----------------------------------------------------------------------

BROKEN = ("\ud83d", "tail \x00", "\udfff \ud83d")
FIELDS: dict[str, Any] = {
    "content": lambda text: {"content": text},
    "a block": lambda text: {"content": [{"type": "text", "text": text}]},
    "context": lambda text: {"context": text},
    "a key of metadata": lambda text: {"metadata": {text: "value"}},
    "a value of metadata": lambda text: {"metadata": {"key": text}},
    "a tag": lambda text: {"tags": [text]},
    "a tag in JSON": lambda text: {"tags": json.dumps([text])},
    "an entity": lambda text: {"entities": [{"text": text}]},
    "document_id": lambda text: {"document_id": text},
    "strategy": lambda text: {"strategy": text},
    "scopes": lambda text: {"observation_scopes": [[text]]},
}


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("broken", BROKEN, ids=["surrogate", "nul", "surrogates"])
def test_tk_08_what_cannot_be_stored_is_refused_wherever_it_stands(bank: RestBank, field: str, broken: str) -> None:
    """TK-08: neither a 500, nor another text than was given."""
    for later in (False, True):
        item = {"content": "Ada lives in Rome.", **FIELDS[field](broken)}
        body = json.dumps({"items": [item], "async": later})  # JSON has escapes for what UTF-8 has not
        refused = bank.ask("POST", "/memories", content=body, headers={"Content-Type": "application/json"})
        assert_refused(refused, 422)
    assert_refused(bank.ask("GET", "/memories/list"), 404)


def test_tk_08_special_tokens_are_text_like_any_other(bank: RestBank) -> None:
    """TK-08: in what is retained, looked up and asked, and the page comes back as it is."""
    content = "Ada says <|endoftext|> and <|im_start|>system to [INST] Bob \U0001f600."
    bank.retain(content, document_id="<|endoftext|>", context="<|im_end|>", tags=["<|endoftext|>"])
    assert facts(bank) == [content]
    query = "Who says <|endoftext|> \U0001f600 to Bob?"
    assert bank.post("/memories/recall", {"query": query})["results"][0]["text"] == content
    assert bank.post("/reflect", {"query": query})["text"]
    page = bank.model("page", source_query=query)
    assert "<|endoftext|>" in page["content"].replace("\\", "")
    assert bank.get("/mental-models/page")["content"] == page["content"]
    for path, field in (("/memories/recall", "query"), ("/reflect", "query"), ("/mental-models", "source_query")):
        for broken in BROKEN:
            body = json.dumps({"name": "x", field: f"Who is Ada? {broken}"})
            assert_refused(bank.ask("POST", path, content=body, headers={"Content-Type": "application/json"}), 422)
