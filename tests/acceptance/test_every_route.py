"""Rules that hold on every route there is, tried on each of them: the routes are read from our OpenAPI document."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.support.our_openapi import our_openapi
from tests.support.request_samples import UNKNOWN, Asked, asked_of
from tests.support.rest import RestBank

EVERY = asked_of(our_openapi())
OF_BANKS = [each for each in EVERY if "{bank_id}" in each.path]
IN_JSON = [each for each in OF_BANKS if each.body is not None]
CREATING = {
    "create_or_update_bank",
    "update_bank_config",
    "create_mental_model",
    "create_knowledge_folder",
    "create_knowledge_page",
    "import_knowledge_base",
    "retain_memories",
    "create_directive",
    "import_bank_template",
}
"""Writes that make the bank that they name."""
IN_PARTS = {"file_retain", "import_documents", "import_bank_transfer"}
"""They take files, and are tried with them by the tests of retains and transfers."""
RETIRED = 410


@pytest.fixture(scope="module")
def full(client: httpx.Client) -> dict[str, str]:
    """The names of what there is in a bank, by the parameters of paths that take them."""
    bank = RestBank(client, f"bank-{uuid4().hex[:12]}")
    bank.retain("Ada Lovelace works at Acme.", document_id="d1", tags=["ada"])
    operation = bank.post("/mental-models", {"id": "ada", "name": "Ada", "source_query": "Who is Ada?"})["operation_id"]
    page = bank.post("/knowledge-base/pages", {"name": "Ada", "source_query": "Who is Ada?"})["page_id"]
    memory = bank.get("/memories/list")["items"][0]
    return {
        "bank_id": bank.bank_id,
        "mental_model_id": "ada",
        "page_id": page,
        "node_id": page,
        "operation_id": operation,
        "directive_id": bank.post("/directives", {"name": "Short", "content": "Be short."})["id"],
        "memory_id": memory["id"],
        "chunk_id": memory["chunk_id"],
        "document_id": "d1",
        "entity_id": bank.get("/entities")["items"][0]["id"],
    }


def ask(client: httpx.Client, asked: Asked, known: dict[str, str], **more: Any) -> httpx.Response:
    query = {**asked.query(), **more.pop("params", {})}
    return client.request(asked.method, asked.url(**known), params=query, **more)


# --- names nobody asked for -------------------------------------------------------------------------------------------


def told_names(response: httpx.Response) -> list[str]:
    return response.headers.get("X-Ignored-Parameters", "").split(", ")


@pytest.mark.parametrize("asked", EVERY, ids=str)
def test_ac_12_a_parameter_nobody_knows_is_told_on_every_route(client: httpx.Client, asked: Asked) -> None:
    """AC-12; the bank is missing, so that nothing is changed by trying."""
    response = ask(client, asked, {"bank_id": f"none-{uuid4().hex[:8]}"}, params={UNKNOWN: "1"})
    if asked.name == "clear_bank_memories":
        assert response.status_code == 422, "more would be deleted than was meant"
        assert UNKNOWN in response.text
    else:
        assert UNKNOWN in told_names(response)


@pytest.mark.parametrize("asked", IN_JSON, ids=str)
def test_ac_12_a_field_nobody_knows_is_told_by_its_place_however_deep(
    client: httpx.Client, full: dict[str, str], asked: Asked
) -> None:
    """AC-12: told in the header, by the objects that it is in; refused where it would change who sees what."""
    places = 0
    for place, body in asked.with_unknown_names():
        places += 1
        response = ask(client, asked, full, json=body)
        inside = [str(step) for step in place if not isinstance(step, int)]
        told = [name.split(".") for name in told_names(response) if name.endswith(UNKNOWN)]
        assert told or (response.status_code == 422 and UNKNOWN in response.text), f"{inside}: {response.text}"
        if told:
            assert told[0][:-1] == inside[len(inside) - len(told[0]) + 1 :], told
            assert not inside or len(told[0]) > 1, "told without its place"
    assert places


# --- banks that are not there -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [each for each in OF_BANKS if each.name not in IN_PARTS], ids=str)
def test_ac_03_a_missing_bank_is_made_by_creating_writes_alone(client: httpx.Client, asked: Asked) -> None:
    """AC-03: reads, changes and dry runs of a missing bank are a 404 that names it, and make none."""
    missing = f"none-{uuid4().hex[:12]}"
    response = ask(client, asked, {"bank_id": missing}, json=asked.sample())
    banks = client.get("/v1/default/banks", params={"q": missing}).json()["total"]
    if asked.name in CREATING:
        assert response.is_success, response.text
        assert banks == 1
        client.delete(f"/v1/default/banks/{missing}")
        return
    assert banks == 0
    if response.status_code != RETIRED:
        assert response.status_code == 404, response.text
        assert missing in response.text or "mental-models/{" in asked.path


# --- ids --------------------------------------------------------------------------------------------------------------

ODD_BANKS = ["a b", "100%", "a%2Fb", "x#y?z=1", "agent::chan::u", "日本", "é+&;,", "'\"<>"]
ODD_READS = [each for each in OF_BANKS if each.method == "GET" and each.path.count("{") == 1]


@pytest.fixture(scope="module")
def odd_banks(client: httpx.Client) -> list[str]:
    names = [f"{odd} {uuid4().hex[:8]}" for odd in ODD_BANKS]
    for name in names:
        RestBank(client, name).retain("Ada Lovelace works at Acme.", document_id="d1")
    return names


@pytest.mark.parametrize("asked", ODD_READS, ids=str)
def test_ac_05_any_id_that_a_bank_was_made_with_is_read_on_every_route(
    client: httpx.Client, odd_banks: list[str], asked: Asked
) -> None:
    """AC-05."""
    for bank_id in odd_banks:
        response = ask(client, asked, {"bank_id": bank_id})
        assert response.is_success or response.status_code == RETIRED, f"{bank_id}: {response.text}"


@pytest.mark.parametrize("bank_id", ["a/b", " a", "a\x00b", "a\nb", "\ufffd"])
def test_ac_05_an_id_that_no_route_could_read_is_refused_by_every_write(client: httpx.Client, bank_id: str) -> None:
    """AC-05."""
    for asked in (each for each in OF_BANKS if each.name in CREATING):
        status = ask(client, asked, {"bank_id": bank_id}, json=asked.sample()).status_code
        assert status == 422, f"{asked}: {status}"


ODD_DOCUMENTS = ["folder/file.md", "a%2Fb", "a b", "x#y", "agent::chan::u", "q?x=1", "日本", "a/chunks", "reprocess"]


@pytest.mark.parametrize("document_id", ODD_DOCUMENTS)
def test_ac_05_any_id_of_a_document_is_read_changed_and_deleted(bank: RestBank, document_id: str) -> None:
    """AC-05."""
    bank.retain("Ada Lovelace works at Acme.", document_id=document_id)
    bank.retain("Bob rests.", document_id="other")
    path = "/documents/" + httpx.QueryParams({"": document_id}).__str__()[1:].replace("+", "%20")
    assert bank.get(path)["id"] == document_id
    assert bank.get(f"{path}/chunks")["items"][0]["document_id"] == document_id
    bank.patch(path, {"tags": ["t"]})
    assert bank.get(path)["tags"] == ["t"]
    assert bank.get("/memories/list", document_id=document_id)["total"] == 1
    assert bank.finished(bank.post(f"{path}/reprocess")["operation_id"])["status"] == "completed"
    assert bank.ask("DELETE", path).json()["document_id"] == document_id
    assert [each["id"] for each in bank.get("/documents")["items"]] == ["other"]


# --- lists ------------------------------------------------------------------------------------------------------------

LISTS = [
    each
    for each in OF_BANKS
    if each.method == "GET" and {"limit", "offset"} <= {each["name"] for each in each.parameters}
]
"""Lists in pages."""
ENTRIES = ("items", "operations", "scopes")


@pytest.fixture(scope="module")
def crowded(client: httpx.Client) -> dict[str, str]:
    """A bank with several of everything, of which the memories came at one moment."""
    bank = RestBank(client, f"bank-{uuid4().hex[:12]}")
    bank.ask("PUT", json={"enable_observations": True})
    names = ("Ada", "Bob", "Cid", "Dan", "Eve")
    items = [{"content": f"{name} Smith works at {name} Corp.", "document_id": name, "tags": [name]} for name in names]
    bank.post("/memories", {"items": items})
    long = "\n\n".join(f"Chapter {name} begins. " + "It goes on and on. " * 200 for name in names)
    bank.post("/memories", {"items": [{"content": long, "document_id": "long"}]})
    for name in names:
        bank.model(name.lower(), name=name)
        bank.post("/directives", {"name": name, "content": "Be short."})
    return {"bank_id": bank.bank_id, "mental_model_id": "ada", "document_id": "long"}


@pytest.mark.parametrize("asked", LISTS, ids=str)
def test_ac_02_pages_of_every_list_show_each_entry_once_and_the_total(
    client: httpx.Client, crowded: dict[str, str], asked: Asked
) -> None:
    """AC-02: entries of one moment have an order too."""

    def page(**params: Any) -> tuple[list[str], int]:
        told = ask(client, asked, crowded, params=params).json()
        (name,) = (each for each in ENTRIES if each in told)
        return [str(each) for each in told[name]], told["total"]

    everything, total = page(limit=100)
    assert total == len(everything) >= 2, "there is something to page through"
    paged: list[str] = []
    while len(paged) < total:
        entries, told = page(limit=2, offset=len(paged))
        assert (len(entries), told) == (min(2, total - len(paged)), total)
        paged += entries
    assert paged == everything
    assert page(limit=2, offset=total) == ([], total)


# --- null, absent, empty ----------------------------------------------------------------------------------------------

NOTHING_ASKED = ("changes nothing", "nothing to change")
TELL_APART = {"update_knowledge_node": {"parent_id"}, "update_bank_config": {"updates"}}
"""Fields of a change in which null is a value of its own: the root, and no value of the bank's own."""
OTHER_NAMES = {"mission": "reflect_mission", "background": "reflect_mission"}
CHANGES = [each for each in IN_JSON if each.method == "PATCH"]
FIELDS = [
    (asked, name)
    for asked in CHANGES
    for name in our_openapi()["components"]["schemas"][asked.body["$ref"].rpartition("/")[2]]["properties"]
    if name not in TELL_APART.get(asked.name, ())
]


