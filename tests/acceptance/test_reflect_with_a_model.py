"""A question answered by a language model that follows a script: what it is told, offered, and held to."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import httpx
import pytest

from projections import usage
from tests.support import scripted_llm as script
from tests.support.eventually import eventually
from tests.support.reflecting import TEA, answers, asked, chats, unobserved
from tests.support.rest import RestBank
from tests.support.scripted_llm import Reply, ScriptedLlm
from tests.support.scripted_pages import Page, ScriptedService, recalls, scripted_service, writes


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


def test_a_question_costs_one_call_when_the_first_search_finds_the_answer(bank: RestBank, llm: ScriptedLlm) -> None:
    llm.script(answers())
    answer = asked(bank)
    assert (answer["text"], answer["answer_found"]) == ("Green tea.", True)
    assert [fact["text"] for fact in answer["based_on"]["memories"]] == [TEA]
    (request,) = chats(llm)
    assert (request.tools, request.tool_choice) == (["recall", "expand", "done"], "required")
    assert [call["scope"] for call in answer["trace"]["llm_calls"]] == ["embed", "reflect_2"]
    assert TEA in request.text


def test_what_it_cost_is_on_record(bank: RestBank, llm: ScriptedLlm, scripted: ScriptedService) -> None:
    llm.script(
        script.tool_call(
            "done", {"answer_found": True, "answer": "Tea.", "memory_ids": ["f1"]}, usage=script.Usage(70, 9)
        )
    )
    answer = asked(bank)
    assert (answer["usage"]["input_tokens"] >= 70, answer["usage"]["output_tokens"]) == (True, 9)
    day = scripted.service.clock.now().date()
    assert scripted.service.reader.ask(usage.tokens_of_day(bank.bank_id, day)) >= 79


def test_it_may_search_on_several_ways_at_once(bank: RestBank, llm: ScriptedLlm) -> None:
    llm.script(
        script.tool_calls(
            ("recall", {"reason": "more", "query": "tea"}),
            ("expand", {"reason": "context", "memory_ids": ["f1"], "depth": "document"}),
        ),
        answers(),
    )
    answer = asked(bank)
    calls = answer["trace"]["tool_calls"]
    assert [(call["tool"], call["iteration"]) for call in calls] == [("recall", 1), ("recall", 2), ("expand", 2)]
    (passage,) = calls[2]["output"]["results"]
    assert passage["text"] == TEA
    assert f'"document": "{TEA}"' in chats(llm)[1].messages[-1]["content"]


def test_no_answer_is_in_the_words_of_the_model(bank: RestBank, llm: ScriptedLlm) -> None:
    llm.script(
        script.tool_call("done", {"answer_found": False, "answer": "Her coffee is not known.", "memory_ids": []})
    )
    answer = asked(bank, "Which coffee does Ada like?")
    assert (answer["answer_found"], answer["text"]) == (False, "Her coffee is not known.")
    assert answer["based_on"]["memories"] == []


def test_a_tool_that_is_not_there_is_refused(bank: RestBank, llm: ScriptedLlm) -> None:
    llm.script(script.tool_call("search_observations", {"reason": "x", "query": "tea"}), answers())
    assert asked(bank)["text"] == "Green tea."
    assert "this tool cannot be called now, only `recall` or `expand` or `done`" in chats(llm)[1].text


def test_the_last_turn_can_only_answer(bank: RestBank, llm: ScriptedLlm) -> None:
    search = script.tool_call("recall", {"reason": "more", "query": "tea"})
    llm.script(search, search, search, answers())
    assert asked(bank)["text"] == "Green tea."
    assert [request.tool_choice for request in chats(llm)] == ["required"] * 3 + ["done"]


def test_a_document_finishes_with_the_document_and_nothing_is_asked_after_it(bank: RestBank, llm: ScriptedLlm) -> None:
    llm.script(recalls(), writes("Ada drinks tea [f1]."))
    assert bank.model("ada")["content"] == "## Ada\n\nAda drinks tea.\n"
    assert [request.tool_choice for request in chats(llm)] == ["recall", "required"]


def test_a_refresh_reads_pages_and_facts_in_one_turn_and_keeps_the_kinds_apart(
    bank: RestBank, llm: ScriptedLlm
) -> None:
    llm.script(recalls(), writes("Ada drinks tea [f1]."))
    bank.model("ada", name="Ada drinks")
    document = {"sections": [{"heading": "", "level": 2, "blocks": ["Tea [f1], and more [m1]."]}]}
    llm.script(
        recalls("Ada drinks"),
        script.tool_call(
            "done", {"document": document, "answer_found": True, "memory_ids": [], "mental_model_ids": []}
        ),
    )
    digest = bank.model("digest", name="Digest", trigger={"keep_trace": True})
    told = digest["reflect_response"]
    assert digest["content"] == "Tea, and more.\n"
    assert [call["tool"] for call in told["trace"]["tool_calls"]] == ["search_mental_models", "recall"]
    assert [fact["text"] for fact in told["based_on"]["world"]] == [TEA]
    (page,) = told["based_on"]["mental-models"]
    assert (page["id"], page["text"]) == ("ada", "Ada drinks: ## Ada\n\nAda drinks tea.\n")
    llm.script(recalls(), writes("Ada drinks tea, every day [f1]."))
    bank.refreshed("ada")
    assert bank.get("/mental-models/digest")["is_stale"] is False, "a page it rests on is no fact it rests on"


def test_mission_disposition_and_directives_are_told(bank: RestBank, llm: ScriptedLlm) -> None:
    bank.patch("/config", {"updates": {"reflect_mission": "You are a tea sommelier.", "disposition_skepticism": 5}})
    bank.post("/directives", {"name": "Short", "content": "Answer in one line."})
    llm.script(answers(directive_compliance="one line"))
    asked(bank)
    system, user = chats(llm)[0].messages[:2]
    assert system["content"].startswith("You are a tea sommelier.")
    assert "skepticism, strongly: You doubt claims" in system["content"]
    assert "literalism" not in system["content"]
    assert "- Short: Answer in one line." in system["content"]
    assert user["content"].endswith("Keep in mind what you are here for: You are a tea sommelier.")


def test_a_neutral_bank_has_no_words_for_it(bank: RestBank, llm: ScriptedLlm) -> None:
    llm.script(answers())
    asked(bank)
    text = chats(llm)[0].text
    assert "disposition" not in text.lower()
    assert "Directives" not in text


def test_directives_are_rules_for_edits_and_no_facts(bank: RestBank, llm: ScriptedLlm) -> None:
    llm.script(recalls(), writes("Ada drinks tea [f1]."))
    bank.model("ada", trigger={"mode": "delta"})
    bank.post("/directives", {"name": "Short", "content": "One line each."})
    bank.retain("Ada drinks no coffee.")
    llm.script(script.edits())
    told = bank.refreshed("ada")["reflect_response"]
    request = chats(llm)[-1]
    assert "- Short: One line each." in request.messages[0]["content"]
    assert "One line each." not in request.messages[1]["content"]
    assert [each["name"] for each in told["based_on"]["directives"]] == ["Short"]


@pytest.mark.parametrize(
    ("replies", "status"),
    [
        ([script.unauthorized()], 502),
        ([script.text("Tea."), script.text("Tea.")], 502),
        ([script.too_many_requests(retry_after=120)], 503),
    ],
    ids=["refused", "no tool called", "too many requests"],
)
def test_a_model_that_fails_is_a_typed_failure(
    bank: RestBank, llm: ScriptedLlm, replies: list[Reply], status: int
) -> None:
    llm.script(*replies)
    answer = bank.ask("POST", "/reflect", json={"query": "What does Ada drink?"})
    assert answer.status_code == status
    assert answer.json()["detail"]


def test_a_search_that_fails_is_no_empty_search(bank: RestBank, llm: ScriptedLlm) -> None:
    llm.script_embeddings(script.unauthorized())
    answer = bank.ask("POST", "/reflect", json={"query": "What does Ada drink?"})
    assert answer.status_code == 502
    assert answer.json()["detail"].startswith("recall failed")


@pytest.fixture
def hurried(shared_conninfo: str) -> Iterator[ScriptedService]:
    """Only for one test: its worker would take the work of the others."""
    with scripted_service(shared_conninfo, refresh_wall_seconds=0.3) as service:
        yield service


def test_an_answer_that_takes_too_long_is_a_504(hurried: ScriptedService) -> None:
    bank = hurried.page().bank
    bank.retain(TEA)
    hurried.llm.script(script.hang())
    answer = bank.ask("POST", "/reflect", json={"query": "What does Ada drink?"})
    assert answer.status_code == 504
    assert answer.json()["detail"].startswith("the answer took longer than 0.3 s")


def test_when_nobody_waits_any_more_nothing_more_is_asked(bank: RestBank, llm: ScriptedLlm) -> None:
    release = threading.Event()
    llm.script(script.held(release, script.tool_call("recall", {"reason": "more", "query": "tea"})))
    with pytest.raises(httpx.ReadTimeout):
        bank.ask("POST", "/reflect", json={"query": "What does Ada drink?"}, timeout=1.5)
    eventually(lambda: len(chats(llm)) == 1, timeout=5)
    eventually(lambda: _gone(bank), timeout=10)
    before = len(llm.requests)
    release.set()
    eventually(lambda: not _answering(), timeout=10)
    assert len(llm.requests) == before


def _gone(bank: RestBank) -> bool:
    """Whether the service knows that the caller of a reflect went away."""
    told = bank.client.get("/metrics").text.splitlines()
    return any("/reflect" in line and 'status="499"' in line for line in told)


def _answering() -> bool:
    """Whether a thread of the service still works on an answer."""
    return any(thread.name == "Reflections.answer" for thread in threading.enumerate())


def test_the_text_around_facts_is_told_when_a_trigger_asks_for_it(bank: RestBank, llm: ScriptedLlm) -> None:
    bank.retain("Ada likes cups. She has four of them.", document_id="cups")
    llm.script(recalls(), writes("Ada drinks tea [f1]."), recalls(), writes("Ada drinks green tea [f1]."))
    bank.model("ada")
    assert '"chunk": ' not in chats(llm)[1].text
    bank.patch("/mental-models/ada", {"trigger": {"include_chunks": True}})
    bank.refreshed("ada")
    assert '"chunk": "Ada likes cups. She has four of them."' in chats(llm)[3].text


def test_an_answer_over_its_length_is_asked_for_once_more_shorter(bank: RestBank, llm: ScriptedLlm) -> None:
    long = answers("Ada drinks green tea, and much can be said of it. " * 8 + "[f1]")
    llm.script(long, answers("Green tea [f1]."))
    answer = asked(bank, max_tokens=20)
    assert (answer["text"], len(answer["based_on"]["memories"])) == ("Green tea.", 1)
    request = chats(llm)[1]
    assert (request.tools, request.tool_choice) == (["done"], "done")
    assert "20 at most are wanted" in request.messages[-1]["content"]
    assert [call["scope"] for call in answer["trace"]["llm_calls"]] == ["embed", "reflect_2", "reflect_shorten"]


@pytest.mark.parametrize("fault", ["longer", "no answer", "text", "an error"])
def test_a_long_answer_stands_when_no_shorter_one_comes(bank: RestBank, llm: ScriptedLlm, fault: str) -> None:
    faults = {
        "longer": answers("Ada drinks green tea, and much can be said of it. " * 9 + "[f1]"),
        "no answer": script.tool_call("done", {"answer_found": False, "answer": "", "memory_ids": []}),
        "text": script.text("Green tea."),
        "an error": script.failing(400, "no"),
    }
    llm.script(answers("Ada drinks green tea, and much can be said of it. " * 8 + "[f1]"), faults[fault])
    answer = asked(bank, max_tokens=20)
    assert answer["text"].count("much can be said") == 8
    assert len(chats(llm)) == 2


def test_an_answer_beside_a_search_counts_when_only_an_answer_may_come(bank: RestBank, llm: ScriptedLlm) -> None:
    search = script.tool_call("recall", {"reason": "more", "query": "tea"})
    done = ("done", {"answer_found": True, "answer": "Green tea [f1].", "memory_ids": ["f1"]})
    llm.script(search, search, search, script.tool_calls(("recall", {"reason": "x", "query": "tea"}), done))
    assert asked(bank)["text"] == "Green tea."
    assert len(chats(llm)) == 4
