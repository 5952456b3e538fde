"""How well recall finds: `make bench-recall` prints a table of what ships, arm by arm and fused.

Long conversations with questions whose evidence is known (LoCoMo, in the data folder that CORPUS_DIR names): each turn
is retained as one memory with its session's time, each session is a document; a question is recalled at the time of the
last session. The figure is the share of a question's evidence turns among the first 5, 10 and 20 facts, averaged over
the questions of categories 1 to 4; those of category 5 have no answer.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from statistics import mean
from typing import Any

from adapters.embeddings.static import StaticEmbedder
from adapters.offline.dates import first_period
from adapters.offline.entities import Names
from adapters.postgres.database import Database
from application.ports import EmbeddedFact
from domain.memory import ExtractedFact
from domain.recall.embedded_text import embedded_text
from tests.benchmarks.bench_memory import fresh_database
from tests.support.memories import BankMemory, document

CORPUS = Path(os.environ.get("CORPUS_DIR", Path(__file__).parents[3] / "shared" / "data")) / "locomo-dev.json"
DEPTHS = (5, 10, 20)
CATEGORIES = {1: "several turns", 2: "time", 3: "inference", 4: "one turn"}
RANK_OFFSET = 60


@dataclass(frozen=True)
class Turn:
    turn_id: str
    speaker: str
    text: str
    session: str
    said_at: datetime


@dataclass(frozen=True)
class Question:
    text: str
    evidence: frozenset[str]
    category: int


@dataclass(frozen=True)
class Conversation:
    name: str
    turns: Sequence[Turn]
    questions: Sequence[Question]


Ranking = Sequence[str]
"""Ids of turns, best first."""
Recall = Callable[[Question], Ranking]


def conversations() -> list[Conversation]:
    """The conversations of the corpus. Evidence that names no turn is left out, with its question when it is all."""
    return [_conversation(each) for each in json.loads(CORPUS.read_text(encoding="utf-8"))]


def _conversation(raw: Mapping[str, Any]) -> Conversation:
    talk = raw["conversation"]
    sessions = sorted((key for key in talk if re.fullmatch(r"session_\d+", key)), key=lambda key: int(key[8:]))
    turns = [
        Turn(turn["dia_id"], turn["speaker"], turn["text"], session, _moment(talk[f"{session}_date_time"]))
        for session in sessions
        for turn in talk[session]
    ]
    known = {turn.turn_id for turn in turns}
    questions = [
        Question(each["question"], evidence, each["category"])
        for each in raw["qa"]
        if each["category"] in CATEGORIES
        and (evidence := frozenset(re.findall(r"D\d+:\d+", " ".join(each["evidence"]))) & known)
    ]
    return Conversation(raw["sample_id"], turns, questions)


def _moment(text: str) -> datetime:
    return datetime.strptime(text.strip(), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


class Memory:
    """One conversation retained in a bank of its own."""

    def __init__(self, database: Database, conversation: Conversation, embedder: StaticEmbedder) -> None:
        self._embedder = embedder
        self._bank = BankMemory(database, conversation.name, model=embedder.model, dimensions=embedder.dimensions)
        self._now = conversation.turns[-1].said_at
        self._turn_of = {f"{turn.speaker}: {turn.text}": turn.turn_id for turn in conversation.turns}
        for session, turns in groupby(conversation.turns, key=lambda turn: turn.session):
            said = list(turns)
            facts = [self._fact(turn) for turn in said]
            self._bank.retain(document(session, *facts, timestamp=said[0].said_at), at=self._now)

    def _fact(self, turn: Turn) -> EmbeddedFact:
        names = Names([turn.text], [turn.speaker]).find(turn.text)
        fact = ExtractedFact(text=f"{turn.speaker}: {turn.text}", entities=names)
        return EmbeddedFact(fact, self._embedder.embed([embedded_text(fact, turn.said_at)]).vectors[0])

    def recall(self, question: Question, *, by_meaning: bool = True, dated: bool = True, **chosen: Any) -> Ranking:
        vector = self._embedder.embed([question.text]).vectors[0] if by_meaning else ()
        period = first_period(question.text, self._now) if dated else None
        return [self._turn_of[text] for text in self._bank.texts(question.text, vector, period=period, **chosen)]

    def by_word(self, question: Question) -> Ranking:
        return self.recall(question, by_meaning=False, dated=False, by_links=False)

    def by_meaning(self, question: Question) -> Ranking:
        return self.recall(question, dated=False, by_word=False, by_links=False)

    def by_both_ranks(self, question: Question) -> Ranking:
        """Reciprocal rank fusion of the two: what the fusion of scores is measured against."""
        scores: dict[str, float] = {}
        for ranking in (self.by_word(question), self.by_meaning(question)):
            for rank, turn_id in enumerate(ranking, start=1):
                scores[turn_id] = scores.get(turn_id, 0.0) + 1 / (RANK_OFFSET + rank)
        return sorted(scores, key=lambda turn_id: -scores[turn_id])

    def ways(self) -> dict[str, Recall]:
        """By name, each with one arm more than the one before."""
        return {
            "by word alone (BM25)": self.by_word,
            "by meaning alone": self.by_meaning,
            "both, reciprocal ranks fused": self.by_both_ranks,
            "both, scores fused": lambda each: self.recall(each, dated=False, by_links=False),
            "... and time": lambda each: self.recall(each, by_links=False),
            "... and links and names: recall as it ships": self.recall,
            "all but words": lambda each: self.recall(each, by_word=False),
            "all but meaning": lambda each: self.recall(each, by_meaning=False),
            "all but time": lambda each: self.recall(each, dated=False),
        }


def share_found(question: Question, ranking: Ranking, depth: int) -> float:
    return len(question.evidence & set(ranking[:depth])) / len(question.evidence)


def measure() -> None:
    """Prints the table."""
    talks, embedder = conversations(), StaticEmbedder()
    found: dict[str, list[tuple[str, Question, Ranking]]] = {}
    with fresh_database() as conninfo, Database(conninfo) as database:
        for talk in talks:
            for way, recall in Memory(database, talk, embedder).ways().items():
                found.setdefault(way, []).extend((talk.name, each, recall(each)) for each in talk.questions)
    names = [talk.name for talk in talks]
    turns, questions = (sum(map(len, each)) for each in zip(*((it.turns, it.questions) for it in talks), strict=True))
    print(f"{turns} memories, {questions} questions\n")
    heads = [*(f"@{depth}" for depth in DEPTHS), *(f"{name} @10" for name in names)]
    heads += [f"{what} @10" for what in CATEGORIES.values()]
    print(f"| recall | {' | '.join(heads)} |\n| --- |{' --- |' * len(heads)}")
    for way, rows in found.items():
        figures = [_mean(rows, depth) for depth in DEPTHS]
        figures += [_mean([row for row in rows if row[0] == name], 10) for name in names]
        figures += [_mean([row for row in rows if row[1].category == category], 10) for category in CATEGORIES]
        print(f"| {way} | {' | '.join(f'{figure:.3f}' for figure in figures)} |")


def _mean(rows: Sequence[tuple[str, Question, Ranking]], depth: int) -> float:
    return mean(share_found(question, ranking, depth) for _, question, ranking in rows)


if __name__ == "__main__":
    if not CORPUS.is_file():
        sys.exit(f"{CORPUS} is missing; name the folder with CORPUS_DIR")
    measure()