@pytest.fixture(scope="module")
def changed(client: httpx.Client) -> tuple[RestBank, dict[str, str]]:
    """A bank to change, in which every field of a change has a value."""
    bank = RestBank(client, f"bank-{uuid4().hex[:12]}")
    bank.ask("PUT", json={"name": "Ada's", "reflect_mission": "Know Ada.", "disposition": {"skepticism": 4}})
    bank.retain(
        "Ada Lovelace works at Acme.", document_id="d1", tags=["ada"], context="a talk", observation_scopes="per_tag"
    )
    bank.model("ada", tags=["ada"])
    rule = bank.post("/directives", {"name": "Short", "content": "Be short.", "priority": 3, "tags": ["ada"]})
    page = bank.post("/knowledge-base/pages", {"name": "Ada", "source_query": "Who is Ada?", "tags": ["ada"]})
    memory = bank.get("/memories/list")["items"][0]["id"]
    known = {"mental_model_id": "ada", "directive_id": rule["id"], "document_id": "d1", "memory_id": memory}
    return bank, {**known, "bank_id": bank.bank_id, "node_id": page["page_id"]}


def stored(bank: RestBank, asked: Asked, known: dict[str, str], field: str) -> Any:
    """What is stored of a field that a change names."""
    name = OTHER_NAMES.get(field, field)
    if asked.name == "update_bank":
        listed = bank.client.get("/v1/default/banks", params={"q": bank.bank_id}).json()["banks"][0]
        return (bank.get("/config")["overrides"] | listed).get(name)
    if asked.name == "update_knowledge_node":
        return bank.get("/knowledge-base/tree")["roots"][0].get({"source_query": "description"}.get(name, name))
    return bank.client.get(asked.url(**known)).json().get(name)


