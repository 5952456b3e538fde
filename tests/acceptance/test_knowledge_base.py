"""Folders and pages over REST: made, read, changed, found and deleted."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import yaml

from adapters.service import Service
from tests.support.eventually import eventually
from tests.support.rest import RestBank, assert_refused

K = "/knowledge-base"


def folder(bank: RestBank, name: str, parent_id: str | None = None) -> str:
    return str(bank.post(f"{K}/folders", {"name": name, "parent_id": parent_id})["id"])


def page(bank: RestBank, name: str, parent_id: str | None = None, **fields: Any) -> tuple[str, str]:
    """A page that has been refreshed for the first time: its id, and that of its mental model."""
    made = bank.post(f"{K}/pages", {"name": name, "source_query": "What is known?", "parent_id": parent_id, **fields})
    bank.finished(made["operation_id"])
    return made["page_id"], made["mental_model_id"]


def written(bank: RestBank, model: str, text: str) -> None:
    bank.patch(f"/mental-models/{model}", {"content": text})


def names(nodes: list[dict[str, Any]]) -> list[Any]:
    return [(node["name"], names(node["children"])) if node["children"] else node["name"] for node in nodes]


def tree(bank: RestBank, **params: Any) -> list[Any]:
    return names(bank.get(f"{K}/tree", **params)["roots"])


def found(bank: RestBank, query: str, **params: Any) -> list[str]:
    return [each["name"] for each in bank.get(f"{K}/search", q=query, **params)["results"]]


# --- the life of a page -----------------------------------------------------------------------------------------------


def test_the_life_of_a_page(bank: RestBank) -> None:
    bank.retain("Ada Lovelace works at Acme.")
    team = folder(bank, "Team")
    ada, model = page(bank, "Ada", team, tags=["type:person"], trigger={"fact_types": None, "tags_match": "all"})
    (root,) = bank.get(f"{K}/tree")["roots"]
    (node,) = root["children"]
    assert (root["id"], root["kind"], root["managed"]) == (team, "folder", False)
    assert re.fullmatch("kf-[0-9a-f]{32} kp-[0-9a-f]{32}", f"{team} {ada}")
    assert {key: node[key] for key in ("id", "kind", "name", "parent_id", "mental_model_id", "description")} == {
        "id": ada,
        "kind": "page",
        "name": "Ada",
        "parent_id": team,
        "mental_model_id": model,
        "description": "What is known?",
    }
    assert (node["tags"], node["is_stale"]) == (["type:person"], False)
    assert (node["trigger"]["mode"], node["trigger"]["exclude_mental_models"]) == ("delta", True)
    assert "fact_types" not in node["trigger"], "null was asked for"
    read = bank.get(f"{K}/pages/{ada}")
    assert "Ada Lovelace works at Acme." in read["body"]
    assert (read["type"], read["tags"], read["name"]) == ("person", [], "Ada")
    front, _, body = read["markdown"].removeprefix("---\n").partition("\n---\n\n")
    assert body == read["body"]
    assert list(yaml.safe_load(front)) == ["id", "type", "title", "description", "tags", "timestamp"]
    bank.retain("Ada Lovelace moved to Paris.", tags=["type:person"])
    assert bank.get(f"{K}/tree")["roots"][0]["children"][0]["stale_reasons"] == ["new_memories"]
    assert bank.ask("DELETE", f"{K}/nodes/{team}").json() == {"status": "deleted"}
    assert bank.get(f"{K}/tree") == {"roots": []}
    assert_refused(bank.ask("GET", f"{K}/pages/{ada}"), 404, ada)
    assert_refused(bank.ask("GET", f"/mental-models/{model}"), 404)


def test_a_page_that_says_nothing_yet_says_so(bank: RestBank) -> None:
    empty, _ = page(bank, "Empty")
    read = bank.get(f"{K}/pages/{empty}")
    assert (read["body"], read["type"]) == ("", "knowledge-page")
    assert read["markdown"].endswith("---\n\nNo content yet.")
    (result,) = bank.get(f"{K}/search", q="empty")["results"]
    assert (result["snippet"], result["name"]) == ("No content yet.", "Empty")


def test_kp_07_an_empty_scope_is_explained_and_another_can_be_set(bank: RestBank) -> None:
    """KP-07"""
    bank.retain("Ada Lovelace works at Acme.")
    ada, model = page(bank, "Ada")
    (operation,) = bank.get("/operations", type="refresh_mental_model")["operations"]
    assert operation["details"]["outcome"] == "content_preserved_no_new_facts"
    told = bank.get(f"/mental-models/{model}/events")["items"][-1]["sentence"]
    assert "nothing" in told.lower(), told
    assert bank.get(f"/mental-models/{model}")["trigger"]["fact_types"] == ["observation"]
    changed = bank.patch(f"{K}/nodes/{ada}", {"trigger": {"fact_types": ["world", "observation"]}})
    assert changed["trigger"]["fact_types"] == ["world", "observation"]
    assert changed["trigger"]["refresh_after_consolidation"] is True, "what is not named stays"
    assert "Acme" in bank.refreshed(model)["content"]


# --- changed ----------------------------------------------------------------------------------------------------------


def test_null_moves_to_the_root_and_absent_keeps(bank: RestBank) -> None:
    team = folder(bank, "Team")
    ada, _ = page(bank, "Ada", team)
    assert bank.patch(f"{K}/nodes/{ada}", {"name": "Ada L."})["parent_id"] == team
    assert bank.patch(f"{K}/nodes/{ada}", {"name": None, "tags": ["a"], "trigger": None})["name"] == "Ada L."
    moved = bank.patch(f"{K}/nodes/{ada}", {"parent_id": None})
    assert "parent_id" not in moved
    assert moved["tags"] == ["a"]
    assert bank.patch(f"{K}/nodes/{ada}", {"tags": [], "parent_id": team})["tags"] == []


def test_siblings_are_shown_in_the_order_that_is_set_then_by_name(bank: RestBank) -> None:
    for name in ("b", "C", "a"):
        folder(bank, name)
    last = folder(bank, "0")
    assert tree(bank) == ["0", "a", "b", "C"]
    assert bank.patch(f"{K}/nodes/{last}", {"sort_order": 5})["sort_order"] == 5
    assert tree(bank) == ["a", "b", "C", "0"]


def test_only_another_question_asks_for_a_refresh(bank: RestBank) -> None:
    ada, model = page(bank, "Ada")
    bank.patch(f"{K}/nodes/{ada}", {"source_query": "What is known?", "max_tokens": 300})
    assert bank.get("/operations")["total"] == 1
    assert bank.patch(f"{K}/nodes/{ada}", {"source_query": "Where?"})["description"] == "Where?"
    assert bank.get("/operations")["total"] == 2
    assert bank.get(f"/mental-models/{model}")["max_tokens"] == 300


def test_kp_01_of_two_opposite_moves_one_is_refused(bank: RestBank) -> None:
    """KP-01"""
    for _ in range(3):
        one, two = folder(bank, "A"), folder(bank, "B")
        with ThreadPoolExecutor(2) as threads:
            moves = [
                threads.submit(bank.ask, "PATCH", f"{K}/nodes/{node}", json={"parent_id": parent})
                for node, parent in ((one, two), (two, one))
            ]
        assert sorted(move.result().status_code for move in moves) == [200, 409]
        for root in bank.get(f"{K}/tree")["roots"]:
            assert len(root["children"]) == 1
            bank.ask("DELETE", f"{K}/nodes/{root['id']}")


def test_kp_01_a_folder_is_not_moved_into_what_is_in_it(bank: RestBank) -> None:
    """KP-01"""
    outer = folder(bank, "outer")
    inner = folder(bank, "inner", outer)
    assert_refused(bank.ask("PATCH", f"{K}/nodes/{outer}", json={"parent_id": inner}), 409, "inside it")
    assert_refused(bank.ask("PATCH", f"{K}/nodes/{outer}", json={"parent_id": outer}), 400, "own parent")
    assert tree(bank) == [("outer", ["inner"])]


def test_kp_01_a_stored_loop_is_still_read_and_can_be_mended(bank: RestBank, live_service: Service) -> None:
    """KP-01"""
    outer = folder(bank, "outer")
    inner = folder(bank, "inner", outer)
    with live_service.database.connection() as connection:
        connection.execute("UPDATE knowledge_nodes SET parent_id = %s WHERE node_id = %s", (inner, outer))
    assert tree(bank) == [("inner", ["outer"])]
    assert len(bank.get(f"{K}/export")["files"]) == 3
    bank.ask("DELETE", f"{K}/nodes/{outer}")
    assert tree(bank) == []


def test_kp_02_a_page_that_is_refused_leaves_no_mental_model_and_no_bank(bank: RestBank) -> None:
    """KP-02, TS-12"""
    body = {"name": "Ada", "source_query": "Who?"}
    assert_refused(bank.ask("POST", f"{K}/pages", json={**body, "parent_id": "kf-none"}), 404, "kf-none")
    assert_refused(bank.ask("POST", f"{K}/folders", json={"name": "F", "parent_id": "kf-none"}), 404, "kf-none")
    assert_refused(bank.ask("GET", f"{K}/tree"), 404, "Bank")
    ada, _ = page(bank, "Ada")
    assert_refused(bank.ask("POST", f"{K}/pages", json={"name": "x", "source_query": "?a", "parent_id": ada}), 409)
    assert_refused(bank.ask("POST", f"{K}/pages", json={**body, "name": "ADA"}), 409, "Ada", "another name")
    assert [model["name"] for model in bank.get("/mental-models")["items"]] == ["Ada"]
    bank.ask("DELETE", f"{K}/nodes/{ada}")
    page(bank, "Ada")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "says"),
    [
        ("POST", f"{K}/folders", {"name": " "}, 422, "blank"),
        ("POST", f"{K}/folders", {}, 422, "name"),
        ("POST", f"{K}/pages", {"name": "x"}, 422, "source_query"),
        ("POST", f"{K}/pages", {"name": "x", "source_query": "?a", "max_tokens": 100}, 422, "256"),
        ("POST", f"{K}/pages", {"name": "x", "source_query": "?a", "max_tokens": 9000}, 422, "8192"),
        ("POST", f"{K}/pages", {"name": "x", "source_query": "?a", "trigger": {"fact_types": []}}, 422, "fact_types"),
        ("PATCH", f"{K}/nodes/none", {"name": "x"}, 404, "none"),
        ("DELETE", f"{K}/nodes/none", None, 404, "none"),
        ("GET", f"{K}/pages/none", None, 404, "none"),
        ("GET", f"{K}/search", None, 422, "q"),
        ("GET", f"{K}/search?q=a&limit=51", None, 422, "limit"),
        ("GET", f"{K}/tree?tag_groups=nonsense", None, 422, "tag_groups"),
        ("POST", f"{K}/import", {"files": []}, 422, "files"),
    ],
)
def test_what_is_wrong_with_a_request_is_told(
    bank: RestBank, method: str, path: str, body: Any, status: int, says: str
) -> None:
    folder(bank, "Team")
    assert_refused(bank.ask(method, path, json=body), status, says)


def test_what_only_a_page_has_is_not_set_on_a_folder(bank: RestBank) -> None:
    team = folder(bank, "Team")
    assert_refused(bank.ask("PATCH", f"{K}/nodes/{team}", json={"source_query": "Who?"}), 404, "folder")
    assert_refused(bank.ask("GET", f"{K}/pages/{team}"), 404, "folder")
    assert_refused(bank.ask("PATCH", f"{K}/nodes/{team}", json={}), 400, "at least one")


def test_unknown_names_are_told(bank: RestBank) -> None:
    answer = bank.ask("POST", f"{K}/folders", json={"name": "F", "colour": "red"})
    assert (answer.status_code, answer.headers["x-ignored-parameters"]) == (201, "colour")


# --- pages and mental models ------------------------------------------------------------------------------------------


def test_a_mental_model_tells_whether_it_is_a_page(bank: RestBank) -> None:
    _, ada = page(bank, "Ada")
    bank.model("alone")
    told = {each["id"]: each["is_knowledge_page"] for each in bank.get("/mental-models")["items"]}
    assert told == {ada: True, "alone": False}
    assert bank.get(f"/mental-models/{ada}")["is_knowledge_page"] is True
    assert bank.get(f"/mental-models/{ada}", as_of=1)["is_knowledge_page"] is True
    listed = bank.get("/mental-models", exclude_knowledge_pages=True)
    assert ([each["id"] for each in listed["items"]], listed["total"]) == (["alone"], 1)


def test_a_page_goes_and_is_renamed_with_its_mental_model(bank: RestBank) -> None:
    _, model = page(bank, "Ada")
    page(bank, "Bob")
    bank.patch(f"/mental-models/{model}", {"name": "Ada L."})
    assert tree(bank) == ["Ada L.", "Bob"]
    assert_refused(bank.ask("PATCH", f"/mental-models/{model}", json={"name": "bob"}), 409, "Bob")
    bank.ask("DELETE", f"/mental-models/{model}")
    assert tree(bank) == ["Bob"]


def test_pages_are_no_part_of_a_bank_template(bank: RestBank) -> None:
    _, model = page(bank, "Ada")
    bank.model("alone")
    template = bank.get("/export")
    assert [each["id"] for each in template["mental_models"]] == ["alone"]
    template["mental_models"][0]["id"] = model
    assert_refused(bank.ask("POST", "/import", json=template), 400, model, "page")


def test_a_deleted_bank_has_no_tree_when_it_comes_again(bank: RestBank) -> None:
    page(bank, "Ada", folder(bank, "Team"))
    bank.ask("DELETE", "")
    assert_refused(bank.ask("GET", f"{K}/tree"), 404)
    folder(bank, "New")
    assert tree(bank) == ["New"]


# --- read again -------------------------------------------------------------------------------------------------------


def test_kp_08_a_reader_can_tell_whether_anything_changed(bank: RestBank) -> None:
    """KP-08"""
    assert bank.ask("GET", f"{K}/tree").status_code == 404, "a bank that is not there yet"
    bank.ask("PUT", "", json={})

    def tag() -> str:
        return str(bank.ask("GET", f"{K}/tree").headers["etag"])

    empty = tag()
    assert bank.ask("GET", f"{K}/tree", headers={"If-None-Match": empty}).status_code == 304
    ada, model = page(bank, "Ada", trigger={"fact_types": None})
    seen = [empty, tag()]
    bank.retain("Ada Lovelace works at Acme.")
    seen.append(tag())
    written(bank, model, "Text.\n")
    seen.append(tag())
    bank.patch(f"{K}/nodes/{ada}", {"name": "Ada L."})
    seen.append(tag())
    assert len(set(seen)) == len(seen), "made, stale, written, renamed"
    again = bank.ask("GET", f"{K}/tree", headers={"If-None-Match": f'"x", W/{seen[-1]}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", seen[-1])
    read = bank.ask("GET", f"{K}/pages/{ada}").headers["etag"]
    assert bank.ask("GET", f"{K}/pages/{ada}", headers={"If-None-Match": read}).status_code == 304


def test_a_tree_is_cut_down_to_tags(bank: RestBank) -> None:
    team = folder(bank, "Team")
    folder(bank, "Empty")
    page(bank, "Ada", team, tags=["person", "a"])
    page(bank, "Plan", None, tags=["plan"])
    page(bank, "Open")
    assert tree(bank) == ["Empty", "Open", "Plan", ("Team", ["Ada"])]
    assert tree(bank, tags="person") == ["Open", ("Team", ["Ada"])]
    assert tree(bank, tags="person", tags_match="any_strict") == [("Team", ["Ada"])]
    assert tree(bank, tags=["person", "plan"], tags_match="all_strict") == []
    assert tree(bank, tags=["a", "person"], tags_match="exact") == [("Team", ["Ada"])]
    assert tree(bank, tags_match="exact") == ["Open"]
    groups = '[{"or": [{"tags": ["plan"]}, {"tags": ["a"]}]}]'
    assert tree(bank, tag_groups=groups) == ["Plan", ("Team", ["Ada"])]
    assert tree(bank, tag_groups=groups, tags="plan") == ["Plan"], "both have to match"
    assert found(bank, "Ada Plan Open", tags="person", tags_match="any_strict") == ["Ada"]


# --- found ------------------------------------------------------------------------------------------------------------


def test_kp_03_a_page_is_found_by_what_it_is_called_and_says_now(bank: RestBank) -> None:
    """KP-03"""
    ada, model = page(bank, "Zebra")
    assert found(bank, "zebra") == ["Zebra"]
    bank.patch(f"{K}/nodes/{ada}", {"name": "Giraffe"})
    assert (found(bank, "zebra"), found(bank, "giraffe")) == ([], ["Giraffe"])
    assert bank.get(f"/mental-models/{model}")["name"] == "Giraffe"
    written(bank, model, "The penguin swims.\n")
    assert found(bank, "penguins") == ["Giraffe"]
    written(bank, model, "The walrus dives.\n")
    assert (found(bank, "penguins"), found(bank, "walrus")) == ([], ["Giraffe"])
    bank.post(f"/mental-models/{model}/clear")
    assert (found(bank, "walrus"), found(bank, "giraffe")) == ([], ["Giraffe"])


def test_a_result_shows_where_the_words_stand_and_an_honest_score(bank: RestBank, live_service: Service) -> None:
    _, model = page(bank, "Channels")
    written(bank, model, "# Talk\n\nThe team *talks* in a shared channel.\n")
    _, other = page(bank, "Lunch")
    written(bank, other, "The team eats pasta.\n")
    live_service.page_vectors.catch_up(bank.bank_id)
    answer = bank.get(f"{K}/search", q="team channel")
    assert (answer["total"], answer["by_meaning"]) == (2, True)
    first, second = answer["results"]
    assert (first["name"], second["name"]) == ("Channels", "Lunch")
    assert first["snippet"] == "Talk The team talks in a shared channel."
    assert "".join(piece["text"] for piece in first["highlights"]) == first["snippet"]
    assert [piece["text"] for piece in first["highlights"] if piece["match"]] == ["team", "channel"]
    assert 1 > first["score"] > 0.5 > second["score"] > 0, "every word and some meaning; one word of two"
    assert first["mental_model_id"] == model
    assert first["source_query"] == "What is known?"
    assert len(bank.get(f"{K}/search", q="team channel", limit=1)["results"]) == 1


def test_a_page_that_is_found_by_meaning_alone_does_not_look_perfect(bank: RestBank, live_service: Service) -> None:
    _, model = page(bank, "Cars")
    written(bank, model, "The car drives fast.\n")
    live_service.page_vectors.catch_up(bank.bank_id)
    results = eventually(lambda: bank.get(f"{K}/search", q="automobile vehicle")["results"], timeout=5)
    assert [each["name"] for each in results] == ["Cars"]
    assert 0 < results[0]["score"] <= 0.5
    assert not any(piece["match"] for piece in results[0]["highlights"])


def test_a_page_that_is_found_by_words_alone_does_not_look_perfect(bank: RestBank) -> None:
    page(bank, "qwxz")
    (result,) = bank.get(f"{K}/search", q="qwxz")["results"]
    assert result["score"] <= 1
    assert bank.get(f"{K}/search", q="   ") == {"results": [], "total": 0, "by_meaning": True}


# --- other banks ------------------------------------------------------------------------------------------------------


def test_ts_12_another_banks_pages_are_neither_read_nor_changed(bank: RestBank) -> None:
    """TS-12"""
    team = folder(bank, "Secret folder")
    ada, model = page(bank, "Secret", team)
    written(bank, model, "Secret text.\n")
    other = RestBank(bank.client, f"{bank.bank_id}-other")
    own = folder(other, "Own")
    answers = [
        other.ask("GET", f"{K}/tree"),
        other.ask("GET", f"{K}/export"),
        other.ask("GET", f"{K}/search", params={"q": "secret"}),
        other.ask("GET", f"{K}/pages/{ada}"),
        other.ask("PATCH", f"{K}/nodes/{ada}", json={"name": "x"}),
        other.ask("PATCH", f"{K}/nodes/{own}", json={"parent_id": team}),
        other.ask("POST", f"{K}/folders", json={"name": "x", "parent_id": team}),
        other.ask("POST", f"{K}/pages", json={"name": "x", "source_query": "Who?", "parent_id": team}),
        other.ask("DELETE", f"{K}/nodes/{ada}"),
    ]
    assert [answer.status_code for answer in answers] == [200] * 3 + [404] * 6
    assert not any("Secret" in answer.text for answer in answers)
    assert tree(bank) == [("Secret folder", ["Secret"])]
    assert tree(other) == ["Own"]
