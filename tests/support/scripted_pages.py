"""Documents of a live service whose language model answers by script, and what tests of their refreshes ask of them.

Facts are read without a model, so that a script holds only what refreshes ask for."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Any
from uuid import uuid4

import httpx

from adapters.app import build
from adapters.engines import make_minds
from adapters.offline.facts import OfflineFactExtractor
from adapters.service import Service, opened
from adapters.settings import Settings
from tests.support import scripted_llm as script
from tests.support.live_server import live_server
from tests.support.rest import RestBank
from tests.support.scripted_llm import Answering, Reply, Request, ScriptedLlm

PAGE = "/mental-models/page"


@dataclass(frozen=True)
class ScriptedService:
    service: Service
    client: httpx.Client
    llm: ScriptedLlm

    def page(self) -> Page:
        """A page in a bank of its own; neither exists yet."""
        return Page(RestBank(self.client, f"bank-{uuid4().hex[:12]}"), self.llm)


@contextmanager
def scripted_service(conninfo: str, *, consolidates: bool = False, **settings: Any) -> Iterator[ScriptedService]:
    """A live service over a scripted model, which makes its embeddings too. Every operation has one attempt, every
    new fact is read, and pages are found by word only, unless `settings` say otherwise. The
    model is asked for observations only where it `consolidates`."""
    with ScriptedLlm() as llm:
        endpoints = {"llm_base_url": llm.base_url, "embeddings_base_url": llm.base_url, "embeddings_model": "words"}
        defaults = {"llm_timeout_seconds": 5.0, "worker_max_retries": 0, "worker_retry_seconds": 0}
        defaults["page_vectors_seconds"] = 0
        configured = Settings(
            _env_file=None,
            llm_api_key="none",
            embeddings_api_key="none",
            llm_model="scripted",
            **{**endpoints, **defaults, "relevance_check": False, **settings},
        )
        minds = replace(make_minds(configured), extractor=OfflineFactExtractor())
        if not consolidates:
            minds = replace(minds, consolidator=None)
        with (
            opened(build(configured, conninfo, minds=minds)) as service,
            live_server(service) as address,
            httpx.Client(base_url=address, timeout=30) as client,
        ):
            yield ScriptedService(service, client, llm)


def edit(op: str, *, facts: tuple[str, ...] = ("f1",), **fields: Any) -> dict[str, Any]:
    """An operation as a model writes it; in a delta that reads one fact, that one is `f1`."""
    return {"op": op, **fields, "facts": list(facts)}


def recalls(query: str = "Ada") -> Reply:
    """The model searches, as the first step of a full refresh must."""
    return script.tool_call("recall", {"reason": "first", "query": query, "max_tokens": 16_000})


def writes(*blocks: str, heading: str = "Ada", used: tuple[str, ...] = ("f1",)) -> Reply:
    """The model delivers a document of one section."""
    section = {"heading": heading, "level": 2, "blocks": list(blocks)}
    arguments = {"document": {"sections": [section]}, "answer_found": True, "memory_ids": list(used)}
    return script.tool_call("done", arguments)


def found_facts(request: Request) -> dict[str, str]:
    """The facts that searches of a full refresh gave, in their order: text by name."""
    lines = [
        line for message in request.messages if message["role"] == "tool" for line in message["content"].split("\n")
    ]
    facts = [json.loads(line) for line in lines if line.startswith('{"id"')]
    return {fact["id"]: fact["text"] for fact in facts}


def told_facts(request: Request) -> dict[str, str]:
    """The facts that a delta is told, new ones and retracted ones: the line of each by name."""
    lines = [line for line in request.messages[1]["content"].splitlines() if re.match(r"[fr]\d+( \(|:)", line)]
    return {re.split(r"[ :]", line, maxsplit=1)[0]: line for line in lines}


def lists_what_it_found(request: Request) -> Reply:
    """The model delivers a list of all facts, sorted, each item citing its fact."""
    facts = sorted((text, name) for name, text in found_facts(request).items())
    return writes("\n".join(f"- {text} [{name}]" for text, name in facts), used=())


class Page:
    """The mental model `page` of a bank."""

    def __init__(self, bank: RestBank, llm: ScriptedLlm) -> None:
        self.bank = bank
        self.llm = llm
        self._numbers = count(1)
        self._since = len(llm.requests)

    # --- what is done to it ---

    def begins(self, content: str, **fields: Any) -> None:
        """The page as a person wrote it, refreshed by deltas; its first refresh has nothing to read."""
        trigger = {"mode": "delta", **fields.pop("trigger", {})}
        self.bank.model("page", content=content, trigger=trigger, **fields)

    def is_written(self, content: str) -> None:
        """The page as a full refresh, asked for once, writes it to the byte; later ones are deltas."""
        self.says("A draft of it.\n")  # or the same text again would still be what a person wrote
        self.learns()
        section = {"heading": "", "level": 2, "blocks": [content.removesuffix("\n")]}
        answer = {"document": {"sections": [section]}, "answer_found": True, "memory_ids": ["f1"]}
        self.refreshes(recalls(), script.tool_call("done", answer), mode="full")
        assert self.content == content

    def lists_all(self, **fields: Any) -> None:
        """The page as a full refresh first writes it: a list of what the bank knows; later ones are deltas."""
        self.llm.script(recalls(), lists_what_it_found)
        trigger = {"mode": "delta", **fields.pop("trigger", {})}
        self.bank.model("page", trigger=trigger, **fields)

    def says(self, content: str) -> None:
        """A person writes it."""
        self.bank.patch(PAGE, {"content": content})

    def learns(self, text: str | None = None, **item: Any) -> str:
        """A fact is retained: without a text one that nobody has told yet."""
        told = text or f"Ada saw bird number {next(self._numbers)}."
        self.bank.retain(told, **item)
        return told

    def refreshes(self, *replies: Reply | Answering, mode: str | None = None) -> Any:
        """The operation of a refresh in which the model gives these replies."""
        self.llm.script(*replies)
        asked = self.bank.post(f"{PAGE}/refresh", {"mode": mode} if mode else None)
        return self.bank.finished(asked["operation_id"])

    def is_edited(self, *operations: Any) -> Any:
        """The operation of a delta that reads one new fact and for which the model proposes this."""
        self.learns()
        return self.refreshes(script.edits(*operations))

    # --- what it is ---

    @property
    def now(self) -> Any:
        """All that is served of it."""
        return self.bank.get(PAGE)

    @property
    def content(self) -> str:
        text: str = self.now["content"]
        return text

    @property
    def history(self) -> Any:
        return self.bank.get(f"{PAGE}/history")

    @property
    def record(self) -> Any:
        """What its last refresh read, asked and did."""
        events = self.bank.get(f"{PAGE}/events", detail="full", limit=1000)["items"]
        return next(each["payload"]["record"] for each in reversed(events) if "record" in each["payload"])

    @property
    def chats(self) -> list[Request]:
        """What the model was asked since."""
        return [each for each in self.llm.requests[self._since :] if each.path == "/v1/chat/completions"]

    @property
    def skipped(self) -> list[str]:
        """Why operations of its last refresh were not applied."""
        return [each["skipped"] for each in self.record["delta"]["edits"] if each["skipped"] is not None]

    @property
    def cited(self) -> list[str]:
        """The texts of the facts it rests on."""
        based_on = self.now["reflect_response"]["based_on"]
        return [fact["text"] for facts in based_on.values() for fact in facts]

    @property
    def sections(self) -> Any:
        return self.bank.get(f"{PAGE}/blame")["structured_content"]["sections"]

    def place(self, text: str, nth: int = 0) -> dict[str, str]:
        """Section and block of the `nth` block whose text begins so, as an operation names them."""
        found = [
            {"section_id": section["id"], "block_id": block["id"]}
            for section in self.sections
            for block in section["blocks"]
            if block["text"].startswith(text)
        ]
        return found[nth]

    def item(self, text: str) -> dict[str, str]:
        """Block and item of the first item or row whose text begins so."""
        pieces = self.bank.get(f"{PAGE}/blame")["pieces"]
        found = next(each for each in pieces if each["kind"] in ("item", "row") and each["text"].startswith(text))
        return {"block_id": found["block_id"], "item_id": found["id"]}