@pytest.mark.parametrize(("asked", "name"), FIELDS, ids=str)
def test_ac_07_null_in_a_change_is_as_absent_and_empty_empties_or_is_refused(
    changed: tuple[RestBank, dict[str, str]], asked: Asked, name: str
) -> None:
    """AC-07, on every field of every change."""
    bank, known = changed
    before = stored(bank, asked, known, name)
    alone = ask(bank.client, asked, known, json={name: None})
    assert any(words in alone.text for words in NOTHING_ASKED) or alone.is_success, alone.text
    assert stored(bank, asked, known, name) == before, "null is as absent"
    for empty in ("", []):
        before = stored(bank, asked, known, name)
        answer = ask(bank.client, asked, known, json={name: empty})
        if answer.is_success:
            assert not stored(bank, asked, known, name), f"{empty!r} was taken and did not empty it"
        else:
            assert answer.status_code in (400, 422), answer.text
            assert stored(bank, asked, known, name) == before, "what is refused changes nothing"


def test_ac_07_null_is_a_value_where_there_is_one_for_it(changed: tuple[RestBank, dict[str, str]]) -> None:
    """AC-07: the trigger, the folder of a page and the config tell null and absent apart."""
    bank, known = changed
    bank.patch("/mental-models/ada", {"trigger": {"min_refresh_interval_seconds": 60, "mode": "delta"}})
    told = bank.patch("/mental-models/ada", {"trigger": {"min_refresh_interval_seconds": None}})["trigger"]
    assert (told["mode"], "min_refresh_interval_seconds" in told) == ("delta", False)
    folder = bank.post("/knowledge-base/folders", {"name": "People"})["id"]
    node = f"/knowledge-base/nodes/{known['node_id']}"
    assert bank.patch(node, {"parent_id": folder})["parent_id"] == folder
    assert bank.patch(node, {"name": "Ada L."})["parent_id"] == folder
    assert bank.patch(node, {"parent_id": None}).get("parent_id") is None
    bank.patch("/config", {"updates": {"retain_chunk_size": 500, "retain_mission": "All."}})
    overrides = bank.patch("/config", {"updates": {"retain_chunk_size": None}})["overrides"]
    assert ("retain_chunk_size" in overrides, overrides["retain_mission"]) == (False, "All.")
