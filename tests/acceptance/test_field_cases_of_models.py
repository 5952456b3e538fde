"""Reports from the field about language models that answer badly, or well in awkward markdown: named by the id of the
case, over real HTTP to a scripted model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.support import scripted_llm as script
from tests.support.rest import RestBank
from tests.support.scripted_llm import Reply, ScriptedLlm
from tests.support.scripted_service import client_of_scripted_service

KEPT = ("content", "reflect_response", "last_refreshed_at", "last_memory_seen_at", "last_full_refreshed_at")


def recalls() -> Reply:
    return script.tool_call("recall", {"reason": "first", "query": "Ada", "max_tokens": 2048})


def writes(*blocks: str, heading: str = "Ada") -> Reply:
    section = {"heading": heading, "level": 2, "blocks": list(blocks)}
    return script.tool_call("done", {"document": {"sections": [section]}, "answer_found": True, "memory_ids": ["f1"]})


@pytest.fixture(scope="module")
def llm() -> Iterator[ScriptedLlm]:
    with ScriptedLlm() as server:
        yield server


@pytest.fixture(scope="module")
def client(shared_conninfo: str, llm: ScriptedLlm) -> Iterator[httpx.Client]:
    with client_of_scripted_service(shared_conninfo, llm, llm_timeout_seconds=5.0, worker_max_retries=0) as client:
        yield client


@pytest.fixture
def bank(client: httpx.Client, llm: ScriptedLlm) -> Iterator[RestBank]:
    """A bank with one fact, and the document 'ada' that rests on it."""
    bank = RestBank(client, f"bank-{uuid4().hex[:12]}")
    fact = {"what": "Ada works at Acme", "fact_type": "world", "entities": ["Ada"]}
    llm.script(script.tool_call("record_facts", {"facts": [fact]}))
    bank.retain("Ada works at Acme.")
    llm.script(recalls(), writes("Ada works at Acme."))
    bank.model("ada")
    yield bank
    assert llm.unused == 0, "every scripted reply was asked for"
    assert llm.unexpected == []


def refresh(bank: RestBank) -> Any:
    return bank.finished(bank.post("/mental-models/ada/refresh")["operation_id"])


NO_DOCUMENT = {
    "rs_02 a blank answer": [writes("   ", heading="")],
    "rs_02 zero-width characters only": [writes("\u200b\u2060", heading="\ufeff")],
    "rs_02 nothing found": [script.tool_call("done", {"document": {"sections": []}, "answer_found": False})],
    "rs_08 cut in mid-word by the token limit": [script.truncated("## Ada\n\nAda works at Ac")],
    "rs_10 an envelope instead of a tool call": [
        script.text('{"answer": "Ada works at Globex.", "memory_ids": ["f1"], "directive_compliance": ""}'),
        script.text('{"answer": "Ada works at Globex.", "memory_ids": ["f1"], "directive_compliance": ""}'),
    ],
}


@pytest.mark.parametrize("case", NO_DOCUMENT)
def test_rs_02_08_10_what_is_no_document_never_becomes_one(bank: RestBank, llm: ScriptedLlm, case: str) -> None:
    before, versions = bank.get("/mental-models/ada"), len(bank.get("/mental-models/ada/history"))
    llm.script(recalls(), *NO_DOCUMENT[case])
    operation = refresh(bank)
    assert operation["status"] == "failed"
    assert operation["error_message"]
    after = bank.get("/mental-models/ada")
    told = [name for name in KEPT if name != "reflect_response"]
    assert {name: after[name] for name in told} == {name: before[name] for name in told}
    assert after["reflect_response"]["based_on"] == before["reflect_response"]["based_on"]
    history = bank.get("/mental-models/ada/history")
    assert [each.get("kind") for each in history] == ["refresh_failed"] + [None] * versions
    llm.script(recalls(), writes("Ada works at Acme, still."))
    assert refresh(bank)["details"]["outcome"] == "content_written", "a failure can be tried again"


def test_rs_06_a_new_question_stays_unanswered_until_a_full_refresh_answers_it(
    bank: RestBank, llm: ScriptedLlm
) -> None:
    bank.patch("/mental-models/ada", {"source_query": "Where does Ada live?", "trigger": {"mode": "delta"}})

    def last_mode() -> tuple[str, str, str]:
        record = bank.get("/mental-models/ada/events", detail="full")["items"][-1]["payload"]["record"]
        return record["requested_mode"], record["effective_mode"], record["mode_fallback_reason"]

    llm.script(recalls(), script.refusal("no"))
    assert refresh(bank)["status"] == "failed"
    assert last_mode() == ("delta", "full", "source_query_changed")
    llm.script(recalls(), writes("Ada lives in Prague."))
    assert refresh(bank)["status"] == "completed"
    assert last_mode() == ("delta", "full", "source_query_changed")
    llm.script(recalls(), writes("Ada lives in Prague, still."))
    refresh(bank)
    assert last_mode()[2] is None, "the question is answered now"


MARKDOWN = {
    "md_01": "| Tier | Cap\n|---|---|\n| free | 10 |\n| team | 50 |",
    "md_02": "Env | Host\n--- | ---:\nprod | a1\nstage | b2",
    "md_03": "| k | v |\n|---|---|\n| a | 1 |\n| b |\n| c | 3 | extra |",
    "md_04": "- retry\n  - only on 5xx\n    - max three times\n- log",
    "md_05": "- first item\n  continues here\n\n  second paragraph of the item\n- second item",
    "md_09": "```bash\n# restart the queue\nsystemctl restart q\n```\n\nafter",
    "md_10": "````\n```\n# no\n```\n````",
    "md_13": "<details>\n<summary>More</summary>\n\nhidden *text*\n\n</details>\n\n<!-- keep: me -->\n\nafter",
    "md_19": "- [ ] open\n- [x] done\n- [ ]",
    "md_20": "概要 設計 🚀 مقدمة e\u0301",
    "md_27": "Cost is $& and \\1 and $$ {0} %s",
}


def test_md_awkward_markdown_is_served_as_it_was_written(bank: RestBank, llm: ScriptedLlm) -> None:
    llm.script(recalls(), writes(*MARKDOWN.values()))
    refresh(bank)
    content = bank.get("/mental-models/ada")["content"]
    assert content == "## Ada\n\n" + "\n\n".join(MARKDOWN.values()) + "\n"
    llm.script(recalls(), writes(*MARKDOWN.values()))
    assert refresh(bank)["details"]["outcome"] == "content_unchanged"
    assert bank.get("/mental-models/ada")["content"] == content
