"""The versions of a document over real HTTP: each of them, what changed between two and why, and blame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from domain.document import AppendBlock, RemoveItem, ReplaceItem
from domain.editing import EditRequest, ProposedEdit
from tests.adapters.http.told_minds import Told
from tests.support.rest import assert_refused

ADA = "/mental-models/ada"
ACME, PARIS, TEA = "Ada Lovelace works at Acme.", "Ada Lovelace moved to Paris.", "Ada Lovelace likes tea."
BY_HAND = f"# Ada\n\n- {ACME}\n- Written by a person.\r\n\n| a | b |\n| - | - |\n| 1 | 2 |"


def edited_by_hand(told: Told, text: str = BY_HAND) -> Any:
    return told.bank.patch(ADA, {"content": text})


# --- one version ------------------------------------------------------------------------------------------------------


def test_a_version_is_the_mental_model_as_it_was(told: Told) -> None:
    told.bank.retain(ACME)
    first = told.defines()
    told.bank.retain(PARIS)
    told.refreshes()
    then = told.bank.ask("GET", f"{ADA}/versions/2")
    assert then.json() == told.bank.get(ADA, as_of=2)
    assert (then.json()["content"], then.headers["etag"]) == (first["content"], '"2"')
    assert "content" not in told.bank.get(f"{ADA}/versions/2", detail="metadata")
    known = told.bank.ask("GET", f"{ADA}/versions/2", headers={"If-None-Match": '"2"'})
    assert (known.status_code, known.content) == (304, b"")


@pytest.mark.parametrize(("version", "status"), [("3", 404), ("999", 404), ("0", 422), ("-1", 422), ("two", 422)])
def test_a_version_that_there_is_not_is_refused(told: Told, version: str, status: int) -> None:
    told.bank.retain(ACME)
    told.defines()
    words = ("did not exist as of version", "events") if status == 404 else ("version",)
    assert_refused(told.bank.ask("GET", f"{ADA}/versions/{version}"), status, *words)
    assert_refused(told.bank.ask("GET", f"/mental-models/none/versions/{version}"), status)


# --- what changed -----------------------------------------------------------------------------------------------------


def test_a_diff_is_of_the_last_change_unless_told(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines()
    told.bank.retain(PARIS)
    told.refreshes()
    told.bank.patch(ADA, {"name": "Ada L."})
    last = told.bank.get(f"{ADA}/diff")
    assert (last["mental_model_id"], last["bank_id"]) == ("ada", told.bank.bank_id)
    assert (last["from_version"], last["to_version"]) == (2, 4)
    assert last["diff"] == f"--- version 2\n+++ version 4\n@@ -1,3 +1,4 @@\n # Ada\n \n - {ACME}\n+- {PARIS}"
    first = told.bank.get(f"{ADA}/diff", to=2)
    assert (first["from_version"], first["diff"].splitlines()[2]) == (1, "@@ -0,0 +1,3 @@")
    back = told.bank.get(f"{ADA}/diff", **{"from": 3, "to": 2, "context": 0})
    assert back["diff"] == f"--- version 3\n+++ version 2\n@@ -4 +3,0 @@\n-- {PARIS}"
    same = told.bank.get(f"{ADA}/diff", **{"from": 3, "to": 4})
    assert (same["diff"], same["operations"]) == ("", [])


def test_a_document_that_never_had_a_text_has_no_difference(told: Told) -> None:
    told.creates()
    told.bank.patch(ADA, {"name": "Ada L."})
    diff = told.bank.get(f"{ADA}/diff")
    assert (diff["from_version"], diff["to_version"], diff["diff"]) == (2, 2, "")


def test_a_missing_line_feed_at_the_end_and_a_carriage_return_are_told(told: Told) -> None:
    told.creates()
    edited_by_hand(told, "one\ntwo\n")
    edited_by_hand(told, "one\r\ntwo")
    lines = told.bank.get(f"{ADA}/diff")["diff"].split("\n")
    assert lines[3:] == ["-one", "-two", "+one\r", "+two", "\\ No newline at end of file"]


def test_a_diff_tells_each_operation_of_a_refresh_and_its_facts(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines(trigger={"mode": "delta"})
    told.bank.retain(PARIS)

    def propose(request: EditRequest) -> Sequence[ProposedEdit]:
        (section,) = request.document.sections
        (items,) = section.blocks
        (new,) = request.facts
        return [
            ProposedEdit(AppendBlock(section_id=section.id, text="Now in Paris."), (new.fact.id,)),
            ProposedEdit(RemoveItem(block_id=items.id, item_id="i-none"), (new.fact.id,)),
        ]

    told.editor.proposes = propose
    told.refreshes()
    (applied, skipped) = told.bank.get(f"{ADA}/diff")["operations"]
    fact = {"id": str(told.fact(PARIS)), "text": PARIS, "type": "world", "position": 2}
    assert (applied["op"], applied["edit_pass"], applied["skipped"]) == ("append_block", "edit", None)
    assert (applied["version"], applied["actor"], applied["facts"]) == (3, "worker", [fact])
    assert (applied["before"], applied["after"].strip()) == ("", "Now in Paris.")
    assert applied["operation"]["text"] == "Now in Paris."
    event = told.bank.get(f"{ADA}/events")["items"][-1]
    assert (applied["operation_id"], applied["occurred_at"]) == (event["operation_id"], event["occurred_at"])
    assert (skipped["op"], skipped["before"], skipped["after"], skipped["facts"]) == ("remove_item", None, None, [fact])
    assert "i-none" in skipped["skipped"]


def test_a_diff_tells_every_kind_of_change_of_the_whole_text(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines()
    edited_by_hand(told)
    told.bank.patch(ADA, {"name": "Ada L."})
    told.bank.post(f"{ADA}/clear")
    told.bank.post(f"{ADA}/revert", {"version": 3})
    operations = told.bank.get(f"{ADA}/diff", **{"from": 1})["operations"]
    assert [(each["version"], each["op"], each["actor"]) for each in operations] == [
        (2, "rewrite", "worker"),
        (3, "edit_by_hand", "user"),
        (5, "clear", "user"),
        (6, "revert", "user"),
    ]
    assert [fact["text"] for fact in operations[0]["facts"]] == [ACME]
    assert operations[1]["cause"] == "PATCH mental model"
    assert operations[3]["operation"] == {"to_version": 3}
    backwards = told.bank.get(f"{ADA}/diff", **{"from": 3, "to": 1})["operations"]
    assert [each["version"] for each in backwards] == [2, 3]


@pytest.mark.parametrize(
    ("given", "status", "word"),
    [
        ({"from": 9}, 404, "as of version 9"),
        ({"to": 9}, 404, "as of version 9"),
        ({"from": 0}, 422, "from"),
        ({"to": "now"}, 422, "to"),
        ({"context": -1}, 422, "context"),
    ],
)
def test_a_diff_of_versions_that_there_are_not_is_refused(
    told: Told, given: dict[str, Any], status: int, word: str
) -> None:
    told.bank.retain(ACME)
    told.defines()
    assert_refused(told.bank.ask("GET", f"{ADA}/diff", params=given), status, word)


def test_a_deleted_document_has_differences_only_between_versions_that_are_named(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines()
    told.bank.ask("DELETE", ADA)
    assert_refused(told.bank.ask("GET", f"{ADA}/diff"), 404, "'ada' not found")
    assert ACME in told.bank.get(f"{ADA}/diff", **{"from": 1, "to": 2})["diff"]


# --- blame ------------------------------------------------------------------------------------------------------------


def pieces(told: Told, **params: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = told.bank.get(f"{ADA}/blame", **params)["pieces"]
    return found


def test_blame_tells_of_each_piece_who_wrote_it_when_and_on_which_facts(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines()
    refresh = told.bank.get(f"{ADA}/events")["items"][-1]
    heading, listed, item = pieces(told)
    assert [each["kind"] for each in (heading, listed, item)] == ["section", "list", "item"]
    assert [each["text"] for each in (heading, listed, item)] == ["# Ada", "", f"- {ACME}"]
    assert (heading["section_id"], heading["block_id"]) == (heading["id"], None)
    assert (item["section_id"], item["block_id"]) == (heading["id"], listed["id"])
    for each in (heading, listed, item):
        assert (each["version"], each["actor"], each["operation_id"]) == (2, "worker", refresh["operation_id"])
        assert each["written_at"] == refresh["occurred_at"]
    fact = {"id": str(told.fact(ACME)), "text": ACME, "type": "world", "position": 1, "current": True}
    assert (heading["facts"], listed["facts"], item["facts"]) == ([], [fact], [fact])


def test_a_person_is_blamed_only_for_what_a_person_wrote(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines()
    edited_by_hand(told)
    by_text = {each["text"]: each for each in pieces(told)}
    kept, new, row = by_text[f"- {ACME}"], by_text["- Written by a person."], by_text["| 1 | 2 |"]
    assert (kept["version"], kept["actor"], [fact["text"] for fact in kept["facts"]]) == (2, "worker", [ACME])
    assert (new["version"], new["actor"], new["operation_id"], new["facts"]) == (3, "user", None, [])
    assert (row["kind"], row["version"]) == ("row", 3)
    header = by_text["| a | b |\n| - | - |\n"]
    assert (header["kind"], header["id"]) == ("table", row["block_id"])


def test_the_texts_of_the_pieces_are_the_document_without_the_gaps_between_them(told: Told) -> None:
    told.creates()
    edited_by_hand(told)
    position = 0
    for each in pieces(told):
        position = BY_HAND.index(each["text"], position) + len(each["text"])
    assert position == len(BY_HAND)


def test_a_fact_that_the_memory_no_longer_has_so_is_not_current(told: Told) -> None:
    told.bank.retain(ACME, document_id="work")
    told.bank.retain(TEA, document_id="tea")
    told.defines()
    told.bank.retain("Ada Lovelace works at Initech.", document_id="work")
    current = {each["facts"][0]["text"]: each["facts"][0]["current"] for each in pieces(told) if each["kind"] == "item"}
    assert current == {ACME: False, TEA: True}


def test_blame_of_an_edit_keeps_the_facts_it_had_and_adds_its_own(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines(trigger={"mode": "delta"})
    told.bank.retain(PARIS)

    def propose(request: EditRequest) -> Sequence[ProposedEdit]:
        (items,) = [block for section in request.document.sections for block in section.blocks]
        (new,) = request.facts
        text = "Ada Lovelace works at Acme, in Paris."
        return [ProposedEdit(ReplaceItem(block_id=items.id, item_id=items.items[0].id, text=text), (new.fact.id,))]

    told.editor.proposes = propose
    told.refreshes()
    heading, _, item = pieces(told)
    assert (heading["version"], item["version"]) == (2, 3)
    assert [fact["text"] for fact in item["facts"]] == [ACME, PARIS]


def test_blame_of_the_past_is_as_it_was(told: Told) -> None:
    told.bank.retain(ACME)
    told.defines()
    then = told.bank.get(f"{ADA}/blame")
    edited_by_hand(told, "Another text.\n")
    assert told.bank.get(f"{ADA}/blame", as_of=2) == then
    assert [each["text"] for each in pieces(told)] == ["", "Another text."]
    moment = told.bank.get(f"{ADA}/events")["items"][1]["occurred_at"]
    assert told.bank.get(f"{ADA}/blame", as_of=moment) == then
    told.bank.ask("DELETE", ADA)
    assert told.bank.get(f"{ADA}/blame", as_of=2) == then
    assert_refused(told.bank.ask("GET", f"{ADA}/blame"), 404, "'ada' not found")


def test_blame_carries_the_structure_of_the_document(told: Told) -> None:
    told.creates()
    edited_by_hand(told, "# Ada\n\nText.\n")
    blamed = told.bank.get(f"{ADA}/blame")
    heading, paragraph = blamed["pieces"]
    assert (blamed["version"], blamed["bank_id"], blamed["mental_model_id"]) == (2, told.bank.bank_id, "ada")
    assert blamed["structured_content"] == {
        "version": 2,
        "sections": [
            {"id": heading["id"], "heading": "Ada", "level": 1, "blocks": [{"id": paragraph["id"], "text": "Text."}]}
        ],
    }


def test_an_empty_document_has_no_pieces(told: Told) -> None:
    told.creates()
    assert pieces(told) == []


@pytest.mark.parametrize(("moment", "status"), [("9", 404), ("1999-01-01", 404), ("yesterday", 422)])
def test_blame_at_a_moment_that_was_not_is_refused(told: Told, moment: str, status: int) -> None:
    told.bank.retain(ACME)
    told.defines()
    assert_refused(told.bank.ask("GET", f"{ADA}/blame", params={"as_of": moment}), status, "as")


DOCUMENTED = {
    ("get", "/versions/{version}"): ("get_mental_model_version", {"200", "404", "422"}),
    ("get", "/diff"): ("diff_mental_model", {"200", "404", "422"}),
    ("get", "/blame"): ("blame_mental_model", {"200", "404", "422"}),
    ("post", "/revert"): ("revert_mental_model", {"200", "404", "412", "422"}),
}


def test_they_are_documented(told: Told) -> None:
    paths = told.bank.client.get("/openapi.json").json()["paths"]
    for (method, path), (name, statuses) in DOCUMENTED.items():
        operation = paths["/v1/default/banks/{bank_id}/mental-models/{mental_model_id}" + path][method]
        assert operation["operationId"] == name
        assert statuses <= set(operation["responses"])
