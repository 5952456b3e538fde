"""Reports from the field about facts that go: what rested on them goes too, only that, and only when they are gone."""

from __future__ import annotations

import json
import threading

import pytest

from tests.support import scripted_llm as script
from tests.support.eventually import eventually
from tests.support.scripted_llm import held
from tests.support.scripted_pages import PAGE, Page, ScriptedService, edit, recalls, told_facts, writes

A, B, C = "Ada built bridge A.", "Ada built bridge B.", "Ada built bridge C."


def listing(*facts: str) -> str:
    return "## Ada\n\n" + "".join(f"- {fact}\n" for fact in facts)


def pending(page: Page) -> int:
    return int(page.bank.get("/stats")["pending_operations"])


@pytest.fixture
def bridges(page: Page) -> Page:
    """A page on three facts of one source document, each in an item of its own."""
    page.learns(f"{A}\n\n{B}\n\n{C}", document_id="diary")
    page.lists_all()
    assert page.content == listing(A, B, C)
    return page


def test_rt_02_a_source_told_again_leaves_what_is_still_true(bridges: Page) -> None:
    """Its sentences stay, whatever comes and goes around them, and no model is asked to take any back."""
    page, asked = bridges, len(bridges.chats)
    page.learns(f"{C}\n\n{A}\n\n{B}", document_id="diary")
    page.refreshes()
    assert (page.content, sorted(page.cited)) == (listing(A, B, C), [A, B, C])
    assert len(page.chats) == asked
    page.bank.post("/memories", {"items": [{"content": f"{A}\n\n{B}\n\n{C}"}]})
    page.learns("Nothing is left of the diary.", document_id="diary")
    page.refreshes(script.edits())
    assert (page.content, sorted(page.cited)) == (listing(A, B, C), [A, B, C])
    assert page.record["retraction"]["fact_ids"] == []
    relinked = page.record["retraction"]["relinked"]
    assert len(relinked) == 3, "the citations went over to the facts that say the same"
    assert page.now["is_stale"] is False


def test_rt_02_nothing_is_taken_back_while_a_retain_waits_that_may_tell_it_again(bridges: Page) -> None:
    page, release = bridges, threading.Event()
    page.learns(f"{A}\n\n{B}", document_id="diary")
    page.llm.script_embeddings(held(release))
    again = page.bank.post("/memories", {"items": [{"content": C, "document_id": "notes"}], "async": True})
    try:
        eventually(lambda: page.bank.get(f"/operations/{again['operation_id']}")["status"] == "processing")
        assert page.refreshes()["status"] == "completed"
        assert page.content == listing(A, B, C)
        assert sorted(page.cited) == [A, B, C]
        assert page.now["is_stale"] is True
        assert page.record["retraction"]["applied"] is False
        assert "wait to be retained" in page.record["retraction"]["deferred_reason"]
    finally:
        release.set()
    assert page.bank.finished(again["operation_id"])["status"] == "completed"
    page.refreshes(script.edits())
    assert (page.content, sorted(page.cited)) == (listing(A, B, C), [A, B, C])
    assert len(page.record["retraction"]["relinked"]) == 1
    assert page.now["is_stale"] is False


def test_rt_02_what_no_waiting_retain_tells_again_is_taken_back_afterwards(bridges: Page) -> None:
    page, release = bridges, threading.Event()
    page.learns(f"{A}\n\n{B}", document_id="diary")
    page.llm.script_embeddings(held(release))
    other = page.bank.post("/memories", {"items": [{"content": "Bob sails."}], "async": True})
    try:
        eventually(lambda: page.bank.get(f"/operations/{other['operation_id']}")["status"] == "processing")
        page.refreshes()
        assert page.content == listing(A, B, C)
    finally:
        release.set()
    page.bank.finished(other["operation_id"])
    page.refreshes(script.edits())
    assert (page.content, sorted(page.cited)) == (listing(A, B), [A, B])


def test_rt_03_citations_of_facts_that_this_memory_never_had_are_broken_links(
    bridges: Page, scripted: ScriptedService
) -> None:
    """As after an import that gave every fact another id."""
    page, asked = bridges, len(bridges.chats)
    with scripted.service.database.connection() as connection:
        connection.execute(
            "UPDATE fact_versions SET fact_id = gen_random_uuid(), text = text || ' (imported)' WHERE bank_id = %s",
            (page.bank.bank_id,),
        )
    assert page.refreshes()["status"] == "completed"
    assert page.content == listing(A, B, C)
    assert page.cited == []
    assert len(page.record["retraction"]["broken"]) == 3
    assert any("not known to this memory" in each for each in page.record["warnings"])
    assert len(page.chats) == asked
    page.is_edited(edit("append_block", section_id="ada", text="More."))
    assert page.content == f"{listing(A, B, C)}\nMore.\n"
    assert [each["facts"] for each in page.bank.get(f"{PAGE}/blame")["pieces"] if each["kind"] == "item"] == [
        [],
        [],
        [],
    ]
    assert page.history[0]["previous_content"] == listing(A, B, C), "the history can be read"


REMOVED = "On 17 July 2026 the option autocommit was removed."
SET = "On 16 July 2026 autocommit was set to false."


