"""Reports from the field about the history of a page: too long to be written, too short to be of use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest

from tests.support import scripted_llm as script
from tests.support.rest import RestBank, assert_refused
from tests.support.scripted_pages import (
    PAGE,
    Page,
    ScriptedService,
    edit,
    lists_what_it_found,
    recalls,
    scripted_service,
    writes,
)

CAP = 3


@pytest.fixture
def capped(conninfo: str) -> Iterator[Page]:
    """A page of a service whose histories show three entries of a kind."""
    with scripted_service(conninfo, history_max_entries=CAP) as service:
        yield service.page()


def test_hi_01_a_history_shows_the_newest_and_never_stops_a_change(capped: Page) -> None:
    page = capped
    page.begins("Version 0.\n")
    for number in range(1, 7):
        page.says(f"Version {number}.\n")
        assert page.content == f"Version {number}.\n"
        shown = page.history
        said = [each["previous_content"] for each in shown]
        assert said == [f"Version {before}.\n" for before in range(number - 1, -1, -1)][:CAP] + [""] * (number < CAP)
        assert [each["changed_at"] for each in shown] == sorted((each["changed_at"] for each in shown), reverse=True)
    page.learns()
    for _ in range(CAP + 1):
        assert page.refreshes(script.server_error())["status"] == "failed"
    kinds = [each.get("kind") for each in page.history]
    assert (kinds.count("refresh_failed"), kinds.count("edited")) == (CAP, CAP), "failures push out no version"
    page.refreshes(script.edits(edit("append_block", section_id="preamble", text="And on.")))
    assert page.content == "Version 6.\n\nAnd on.\n"
    assert page.history[0]["previous_content"] == "Version 6.\n"
    assert page.bank.get(f"{PAGE}/events")["total"] == 2 + 1 + 6 + (CAP + 1) + 1, "the log keeps all"


def test_hi_01_a_long_page_has_a_long_history(page: Page) -> None:
    page.begins("Version 0.\n")
    texts = [f"Version {number}. " + "word " * 15_000 for number in range(1, 9)]
    for text in texts:
        page.says(text)
    assert [each["previous_content"] for each in page.history][:-2] == texts[-2::-1]


def test_hi_02_only_changes_of_the_text_are_versions(page: Page) -> None:
    page.begins("Version 0.\n")
    for number in range(1, 5):
        page.says(f"Version {number}.\n")
    for name in ("Ada L.", "Ada Lovelace"):
        page.bank.patch(PAGE, {"name": name})
    page.bank.patch(PAGE, {"trigger": {"keep_trace": True}})
    page.bank.patch(PAGE, {"tags": ["ada"], "max_tokens": 500})
    page.bank.patch(PAGE, {"source_query": "Who is Ada Lovelace?"})
    page.says("Version 4.\n")
    edited = [each for each in page.history if each["kind"] == "edited"]
    assert [each["previous_content"] for each in edited] == [f"Version {number}.\n" for number in (3, 2, 1, 0)] + [""]
    assert len(edited) == len(page.history)
    topics = [each["topic"] for each in page.bank.get(f"{PAGE}/events")["items"]]
    assert topics.count("mental_model.renamed") == 2
    assert topics.count("mental_model.content_edited") == 5


def test_hi_02_a_version_says_what_made_it_when_and_on_which_evidence(page: Page) -> None:
    """Refreshes in full and by deltas, a person, a way back, an empty page: each with its evidence."""
    page.learns("Ada lives in Prague.", document_id="home")
    page.lists_all()
    in_prague = page.content
    page.learns("Ada tests bridges.")
    page.refreshes(script.edits(edit("append_item", block_id=page.item("- Ada")["block_id"], text="- She tests.")))
    by_delta = page.content
    page.says("By hand.\n")
    page.bank.post(f"{PAGE}/revert", {"version": 2})
    page.bank.post(f"{PAGE}/clear")
    page.refreshes(recalls(), lists_what_it_found)
    entries = page.history
    assert [each.get("kind") for each in entries] == [None, "cleared", "reverted", "edited", None, None]
    assert [each["previous_content"] for each in entries] == ["", in_prague, "By hand.\n", by_delta, in_prague, ""]
    assert [each["actor"] for each in entries] == ["worker", "user", "user", "user", "worker", "worker"]
    evidence = [
        sorted(fact["text"] for fact in each["previous_reflect_response"]["based_on"]["world"])
        if each["previous_content"]
        else None
        for each in entries
    ]
    both = ["Ada lives in Prague.", "Ada tests bridges."]
    assert evidence == [None, both[:1], both, both, both[:1], None]
    times = [each["changed_at"] for each in entries]
    assert times == sorted(set(times), reverse=True)


def trace_of(entry: Any) -> Any:
    return entry["previous_reflect_response"]["trace"]


def test_hi_03_each_version_keeps_its_own_trace_and_evidence(page: Page) -> None:
    page.learns("Ada lives in Prague.")
    page.lists_all(trigger={"keep_trace": True})
    for number, fact in enumerate(("Ada tests bridges.", "Ada sails.")):
        page.learns(fact)
        page.refreshes(script.edits(edit("append_block", section_id="ada", text=f"Added {number}.")))
    newest, second, first = page.history
    current = page.now["reflect_response"]["trace"]
    assert first["previous_reflect_response"] is None
    assert (trace_of(second)["effective_mode"], trace_of(newest)["effective_mode"]) == ("full", "delta")
    assert trace_of(second)["tool_calls"][0]["input"]["query"] == "Ada"
    (applied,) = trace_of(newest)["delta_operations"]["applied"]
    assert (applied["op"], len(applied["facts"])) == ("append_block", 1)
    recorded = [trace_of(second)["recorded_at"], trace_of(newest)["recorded_at"], current["recorded_at"]]
    assert recorded == sorted(set(recorded))
    texts = [
        sorted(fact["text"] for fact in each["previous_reflect_response"]["based_on"]["world"])
        for each in (second, newest)
    ]
    assert texts == [["Ada lives in Prague."], ["Ada lives in Prague.", "Ada tests bridges."]]


def test_hi_03_a_trace_is_kept_only_where_it_is_asked_for(page: Page) -> None:
    page.learns("Ada lives in Prague.")
    page.lists_all()
    assert "trace" not in page.now["reflect_response"]
    page.bank.patch(PAGE, {"trigger": {"keep_trace": True}})
    page.is_edited(edit("append_block", section_id="ada", text="Traced."))
    assert page.now["reflect_response"]["trace"]["effective_mode"] == "delta"
    page.bank.patch(PAGE, {"trigger": {"keep_trace": False}})
    page.is_edited(edit("append_block", section_id="ada", text="Not traced."))
    assert "trace" not in page.now["reflect_response"]
    page.is_edited(edit("append_block", section_id="ada", text="The last."))
    traced = ["trace" in (each["previous_reflect_response"] or {}) for each in page.history]
    assert traced == [False, True, False, False]


def test_hi_05_long_ids_have_histories_and_too_long_ones_are_refused_at_creation(scripted: ScriptedService) -> None:
    bank = RestBank(scripted.client, uuid4().hex + "b" * 46)
    model = f"/mental-models/{'m' * 120}"
    bank.retain("Ada lives in Prague.", document_id="d")
    scripted.llm.script(recalls(), writes("Ada lives in Prague."))
    bank.model("m" * 120)
    for number in range(3):
        scripted.llm.script(recalls(), writes(f"Ada lives in Prague, {number}."))
        bank.refreshed("m" * 120)
    bank.patch(model, {"content": "By hand.\n"})
    bank.post(f"{model}/revert", {"version": 2})
    assert len(bank.get(f"{model}/history")) == 6
    assert len(bank.get(f"{model}/diff")["operations"]) == 1
    longest = "m" * 128
    bank.post("/mental-models", {"id": longest, "name": "Ada", "source_query": "Who?", "content": "By hand.\n"})
    too_long = {"id": "m" * 129, "name": "Ada", "source_query": "Who?"}
    assert_refused(bank.ask("POST", "/mental-models", json=too_long), 422, "id", "128")
    assert_refused(RestBank(scripted.client, "b" * 257).ask("PUT", json={}), 422, "bank_id", "256")
    assert RestBank(scripted.client, "b" * 255 + uuid4().hex[:1]).ask("PUT", json={}).is_success
