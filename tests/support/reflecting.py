"""Questions asked over REST, and what a scripted model answers."""

from __future__ import annotations

from typing import Any

from tests.support import scripted_llm as script
from tests.support.rest import RestBank
from tests.support.scripted_llm import Reply, Request, ScriptedLlm

TEA = "Ada drinks green tea."


def answers(text: str = "Green tea [f1].", used: tuple[str, ...] = ("f1",), **more: Any) -> Reply:
    return script.tool_call("done", {"answer_found": True, "answer": text, "memory_ids": list(used), **more})


def asked(bank: RestBank, query: str = "What does Ada drink?", **more: Any) -> Any:
    return bank.post("/reflect", {"query": query, "include": {"facts": {}, "tool_calls": {}}, **more})


def chats(llm: ScriptedLlm) -> list[Request]:
    return [request for request in llm.requests if request.path.endswith("/chat/completions")]


def unobserved(bank: RestBank) -> RestBank:
    """Without observations: they would come in the background, at some time, and pages would wait for them."""
    assert bank.ask("PUT", json={}).status_code == 200
    bank.patch("/config", {"updates": {"enable_observations": False}})
    return bank
