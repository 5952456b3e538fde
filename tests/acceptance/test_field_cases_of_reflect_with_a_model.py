"""Reports from the field about reflect, with a model that follows a script: ids nobody saw (RF-05), pages that do not
answer (RF-02), pages without end (TK-06), values read out of answers (SO-01, SO-04), pages of other banks (TS-12)."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.support import scripted_llm as script
from tests.support.reflecting import TEA, answers, asked, chats, unobserved
from tests.support.rest import RestBank
from tests.support.scripted_llm import ScriptedLlm
from tests.support.scripted_pages import Page, ScriptedService, recalls, writes

SCHEMA = {"type": "object", "properties": {"drink": {"type": "string"}}}


@pytest.fixture
def llm(scripted: ScriptedService) -> ScriptedLlm:
    """Without what other tests asked it."""
    scripted.llm.requests.clear()
    return scripted.llm


@pytest.fixture
def bank(llm: ScriptedLlm, page: Page) -> RestBank:
    assert not llm.requests
    bank = unobserved(page.bank)
    bank.retain(TEA)
    return bank


def test_rf_05_ids_that_were_never_retrieved_are_dropped_and_counted(bank: RestBank, llm: ScriptedLlm) -> None:
    """RF-05: a cited id that no search gave."""
    invented = str(uuid4())
    llm.script(answers(f"Green tea [f1]. Since 2020 [{invented}].", used=("f1", invented, "f9")))
    answer = asked(bank)
    assert answer["text"] == "Green tea. Since 2020."
    assert [fact["text"] for fact in answer["based_on"]["memories"]] == [TEA]
    assert answer["warnings"] == ["2 cited id(s) were never retrieved and are dropped"]


def test_rf_02_no_answer_from_pages_alone_reads_the_facts_first(bank: RestBank, llm: ScriptedLlm) -> None:
    """RF-02: the short cut by fresh pages never says that the bank holds nothing."""
    llm.script(recalls(), writes("Ada likes her drinks [f1]."))
    bank.model("ada", name="Ada drinks", source_query="Ada?")
    llm.script(script.tool_call("done", {"answer_found": False, "answer": "", "memory_ids": []}), answers())
    answer = asked(bank)
    assert [call["tool"] for call in answer["trace"]["tool_calls"]] == ["search_mental_models", "recall"]
    assert answer["text"] == "Green tea."
    first = chats(llm)[2]
    assert "All of these are up to date" in first.text
    assert TEA not in first.text


def test_tk_06_a_page_is_shown_whole_once(bank: RestBank, llm: ScriptedLlm) -> None:
    """TK-06: pages that were shown are named only, however often they are found."""
    llm.script(recalls(), writes("Ada likes her drinks, " + "and more of them, " * 60 + "[f1]."))
    bank.model("ada", name="Ada drinks", source_query="Ada?")
    search = script.tool_call("search_mental_models", {"reason": "again", "query": "Ada drinks"})
    read = script.tool_call("read_mental_models", {"reason": "again", "mental_model_ids": ["m1", "m7"]})
    llm.script(search, read, answers("She likes them [m1].", used=(), mental_model_ids=["m1"]))
    answer = asked(bank, "What does Ada like?")
    outputs = [call["output"] for call in answer["trace"]["tool_calls"]]
    assert ["content" in output["mental_models"][0] for output in outputs] == [True, False, False]
    assert outputs[2]["not_read"] == ["m7"]
    assert chats(llm)[-1].text.count("and more of them") == 60
    assert [(each["id"], each["text"][:12]) for each in answer["based_on"]["mental_models"]] == [
        ("ada", "Ada drinks: ")
    ]
    assert answer["text"] == "She likes them."


def test_so_01_values_are_read_out_of_the_answer(bank: RestBank, llm: ScriptedLlm) -> None:
    llm.script(answers(), script.values({"drink": "green tea"}))
    answer = asked(bank, response_schema=SCHEMA)
    assert answer["structured_output"] == {"drink": "green tea"}
    assert "structured_output_error" not in answer


def test_so_01_nothing_to_read_out_is_no_error(bank: RestBank, llm: ScriptedLlm) -> None:
    """SO-01: a valid empty view."""
    llm.script(answers(), script.values({}))
    assert "structured_output_error" not in asked(bank, response_schema=SCHEMA)


@pytest.mark.parametrize("fault", ["bad JSON", "cut off", "an error"])
def test_so_01_so_04_a_failed_view_is_told_and_the_answer_stands(bank: RestBank, llm: ScriptedLlm, fault: str) -> None:
    """SO-01, SO-04: an extraction that raises, gives bad JSON, or runs into the length limit."""
    faults = {
        "bad JSON": [script.values("{"), script.values("{")],
        "cut off": [script.text("", finish_reason="length")],
        "an error": [script.failing(400, "no")],
    }
    llm.script(answers(), *faults[fault])
    answer = asked(bank, response_schema=SCHEMA)
    assert answer["text"] == "Green tea."
    assert answer["structured_output_error"]
    assert "structured_output" not in answer


def test_ts_12_a_page_of_another_bank_is_read_by_no_id(
    bank: RestBank, llm: ScriptedLlm, scripted: ScriptedService
) -> None:
    """TS-12: the id is known, the bank is another."""
    other = scripted.page().bank
    other.retain("The vault opens at nine.")
    llm.script(recalls(), writes("The vault opens at nine [f1]."), recalls(), writes("Ada drinks tea [f1]."))
    other.model("vault")
    bank.model("ada")
    read = script.tool_call("read_mental_models", {"reason": "x", "mental_model_ids": ["vault"]})
    search = script.tool_call("search_mental_models", {"reason": "x", "query": "vault"})
    llm.script(read, search, answers())
    answer = asked(bank, "When does the vault open?", budget="high")
    outputs = {call["tool"]: call["output"] for call in answer["trace"]["tool_calls"]}
    assert outputs["read_mental_models"]["not_read"] == ["vault"]
    assert "nine" not in str(answer)
    assert all("nine" not in request.text for request in chats(llm)[-3:])
