"""API keys over real HTTP: who is let in, and that nobody sees or changes what is outside of a key, on any route."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters.app import build
from adapters.http import access
from adapters.http.application import routed
from adapters.http.key_ring import KNOWN_SECONDS
from adapters.service import Service, opened
from adapters.settings import Settings
from domain.api_keys import token
from domain.event import Context
from projections import api_keys
from tests.support.eventually import eventually
from tests.support.live_server import live_server
from tests.support.mcp_tools import over_http
from tests.support.our_openapi import our_openapi
from tests.support.request_samples import Asked, asked_of
from tests.support.rest import RestBank, assert_refused

EVERY = asked_of(our_openapi())


def every_route(router: Any) -> Iterator[APIRoute]:
    """Those of an application, also in the routers that it includes."""
    for route in router.routes:
        if isinstance(route, APIRoute):
            yield route
        elif (included := getattr(route, "original_router", None)) is not None:
            yield from every_route(included)


ROUTES = list(every_route(routed()))
ENDPOINTS = {route.operation_id or route.name: route.endpoint.__name__ for route in ROUTES}


@dataclass
class Keyed:
    """A service that asks for keys, and the one key that may do everything."""

    service: Service
    address: str
    client: httpx.Client
    clients: list[httpx.Client] = field(default_factory=list)

    def token(self, **held: Any) -> str:
        return self.service.api_keys.create(Context("user", self.service.clock.now()), **held).token

    def of(self, **held: Any) -> httpx.Client:
        """A client with a key of its own."""
        client = httpx.Client(base_url=self.address, timeout=30, headers=bearer(self.token(**held)))
        self.clients.append(client)
        return client


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


@pytest.fixture(scope="module")
def keyed(shared_conninfo: str) -> Iterator[Keyed]:
    chosen = Settings(_env_file=None, worker_retry_seconds=0)
    with opened(build(chosen, shared_conninfo)) as service:
        master = service.api_keys.create(Context("user", service.clock.now()), name="all")
        with (
            live_server(service) as address,
            httpx.Client(base_url=address, timeout=30, headers=bearer(master.token)) as client,
        ):
            keyed = Keyed(service, address, client)
            yield keyed
            for each in keyed.clients:
                each.close()


# --- who is let in ----------------------------------------------------------------------------------------------------

PROBES = ("/health", "/health/live", "/health/ready", "/version", "/openapi.json", "/docs")


def test_without_a_key_only_probes_and_the_description_of_the_api_are_served(keyed: Keyed) -> None:
    with httpx.Client(base_url=keyed.address) as nobody:
        assert [nobody.get(path).status_code for path in PROBES] == [200] * len(PROBES)
        for path in ("/v1/default/banks", "/metrics", "/no/such/path", "/mcp", "/mcp/some-bank"):
            refused = nobody.get(path)
            assert_refused(refused, 401, "Authorization: Bearer")
            assert refused.headers["WWW-Authenticate"].startswith("Bearer")
        assert nobody.post("/mcp", json={}).status_code == 401


@pytest.mark.parametrize("asked", [each for each in EVERY if each.path not in PROBES], ids=str)
def test_every_route_asks_for_a_key(keyed: Keyed, asked: Asked) -> None:
    answer = httpx.request(asked.method, keyed.address + asked.url(), json=asked.sample())
    assert answer.status_code == 401, answer.text


def test_headers_that_hold_no_key_open_nothing(keyed: Keyed) -> None:
    good = keyed.token()
    key_id = token.key_id_of(good)
    bad = [
        "", "Bearer", f"Basic {good}", f"Bearer {good}x", f"Bearer {good[:-1]}", f"Bearer  {good} {good}",
        f"Bearer pal_{key_id}_{'A' * 43}", f"Bearer pal_{'0' * 12}_{good.rpartition('_')[2]}", f"bearer {good.upper()}",
        "Bearer pal_", "Bearer \u00e9", f"Bearer {'x' * 5000}",
    ]  # fmt: skip
    for header in bad:
        headers = [(b"Authorization", header.encode("latin-1", "replace"))]
        assert httpx.get(f"{keyed.address}/v1/default/banks", headers=headers).status_code == 401, header
    twice = [("Authorization", f"Bearer {good}"), ("Authorization", "Bearer other")]
    assert httpx.get(f"{keyed.address}/v1/default/banks", headers=twice).status_code == 401
    for header in (f"Bearer {good}", f"bearer   {good}", good):
        assert httpx.get(f"{keyed.address}/v1/default/banks", headers={"Authorization": header}).status_code == 200


def test_a_digest_is_compared_in_constant_time_also_when_there_is_no_such_key(
    keyed: Keyed, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[tuple[str, str]] = []
    real = hmac.compare_digest

    def noting(one: str, other: str) -> bool:
        compared.append((one, other))
        return real(one, other)

    monkeypatch.setattr(token.hmac, "compare_digest", noting)
    for key in (keyed.token(), f"pal_{'0' * 12}_{'A' * 43}"):
        httpx.get(f"{keyed.address}/v1/default/banks", headers=bearer(key))
    assert len(compared) == 2
    assert all(len(one) == len(other) == 64 for one, other in compared)


def test_a_revoked_key_ends_within_seconds_and_an_expired_one_by_itself(keyed: Keyed) -> None:
    client = keyed.of(name="to be revoked")
    assert client.get("/v1/default/banks").status_code == 200
    key_id = token.key_id_of(client.headers["Authorization"].removeprefix("Bearer "))
    assert keyed.service.api_keys.revoke(Context("user", keyed.service.clock.now()), key_id or "")
    eventually(lambda: client.get("/v1/default/banks").status_code == 401, timeout=KNOWN_SECONDS + 2)
    soon = keyed.of(expires_at=keyed.service.clock.now() + timedelta(seconds=0.4))
    eventually(lambda: soon.get("/v1/default/banks").status_code == 401, timeout=3)


def test_secrets_are_nowhere_kept_and_uses_are_noted(keyed: Keyed) -> None:
    client = keyed.of(name="noted")
    key = client.headers["Authorization"].removeprefix("Bearer ")
    client.get("/v1/default/banks")

    def used() -> Any:
        keys = keyed.service.reader.ask(api_keys.every())
        return next(each.last_used_at for each in keys if each.key.key_id == token.key_id_of(key))

    first = eventually(used, timeout=3)
    client.get("/v1/default/banks")
    assert used() == first, "at most once a minute"
    secret = key.rpartition("_")[2]
    with psycopg.connect(keyed.service.conninfo) as connection:
        kept = connection.execute(
            "SELECT count(*) FROM stored_events WHERE position(%s::bytea IN state) > 0", (secret.encode(),)
        ).fetchone()
        assert kept == (0,)
        assert secret not in str(connection.execute("SELECT * FROM api_keys").fetchall())


def test_without_keys_the_service_is_open_and_the_first_key_shuts_it(conninfo: str) -> None:
    with (
        opened(build(Settings(_env_file=None), conninfo)) as service,
        live_server(service, run_worker=False) as address,
    ):
        assert httpx.get(f"{address}/v1/default/banks").status_code == 200
        made = service.api_keys.create(Context("user", service.clock.now()))
        eventually(lambda: httpx.get(f"{address}/v1/default/banks").status_code == 401, timeout=KNOWN_SECONDS + 2)
        assert service.api_keys.revoke(Context("user", service.clock.now()), made.key_id)
        assert not service.api_keys.revoke(Context("user", service.clock.now()), made.key_id), "once"
        eventually(lambda: httpx.get(f"{address}/v1/default/banks").status_code == 200, timeout=KNOWN_SECONDS + 2)


def test_a_service_for_others_asks_for_a_key_though_there_is_none(conninfo: str) -> None:
    chosen = Settings(_env_file=None, host="0.0.0.0")
    with opened(build(chosen, conninfo)) as service, live_server(service, run_worker=False) as address:
        assert httpx.get(f"{address}/v1/default/banks").status_code == 401
        assert httpx.get(f"{address}/health/live").status_code == 200


def test_too_many_requests_are_told_when_to_come_again(conninfo: str) -> None:
    chosen = Settings(_env_file=None, requests_per_minute=3)
    with opened(build(chosen, conninfo)) as service, live_server(service, run_worker=False) as address:
        statuses = [httpx.get(f"{address}/v1/default/banks").status_code for _ in range(4)]
        assert statuses == [200, 200, 200, 429]
        last = httpx.get(f"{address}/v1/default/banks")
        assert 1 <= int(last.headers["Retry-After"]) <= 20
        assert httpx.get(f"{address}/health/live").status_code == 200


# --- every route has its policy ---------------------------------------------------------------------------------------


def test_every_route_says_what_a_caller_has_to_be_allowed() -> None:
    """A route that is new fails here until it has its line in adapters/http/access.py."""
    assert set(ENDPOINTS) == {each.name for each in EVERY}
    assert {route.endpoint.__name__ for route in ROUTES} - access.POLICIES.keys() == set()
    silent = [
        route.path
        for route in ROUTES
        if "{bank_id}" not in route.path
        and not access.POLICIES[route.endpoint.__name__].finds_bank
        and not access.POLICIES[route.endpoint.__name__].whole_service
    ]
    assert silent == [], "a route without a bank in its path says how it finds it"


def test_a_route_that_was_forgotten_is_shut(keyed: Keyed, monkeypatch: pytest.MonkeyPatch) -> None:
    bank = RestBank(keyed.client, f"bank-{uuid4().hex[:8]}")
    bank.retain("Ada Lovelace works at Acme.", tags=["ada"])
    monkeypatch.delitem(access.POLICIES, "list_tags")
    assert bank.ask("GET", "/tags").status_code == 200
    for held in ({"banks": [bank.bank_id]}, {"tags": ["ada"]}, {"read_only": True}):
        assert RestBank(keyed.of(**held), bank.bank_id).ask("GET", "/tags").status_code == 403, held


# --- a world with secrets in every corner -----------------------------------------------------------------------------

TAGS = ("red", "green", "blue")
SECRET = "zqx"


@dataclass
class World:
    """Two banks, each with the same things for each tag and without one. A word of what has tags says which."""

    keyed: Keyed
    banks: tuple[str, str]
    names: dict[tuple[str, str], dict[str, str]]
    """What paths name, by bank and tag."""

    def words_outside(self, banks: tuple[str, ...] | None, tags: tuple[str, ...] | None) -> set[str]:
        return {
            word(bank, tag)
            for bank in self.banks
            for tag in (*TAGS, "none")
            if (banks is not None and bank not in banks) or (tags is not None and tag not in tags)
        }


def word(bank_id: str, tag: str) -> str:
    return f"{SECRET}{bank_id[-6:]}{tag}"


@pytest.fixture(scope="module")
def world(keyed: Keyed) -> World:
    banks = (f"one-{uuid4().hex[:6]}", f"two-{uuid4().hex[:6]}")
    names = {}
    for bank_id in banks:
        bank = RestBank(keyed.client, bank_id)
        for tag in (*TAGS, "none"):
            names[bank_id, tag] = _furnished(bank, tag, [] if tag == "none" else [tag])
        mixed = [f"Ada likes {word(bank_id, tag)} things." for tag in TAGS]
        items = [
            {"content": text, "tags": [tag], "document_id": "mixed"} for text, tag in zip(mixed, TAGS, strict=True)
        ]
        bank.post("/memories", {"items": items})
        wide = bank.model("wide", tags=["red"], trigger={"tags_match": "any"}, source_query="What is known about Ada?")
        assert SECRET in wide["content"]
        bank.patch("/mental-models/wide", {"tags": ["red"], "trigger": {"tags_match": None}})
    return World(keyed, banks, names)


def _furnished(bank: RestBank, tag: str, tags: list[str]) -> dict[str, str]:
    secret = word(bank.bank_id, tag)
    text, named = f"Ada Lovelace met Mr {secret} at the {secret} works.", [{"text": secret}]
    bank.retain(text, document_id=f"doc-{secret}", tags=tags, entities=named)
    listed = bank.get("/memories/list", document_id=f"doc-{secret}")["items"][0]
    bank.model(f"model-{tag}", name=f"Of {secret}", tags=tags, source_query=f"Who is Mr {secret}?")
    page = bank.post(
        "/knowledge-base/pages", {"name": f"Page {secret}", "source_query": f"Who is {secret}?", "tags": tags}
    )
    entity = next(each for each in bank.get("/entities")["items"] if secret in each["canonical_name"])
    directive = bank.post("/directives", {"name": f"Rule {secret}", "content": f"Mind {secret}.", "tags": [tag]})
    return {
        "bank_id": bank.bank_id,
        "mental_model_id": f"model-{tag}",
        "memory_id": listed["id"],
        "chunk_id": listed["chunk_id"],
        "document_id": f"doc-{secret}",
        "entity_id": entity["id"],
        "page_id": page["page_id"],
        "node_id": page["page_id"],
        "operation_id": page["operation_id"],
        "directive_id": directive["id"],
    }


def state(world: World) -> dict[str, Any]:
    """All that a change would leave a trace in, but for what a read may record of its costs."""
    with psycopg.connect(world.keyed.service.conninfo) as connection:
        told: dict[str, Any] = {
            table: connection.execute(
                f"SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {table} t"
            ).fetchone()  # type: ignore[arg-type]  # names of our own
            for table in ("documents", "fact_versions", "memory_documents", "knowledge_nodes", "directives", "banks")
        }
        told["events"] = connection.execute(
            "SELECT count(*) FROM stored_events WHERE topic NOT LIKE 'api_key.%' AND topic NOT LIKE 'request.%'"
        ).fetchone()
        return told


WRITING = [each for each in EVERY if access.POLICIES[ENDPOINTS[each.name]].does == "writes"]
FILES = {"file_retain", "import_documents", "import_bank_transfer"}


def ask(client: httpx.Client, asked: Asked, known: dict[str, str], body: Any = None) -> httpx.Response:
    query = {**asked.query(), **({"q": "Ada"} if asked.name == "search_knowledge_base" else {})}
    sample = asked.sample() if body is None else body
    if asked.name in ("recall_memories", "reflect"):
        sample = {"query": "What is known about Ada Lovelace and Mr?", "include": EVERYTHING[asked.name]}
        if asked.name == "recall_memories":
            sample["trace"] = True
    return client.request(asked.method, asked.url(**known), params=query, json=sample)


EVERYTHING = {
    "recall_memories": {"entities": {}, "chunks": {}, "source_facts": {}},
    "reflect": {"facts": {}, "tool_calls": {"output": True}},
}


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    in_banks=st.sampled_from([None, (0,), (1,), (0, 1)]),
    tags=st.sampled_from([None, ("red",), ("green", "blue"), ("red", "green", "blue"), ("purple",)]),
)
def test_no_key_is_told_anything_that_is_outside_of_it_on_any_route(
    world: World, in_banks: tuple[int, ...] | None, tags: tuple[str, ...] | None
) -> None:
    """Every read of every thing there is, by every name: what is inside is asked for in the same way."""
    banks = None if in_banks is None else tuple(world.banks[each] for each in in_banks)
    client = world.keyed.of(banks=banks, tags=tags, read_only=True)
    outside = world.words_outside(banks, tags)
    before = state(world)
    for asked in EVERY:
        for (bank_id, _), known in world.names.items():
            answer = ask(client, asked, known)
            told = {each for each in outside if each in _without_names(answer.text, known)}
            assert told == set(), f"{asked}: {answer.text[:500]}"
            assert answer.status_code < 500, f"{asked}: {answer.text}"
            if banks is not None and bank_id not in banks and "{bank_id}" in asked.path:
                assert answer.status_code == 404
            if "{" not in asked.path:
                break
    assert state(world) == before, "a key that only reads changed something"


def _without_names(text: str, known: dict[str, str]) -> str:
    """What was asked for is told again in errors: that tells nothing."""
    for name in sorted(known.values(), key=len, reverse=True):
        text = text.replace(name, "")
    return text


def test_mc_04_a_key_that_only_reads_is_refused_by_every_route_that_writes(world: World) -> None:
    """MC-04: tools of MCP call the same routes with the caller's key."""
    client = world.keyed.of(read_only=True)
    known = world.names[world.banks[0], "red"]
    before = state(world)
    for asked in WRITING:
        assert_refused(ask(client, asked, known), 403, "only reads")
    assert state(world) == before


