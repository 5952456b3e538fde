"""What a language model is asked, and what that costs, over real HTTP: counted with a real tokenizer."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.adapters.llm.test_consolidation_cost import SAID
from tests.adapters.llm.test_editing_cost import prompt_of, tokenizer
from tests.support import scripted_llm as script
from tests.support.rest import RestBank
from tests.support.scripted_llm import Reply, Request
from tests.support.scripted_pages import ScriptedService, scripted_service

MOST_TOKENS_A_FACT = 600
NEW_FACT = re.compile(r"^(f\d+)(?: \([^)]*\))?: (.+)$", re.MULTILINE)


def together(request: Request) -> Reply:
    """One observation of all the facts of a request, and of no other."""
    facts = dict(NEW_FACT.findall(request.text))
    text = "Known: " + " ".join(sorted(facts.values()))
    return script.changes({"op": "create", "text": text, "facts": sorted(facts)})


def each_alone(request: Request) -> Reply:
    found = NEW_FACT.findall(request.text)
    return script.changes(*({"op": "create", "text": f"Known: {text}", "facts": [name]} for name, text in found))


@pytest.fixture(scope="module")
def asked(shared_conninfo: str) -> Iterator[ScriptedService]:
    with scripted_service(shared_conninfo, consolidates=True) as service:
        yield service


@pytest.fixture
def bank(asked: ScriptedService) -> Iterator[RestBank]:
    """A bank that makes observations when it is asked to."""
    asked.llm.forget()
    asked.llm.requests.clear()
    bank = asked.page().bank
    bank.ask("PUT", json={})
    bank.patch("/config", {"updates": {"enable_observations": True, "enable_auto_consolidation": False}})
    yield bank
    assert (asked.llm.unused, list(asked.llm.unexpected)) == (0, [])
    asked.llm.forget()


def requests_of(asked: ScriptedService) -> list[Request]:
    return [request for request in asked.llm.requests if request.tools]


def consolidated(bank: RestBank) -> Any:
    done = bank.finished(bank.post("/consolidate")["operation_id"])
    assert done["status"] == "completed", done["error_message"]
    return done["result_metadata"]


def observed(bank: RestBank) -> dict[str, list[str]]:
    """The text of each observation with its tags."""
    return {each["text"]: each["tags"] for each in bank.get("/memories/list", type="observation", limit=1000)["items"]}


def test_forty_facts_of_five_documents_cost_a_call_for_eight(bank: RestBank, asked: ScriptedService) -> None:
    for number in range(5):
        texts = [text.replace("Marta", f"Marta {number}.{at}") for at, text in enumerate(SAID[:8])]
        numbered = [f"In {2000 + 10 * number + at}: {text}" for at, text in enumerate(texts)]
        bank.retain(" ".join(numbered), document_id=f"d{number}", tags=[f"tag{number % 3}"])
    waiting = bank.get("/stats")["pending_consolidation"]
    assert waiting == 40
    asked.llm.script(*[each_alone] * 5)

    result = consolidated(bank)

    requests = requests_of(asked)
    tokens = sum(len(tokenizer().encode(prompt_of(each), add_special_tokens=False).ids) for each in requests)
    sys.stdout.write(f"{len(requests)} calls, {tokens / 40:.0f} prompt tokens a fact\n")
    assert (len(requests), result["facts"], result["created"]) == (5, 40, 40)
    assert tokens / 40 <= MOST_TOKENS_A_FACT
    assert [call["purpose"] for call in result["calls"]].count("consolidate") == 5
    before = len(asked.llm.requests)
    assert consolidated(bank)["facts"] == 0
    assert len(asked.llm.requests) == before, "nothing waits: nobody is asked, nor for a vector"


def test_a_reply_that_makes_nothing_is_not_asked_for_again(bank: RestBank, asked: ScriptedService) -> None:
    bank.retain("Thanks a lot for everything.")
    asked.llm.script(script.changes())
    assert consolidated(bank)["facts"] == 1
    assert (consolidated(bank)["facts"], len(requests_of(asked))) == (0, 1)


def test_ts_09_only_what_is_in_another_scope_after_a_patch_is_asked_about_again_and_once(
    bank: RestBank, asked: ScriptedService
) -> None:
    """TS-09: ten documents share one observation. The same tags again change nothing; another tag on one of them moves
    its fact, and asks once about that and once about the nine it shared the observation with; no call for each pair."""
    names = ["Ada", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Jon"]
    bank.patch("/config", {"updates": {"consolidation_llm_batch_size": 10}})
    for name in names:
        bank.retain(f"{name} reviews the designs on Friday.", document_id=name, tags=["team"])
    asked.llm.script(together)
    assert consolidated(bank)["created"] == 1
    first = bank.get("/memories/list", type="observation")["items"]

    for name in names:
        assert bank.patch(f"/documents/{name}", {"tags": ["team"]})["memory_units_updated"] == 0

    assert bank.get("/stats")["pending_consolidation"] == 0
    assert bank.get("/memories/list", type="observation")["items"] == first
    assert consolidated(bank)["facts"] == 0

    assert bank.patch("/documents/Ada", {"tags": ["other"]})["memory_units_updated"] == 1

    assert observed(bank) == {}, "what rests on a fact that is elsewhere now says so no more"
    asked.llm.script(together, together)
    result = consolidated(bank)
    assert (result["facts"], result["created"]) == (10, 2)
    told = sorted(sorted(text for _, text in NEW_FACT.findall(request.text)) for request in requests_of(asked)[1:])
    assert [len(each) for each in told] == [1, 9]
    assert "Ada" in told[0][0]
    assert not any("Ada" in text for text in told[1]), "its text is told in its new scope alone"
    assert sorted(tags[0] for tags in observed(bank).values()) == ["other", "team"]
    before = len(asked.llm.requests)
    assert consolidated(bank)["facts"] == 0
    assert len(asked.llm.requests) == before


def test_ts_09_other_tags_are_no_other_scope_where_observations_are_shared(
    bank: RestBank, asked: ScriptedService
) -> None:
    bank.patch("/config", {"updates": {"default_observation_scopes": "shared"}})
    for name in ("Ada", "Bob"):
        bank.retain(f"{name} reviews the designs on Friday.", document_id=name, tags=["team"])
    asked.llm.script(together)
    consolidated(bank)
    before = observed(bank)

    assert bank.patch("/documents/Ada", {"tags": ["other"]})["memory_units_updated"] == 1

    assert observed(bank) == before
    assert bank.get("/stats")["pending_consolidation"] == 0
    assert consolidated(bank)["facts"] == 0
