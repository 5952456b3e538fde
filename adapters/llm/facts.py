"""Reading facts out of a retained item with a language model.

Shape and meaning of a fact: spec of the system of reference, "Extraction output per fact".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from adapters.llm.chunks import chunks
from adapters.llm.endpoint import Endpoint
from adapters.llm.prompts import extraction_messages
from application.ports import Extraction, MindFailed
from domain.memory import ExtractedFact, RetainItem
from domain.usage import ModelCall

_PURPOSE = "extract_facts"
_NOTHING = {"", "n/a", "none", "null", "not applicable", "-"}


class FactReply(BaseModel):
    """One fact as the model writes it down."""

    what: str = Field(description="What is the case or happened, with names, numbers and details; readable alone.")
    when: str | None = Field(default=None, description="When, in words, with dates made absolute; N/A if not said.")
    where: str | None = Field(default=None, description="Where; N/A if not said.")
    who: str | None = Field(default=None, description="Who is involved and how they are related; N/A if not said.")
    why: str | None = Field(default=None, description="Why, or why it matters; N/A if not said.")
    fact_type: Literal["world", "assistant"] = Field(
        default="world", description="assistant: what the assistant itself did, said or experienced; world: all else."
    )
    occurred_start: str | None = Field(default=None, description="ISO 8601 date or time it began, if known.")
    occurred_end: str | None = Field(default=None, description="ISO 8601 date or time it ended, if known.")
    entities: list[str] = Field(default_factory=list, description="Names of people, places, things, topics in it.")


class FactsReply(BaseModel):
    """Record all facts found in the text; an empty list when there are none."""

    model_config = ConfigDict(title="record_facts")

    facts: list[FactReply]

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, given: Any) -> Any:
        """Takes a bare list of facts, and the arguments of several calls in one turn."""
        if not isinstance(given, list):
            return given
        gathered: list[Any] = []
        for each in given:
            nested = each.get("facts") if isinstance(each, dict) else None
            gathered.extend(nested if isinstance(nested, list) else [each])
        return {"facts": gathered}


class LlmFactExtractor:
    """A FactExtractor: one call for each part of the text, `parallel` calls at a time."""

    def __init__(self, endpoint: Endpoint, *, parallel: int = 4) -> None:
        self._endpoint = endpoint
        self._parallel = parallel

    def extract(self, item: RetainItem, *, mission: str | None, now: datetime) -> Extraction:
        """Facts in the order of the text. Raises MindFailed, with all calls made, when one part cannot be read."""
        parts = [part for part in chunks(item.content) if part.strip()]
        paid: list[list[ModelCall]] = [[] for _ in parts]

        def read(number: int) -> list[ExtractedFact]:
            messages = extraction_messages(
                parts[number], part=number + 1, parts=len(parts), item=item, mission=mission, now=now
            )
            reply = self._endpoint.typed(messages, FactsReply, purpose=_PURPOSE, paid=paid[number])
            return [fact for fact in map(_fact, reply.facts) if fact is not None]

        try:
            found = self._each(read, len(parts))
        except MindFailed as failure:
            failure.calls = _all(paid)
            raise
        return Extraction(facts=tuple(fact for facts in found for fact in facts), calls=_all(paid))

    def _each(self, read: Callable[[int], list[ExtractedFact]], count: int) -> list[list[ExtractedFact]]:
        if count <= 1:
            return [read(number) for number in range(count)]
        with ThreadPoolExecutor(min(self._parallel, count), thread_name_prefix=_PURPOSE) as threads:
            waiting = [threads.submit(copy_context().run, read, number) for number in range(count)]
            try:
                return [each.result() for each in waiting]
            except MindFailed:
                threads.shutdown(wait=True, cancel_futures=True)
                raise


def _all(paid: Iterable[Sequence[ModelCall]]) -> tuple[ModelCall, ...]:
    return tuple(call for calls in paid for call in calls)


def _fact(reply: FactReply) -> ExtractedFact | None:
    said = [_line(part) for part in (reply.what, reply.when, reply.where, reply.who, reply.why)]
    text = " | ".join(part for part in said if part)
    if not text:
        return None
    start, end = _time(reply.occurred_start), _time(reply.occurred_end)
    return ExtractedFact(
        text=text,
        fact_type="experience" if reply.fact_type == "assistant" else "world",
        occurred_start=start,
        occurred_end=None if start and end and end < start else end,
        entities=_entities(reply.entities),
    )


def _line(text: str | None) -> str:
    """The text in one line; nothing when it only says that there is nothing to say."""
    line = " ".join((text or "").split())
    return "" if line.casefold().rstrip(".") in _NOTHING else line


def _entities(names: Iterable[str]) -> tuple[str, ...]:
    """The names without doubles, the first spelling of each."""
    spelled: dict[str, str] = {}
    for name in map(_line, names):
        if name:
            spelled.setdefault(name.casefold(), name)
    return tuple(spelled.values())


def _time(text: str | None) -> datetime | None:
    """A UTC time; one without a zone is taken as UTC, one that cannot be read is not known."""
    try:
        read = datetime.fromisoformat((text or "").strip())
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