@pytest.mark.parametrize("asked", [each for each in WRITING if each.name not in FILES], ids=str)
def test_no_key_changes_anything_that_is_outside_of_it(world: World, asked: Asked) -> None:
    """Of another bank, of another tag, of none."""
    one, two = world.banks
    before = state(world)
    of_bank = world.keyed.of(banks=[one])
    of_tag, of_none = world.keyed.of(tags=["red"]), world.keyed.of(tags=["purple"])
    for (bank_id, tag), known in world.names.items():
        if bank_id == two:
            answer = ask(of_bank, asked, known)
            assert answer.status_code in (403, 404), f"{asked}: {answer.text}"
        for client in (of_none,) if tag == "red" else (of_none, of_tag):
            answer = ask(client, asked, known)
            assert answer.status_code in (403, 404, 422), f"{asked}: {answer.text}"
    assert state(world) == before, asked
    assert two not in of_bank.get("/v1/default/banks").text


# --- what a key that is held to tags may do ---------------------------------------------------------------------------


def test_a_key_sees_all_that_is_its_own(world: World) -> None:
    """So that what is hidden above is not simply everything."""
    bank_id = world.banks[0]
    bank, secret = RestBank(world.keyed.of(tags=["red"]), bank_id), word(bank_id, "red")
    assert secret in json.dumps(bank.get("/memories/list"))
    assert [each["id"] for each in bank.get("/documents")["items"]] == [f"doc-{secret}"], "not the mixed one"
    assert secret in bank.get(f"/documents/doc-{secret}")["original_text"]
    assert secret in json.dumps(bank.get(f"/documents/doc-{secret}/chunks"))
    assert bank.ask("GET", "/documents/mixed").status_code == 404
    listed = {each["id"] for each in bank.get("/mental-models")["items"]}
    assert "model-red" in listed
    assert "wide" not in listed
    assert "model-green" not in listed
    assert "model-none" not in listed
    assert secret in bank.get("/mental-models/model-red")["content"]
    for part in ("history", "events", "blame", "versions/1"):
        assert bank.ask("GET", f"/mental-models/model-red/{part}").status_code == 200
        assert bank.ask("GET", f"/mental-models/wide/{part}").status_code == 404
    assert bank.get("/tags")["items"][0]["tag"] == "red"
    assert bank.get("/tags", source="mental_models")["items"] == [{"tag": "red", "count": 2}]
    assert secret in json.dumps(bank.get("/knowledge-base/tree"))
    assert bank.get("/knowledge-base/search", q=secret)["total"] == 1
    assert any(secret in each["canonical_name"] for each in bank.get("/entities")["items"])
    recalled = bank.post("/memories/recall", {"query": f"Who is Mr {secret}?", "include": {"chunks": {}}})
    assert secret in json.dumps(recalled["results"])
    assert secret in json.dumps(recalled["chunks"])
    assert secret in json.dumps(bank.post("/reflect", {"query": f"Who is Mr {secret}?", "include": {"facts": {}}}))
    assert {each["mental_model_id"] for each in bank.get("/operations")["operations"]} <= listed


