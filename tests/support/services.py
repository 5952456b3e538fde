"""A whole service over a real database, with a mind that answers as told: for tests below HTTP."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from uuid import UUID

from adapters.app import build
from adapters.engines import Minds
from adapters.offline.editor import OfflineDocumentEditor
from adapters.offline.facts import OfflineFactExtractor
from adapters.postgres.migrations import migrate
from adapters.service import Service, opened
from adapters.settings import Settings
from application.ports import Consolidator
from domain.event import Context
from domain.memory import RetainItem
from domain.mental_model.trigger import Trigger
from domain.reflection import Answer, NoAnswer, ReflectQuestion, Thought, ToolCall, ToolResult
from projections import operations
from tests.support.examples import call


class TickingClock:
    """A clock that moves one second at every reading, so that times are different and known."""

    def __init__(self) -> None:
        self._now = datetime(2026, 1, 1, tzinfo=UTC)

    def now(self) -> datetime:
        self._now += timedelta(seconds=1)
        return self._now


class AnsweringPolicy:
    """A mind that recalls once and then answers with the texts it was shown, or with `says` when that is set."""

    engine = "told"
    deterministic = True

    def __init__(self) -> None:
        self.says: str | None = None

    def next_step(self, question: ReflectQuestion, results: Sequence[ToolResult], *, must_finish: bool) -> Thought:
        if not results and not must_finish:
            return Thought(step=ToolCall(tool="recall", query=question.source_query, max_tokens=16000))
        facts = [found.fact for result in results for found in result.facts]
        if self.says is None and not facts:
            return Thought(step=NoAnswer(reason="nothing was found"))
        bullets = "".join(f"- {fact.text}\n" for fact in sorted(facts, key=lambda fact: fact.position))
        markdown = self.says if self.says is not None else f"# {question.name}\n\n{bullets}"
        answer = Answer(markdown=markdown, used=tuple(str(fact.id) for fact in facts))
        return Thought(step=answer, calls=(call("reflect_2"),))


def context(service: Service, cause: str = "test") -> Context:
    return Context("user", service.clock.now(), None, cause)


def retain(
    service: Service, bank_id: str, *texts: str, tags: tuple[str, ...] = (), document_id: str | None = None
) -> None:
    """Each text is one item, retained at once."""
    items = [RetainItem(content=text, tags=tags, document_id=document_id) for text in texts]
    service.memories.retain(context(service), bank_id, items)


def define(service: Service, bank_id: str, mental_model_id: str, tags: tuple[str, ...] = ()) -> UUID:
    """A mental model that asks about what it is called; its first refresh, whose id this is, waits."""
    created = service.mental_models.create(
        context(service),
        bank_id,
        mental_model_id=mental_model_id,
        name=mental_model_id,
        source_query=f"What about {mental_model_id}?",
        tags=tags,
        max_tokens=1024,
        trigger=Trigger(),
    )
    return created.operation_id


def run_pending(service: Service, bank_id: str) -> None:
    """Runs every operation that waits, as a worker would."""
    waiting, _ = service.reader.ask(
        operations.page(bank_id, status="pending", operation_type=None, limit=1000, offset=0)
    )
    for operation in reversed(waiting):
        service.background.run(bank_id, UUID(operation.operation_id))


@contextmanager
def running_service(conninfo: str, consolidator: Consolidator | None = None, **settings: object) -> Iterator[Service]:
    """A service over the database at `conninfo`, migrated, with the mind above and the offline reader of facts."""
    migrate(conninfo)
    minds = Minds(OfflineFactExtractor(), AnsweringPolicy(), OfflineDocumentEditor(), consolidator=consolidator)
    configured = Settings(_env_file=None, **settings)
    with opened(build(configured, conninfo, clock=TickingClock(), minds=minds)) as service:
        yield service
