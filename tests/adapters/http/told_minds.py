"""Minds that do as a test tells them, and a live service over them that works only when it is told to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import httpx

from adapters.app import build
from adapters.engines import Minds
from adapters.offline.facts import OfflineFactExtractor
from adapters.service import Service, opened
from adapters.settings import Settings
from application.ports import Structured
from domain.editing import EditRequest, Proposal, ProposedEdit
from domain.memory import Fact
from domain.reflection import Answer, Mention, NoAnswer, ReflectQuestion, Thought, ToolCall, ToolResult
from tests.support.live_server import live_server
from tests.support.rest import RestBank
from tests.support.services import run_pending

Propose = Callable[[EditRequest], Sequence[ProposedEdit]]


class TellingPolicy:
    """A mind that recalls once and lists what it was shown, oldest first, each line resting on its fact. `says` is its
    answer instead, `fails` what it raises."""

    engine = "told"
    deterministic = True

    def __init__(self) -> None:
        self.says: str | None = None
        self.fails: Exception | None = None
        self.before_answer: Callable[[], None] = lambda: None

    def next_step(self, question: ReflectQuestion, results: Sequence[ToolResult], *, must_finish: bool) -> Thought:
        if not results and not must_finish:
            return Thought(step=ToolCall(tool="recall", query=question.source_query, max_tokens=16000, reason="first"))
        self.before_answer()
        if self.fails is not None:
            raise self.fails
        facts = sorted((found.fact for result in results for found in result.facts), key=lambda fact: fact.position)
        if self.says is None and not facts:
            return Thought(step=NoAnswer(reason="nothing was found"))
        return Thought(step=self._answer(question.name, facts))

    def _answer(self, name: str, facts: Sequence[Fact]) -> Answer:
        used = tuple(str(fact.id) for fact in facts)
        if self.says is not None:
            return Answer(markdown=self.says, used=used)
        markdown = f"# {name}\n\n"
        mentions = []
        for fact in facts:
            markdown += f"- {fact.text}"
            mentions.append(Mention(offset=len(markdown), fact_id=str(fact.id)))
            markdown += "\n"
        return Answer(markdown=markdown, used=used, mentions=tuple(mentions))


class TellingEditor:
    """An editor that proposes what `proposes` makes of a request."""

    engine = "told"
    deterministic = True

    def __init__(self) -> None:
        self.proposes: Propose = lambda _request: ()

    def propose(self, request: EditRequest) -> Proposal:
        return Proposal(tuple(self.proposes(request)))


class CountingExtractor:
    """A reader of structured views that gives an empty one, and counts."""

    def __init__(self) -> None:
        self.asked = 0

    def extract(self, markdown: str, schema: Mapping[str, Any], *, max_tokens: int) -> Structured:
        assert markdown
        assert schema
        assert max_tokens
        self.asked += 1
        return Structured({"name": "Ada"})


@dataclass
class Told:
    """A live service without a worker, one bank of it, and its minds."""

    service: Service
    bank: RestBank
    policy: TellingPolicy
    editor: TellingEditor
    structured: CountingExtractor = field(default_factory=CountingExtractor)

    def work(self) -> None:
        """Does all work that waits."""
        run_pending(self.service, self.bank.bank_id)

    def creates(self, mental_model_id: str = "ada", **fields: Any) -> Any:
        """A mental model whose first refresh waits."""
        body = {"id": mental_model_id, "name": "Ada", "source_query": "What is known about Ada?", **fields}
        self.bank.post("/mental-models", body)
        return self.bank.get(f"/mental-models/{mental_model_id}")

    def defines(self, mental_model_id: str = "ada", **fields: Any) -> Any:
        """A mental model after its first refresh."""
        self.creates(mental_model_id, **fields)
        self.work()
        return self.bank.get(f"/mental-models/{mental_model_id}")

    def refreshes(self, mental_model_id: str = "ada") -> Any:
        self.bank.post(f"/mental-models/{mental_model_id}/refresh")
        self.work()
        return self.bank.get(f"/mental-models/{mental_model_id}")

    def fact(self, text: str, mental_model_id: str = "ada") -> UUID:
        """The id of a fact that a document rests on."""
        based_on = self.bank.get(f"/mental-models/{mental_model_id}")["reflect_response"]["based_on"]
        return UUID(next(each["id"] for kind in based_on.values() for each in kind if each["text"] == text))


@contextmanager
def told_service(conninfo: str, **settings: Any) -> Iterator[Told]:
    policy, editor, structured = TellingPolicy(), TellingEditor(), CountingExtractor()
    minds = Minds(OfflineFactExtractor(), policy, editor, structured)
    configured = Settings(_env_file=None, relevance_check=False, **settings)
    with (
        opened(build(configured, conninfo, minds=minds)) as service,
        live_server(service, run_worker=False) as address,
        httpx.Client(base_url=address, timeout=30) as client,
    ):
        yield Told(service, RestBank(client, f"bank-{uuid4().hex[:12]}"), policy, editor, structured)