def test_what_a_key_writes_has_its_tags_and_only_those(world: World) -> None:
    bank_id = f"bank-{uuid4().hex[:8]}"
    everything, bank = RestBank(world.keyed.client, bank_id), RestBank(world.keyed.of(tags=["red", "green"]), bank_id)
    everything.retain("Eve Moneypenny lives in Bern.", document_id="eve", tags=["blue"])
    bank.retain("Ada Lovelace works at Acme.", document_id="ada", tags=["red"])
    for tags, said in ((["red", "blue"], "'blue'"), ([], "no tag"), (["other"], "'other'")):
        item = {"content": "Ada moved.", "tags": tags}
        assert_refused(bank.ask("POST", "/memories", json={"items": [item]}), 403, said)
    taken = {"content": "Mine now.", "tags": ["red"], "document_id": "eve"}
    assert_refused(bank.ask("POST", "/memories", json={"items": [taken]}), 403, "eve")
    shared = {"content": "Ada moved.", "tags": ["red"], "observation_scopes": "shared"}
    assert_refused(bank.ask("POST", "/memories", json={"items": [shared]}), 403, "shared")
    assert_refused(bank.ask("PATCH", "/documents/ada", json={"tags": ["blue"]}), 403, "'blue'")
    assert bank.ask("PATCH", "/documents/ada", json={"tags": ["green"]}).status_code == 200
    assert bank.ask("DELETE", "/documents/eve").status_code == 404
    both = {"content": "Ada and Eve are friends.", "tags": ["red", "blue"], "document_id": "both"}
    everything.post("/memories", {"items": [both]})
    memory = next(each for each in bank.get("/memories/list")["items"] if each["document_id"] == "both")
    assert_refused(bank.ask("PATCH", f"/memories/{memory['id']}", json={"text": "No."}), 403, "'blue'")
    assert everything.get("/documents/eve")["original_text"] == "Eve Moneypenny lives in Bern."


