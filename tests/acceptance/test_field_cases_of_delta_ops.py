"""Reports from the field about the operations of a delta: misplaced, malformed, empty, or against the dates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import scripted_llm as script
from tests.support.scripted_pages import (
    PAGE,
    Page,
    ScriptedService,
    edit,
    recalls,
    scripted_service,
    told_facts,
    writes,
)

DOCUMENT = (
    "## Decisions\n\none\n\ntwo\n\nthree\n\nfour\n\nfive\n\n"
    "## Owners\n\n- Ada\n- Bob\n\n| k | v |\n|---|---|\n| a | 1 |\n\n## Notes\n\nPlain text.\n"
)


@pytest.fixture
def page(page: Page) -> Page:
    page.begins(DOCUMENT)
    return page


def versions(page: Page) -> int:
    """How often its text changed."""
    return sum(each.get("kind") != "refresh_failed" for each in page.history)


MISPLACED = {
    "a block of another section": ({"op": "replace_block", "section_id": "notes"}, "four", "belongs to section"),
    "a block by its number": ({"op": "replace_block", "section_id": "decisions", "block_id": "4"}, None, "block_id: 4"),
    "a block nobody has": ({"op": "remove_block", "section_id": "decisions", "block_id": "b0"}, None, "block_id: b0"),
    "an anchor in another section": ({"op": "insert_block", "section_id": "notes"}, "four", "belongs to section"),
    "a section nobody has": ({"op": "append_block", "section_id": "decision"}, None, "section_id: decision"),
    "a list's item in a table": ({"op": "replace_item"}, "an item", "belongs to block"),
}


@pytest.mark.parametrize("case", MISPLACED)
def test_do_01_an_id_that_names_nothing_there_changes_nothing_and_the_others_apply(page: Page, case: str) -> None:
    fields, target, reason = MISPLACED[case]
    wrong: dict[str, Any] = {"text": "Wrong place.", **fields}
    if target == "an item":
        wrong |= {"block_id": page.item("| a")["block_id"], "item_id": page.item("- Ada")["item_id"]}
    elif target is not None:
        field = "after_block_id" if wrong["op"] == "insert_block" else "block_id"
        wrong[field] = page.place(target)["block_id"]
    if wrong["op"] == "remove_block":
        del wrong["text"]
    right = edit("replace_block", **page.place("three"), text="three, changed")
    reply = script.edits(edit(**wrong), right)
    page.learns()
    operation = page.refreshes(reply, reply)
    assert (operation["status"], operation["details"]["outcome"]) == ("completed", "content_written")
    assert page.content == DOCUMENT.replace("three", "three, changed")
    (skipped,) = page.skipped
    assert reason in skipped
    assert [each["skipped"] for each in page.bank.get(f"{PAGE}/diff")["operations"]] == [skipped, None]
    assert any("1 of 2 operations were not applied" in each for each in page.record["warnings"])


def test_do_01_blocks_keep_their_ids_when_others_come_and_go(page: Page) -> None:
    four = page.place("four")
    page.is_edited(
        edit("remove_block", **page.place("one")),
        edit("insert_block", section_id="decisions", text="zero"),
        edit("replace_block", **four, text="four, changed"),
    )
    assert page.content == DOCUMENT.replace("one", "zero").replace("four", "four, changed")
    assert page.place("four, changed") == four


@pytest.mark.parametrize("named", ["a block", "decisions-2", "f1", "Decisions"])
def test_do_02_operations_that_never_fit_lead_to_a_full_refresh(page: Page, named: str) -> None:
    """Every delta asks once more with what was wrong; after three the page is written anew, from all there is."""
    page.is_written(DOCUMENT)
    section_id = page.place("five")["block_id"] if named == "a block" else named
    page.learns("Ada works at Acme.")
    reply = script.edits(edit("append_block", section_id=section_id, text="Lost."))
    for _ in range(3):
        operation = page.refreshes(reply, reply)
        assert operation["status"] == "failed"
        assert operation["details"]["failure_reason"] == "delta_ops_all_skipped"
        assert (
            f"none of 1 operation(s) could be applied: unknown section_id: {section_id}" in operation["error_message"]
        )
        assert f"unknown section_id: {section_id}" in page.chats[-1].text, "the model was told"
        assert page.content == DOCUMENT
        assert page.now["is_stale"] is True
        assert page.now["last_refresh_failed_at"]
    operation = page.refreshes(recalls(), writes("Ada works at Acme."))
    assert operation["status"] == "completed"
    record = page.record
    assert (record["requested_mode"], record["effective_mode"]) == ("delta", "full")
    assert record["mode_fallback_reason"] == "delta_ops_all_skipped"
    assert record["window"]["after"] == 0, "all that is known is read, not the same window again"
    assert page.content == "## Ada\n\nAda works at Acme.\n"
    assert page.now["is_stale"] is False
    appended = edit("append_block", section_id="ada", text="More.")
    assert page.is_edited(appended)["details"]["outcome"] == "content_written", "and deltas go on from there"
    assert page.record["effective_mode"] == "delta"


def test_do_02_a_block_named_as_a_section_is_corrected_when_the_model_is_told(page: Page) -> None:
    block = page.place("five")["block_id"]
    page.learns()
    operation = page.refreshes(
        script.edits(edit("append_block", section_id=block, text="six")),
        script.edits(edit("append_block", section_id="decisions", text="six")),
    )
    assert operation["details"]["outcome"] == "content_written"
    assert page.content == DOCUMENT.replace("five", "five\n\nsix")
    asked = [call["purpose"] for call in page.record["calls"]]
    assert asked == ["delta_edit", "delta_edit_again"]


@pytest.fixture
def retrying(conninfo: str) -> Iterator[ScriptedService]:
    """A service that repeats a failed operation three times at most, as it does by itself, but at once."""
    with scripted_service(conninfo, worker_max_retries=3) as service:
        yield service


def test_do_02_the_attempts_of_one_operation_end_in_a_full_refresh_too(retrying: ScriptedService) -> None:
    page = retrying.page()
    page.begins(DOCUMENT)
    page.is_written(DOCUMENT)
    page.learns("Ada works at Acme.")
    reply = script.edits(edit("append_block", section_id="b1234567", text="Lost."))
    operation = page.refreshes(*[reply] * 6, recalls(), writes("Ada works at Acme."))
    assert (operation["status"], operation["retry_count"]) == ("completed", 3)
    assert page.content == "## Ada\n\nAda works at Acme.\n"
    assert (retrying.llm.unused, retrying.llm.unexpected) == (0, [])


MALFORMED: dict[str, tuple[Any, str]] = {
    "a field is missing": ({"op": "replace_block", "section_id": "decisions", "text": "lost"}, "block_id"),
    "an unknown operation": ({"op": "move_block", "section_id": "decisions"}, "op: must be one of"),
    "a number for an id": ({"op": "append_block", "section_id": 4, "text": "lost"}, "section_id"),
    "no text": ({"op": "append_block", "section_id": "notes", "text": "  \n"}, "text is empty"),
    "no object": ("append 'lost' to notes", "must be an object"),
    "no operation": ({"text": "lost"}, "op: must be one of"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_do_04_an_entry_that_is_no_operation_is_skipped_by_itself(page: Page, case: str) -> None:
    malformed, reason = MALFORMED[case]
    wrong = {**malformed, "facts": ["f2"]} if isinstance(malformed, dict) else malformed
    reply = script.edits(edit("append_block", section_id="notes", text="Applied."), wrong)
    page.learns()
    page.learns()
    again = [] if case == "no text" else [reply]
    operation = page.refreshes(reply, *again)
    assert operation["details"]["outcome"] == "content_written"
    assert page.content == f"{DOCUMENT}\nApplied.\n"
    (skipped,) = page.skipped
    assert reason in skipped
    told = page.now["reflect_response"]
    assert any("1 of 2 operations were not applied" in each for each in told["warnings"])
    assert (len(told["delta_operations_applied"]), len(told["delta_operations_skipped"])) == (1, 1)


def test_do_04_several_bad_entries_and_what_they_rest_on_is_read_again(page: Page) -> None:
    lost = page.learns()
    page.learns()
    block_of_nobody = edit("replace_block", section_id="decisions", block_id="b0", text="lost", facts=("f1",))
    good = edit("append_block", section_id="notes", text="Applied.", facts=("f2",))
    reply = script.edits(good, block_of_nobody, {"op": "replace_block", "text": "lost"}, {"op": "move_block"})
    page.refreshes(reply, reply)
    assert len(page.skipped) == 3
    assert page.now["reflect_response"]["pending_facts"] == 1
    page.is_edited(edit("append_block", section_id="notes", text="Now it is here."))
    assert lost in page.chats[-1].text, "the fact that did not reach the page"
    assert page.content.endswith("Applied.\n\nNow it is here.\n")


def test_do_06_a_delta_that_changes_no_byte_is_no_new_version(page: Page) -> None:
    before = versions(page)
    three = page.place("three")
    same: list[list[Any]] = [
        [],
        [edit("replace_block", **three, text="three")],
        [edit("replace_block", **three, text="\n\nthree\n")],
        [edit("replace_item", **page.item("- Ada"), text="- Ada"), edit("replace_block", **three, text="three")],
        [edit("replace_block", **three, text="3"), edit("replace_block", **three, text="three")],
    ]
    for operations in same:
        assert page.is_edited(*operations)["details"]["outcome"] == "content_unchanged", operations
        assert (page.content, versions(page)) == (DOCUMENT, before)
        assert page.now["is_stale"] is False
    operation = page.is_edited(edit("replace_block", **three, text="drei"))
    assert operation["details"]["outcome"] == "content_written"
    assert (page.content, versions(page)) == (DOCUMENT.replace("three", "drei"), before + 1)


def rules(page: Page) -> str:
    return str(page.chats[-1].messages[0]["content"])


def test_do_08_the_silence_of_new_facts_contradicts_nothing_and_counts_add_up(page: Page) -> None:
    page.says("## Customers\n\nCustomers (3): A, B, C\n\n## Releases\n\n0.9.3 went to production on 18 March.\n")
    for name in "DEFG":
        page.learns(f"{name} Corporation is a customer.")
    text = "Customers (7): A, B, C, D, E, F, G"
    merged = edit("replace_block", **page.place("Customers (3)"), text=text, facts=("f1", "f2", "f3", "f4"))
    page.refreshes(script.edits(merged))
    assert "silence contradicts nothing" in rules(page)
    assert "Counts include what the document has" in rules(page)
    asked = page.chats[-1].text
    assert "Customers (3): A, B, C" in asked
    assert "0.9.3 went to production on 18 March." in asked, "the model sees what the facts are silent about"
    assert page.content == (
        "## Customers\n\nCustomers (7): A, B, C, D, E, F, G\n\n## Releases\n\n0.9.3 went to production on 18 March.\n"
    )


def test_do_09_an_older_event_that_arrives_later_is_history(page: Page) -> None:
    page.learns("In November 2024 team Core took over ranking.", timestamp="2024-11-05T00:00:00Z")
    page.refreshes(recalls("ranking"), writes("Since 2024-11 team Core owns ranking."), mode="full")
    page.learns("In April 2024 ranking moved to the Search guild.", timestamp="2024-04-02T00:00:00Z")
    page.refreshes(script.edits(edit("append_block", section_id="ada", text="Before: the Search guild, from 2024-04.")))
    assert "Dates decide, not the order of arrival" in rules(page)
    (told,) = told_facts(page.chats[-1]).values()
    assert "occurred 2024-04" in told
    assert "moved to the Search guild" in told
    assert page.content == (
        "## Ada\n\nSince 2024-11 team Core owns ranking.\n\nBefore: the Search guild, from 2024-04.\n"
    )


PRINCIPLES = "## Principles\n\n" + "".join(
    f"- Principle {number}: keep it plain, and say why.\n" for number in range(99)
)
ANSWERS = {
    "the document": PRINCIPLES + "- Principle 99: one more.\n",
    "the document in a fence": f"Here it is:\n\n```markdown\n{PRINCIPLES}```\n",
    "a summary": "There is one more principle now.",
    "an envelope": '{"answer": "One more principle.", "memory_ids": ["f1"]}',
}


@pytest.mark.parametrize("case", ANSWERS)
def test_do_10_a_model_that_writes_the_document_instead_of_operations_is_not_stuck(page: Page, case: str) -> None:
    assert len(PRINCIPLES) > 4_000
    page.is_written(PRINCIPLES)
    page.learns("Ada works at Acme.")
    for _ in range(3):
        operation = page.refreshes(script.text(ANSWERS[case]), script.text(ANSWERS[case]))
        assert operation["status"] == "failed"
        assert operation["details"]["failure_reason"] == "delta_ops_failed"
        assert operation["error_message"]
        assert page.content == PRINCIPLES
        failed = page.now
        assert failed["last_refresh_failed_at"]
        assert failed["reflect_response"]["refresh_skipped"] == "delta_ops_failed"
    assert page.refreshes(recalls(), writes("- One principle is enough."))["status"] == "completed"
    assert (page.record["effective_mode"], page.record["mode_fallback_reason"]) == ("full", "delta_ops_failed")
    assert page.content == "## Ada\n\n- One principle is enough.\n"
    assert "last_refresh_failed_at" not in page.now