@pytest.mark.parametrize("order", [(SET, REMOVED), (REMOVED, SET)], ids=["in order", "the later one first"])
def test_rt_05_what_was_reversed_later_is_history_in_a_full_refresh(page: Page, order: tuple[str, str]) -> None:
    for fact in order:
        page.learns(fact, timestamp="2026-07-20T00:00:00Z")
    page.llm.script(recalls("autocommit"), writes("There is no option autocommit (removed on 2026-07-17)."))
    page.bank.model("page", source_query="How is autocommit set?")
    asked = page.chats[-1]
    assert "the fact with the later date wins" in asked.messages[0]["content"]
    found = "\n".join(message["content"] for message in asked.messages if message["role"] == "tool")
    occurred = {fact["text"]: fact["occurred"][:10] for fact in map(json.loads, found.splitlines())}
    assert occurred == {SET: "2026-07-16", REMOVED: "2026-07-17"}
    assert page.content == "## Ada\n\nThere is no option autocommit (removed on 2026-07-17).\n"


def test_rt_05_what_was_reversed_later_is_history_in_a_delta(page: Page) -> None:
    page.learns(SET, timestamp="2026-07-16T12:00:00Z")
    page.llm.script(recalls("autocommit"), writes("autocommit is false since 2026-07-16. [f1]"))
    page.bank.model("page", trigger={"mode": "delta"})
    page.learns(REMOVED, timestamp="2026-07-20T00:00:00Z")
    now = "There is no option autocommit since 2026-07-17; from 2026-07-16 on it was false."
    page.refreshes(script.edits(edit("replace_block", **page.place("autocommit"), text=now)))
    asked = page.chats[-1]
    assert "a later date and is about the same facet of the same thing" in asked.messages[0]["content"]
    assert "autocommit is false since 2026-07-16." in asked.text
    (told,) = told_facts(asked).values()
    assert "occurred 2026-07-17" in told
    assert page.content == f"## Ada\n\n{now}\n"
    assert sorted(page.cited) == [SET, REMOVED], "what was so is no error: it stays evidence"


def test_rt_05_an_older_state_that_is_told_later_is_shown_with_its_date(page: Page) -> None:
    page.learns(REMOVED, timestamp="2026-07-20T00:00:00Z")
    page.llm.script(recalls("autocommit"), writes("There is no option autocommit since 2026-07-17. [f1]"))
    page.bank.model("page", trigger={"mode": "delta"})
    page.learns(SET, timestamp="2026-07-20T00:00:00Z")
    page.refreshes(script.edits())
    (told,) = told_facts(page.chats[-1]).values()
    assert "occurred 2026-07-16" in told
    assert "an older fact is history and never replaces a newer statement" in page.chats[-1].text


def recalled(page: Page) -> list[str]:
    return sorted(each["text"] for each in page.bank.post("/memories/recall", {"query": "Ada bridge"})["results"])


LEFT_OUT = {"the last": (A, B), "the first": (B, C), "the one in the middle": (A, C), "all but one": (B,)}


@pytest.mark.parametrize("case", LEFT_OUT)
def test_rt_07_what_a_source_no_longer_says_is_gone_from_memory_and_then_from_the_page(
    bridges: Page, case: str
) -> None:
    page, left = bridges, LEFT_OUT[case]
    asked = len(page.chats)
    assert page.now["is_stale"] is False
    page.learns("\n\n".join(left), document_id="diary")
    assert recalled(page) == list(left)
    assert page.now["is_stale"] is True
    assert page.now["stale_reasons"]
    operation = page.refreshes()
    assert operation["details"]["outcome"] == "content_written"
    assert (page.content, sorted(page.cited)) == (listing(*left), list(left))
    assert len(page.chats) == asked, "it is known which items rest on them: no model is asked"
    assert page.now["is_stale"] is False
    page.learns("\n\n".join(left), document_id="diary")
    assert page.now["is_stale"] is False, "the same again is no change"
    assert page.refreshes()["details"]["outcome"] == "content_preserved_no_new_facts"


def test_rt_07_a_statement_that_rests_on_more_is_reworded_by_the_model(page: Page) -> None:
    page.learns(f"{A}\n\n{B}", document_id="diary")

    page.llm.script(recalls(), writes("Ada built the bridges A and B. [f1, f2]", "A plain remark."))
    page.bank.model("page", trigger={"mode": "delta"})
    page.learns(A, document_id="diary")
    taken_out = edit("replace_block", **page.place("Ada built"), text="Ada built the bridge A.", facts=("r1",))
    page.refreshes(script.edits(taken_out))
    assert "Remove only what rests on the retracted facts" in page.chats[-1].text
    (told,) = told_facts(page.chats[-1]).values()
    assert told == f"r1: {B}"
    assert page.content == "## Ada\n\nAda built the bridge A.\n\nA plain remark.\n"
    assert page.cited == [A]


def test_rt_07_a_retraction_that_the_model_fails_is_tried_again(page: Page) -> None:
    page.learns(f"{A}\n\n{B}", document_id="diary")
    page.llm.script(recalls(), writes("Ada built the bridges A and B. [f1, f2]"))
    page.bank.model("page", trigger={"mode": "delta"})
    before = page.content
    page.learns(A, document_id="diary")
    page.refreshes(script.server_error())
    assert page.content == before
    assert page.now["is_stale"] is True
    assert any("could not be taken out" in each for each in page.record["warnings"])
    taken_out = edit("replace_block", **page.place("Ada built"), text="Ada built the bridge A.", facts=("r1",))
    page.refreshes(script.edits(taken_out))
    assert page.content == "## Ada\n\nAda built the bridge A.\n"
    assert page.now["is_stale"] is False