def test_a_document_of_a_key_reads_only_what_the_key_sees_now_and_later(world: World) -> None:
    bank_id = f"bank-{uuid4().hex[:8]}"
    everything, bank = RestBank(world.keyed.client, bank_id), RestBank(world.keyed.of(tags=["red"]), bank_id)
    everything.retain("Ada Lovelace keeps a secret in Bern.")
    everything.retain("Ada Lovelace hides gold.", tags=["blue"])
    bank.retain("Ada Lovelace works at Acme.", tags=["red"])
    model = bank.model("ada", tags=["red"], trigger={"tags_match": "any"})
    assert "Acme" in model["content"]
    assert "Bern" not in model["content"]
    assert "gold" not in model["content"]
    groups = [
        {"tags": ["red"], "match": "any", "resolve": "exact"},
        {"tags": ["red"], "match": "any_strict", "resolve": "exact"},
    ]
    assert model["trigger"]["tag_groups"] == groups
    bank.patch("/mental-models/ada", {"trigger": {"tag_groups": [{"not": {"tags": ["none"]}}]}})
    assert "Bern" not in bank.refreshed("ada")["content"]
    assert bank.patch("/mental-models/ada", {"name": "Countess"})["name"] == "Countess"
    assert_refused(bank.ask("PATCH", "/mental-models/ada", json={"tags": ["blue"]}), 403, "'blue'")
    for tags in ([], ["blue"]):
        body = {"name": "x", "source_query": "What?", "tags": tags}
        assert bank.ask("POST", "/mental-models", json=body).status_code == 403
    everything.patch("/mental-models/ada", {"trigger": {"tag_groups": None}})
    assert bank.ask("GET", "/mental-models/ada").status_code == 404, "who is held to nothing may widen it, out of sight"


