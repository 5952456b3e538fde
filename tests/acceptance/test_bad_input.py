"""Bad input is refused with a clear detail that names the field at fault, and nothing is written."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import uuid4

import httpx
import pytest

from adapters.service import Service
from tests.support.eventually import eventually
from tests.support.rest import RestBank, assert_refused

NUL, LONE = "\x00", "\ud83d"


class Written(NamedTuple):
    """How much there is of everything that a request could write."""

    events: int
    jobs: int
    facts: int
    items_waiting: int
    banks: int


def _written(service: Service) -> Written:
    tables = ("stored_events", "procrastinate_jobs", "fact_versions", "retain_inbox", "banks")
    counts = ", ".join(f"(SELECT count(*) FROM {table}) AS {table}" for table in tables)
    with service.database.connection() as connection:
        row = connection.execute(f"SELECT {counts}").fetchone()
    assert row is not None
    return Written(*(row[table] for table in tables))


@pytest.fixture
def nothing_written(live_service: Service) -> Iterator[Callable[[], None]]:
    """Checks, when called and at the end of the test, that nothing was written since the call before."""
    before = _written(live_service)

    def check() -> None:
        assert _written(live_service) == before

    yield check
    check()


def _as_json(body: Any) -> dict[str, Any]:
    """Options of a request that send a body which httpx would refuse to write: NULs, surrogates, NaN."""
    return {"content": json.dumps(body).encode(), "headers": {"Content-Type": "application/json"}}


MODEL = {"id": "ada", "name": "Ada", "source_query": "What is known about Ada?"}
BAD_MODELS: list[tuple[dict[str, Any], str]] = [
    ({"id": "Ada"}, "'id'] an id is made of lower-case letters"),
    ({"id": "-ada"}, "id"),
    ({"id": "ada\n"}, "id"),
    ({"id": ""}, "id"),
    ({"id": "a" * 129}, "id"),
    ({"id": "a/b"}, "id"),
    ({"id": 7}, "id"),
    ({"name": ""}, "'name'] must not be blank"),
    ({"name": "\u200b\ufeff"}, "name"),
    ({"name": "n" * 501}, "name"),
    ({"name": None}, "name"),
    ({"name": 7}, "name"),
    ({"source_query": " \n"}, "'source_query'] must not be blank"),
    ({"source_query": "word " * 500}, "'source_query'] has about"),
    ({"source_query": ["a"]}, "source_query"),
    ({"max_tokens": 255}, "max_tokens"),
    ({"max_tokens": 8193}, "max_tokens"),
    ({"max_tokens": "many"}, "max_tokens"),
    ({"max_tokens": 512.5}, "max_tokens"),
    ({"tags": "ada"}, "tags"),
    ({"tags": ["ok", ""]}, "'tags', 1] must not be blank"),
    ({"tags": ["x" * 257]}, "tags"),
    ({"tags": [str(number) for number in range(101)]}, "tags"),
    ({"tags": [1]}, "tags"),
    ({"trigger": "full"}, "trigger"),
    ({"trigger": {"mode": "half"}}, "'trigger', 'mode'"),
    ({"trigger": {"mode": None}}, "'trigger', 'mode'"),
    ({"trigger": {"refresh_cron": "every day"}}, "five fields"),
    ({"trigger": {"refresh_cron": "0 25 * * *"}}, "'trigger', 'refresh_cron'"),
    ({"trigger": {"full_refresh_cron": "* * * * * *"}}, "'trigger', 'full_refresh_cron'"),
    ({"trigger": {"refresh_cron": "0 3 * * *", "refresh_after_consolidation": True}}, "exclude each other"),
    ({"trigger": {"min_refresh_interval_seconds": -1}}, "min_refresh_interval_seconds"),
    ({"trigger": {"fact_types": []}}, "fact_types"),
    ({"trigger": {"fact_types": ["opinion"]}}, "fact_types"),
    ({"trigger": {"tags_match": "some"}}, "tags_match"),
    ({"trigger": {"tag_groups": [{"xor": []}]}}, "a tag group is"),
    ({"trigger": {"tag_groups": [{"tags": ["a"], "resolve": "fuzzy"}]}}, "resolve"),
    ({"trigger": {"tag_groups": [{"not": {"and": []}}]}}, "tag_groups"),
    ({"trigger": {"response_schema": {"properties": {}}}}, "response_schema"),
    ({"trigger": {"response_schema": {"type": "array"}}}, "response_schema"),
    ({"trigger": {"response_schema": {"properties": {"a": {"type": ["string", "date"]}}}}}, "response_schema"),
    ({"trigger": {"response_schema": {"properties": {"a": {}}, "required": [["a"]]}}}, "response_schema"),
    ({"trigger": {"response_schema": {"properties": {"a": {"default": float("nan")}}}}}, "not finite"),
    ({"name": f"A{NUL}da"}, "'name'] contains a NUL character"),
    ({"name": f"Ada {LONE}"}, "'name'] contains a lone surrogate"),
    ({"source_query": f"<|endoftext|> {LONE} tail"}, "source_query"),
    ({"tags": ["ok", f"t{NUL}"]}, "'tags', 1]"),
    ({"trigger": {"exclude_mental_model_ids": [f"x{LONE}"]}}, "exclude_mental_model_ids"),
    ({"trigger": {"response_schema": {"properties": {f"a{NUL}": {}}}}}, "in its name"),
]


@pytest.mark.parametrize(("bad", "told"), BAD_MODELS, ids=[str(number) for number in range(len(BAD_MODELS))])
def test_a_bad_mental_model_is_not_created(
    bank: RestBank, nothing_written: Callable[[], None], bad: dict[str, Any], told: str
) -> None:
    assert_refused(bank.ask("POST", "/mental-models", **_as_json(MODEL | bad)), 422, told)
    nothing_written()


@pytest.mark.parametrize("missing", ["name", "source_query"])
def test_a_mental_model_needs_a_name_and_a_question(
    bank: RestBank, nothing_written: Callable[[], None], missing: str
) -> None:
    body = {name: value for name, value in MODEL.items() if name != missing}
    assert_refused(bank.ask("POST", "/mental-models", json=body), 422, missing)
    nothing_written()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, "changes nothing"),
        ({"name": None, "tags": None}, "changes nothing"),
        ({"colour": "red"}, "changes nothing"),
        ({"name": " "}, "name"),
        ({"max_tokens": 10}, "max_tokens"),
        ({"tags": [""]}, "tags"),
        ({"trigger": {"refresh_cron": "nonsense"}}, "refresh_cron"),
        ({"trigger": {"refresh_cron": "0 3 * * *", "refresh_after_consolidation": True}}, "exclude each other"),
        ({"trigger": {"keep_trace": None}}, "keep_trace"),
        ({"source_query": f"{NUL}"}, "source_query"),
        ([], "body"),
        ("text", "body"),
    ],
)
def test_a_bad_change_changes_nothing(
    shared_bank: RestBank, nothing_written: Callable[[], None], change: Any, told: str
) -> None:
    assert_refused(shared_bank.ask("PATCH", "/mental-models/ada", **_as_json(change)), 422, told)
    nothing_written()


BAD_ITEMS: list[tuple[dict[str, Any], str]] = [
    ({"content": ""}, "'content'] must not be blank"),
    ({"content": " \n\t"}, "content"),
    ({"content": "\u200b\u200d"}, "content"),
    ({"content": 7}, "content"),
    ({"content": []}, "content"),
    ({"content": [{"type": "text"}]}, "content"),
    ({"content": [{"type": "image", "source": {}}]}, "image blocks are not supported yet"),
    ({"content": [{"type": "text", "text": "a"}, {"type": "file", "source": {}}]}, "block 1: file blocks"),
    ({"content": f"a{NUL}b"}, "'content'] contains a NUL character"),
    ({"content": f"a{LONE}"}, "content"),
    ({"timestamp": "yesterday"}, "timestamp"),
    ({"timestamp": "0001-01-01T00:00:00Z"}, "placeholder"),
    ({"timestamp": "9999-12-31T23:59:59Z"}, "placeholder"),
    ({"timestamp": "9999-12-31T23:59:59-05:00"}, "timestamp"),
    ({"timestamp": 1700000000}, "ISO 8601"),
    ({"context": 7}, "context"),
    ({"context": "c" * 10_001}, "context"),
    ({"context": f"{NUL}"}, "context"),
    ({"metadata": {"a": {"x": 1}}}, "the value of 'a' must be a string"),
    ({"metadata": {"a": [1]}}, "metadata"),
    ({"metadata": ["a"]}, "metadata"),
    ({"metadata": {"a": f"{LONE}"}}, "'metadata', 'a']"),
    ({"metadata": {f"{NUL}": "a"}}, "in its name"),
    ({"metadata": {"a": float("inf")}}, "not finite"),
    ({"document_id": ""}, "document_id"),
    ({"document_id": "d" * 513}, "document_id"),
    ({"document_id": f"d{NUL}"}, "document_id"),
    ({"tags": ["a", " "]}, "'tags', 1]"),
    ({"tags": "no json"}, "tags"),
    ({"tags": {"a": 1}}, "tags"),
    ({"entities": [{"text": ""}]}, "entities"),
    ({"entities": ["Ada"]}, "entities"),
    ({"update_mode": "append"}, "document_id"),
    ({"update_mode": "merge"}, "update_mode"),
]


@pytest.mark.parametrize(("bad", "told"), BAD_ITEMS, ids=[str(number) for number in range(len(BAD_ITEMS))])
@pytest.mark.parametrize("later", [False, True], ids=["now", "later"])
def test_a_bad_item_retains_nothing_of_its_request(
    bank: RestBank, nothing_written: Callable[[], None], bad: dict[str, Any], told: str, later: bool
) -> None:
    items = [{"content": "Ada Lovelace works at Acme."}, {"content": "Ada likes tea."} | bad]
    assert_refused(bank.ask("POST", "/memories", **_as_json({"items": items, "async": later})), 422, "'items', 1", told)
    nothing_written()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, "items"),
        ({"items": []}, "items"),
        ({"items": {}}, "items"),
        ({"items": [{"content": "a"}] * 1001}, "items"),
        ({"items": [{"content": "Ada."}], "async": "perhaps"}, "async"),
        ({"items": [{"content": "Ada."}], "async": True, "operation_id": "mine"}, "operation_id"),
        ({"items": [{"content": "Ada."}], "document_tags": [""]}, "document_tags"),
    ],
)
def test_a_bad_retain_request_retains_nothing(
    bank: RestBank, nothing_written: Callable[[], None], body: dict[str, Any], told: str
) -> None:
    assert_refused(bank.ask("POST", "/memories", json=body), 422, told)
    nothing_written()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"query": ""}, "query"),
        ({"query": "\u200b"}, "query"),
        ({"query": "?!"}, "at least one letter"),
        ({"query": "word " * 500}, "query"),
        ({"query": f"a{NUL}"}, "query"),
        ({"query": f"<|endoftext|> {LONE} tail"}, "query"),
        ({"query": "Ada", "types": ["opinion"]}, "types"),
        ({"query": "Ada", "budget": "huge"}, "budget"),
        ({"query": "Ada", "max_tokens": -1}, "max_tokens"),
        ({"query": "Ada", "tags": ["a"], "tag_groups": [{"tags": ["b"]}]}, "exclude each other"),
        ({"query": "Ada", "tags_match": "fuzzy"}, "tags_match"),
        ({"query": "Ada", "tag_groups": [{"tags": ["a"], "resolve": "near"}]}, "resolve"),
        ({"query": "Ada", "min_scores": {"semantic": 2}}, "semantic"),
        ({"query": "Ada", "include": "all"}, "include"),
    ],
)
def test_a_bad_recall_is_refused(shared_bank: RestBank, body: dict[str, Any], told: str) -> None:
    assert_refused(shared_bank.ask("POST", "/memories/recall", **_as_json(body)), 422, told)


@pytest.mark.parametrize(
    "bank_id",
    ["..", ".", " ada", "ada ", "a\x00b", "a\nb", "a\u200bb", "\u00a0", "\ue000", "b" * 257, "a\ufffdb", " "],
    ids=ascii,
)
def test_a_bank_id_that_could_not_be_asked_for_again_is_refused_on_every_route(
    client: httpx.Client, nothing_written: Callable[[], None], bank_id: str
) -> None:
    path = f"/v1/default/banks/{quote(bank_id, safe='').replace('.', '%2E')}"
    item = {"items": [{"content": "Ada."}]}
    for method, below, body in (
        ("PUT", "", {}),
        ("PATCH", "", {"name": "x"}),
        ("PATCH", "/config", {"updates": {}}),
        ("POST", "/directives", {"name": "x", "content": "x"}),
        ("POST", "/import", {"version": "1"}),
        ("DELETE", "", None),
        ("GET", "/stats", None),
        ("GET", "/tags", None),
        ("GET", "/operations", None),
        ("POST", "/memories", item),
        ("POST", "/memories/recall", {"query": "Ada"}),
        ("GET", "/mental-models", None),
        ("POST", "/mental-models", MODEL),
        ("GET", "/mental-models/ada", None),
    ):
        status, detail = _raw(client, method, path + below, body)
        assert status == 422, (method, below, detail)
        assert "bank_id" in detail, (method, below, detail)
    nothing_written()


def _raw(client: httpx.Client, method: str, path: str, body: Any = None) -> tuple[int, str]:
    """Sends a path exactly as it is; httpx would tidy it."""
    connection = http.client.HTTPConnection(client.base_url.host, client.base_url.port or 80, timeout=10)
    try:
        content = None if body is None else json.dumps(body).encode()
        connection.request(method, path, content, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


@pytest.mark.parametrize("path", ["/a%2Fb", "/a%2fstats", "/a%2Fmental-models", "/a/mental-models/x%2Fhistory"])
def test_a_slash_inside_an_id_is_refused_and_never_read_as_another_path(
    client: httpx.Client, nothing_written: Callable[[], None], path: str
) -> None:
    for method in ("GET", "PUT", "POST", "DELETE"):
        status, detail = _raw(client, method, f"/v1/default/banks{path}", {})
        assert status in (405, 422), detail
    assert "cannot contain '/'" in _raw(client, "GET", "/v1/default/banks/a%2Fstats")[1]
    nothing_written()


def test_an_id_in_percent_escapes_that_are_no_utf_8_is_refused(
    client: httpx.Client, nothing_written: Callable[[], None]
) -> None:
    status, detail = _raw(client, "PUT", "/v1/default/banks/a%FF", {})
    assert status == 422
    assert "UTF-8" in detail
    nothing_written()


def test_an_unknown_bank_is_not_found_and_not_created(bank: RestBank, nothing_written: Callable[[], None]) -> None:
    for method, path, body in (
        ("GET", "/stats", None),
        ("GET", "/tags", None),
        ("GET", "/tags?source=mental_models", None),
        ("GET", "/operations", None),
        ("GET", f"/operations/{uuid4()}", None),
        ("GET", "/mental-models", None),
        ("POST", "/memories/recall", {"query": "Ada"}),
        ("GET", "/config", None),
        ("DELETE", "/config", None),
        ("GET", "/directives", None),
        ("GET", f"/directives/{uuid4()}", None),
        ("PATCH", f"/directives/{uuid4()}", {"name": "x"}),
        ("DELETE", f"/directives/{uuid4()}", None),
        ("GET", "/export", None),
        ("DELETE", "", None),
    ):
        assert_refused(bank.ask(method, path, json=body), 404, f"Bank '{bank.bank_id}' not found")
    nothing_written()


def test_an_unknown_mental_model_is_not_found(shared_bank: RestBank, nothing_written: Callable[[], None]) -> None:
    for method, path, body in (
        ("GET", "", None),
        ("GET", "?as_of=1", None),
        ("PATCH", "", {"name": "x"}),
        ("DELETE", "", None),
        ("POST", "/clear", None),
        ("POST", "/refresh", None),
        ("GET", "/history", None),
        ("GET", "/events", None),
    ):
        for name in ("none", "No_Such", "100%25"):
            assert_refused(shared_bank.ask(method, f"/mental-models/{name}{path}", json=body), 404, "not found")
    nothing_written()


def test_a_nul_in_a_url_is_refused(shared_bank: RestBank) -> None:
    bank = shared_bank
    assert_refused(bank.ask("GET", "/mental-models/a%00b"), 422, "mental_model_id", "NUL")
    assert_refused(bank.ask("GET", "/mental-models?tags=a%00b"), 422, "tags", "NUL")
    assert_refused(bank.ask("GET", "/tags?q=%00"), 422, "'q'", "NUL")
    assert_refused(bank.ask("GET", "/operations?type=%00"), 422, "type", "NUL")
    assert_refused(bank.client.get("/v1/default/banks?q=%00"), 422, "'q'", "NUL")


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/mental-models?limit=0", "limit"),
        ("/mental-models?limit=1001", "limit"),
        ("/mental-models?offset=-1", "offset"),
        ("/mental-models?offset=99999999999999999999", "offset"),
        ("/mental-models?detail=all", "detail"),
        ("/mental-models?tags=a&tags_match=all_strict", "tags_match"),
        ("/mental-models/ada?detail=some", "detail"),
        ("/mental-models/ada/events?limit=0", "limit"),
        ("/operations?limit=101", "limit"),
        ("/operations?status=done", "status"),
        ("/tags?source=documents", "source"),
        ("/tags?limit=x", "limit"),
    ],
)
def test_a_parameter_out_of_range_is_refused(shared_bank: RestBank, path: str, told: str) -> None:
    assert_refused(shared_bank.ask("GET", path), 422, told)


def test_an_operation_id_that_is_no_uuid_is_a_bad_request(shared_bank: RestBank) -> None:
    assert_refused(shared_bank.ask("GET", "/operations/mine"), 400, "'mine' is not an operation id")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"{", "not valid JSON"),
        (b"", "Field required"),
        (b'{"items": [}', "not valid JSON"),
        (b'{"items": "\xff"}', "cannot be read as JSON"),
        (b"[" * 100_000, "cannot be read as JSON"),
        (b"9" * 5_000, "cannot be read as JSON"),
        (b"null", "body"),
        (b'{"items": [{"content": "\xed\xa0\x80"}]}', "a lone surrogate"),
    ],
    ids=ascii,
)
def test_a_body_that_is_no_json_object_is_refused(
    bank: RestBank, nothing_written: Callable[[], None], content: bytes, told: str
) -> None:
    for path in ("/memories", "/mental-models", "/memories/recall"):
        response = bank.ask("POST", path, content=content, headers={"Content-Type": "application/json"})
        assert_refused(response, 422, told)
    nothing_written()


def test_a_body_that_is_not_said_to_be_json_is_refused(bank: RestBank, nothing_written: Callable[[], None]) -> None:
    body = json.dumps({"items": [{"content": "Ada."}]})
    for headers in ({}, {"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"}):
        response = bank.ask("POST", "/memories", content=body, headers=headers)
        assert_refused(response, 415, "Content-Type: application/json")
    nothing_written()


def test_a_body_over_the_limit_is_refused_with_the_limit(bank: RestBank, nothing_written: Callable[[], None]) -> None:
    large = json.dumps({"items": [{"content": "x" * 200_000}]}).encode()
    headers = {"Content-Type": "application/json"}
    assert_refused(bank.ask("POST", "/memories", content=large, headers=headers), 413, "200000 bytes")
    chunked = bank.ask("POST", "/memories", content=_pieces(large), headers=headers)
    assert "content-length" not in chunked.request.headers
    assert_refused(chunked, 413, "200000 bytes")
    nothing_written()


def _pieces(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), 10_000):
        yield content[start : start + 10_000]


def test_no_more_than_the_limit_is_read_of_an_endless_body(bank: RestBank) -> None:
    """The answer comes while the body is still being sent."""
    connection = http.client.HTTPConnection(bank.client.base_url.host, bank.client.base_url.port or 80, timeout=10)
    try:
        connection.putrequest("POST", f"{bank.path}/memories")
        connection.putheader("Content-Type", "application/json")
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders()
        piece = b"x" * 10_000
        for _ in range(21):
            connection.send(b"%x\r\n%s\r\n" % (len(piece), piece))
        response = connection.getresponse()
        assert response.status == 413
        assert b"200000 bytes" in response.read()
    finally:
        connection.close()


def test_a_path_or_method_that_is_not_there_says_what_to_do(bank: RestBank) -> None:
    assert_refused(bank.client.get("/v2/nothing"), 404, "/docs")
    assert_refused(bank.ask("PUT", "/memories/recall"), 405, "PUT", "POST")
    assert bank.ask("POST", "/mental-models/ada/dry-run-refresh").status_code == 404


def test_an_id_that_is_taken_is_a_conflict(shared_bank: RestBank, nothing_written: Callable[[], None]) -> None:
    taken = shared_bank.ask("POST", "/mental-models", json=MODEL)
    assert_refused(taken, 409, "already exists", "choose another id")
    nothing_written()


def test_an_operation_id_that_is_taken_by_other_work_is_a_conflict(bank: RestBank, live_service: Service) -> None:
    bank.retain("Ada Lovelace works at Acme.")
    operation_id = bank.post("/mental-models", MODEL)["operation_id"]
    bank.finished(operation_id)
    eventually(lambda: _written(live_service).jobs == 0, timeout=20)
    before = _written(live_service)
    body = {"items": [{"content": "Ada."}], "async": True, "operation_id": operation_id}
    assert_refused(bank.ask("POST", "/memories", json=body), 409, "already used")
    assert _written(live_service) == before


def test_an_operation_id_that_is_taken_by_other_items_is_a_conflict(bank: RestBank, live_service: Service) -> None:
    body = {"items": [{"content": "Ada likes tea."}], "async": True, "operation_id": str(uuid4())}
    bank.finished(bank.post("/memories", body)["operation_id"])
    eventually(lambda: _written(live_service).jobs == 0, timeout=20)  # the queue forgets a job after it has ended
    before = _written(live_service)
    other = bank.ask("POST", "/memories", json=body | {"items": [{"content": "Ada likes coffee."}]})
    assert_refused(other, 409, "already used", "choose a new one")
    assert bank.post("/memories", body)["operation_id"] == body["operation_id"], "the same items are the same request"
    assert _written(live_service) == before
