"""Reports from the field about refreshes that overwrote a good page: with too little, with nothing, or for the wrong
question."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import scripted_llm as script
from tests.support.eventually import eventually
from tests.support.rest import RestBank
from tests.support.scripted_llm import Reply, Request
from tests.support.scripted_pages import (
    PAGE,
    Page,
    ScriptedService,
    edit,
    found_facts,
    lists_what_it_found,
    recalls,
    told_facts,
    writes,
)

KEPT = ("content", "last_refreshed_at", "last_memory_seen_at", "last_full_refreshed_at", "is_stale")


def kept(page: Page) -> dict[str, Any]:
    """What a refresh that fails must leave as it is."""
    now = page.now
    return {name: now.get(name) for name in KEPT} | {
        "cited": page.cited,
        "versions": [each for each in page.history if each.get("kind") != "refresh_failed"],
    }


def assert_failed(page: Page, operation: Any, before: dict[str, Any], reason: str | None = None) -> None:
    """The operation failed and says so, the page is as it was, and its history tells of it."""
    assert operation["status"] == "failed"
    assert operation["error_message"]
    assert kept(page) == before
    newest = page.history[0]
    assert newest["kind"] == "refresh_failed"
    if reason is not None:
        assert (operation["details"]["failure_reason"], newest["failure_reason"]) == (reason, reason)


FACTS = [f"Ada built bridge {letter}." for letter in "ABCDEFGHIJ"]
BRIDGES = "## Ada\n\n" + "".join(f"- {fact}\n" for fact in FACTS)


@pytest.fixture
def bridges(page: Page) -> Page:
    """A page that was written in full from ten facts, and lists each."""
    for fact in FACTS:
        page.learns(fact)
    page.lists_all()
    assert page.content == BRIDGES
    assert sorted(page.cited) == FACTS
    return page


SUMMARY = "Ada built bridge K."
NO_OPERATIONS = {
    "the server fails": [script.server_error()],
    "the key is refused": [script.unauthorized()],
    "the connection is closed": [script.cut_off(script.edits())],
    "no JSON comes": [script.garbage()],
    "JSON of another shape comes": [script.wrong_shape()],
    "the model refuses": [script.refusal("no")],
    "a short text on the new fact alone": [script.text(SUMMARY)] * 2,
    "a document on the new fact alone": [script.json_content({"document": {"sections": [{"heading": "Ada"}]}})] * 2,
    "operations that fit nowhere": [script.edits(edit("append_block", section_id="none", text=SUMMARY))] * 2,
    "operations that would empty the page": [script.edits(edit("replace_section_blocks", section_id="ada", blocks=[]))],
}


@pytest.mark.parametrize("case", NO_OPERATIONS)
def test_rs_01_a_delta_that_fails_costs_nothing_and_the_next_one_merges(bridges: Page, case: str) -> None:
    page = bridges
    page.learns("Ada built bridge K.")
    before = kept(page)
    assert before["is_stale"] is True
    assert_failed(page, page.refreshes(*NO_OPERATIONS[case]), before)
    listed = page.item("- Ada")["block_id"]
    operation = page.refreshes(script.edits(edit("append_item", block_id=listed, text="- Ada built bridge K.")))
    assert operation["details"]["outcome"] == "content_written"
    assert page.content == f"{BRIDGES}- Ada built bridge K.\n"
    assert sorted(page.cited) == [*FACTS, "Ada built bridge K."]
    assert page.now["is_stale"] is False


@pytest.mark.parametrize("fault", [script.unauthorized(), script.failing(404, "No such model.")])
def test_rs_01_an_endpoint_that_cannot_be_asked_does_not_count_against_the_page(page: Page, fault: Reply) -> None:
    """A wrong key says nothing of the page: once it is right, deltas go on where they were."""
    page.begins("# By hand\n\nPrecious.\n")
    page.learns("Ada works at Acme.")
    for _ in range(4):
        assert page.refreshes(fault)["status"] == "failed"
    appended = script.edits(edit("append_block", section_id="by-hand", text="Ada works at Acme."))
    assert page.refreshes(appended)["details"]["outcome"] == "content_written"
    assert page.content == "# By hand\n\nPrecious.\n\nAda works at Acme.\n"


NOT_FOUND = script.tool_call("done", {"document": {"sections": []}, "answer_found": False})
ENVELOPE = {"answer": "Ada built bridge K.", "memory_ids": ["f1"], "directive_compliance": ""}
NO_DOCUMENT = {
    "rs_02 a blank answer": [writes("   ", heading="")],
    "rs_02 zero-width characters only": [writes("\u200b\u2060", heading="\ufeff")],
    "rs_02 a heading only": [writes("<!-- nothing -->")],
    "rs_02 nothing found": [NOT_FOUND],
    "rs_02 a stand-in": [writes("No answer provided.")],
    "rs_02 another stand-in": [writes("_Generating content..._")],
    "rs_02 a refusal with citations": [writes("I don't have information about that.")],
    "rs_02 another refusal": [writes("I'm sorry, but no relevant information was found in the memories.")],
    "rs_02 text instead of a call": [script.text("No answer provided.")] * 2,
    "rs_08 cut in mid-word by the token limit": [script.truncated("## Ada\n\nAda works at Ac")],
    "rs_08 a call that is whole but was cut": [
        script.tool_call(
            "done",
            {"document": {"sections": [{"heading": "Ada", "blocks": ["Ada works at Ac"]}]}, "answer_found": True},
            finish_reason="length",
        )
    ],
    "rs_10 an envelope instead of a call": [script.json_content(ENVELOPE)] * 2,
    "rs_10 an envelope in a fence": [script.text(f"```json\n{json.dumps(ENVELOPE)}\n```")] * 2,
    "rs_10 an envelope as the text of a document": [writes(json.dumps(ENVELOPE), heading="")] * 2,
    "rs_10 an envelope in a fence as the text of a document": [
        writes(f"```json\n{json.dumps(ENVELOPE)}\n```", heading="")
    ],
}


REASONS = {
    "rs_02 a heading only": "empty_candidate",
    "rs_02 nothing found": "no_answer",
    "rs_02 a stand-in": "no_answer",
    "rs_02 a refusal with citations": "no_answer",
    "rs_10 an envelope instead of a call": "no_answer",
}


@pytest.mark.parametrize("case", NO_DOCUMENT)
def test_rs_02_08_10_what_is_no_document_never_becomes_one(page: Page, case: str) -> None:
    page.learns("Ada works at Acme.")
    page.lists_all(trigger={"mode": "full"})
    before = kept(page)
    assert_failed(page, page.refreshes(recalls(), *NO_DOCUMENT[case]), before, REASONS.get(case))
    assert page.refreshes(recalls(), writes("Ada works at Acme, still."))["details"]["outcome"] == "content_written"


def test_rs_02_a_model_that_searches_for_ever_gives_no_page(page: Page) -> None:
    page.learns("Ada works at Acme.")
    page.lists_all(trigger={"mode": "full", "budget": "low"})
    before = kept(page)
    assert_failed(page, page.refreshes(*[recalls()] * 6), before)
    assert page.chats[-1].tools == ["done"], "at the last step nothing but a document could be delivered"


DELTA_REPLIES = {
    "rs_08 cut by the token limit": [
        script.tool_call(
            "edit_document",
            {"operations": [edit("append_block", section_id="ada", text="Ada built bri")]},
            finish_reason="length",
        )
    ],
    "rs_08 cut in its JSON": [
        script.tool_call("edit_document", '{"operations": [{"op": "append_block", "section_id": "ada", "text": "Ada bu')
    ]
    * 2,
    "rs_10 an envelope": [script.json_content(ENVELOPE)] * 2,
    "rs_10 an envelope as arguments": [script.tool_call("edit_document", ENVELOPE)] * 2,
}


@pytest.mark.parametrize("case", DELTA_REPLIES)
def test_rs_08_10_half_a_reply_or_the_shell_of_one_edits_nothing(bridges: Page, case: str) -> None:
    bridges.learns(SUMMARY)
    before = kept(bridges)
    assert_failed(bridges, bridges.refreshes(*DELTA_REPLIES[case]), before, "delta_ops_failed")


def test_rs_08_the_length_of_a_page_is_asked_for_and_never_cut_off(bridges: Page) -> None:
    bridges.bank.patch(PAGE, {"max_tokens": 777})
    bridges.is_edited()
    assert "the limit is 777" in bridges.chats[-1].text
    bridges.refreshes(recalls(), lists_what_it_found, mode="full")
    assert "at most about 777 tokens" in bridges.chats[-1].text
    for request in bridges.chats[-3:]:
        assert not {"max_tokens", "max_completion_tokens"} & request.body.keys(), "reasoning may take what it needs"


def test_rs_03_a_search_that_fails_fails_the_refresh(page: Page) -> None:
    page.learns("Ada works at Acme.")
    page.lists_all(trigger={"mode": "full"})
    before = kept(page)
    for fault in (script.server_error(), script.unauthorized(), script.garbage()):
        page.llm.script_embeddings(fault)
        assert_failed(page, page.refreshes(recalls()), before, "retrieval_failed")
    page.llm.script_embeddings()
    assert page.refreshes(recalls(), writes("Ada still works at Acme."))["status"] == "completed"


def test_rs_03_a_memory_that_cannot_be_read_fails_the_refresh(page: Page, scripted: ScriptedService) -> None:
    page.learns("Ada works at Acme.")
    page.lists_all()
    before = kept(page)
    with scripted.service.database.connection() as connection:
        connection.execute("ALTER TABLE fact_versions RENAME TO fact_versions_away")
    try:
        operations = [page.refreshes(), page.refreshes(mode="full")]
    finally:
        with scripted.service.database.connection() as connection:
            connection.execute("ALTER TABLE fact_versions_away RENAME TO fact_versions")
    for operation in operations:
        assert_failed(page, operation, before, "retrieval_failed")


@pytest.mark.parametrize("arguments", [{"query": "  ", "max_tokens": 2048}, {"max_tokens": 2048}, "{nonsense"])
def test_rs_03_a_search_that_makes_no_sense_is_told_to_the_model(page: Page, arguments: Any) -> None:
    page.learns("Ada works at Acme.")
    page.lists_all(trigger={"mode": "full"})
    operation = page.refreshes(script.tool_call("recall", arguments), recalls(), writes("Ada is at Acme."))
    assert operation["details"]["outcome"] == "content_written"
    corrected = next(request for request in reversed(page.chats) if "was not accepted" in request.text)
    assert corrected.tools == ["recall"]


def test_rs_04_a_scope_without_facts_keeps_the_page_and_asks_no_model(bridges: Page) -> None:
    page, asked = bridges, len(bridges.chats)
    for scope in ({"tags": ["nobody"]}, {"tags": [], "trigger": {"fact_types": ["experience"]}}):
        page.bank.patch(PAGE, scope)
        for mode in ("full", None):
            operation = page.refreshes(mode=mode)
            assert operation["details"]["outcome"] == "content_preserved_no_new_facts"
            assert page.content == BRIDGES
            assert sorted(page.cited) == FACTS
            assert "scope" in " ".join(page.now["reflect_response"]["warnings"]), "why"
    assert len(page.chats) == asked


ANSWERS = ["No information was found.", "Ada is, in general, a name of many people."]


@pytest.mark.parametrize("answer", ANSWERS)
def test_rs_04_what_rests_on_nothing_replaces_a_grounded_page_only_after_it_was_cleared(
    bridges: Page, answer: str
) -> None:
    page, before = bridges, kept(bridges)
    found_nothing = recalls("xylophone")
    operation = page.refreshes(found_nothing, writes(answer, used=()), mode="full")
    assert found_facts(page.chats[-1]) == {}
    assert_failed(page, operation, before, "no_answer")
    page.bank.post(f"{PAGE}/clear")
    assert page.content == ""
    operation = page.refreshes(found_nothing, writes(ANSWERS[1], used=()), mode="full")
    assert operation["details"]["outcome"] == "content_written"
    assert page.content == f"## Ada\n\n{ANSWERS[1]}\n"
    assert page.now["reflect_response"]["warnings"] == ["retrieval returned nothing"]


def test_rs_04_a_page_that_never_rested_on_facts_may_store_such_an_answer(page: Page) -> None:
    page.learns("Ada works at Acme.")
    page.llm.script(recalls("xylophone"), writes(ANSWERS[1], used=()))
    page.bank.model("page")
    assert page.content == f"## Ada\n\n{ANSWERS[1]}\n"
    assert page.refreshes(recalls("xylophone"), writes("Other words.", used=()))["status"] == "completed"


def mode_of(page: Page) -> tuple[str, str, str | None]:
    record = page.record
    return record["requested_mode"], record["effective_mode"], record["mode_fallback_reason"]


CHANGED = ("delta", "full", "source_query_changed")


@pytest.mark.parametrize("fault", [script.refusal("no"), script.server_error(), NOT_FOUND])
def test_rs_06_a_new_question_stays_unanswered_until_a_full_refresh_answers_it(bridges: Page, fault: Reply) -> None:
    page = bridges
    page.bank.patch(PAGE, {"source_query": "Where does Ada live?"})
    for _ in range(2):
        assert page.refreshes(recalls(), fault)["status"] == "failed"
        assert mode_of(page) == CHANGED
        assert page.content == BRIDGES
    assert page.refreshes(recalls(), writes("Ada lives in Prague."))["status"] == "completed"
    assert mode_of(page) == CHANGED
    assert "Where does Ada live?" in page.chats[-1].text
    page.is_edited()
    assert mode_of(page) == ("delta", "delta", None), "the question is answered now"


def test_rs_06_a_structured_view_that_fails_answers_no_question(page: Page) -> None:
    schema = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
    page.learns("Ada lives in Prague.")
    page.llm.script(recalls(), lists_what_it_found, script.values({"place": "Prague"}))
    page.bank.model("page", trigger={"mode": "delta", "response_schema": schema})
    page.bank.patch(PAGE, {"source_query": "Where did Ada live before?"})
    no_view = script.values({"place": None})
    operation = page.refreshes(recalls(), writes("In Brno, before."), no_view, no_view)
    assert operation["details"]["outcome"] == "refresh_failed_structured_output"
    assert page.content == "## Ada\n\n- Ada lives in Prague.\n"
    page.refreshes(recalls(), writes("In Brno, before."), script.values({"place": "Brno"}))
    assert mode_of(page) == CHANGED
    assert page.content == "## Ada\n\nIn Brno, before.\n"


@pytest.mark.parametrize("query", ["What did Ada build?", "what is known about ada?", "What is known about Ada"])
def test_rs_07_a_changed_question_is_answered_in_full(bridges: Page, query: str) -> None:
    bridges.bank.patch(PAGE, {"source_query": query})
    bridges.refreshes(recalls(), lists_what_it_found)
    assert mode_of(bridges) == CHANGED
    assert bridges.bank.get(f"{PAGE}/events", detail="full")["items"][-1]["payload"]["record"]["source_query"] == query


@pytest.mark.parametrize("query", ["What is known about Ada? ", " \tWhat is known about Ada?\n"])
def test_rs_07_whitespace_around_a_question_is_no_change_of_it(bridges: Page, query: str) -> None:
    bridges.bank.patch(PAGE, {"source_query": query})
    bridges.is_edited()
    assert mode_of(bridges) == ("delta", "delta", None)


def test_rs_11_a_delta_shows_every_fact_of_its_window_however_many(page: Page) -> None:
    """A model may overlook a fact, but none is kept from it for want of room: what does not fit is asked later."""
    page.begins("## Setting\n\nautocommit is on.\n")
    padding = "and nothing else was noted about that day in the diary of the engineers " * 12
    for start in (0, 60):
        page.bank.retain(*(f"Observation {number} was made {padding}." for number in range(start, start + 60)))
    page.learns("The correction is that autocommit is off since today.")

    def corrects(request: Request) -> Reply:
        """The setting, when the request tells of it; nothing else."""
        corrections = [name for name, line in told_facts(request).items() if "autocommit is off" in line]
        place = page.place("autocommit")
        return script.edits(
            *(edit("replace_block", **place, text="autocommit is off.", facts=(name,)) for name in corrections)
        )

    asked = len(page.chats)
    operation = page.refreshes(corrects, corrects)
    assert operation["details"]["outcome"] == "content_written"
    shown = [line for request in page.chats[asked:] for line in told_facts(request).values()]
    assert all(sum(f"Observation {number} " in line for line in shown) == 1 for number in range(120))
    assert page.content == "## Setting\n\nautocommit is off.\n"
    assert page.now["is_stale"] is False


def test_rs_11_who_cites_facts_does_not_claim_that_there_are_none(bridges: Page) -> None:
    before = kept(bridges)
    claimed = writes("I don't have any information about this.", used=("f1", "f2"))
    assert_failed(bridges, bridges.refreshes(recalls(), claimed, mode="full"), before)


def writes_or_leaves_it(request: Request) -> Reply:
    """The document, when it is to be written; no edits, when a later memory is already a delta of it."""
    if "edit_document" in request.tools:
        return script.edits()
    return lists_what_it_found(request) if "done" in request.tools else recalls()


def test_rs_12_pages_of_an_empty_bank_cost_nothing_and_keep_no_retain_waiting(page: Page) -> None:
    bank: RestBank = page.bank
    asked = len(page.chats)
    bank.ask("PUT", json={})
    refreshes = []
    for number in range(5):
        model = {"id": f"m{number}", "name": f"M {number}", "source_query": "What is known about Ada?"}
        trigger = {"mode": "delta", "refresh_after_consolidation": number > 0}
        refreshes.append(bank.post("/mental-models", {**model, "trigger": trigger})["operation_id"])
    for each in refreshes:
        operation = bank.finished(each)
        assert operation["status"] == "completed"
        assert operation["details"]["outcome"] == "content_preserved_no_new_facts"
    assert len(page.chats) == asked
    page.llm.script(*[writes_or_leaves_it] * 60)
    retains = [
        bank.post("/memories", {"items": [{"content": f"Ada built bridge {number}."}], "async": True})["operation_id"]
        for number in range(3)
    ]
    assert [bank.finished(each)["status"] for each in retains] == ["completed"] * 3
    refreshed = [f"/mental-models/m{number}" for number in range(1, 5)]
    assert eventually(lambda: all(bank.get(each)["content"] and not bank.get(each)["is_stale"] for each in refreshed))
    written = [bank.get(f"/mental-models/m{number}") for number in range(5)]
    assert [model["content"] != "" for model in written] == [False, True, True, True, True], "the manual one waits"
    assert eventually(lambda: bank.get("/stats")["pending_operations"] == 0)
    page.llm.forget()
