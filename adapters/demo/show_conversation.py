"""A conversation of real people, from what they said to documents and answers, over the REST API; without a model."""

from __future__ import annotations

import difflib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.padding import Padding
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from adapters.demo.client import Client, wait_until_healthy
from adapters.demo.conversations import Conversation, Question, Session

BANK = "demo-conversation"
"""Begun anew by every run."""
DOCUMENT_TOKENS = 600
ANSWER_TOKENS = 250
SHOWN_QUESTIONS = 8
SHOWN_LINES = 14
SHOWN_BLAME = 3
SHOWN_FACTS = 4
POLL_SECONDS = 0.1


def show_conversation(
    address: str, conversation: Conversation, console: Console | None = None, *, stays: bool = False
) -> None:
    """Runs the demo against the service at `address`.

    Two thirds of the sessions are retained before the documents are written, the others after that."""
    console = console or Console()
    wait_until_healthy(address)
    _Demo(Client(address, BANK), conversation, console).run()
    if stays:
        console.print(f"The bank is {BANK}; the whole API: {address}/docs", highlight=False)


class _Demo:
    def __init__(self, client: Client, conversation: Conversation, console: Console) -> None:
        self._client = client
        self._conversation = conversation
        self._console = console
        self._seconds: dict[str, float] = {}
        self._tokens = 0
        early = max(1, len(conversation.sessions) * 2 // 3)
        self._early, self._late = conversation.sessions[:early], conversation.sessions[early:]

    def run(self) -> None:
        if self._client.there("/stats"):
            self._client.ask("DELETE", "")
        said = f"{len(self._conversation.sessions)} sessions, {' and '.join(self._conversation.speakers)}"
        self._console.rule(f"1. A conversation: {self._conversation.name}")
        self._tell(f"{said}; the first {len(self._early)} of them now")
        self._retain(self._early)
        self._count()
        models = _models(self._conversation.speakers)
        for number, (mental_model_id, model) in enumerate(models.items(), start=2):
            self._console.rule(f"{number}. A document: “{model['name']}”")
            self._write(mental_model_id, model)
        self._grow(len(models) + 2, next(reversed(models)))
        self._ask(len(models) + 3)
        self._console.rule(f"{len(models) + 4}. What it took")
        taken = ", ".join(f"{what} {seconds:.1f} s" for what, seconds in self._seconds.items())
        self._tell(f"{taken}; {self._tokens} tokens of language models")

    # --- memory -------------------------------------------------------------------------------------------------------

    def _retain(self, sessions: Sequence[Session]) -> None:
        """Retains a document a session, and waits until all of it is worked into observations."""
        with self._progress() as progress:
            bar = progress.add_task("retaining", total=len(sessions))
            begun = time.monotonic()
            for session in sessions:
                item = {
                    "content": json.dumps(session.turns, ensure_ascii=False),
                    "document_id": session.name,
                    "context": "conversation",
                    "timestamp": session.said_at.isoformat() if session.said_at else "unset",
                }
                retained = self._client.ask("POST", "/memories", {"items": [item]})
                self._tokens += (retained.get("usage") or {}).get("total_tokens", 0)
                progress.advance(bar)
            self._took("retaining", begun)
            begun = time.monotonic()
            self._wait_for_observations(progress)
            self._took("consolidating", begun)

    def _wait_for_observations(self, progress: Progress) -> None:
        stats = self._stats()
        total = max(1, stats["pending_consolidation"])
        bar = progress.add_task("consolidating", total=total)
        while stats["pending_consolidation"] or stats["pending_operations"]:
            progress.update(bar, completed=max(0, total - stats["pending_consolidation"]))
            time.sleep(POLL_SECONDS)
            stats = self._stats()
        progress.update(bar, completed=total)

    def _stats(self) -> dict[str, Any]:
        stats: dict[str, Any] = self._client.ask("GET", "/stats")
        return stats

    def _count(self) -> None:
        observations = list(self._observations())
        facts = self._stats()["total_nodes"] - len(observations)
        merged = sorted((each for each in observations if each["proof_count"] > 1), key=_proofs, reverse=True)
        self._tell(f"{facts} facts, {len(observations)} observations, {len(merged)} of them merged from several facts")
        for each in merged[:2]:
            self._tell(f"  said {each['proof_count']} times: {each['text']}")

    def _observations(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while True:
            page = self._client.ask("GET", f"/memories/list?type=observation&limit=100&offset={len(found)}")["items"]
            if not page:
                return found
            found += page

    # --- documents ----------------------------------------------------------------------------------------------------

    def _write(self, mental_model_id: str, model: Mapping[str, Any]) -> None:
        self._tell(f"It answers: {model['source_query']} (in {DOCUMENT_TOKENS} tokens at most)")
        with self._timed("documents"):
            body = {"id": mental_model_id, "max_tokens": DOCUMENT_TOKENS, **model}
            ended = self._client.finished(self._client.ask("POST", "/mental-models", body)["operation_id"])
        self._tell_outcome(ended)
        self._console.print(Padding(Markdown(_shortened(self._content(mental_model_id))), (1, 0)))

    def _grow(self, number: int, mental_model_id: str) -> None:
        """The sessions that are left, and what they change in the document that is edited."""
        self._console.rule(f"{number}. The sessions that are left: {len(self._late)}")
        if not self._late:
            self._tell("There are none.")
            return
        before = self._content(mental_model_id)
        self._retain(self._late)
        self._count()
        with self._timed("documents"):
            asked = self._client.ask("POST", f"/mental-models/{mental_model_id}/refresh")
            ended = self._client.finished(asked["operation_id"])
        self._tell_outcome(ended)
        self._tell_changes(before, self._content(mental_model_id))
        blamed = self._client.ask("GET", f"/mental-models/{mental_model_id}/blame")["pieces"]
        newest = max((piece["version"] for piece in blamed), default=0)
        for piece in [each for each in blamed if each["version"] == newest and each["facts"] and each["text"]][
            :SHOWN_BLAME
        ]:
            facts = "; ".join(f"“{fact['text']}”" for fact in piece["facts"])
            self._tell(f"{piece['text']}\n  written by the {piece['actor']} in version {newest} on: {facts}")
        latest = self._client.ask("GET", f"/mental-models/{mental_model_id}/events")["items"]
        self._tokens += sum(event["tokens"] for event in latest)

    def _tell_changes(self, before: str, after: str) -> None:
        lines = [
            line
            for line in difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
            if line[:1] in ("+", "-") and not line.startswith(("+++", "---"))
        ]
        gone, new = ([line for line in lines if line.startswith(sign)] for sign in ("-", "+"))
        self._tell(f"New lines: {len(new)}; older ones that made room for them: {len(gone)}")
        for line in [*gone[:2], *new[: SHOWN_LINES - 2]]:
            self._tell(f"  {line}")

    def _content(self, mental_model_id: str) -> str:
        return str(self._client.ask("GET", f"/mental-models/{mental_model_id}")["content"])

    def _tell_outcome(self, ended: Mapping[str, Any]) -> None:
        outcome = (ended.get("details") or {}).get("outcome") or ended["status"]
        error = ended.get("error_message")
        self._tell(f"Outcome: {outcome}{f' ({error})' if error else ''}")

    # --- answers ------------------------------------------------------------------------------------------------------

    def _ask(self, number: int) -> None:
        self._console.rule(f"{number}. Questions")
        questions = _chosen(self._conversation.questions) or (
            Question(f"What is known about {self._conversation.speakers[0]}?", ""),
        )
        table = Table("question", "answer: what was said, and when", "expected", show_lines=True, expand=True)
        for question in questions:
            with self._timed("answers"):
                body = {"query": question.text, "max_tokens": ANSWER_TOKENS, "include": {"facts": {}}}
                answer = self._client.ask("POST", "/reflect", {**body, "exclude_mental_models": True})
            self._tokens += answer["usage"]["total_tokens"]
            table.add_row(Text(question.text), Text(_answer(answer)), Text(_expected(question)))
        self._console.print(table)

    # --- telling ------------------------------------------------------------------------------------------------------

    def _tell(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False)

    def _progress(self) -> Progress:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        return Progress(*columns, console=self._console)

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        begun = time.monotonic()
        yield
        self._took(what, begun)

    def _took(self, what: str, begun: float) -> None:
        self._seconds[what] = self._seconds.get(what, 0.0) + time.monotonic() - begun


def _models(speakers: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The documents by id; the last is edited when more is known."""
    first, last = speakers[0], speakers[-1]
    return {
        "what-happened": {"name": "What happened", "source_query": "What happened, in order?"},
        "about-the-first": {"name": f"About {first}", "source_query": f"What is known about {first}?"},
        "observed": {
            "name": f"{last}, as observed",
            "source_query": f"What does {last} like to do, and with whom?",
            "trigger": {"fact_types": ["observation"]},
        },
        "about-the-last": {
            "name": f"About {last}",
            "source_query": f"What is known about {last}?",
            "trigger": {"mode": "delta"},
        },
    }


def _chosen(questions: Sequence[Question]) -> Sequence[Question]:
    """Some from all over; those about what was never said are a part of them."""
    step = max(1, len(questions) // SHOWN_QUESTIONS)
    return questions[::step][:SHOWN_QUESTIONS]


def _answer(answer: Mapping[str, Any]) -> str:
    if not answer["answer_found"]:
        return f"(none: {answer.get('no_answer_reason') or answer['text']})"
    said = [f"{fact['text']} [{_day(fact)}]" for fact in answer["based_on"]["memories"]]
    more = [f"({len(said) - SHOWN_FACTS} more)"] if len(said) > SHOWN_FACTS else []
    return "\n".join([*said[:SHOWN_FACTS], *more]) or str(answer["text"])


def _day(fact: Mapping[str, Any]) -> str:
    """On which it was said."""
    return (fact.get("mentioned_at") or "no date")[:10]


def _expected(question: Question) -> str:
    return "(it was never said)" if question.expected is None else question.expected


def _proofs(observation: Mapping[str, Any]) -> int:
    return int(observation["proof_count"])


def _shortened(markdown: str) -> str:
    lines = markdown.splitlines()
    left = len(lines) - SHOWN_LINES
    return markdown if left <= 0 else "\n".join([*lines[:SHOWN_LINES], "", f"*({left} more lines)*"])