def test_a_key_follows_what_it_asked_for_and_the_timeline_names_the_key(world: World) -> None:
    bank_id = f"bank-{uuid4().hex[:8]}"
    client, other = world.keyed.of(tags=["red"]), world.keyed.of(tags=["red"])
    bank = RestBank(client, bank_id)
    item = {"content": "Ada Lovelace works at Acme.", "tags": ["red"]}
    asked = bank.post("/memories", {"items": [item], "async": True})["operation_id"]
    assert bank.finished(asked)["status"] == "completed"
    assert RestBank(other, bank_id).get(f"/operations/{asked}")["status"] == "not_found"
    assert asked not in RestBank(other, bank_id).ask("GET", "/operations").text
    assert RestBank(other, bank_id).ask("DELETE", f"/operations/{asked}/delete").status_code == 404
    bank.model("ada", tags=["red"])
    key_id = token.key_id_of(client.headers["Authorization"].removeprefix("Bearer "))
    told = [(each["actor"], each.get("key_id")) for each in bank.get("/mental-models/ada/events")["items"]]
    assert told == [("user", key_id), ("worker", None)]


def test_metrics_are_for_keys_that_are_held_to_nothing(world: World) -> None:
    assert world.keyed.of(read_only=True).get("/metrics").status_code == 200
    for held in ({"banks": [world.banks[0]]}, {"tags": ["red"]}):
        assert_refused(world.keyed.of(**held).get("/metrics"), 403, "whole service")


