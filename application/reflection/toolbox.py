"""The tools of a reflection: which there are, and the calls of one turn carried out side by side."""

from __future__ import annotations

import contextvars
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime

from application.deadline import DeadlinePassed
from application.ports import Embedder, MemoryStore, MindFailed
from application.ports.pages import Pages, SourceTexts
from application.recall import Recalls
from application.reflection.expand import expand
from application.reflection.nothing_else import NO_PAGES, NO_TEXTS
from application.reflection.read_mental_models import read_mental_models
from application.reflection.readable import Desk, Readable
from application.reflection.recall import RAW_TYPES, recall
from application.reflection.search_mental_models import search_mental_models
from application.reflection.search_observations import search_observations
from domain.memory import QUERY_TOKENS, RecallQuery, beginning
from domain.reflection import SEARCHES, PageShown, ToolCall, ToolName, ToolResult
from domain.scope import FACT_TYPES
from domain.usage import ModelCall

Tool = Callable[[ToolCall, Desk], ToolResult]

TOOLS: Mapping[ToolName, Tool] = {
    "search_mental_models": search_mental_models,
    "read_mental_models": read_mental_models,
    "search_observations": search_observations,
    "recall": recall,
    "expand": expand,
}

NOT_THERE = "there is no tool `{tool}` here; there are: {tools}"
SEARCH_FIRST = "search first: there is nothing yet that this tool could be used on"


class ToolFailed(Exception):
    """A tool could not do its work: a failed retrieval, never an empty one."""

    def __init__(self, message: str, *, transient: bool = False, resume_at: datetime | None = None) -> None:
        super().__init__(message)
        self.transient = transient
        self.resume_at = resume_at


@dataclass(frozen=True)
class Toolbox:
    """`waiting` tells how many facts of a bank wait to be worked into observations; `keeps_texts` whether a bank keeps
    the texts of documents."""

    memory: MemoryStore
    embedder: Embedder
    pages: Pages = NO_PAGES
    texts: SourceTexts | None = None
    recalls: Recalls | None = None
    waiting: Callable[[str], int] = lambda _bank_id: 0
    keeps_texts: Callable[[str], bool] = lambda _bank_id: True
    stopwatch: Callable[[], float] = time.monotonic

    def tools(self, readable: Readable) -> tuple[ToolName, ...]:
        """Those with something behind them in the scope: a tool that can find nothing costs tokens, and a turn."""
        types = readable.scope.fact_types or FACT_TYPES
        found: list[ToolName] = []
        if not readable.exclude_pages and self.pages.any_visible(
            readable.bank_id, readable.scope, readable.excluded_page_ids
        ):
            found += ["search_mental_models", "read_mental_models"]
        if "observation" in types and self._has_observations(readable):
            found.append("search_observations")
        if set(RAW_TYPES) & set(types) or not found:
            found.append("recall")
        if self.texts is not None and self.keeps_texts(readable.bank_id):
            found.append("expand")
        return tuple(found)

    def _has_observations(self, readable: Readable) -> bool:
        scope = readable.scope.model_copy(update={"fact_types": ("observation",)})
        query = RecallQuery(bank_id=readable.bank_id, text="", scope=scope, window=readable.window)
        return self.memory.newest_in_scope(query) is not None

    def desk(self, **known: object) -> Desk:
        fields: dict[str, object] = {
            "memory": self.memory,
            "pages": self.pages,
            "texts": self.texts or NO_TEXTS,
            "recalls": self.recalls,
        }
        return Desk(**{**fields, **known})  # type: ignore[arg-type]

    def run(self, calls: Sequence[ToolCall], desk: Desk, paid: list[ModelCall]) -> list[ToolResult]:
        """The results in the order of the calls; queries are cut to what any recall may be. Calls of the embedder are
        added to `paid`. Raises ToolFailed, and DeadlinePassed."""
        calls = [_short(call) for call in calls]
        ready = self._with_vectors(calls, desk, paid)
        if len(calls) == 1:
            results = [self._run(calls[0], ready)]
        else:
            contexts = [contextvars.copy_context() for _ in calls]
            with ThreadPoolExecutor(max_workers=len(calls), thread_name_prefix="reflect") as threads:
                running = [
                    threads.submit(context.run, self._run, call, ready)
                    for context, call in zip(contexts, calls, strict=True)
                ]
            results = [each.result() for each in running]
        return _each_page_once(results)

    def _with_vectors(self, calls: Sequence[ToolCall], desk: Desk, paid: list[ModelCall]) -> Desk:
        """The queries of the turn embedded, in one go."""
        searching = [call for call in calls if call.tool in SEARCHES and call.tool in desk.question.tools]
        queries = list(dict.fromkeys(call.query for call in searching))
        if not queries:
            return desk
        try:
            embedded = self.embedder.embed(queries)
        except Exception as error:
            raise _failed(searching[0].tool, error, paid) from error
        paid.extend(embedded.calls)
        waiting = self.waiting(desk.readable.bank_id) if "search_observations" in desk.question.tools else 0
        return replace(desk, vectors=dict(zip(queries, embedded.vectors, strict=True)), waiting=waiting)

    def _run(self, call: ToolCall, desk: Desk) -> ToolResult:
        if problem := _problem(call, desk):
            return ToolResult(call=call, problem=problem)
        started = self.stopwatch()
        try:
            result = TOOLS[call.tool](call, desk)
        except Exception as error:
            raise _failed(call.tool, error, []) from error
        took = round((self.stopwatch() - started) * 1000)
        return result.model_copy(update={"duration_ms": took})


def _short(call: ToolCall) -> ToolCall:
    query = beginning(call.query, QUERY_TOKENS)
    return call if query == call.query else call.model_copy(update={"query": query})


def _problem(call: ToolCall, desk: Desk) -> str:
    """Why a call cannot be carried out; the mind is told."""
    if call.tool not in desk.question.tools:
        return NOT_THERE.format(tool=call.tool, tools=", ".join(desk.question.tools))
    if call.tool == "expand" and not desk.results:
        return SEARCH_FIRST
    return ""


def _failed(tool: ToolName, error: Exception, paid: list[ModelCall]) -> Exception:
    """The failure of a retrieval; when time is up, it is not the retrieval that failed."""
    if isinstance(error, DeadlinePassed):
        return error
    if isinstance(error, MindFailed):
        paid.extend(error.calls)
        return ToolFailed(f"{tool} failed: {error}", transient=error.transient, resume_at=error.resume_at)
    return ToolFailed(f"{tool} failed: {type(error).__name__}: {error}")


def _each_page_once(results: Sequence[ToolResult]) -> list[ToolResult]:
    """Of a page that several calls of a turn give whole, the later ones are stubs."""
    seen: set[str] = set()
    once: list[ToolResult] = []
    for result in results:
        pages = []
        for shown in result.pages:
            repeated = shown.form == "whole" and shown.page.mental_model_id in seen
            pages.append(PageShown(page=shown.page, form="stub") if repeated else shown)
            if shown.form == "whole":
                seen.add(shown.page.mental_model_id)
        once.append(result.model_copy(update={"pages": tuple(pages)}) if pages else result)
    return once