def test_mc_04_tools_of_mcp_may_what_the_key_may(world: World) -> None:
    """MC-04: the same decision as REST, for a key that only reads and for one of another bank."""
    one, two = world.banks
    key = world.keyed.token(banks=[one], tags=["red"], read_only=True)
    before = state(world)
    with over_http(world.keyed.address, authorization=f"Bearer {key}") as tools:
        assert "only reads" in tools.of(one).refused("delete_mental_model", mental_model_id="model-red")
        assert "only reads" in tools.of(one).refused("sync_retain", content="Ada moved.", tags=["red"])
        assert "not found" in tools.of(two).refused("recall", query="Who is Ada?")
        assert word(one, "red") in str(tools.of(one).call("recall", query="Who is Ada?", tags=["red"]))
        told = str(tools.of(one).call("recall", query="Who is Ada?"))
    assert [each for each in world.words_outside((one,), ("red",)) if each in told] == []
    assert state(world) == before


def test_tags_of_others_are_not_found_by_likeness(world: World) -> None:
    bank = RestBank(world.keyed.of(tags=["red"]), world.banks[0])
    body = {"query": "Ada", "tag_groups": [{"tags": ["gren", "redd"], "resolve": "fuzzy"}], "trace": True}
    told = bank.post("/memories/recall", body)
    assert "green" not in json.dumps(told["trace"])
    assert '"red"' in json.dumps(told["trace"])
