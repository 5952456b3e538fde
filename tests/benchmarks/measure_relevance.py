"""What the relevance check sets aside, and what it loses, on conversations with questions and the turns that answer
them: `python -m tests.benchmarks.measure_relevance FILE` (or a folder with one `.json` file of them).

FILE is in the format of LoCoMo (Maharana et al., ACL 2024): a list of conversations, each with dated sessions of turns,
`observation` (facts a language model read, with the turn each rests on) and `qa` (question, category, evidence turns).

A page is made for every question, in the way of the offline engine, of the facts nearest to the question, or of those
of its evidence turns and the turns around them. One evidence turn is held out and then comes as news, as the only new
facts of a delta: it belongs to the page. Turns far from all evidence of the same conversation, and turns of other
conversations, come as news too: they are unrelated, as far as one can tell. Static embeddings, no language model.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np

from adapters.embeddings.static import StaticEmbedder
from adapters.offline.documents import extract_document
from adapters.offline.entities import Names
from adapters.offline.facts import OfflineFactExtractor
from application.ports import RetainSteering
from application.relevance import THRESHOLD, page_of
from domain.document import parse
from domain.memory import ExtractedFact, Fact, RetainItem

ANSWERABLE = (1, 2, 3, 4)
"""Categories of questions that the conversation answers."""
MAX_TOKENS = 2048
AROUND = 2
"""Turns before and after an evidence turn that go into a page with it."""
FAR = 5
"""Turns from any evidence from which a turn of the same conversation counts as unrelated."""
NEGATIVES = 6
"""Unrelated turns of each conversation tried on a page."""
THRESHOLDS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35)
KINDS = ("belongs", "same conversation", "other conversation")
NOW = datetime(2026, 1, 1, tzinfo=UTC)

Vectors = Any
Facts = list[Fact]
Verdict = list[tuple[bool, float]]
"""Of every new fact: whether it shares a telling word with the page, and its similarity."""
Measured = dict[str, list[Verdict]]


@dataclass(frozen=True)
class Turn:
    facts: Facts
    vectors: Vectors


@dataclass(frozen=True)
class Conversation:
    turns: list[Turn]
    questions: list[tuple[str, list[int]]]
    """Text and numbers of the evidence turns."""


Extract = Callable[[Mapping[str, Any]], dict[str, list[ExtractedFact]]]
"""Facts of a conversation by turn."""
Build = Callable[[Conversation, Vectors, list[int], int], Facts]
"""Facts of a page, best first, from: conversation, vector of the question, evidence turns, the one held out."""


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.benchmarks.measure_relevance FILE_OR_FOLDER_WITH_LOCOMO_CONVERSATIONS")
    data = _read(Path(sys.argv[1]))
    named = _tables(data, StaticEmbedder())
    nameless = _tables([_without_speakers(each) for each in data], StaticEmbedder())
    print("With names:\n")
    _print_pages(named)
    _print_sweep(named)
    print("\nWithout the speakers' names:\n")
    _print_pages(nameless)
    _print_sweep(nameless)


def _tables(data: Sequence[Mapping[str, Any]], embedder: StaticEmbedder) -> dict[str, Measured]:
    tables = {}
    for facts, extract in (("sentences", _sentences), ("observations", _observations)):
        conversations = [_conversation(each, extract, embedder) for each in data]
        for page, build in (("20 facts", _nearest(20)), ("60 facts", _nearest(60)), ("neighbours", _neighbours)):
            tables[f"{facts}, {page}"] = _measure(conversations, build, embedder)
    return tables


def _read(path: Path) -> list[Mapping[str, Any]]:
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    for file in files:
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            sys.exit(f"{file} could not be read: {error}")
        if isinstance(data, list) and data and {"conversation", "observation", "qa"} <= set(data[0]):
            return data
    sys.exit(f"no conversations in the format of LoCoMo in {path}: give the file, or the folder that holds it")


# --- conversations ----------------------------------------------------------------------------------------------------


def _conversation(data: Mapping[str, Any], extract: Extract, embedder: StaticEmbedder) -> Conversation:
    by_turn = extract(data)
    ids = [turn["dia_id"] for turn in _turns(data)]
    number_of = {turn_id: number for number, turn_id in enumerate(ids)}
    turns: list[Turn] = []
    position = 0
    for turn_id in ids:
        facts = [_stored(each, position + number) for number, each in enumerate(by_turn.get(turn_id, ()), start=1)]
        position += len(facts)
        turns.append(Turn(facts, _vectors(embedder, [fact.text for fact in facts])))
    questions = []
    for asked in data["qa"]:
        evidence = [number_of[each] for each in asked["evidence"] if each in number_of]
        evidence = [number for number in evidence if turns[number].facts]
        if asked["category"] in ANSWERABLE and evidence:
            questions.append((str(asked["question"]), evidence))
    return Conversation(turns, questions)


def _turns(data: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    sessions = [key for key in data["conversation"] if re.fullmatch(r"session_\d+", key)]
    for session in sorted(sessions, key=lambda key: int(key.removeprefix("session_"))):
        yield from data["conversation"][session]


def _without_speakers(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The same conversation with nobody's name in it, as facts about a thing are: the check loses its best hint."""
    speakers = [data["conversation"][key] for key in ("speaker_a", "speaker_b")]
    short = [name[:3] for name in speakers if len(name) > 5]
    names = re.compile(rf"\b(?:{'|'.join(map(re.escape, (*speakers, *short)))})\b(?:['’]s)?:? ?")

    def cleaned(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: cleaned(each) for key, each in value.items()}
        if isinstance(value, list):
            return [cleaned(each) for each in value]
        return names.sub("", value) if isinstance(value, str) else value

    return {**data, **{key: cleaned(data[key]) for key in ("conversation", "observation", "qa")}}


def _sentences(data: Mapping[str, Any]) -> dict[str, list[ExtractedFact]]:
    """What the offline engine reads out of each turn."""
    extractor = OfflineFactExtractor()
    return {
        turn["dia_id"]: list(
            extractor.extract(RetainItem(content=_as_spoken(turn)), steering=RetainSteering(), now=NOW).facts
        )
        for turn in _turns(data)
    }


def _as_spoken(turn: Mapping[str, str]) -> str:
    said = turn["text"] or "..."
    return f"{turn['speaker']}: {said}" if turn["speaker"] else said


def _observations(data: Mapping[str, Any]) -> dict[str, list[ExtractedFact]]:
    """What a language model read out of each turn, as the data has it."""
    said = [
        (text, turn)
        for session in data["observation"].values()
        for observations in session.values()
        for text, turns in observations
        for turn in ([turns] if isinstance(turns, str) else turns)
    ]
    names = Names(text for text, _ in said)
    found: dict[str, list[ExtractedFact]] = defaultdict(list)
    for text, turn in said:
        found[turn].append(ExtractedFact(text=text, entities=names.find(text)))
    return found


def _stored(fact: ExtractedFact, position: int) -> Fact:
    return Fact(
        id=UUID(int=position),
        version=1,
        position=position,
        text=fact.text,
        fact_type=fact.fact_type,
        entities=fact.entities,
        recorded_at=NOW,
    )


def _vectors(embedder: StaticEmbedder, texts: Sequence[str]) -> Vectors:
    return np.array(embedder.embed(texts).vectors, dtype=np.float32).reshape(len(texts), embedder.dimensions)


# --- pages ------------------------------------------------------------------------------------------------------------


def _nearest(most: int) -> Build:
    """As the offline engine answers: the facts nearest to the question."""

    def build(conversation: Conversation, question: Vectors, evidence: list[int], held_out: int) -> Facts:
        del evidence
        others = [turn for number, turn in enumerate(conversation.turns) if number != held_out]
        facts = [fact for turn in others for fact in turn.facts]
        similarities = np.concatenate([turn.vectors for turn in others]) @ question
        return [facts[number] for number in np.argsort(-similarities)[:most]]

    return build


def _neighbours(conversation: Conversation, question: Vectors, evidence: list[int], held_out: int) -> Facts:
    """The evidence turns and those around them."""
    del question
    near = {number + step for number in evidence for step in range(-AROUND, AROUND + 1)} - {held_out}
    turns = [conversation.turns[number] for number in sorted(near) if 0 <= number < len(conversation.turns)]
    return [fact for turn in turns for fact in turn.facts]


def _measure(conversations: Sequence[Conversation], build: Build, embedder: StaticEmbedder) -> Measured:
    chance = random.Random(5)
    measured: Measured = {kind: [] for kind in KINDS}
    for conversation in conversations:
        for question, evidence in conversation.questions:
            held_out = chance.choice(evidence)
            facts = build(conversation, _vectors(embedder, [question])[0], evidence, held_out)
            page = page_of("", question, parse(extract_document("", facts, MAX_TOKENS).markdown))
            vectors = _vectors(embedder, page.texts)

            def verdict(turn: Turn, page: Any = page, vectors: Vectors = vectors) -> Verdict:
                similarities = (turn.vectors @ vectors.T).max(axis=1)
                return [
                    (page.shares_a_telling_word(fact), float(near))
                    for fact, near in zip(turn.facts, similarities, strict=True)
                ]

            measured["belongs"].append(verdict(conversation.turns[held_out]))
            for other in conversations:
                same = other is conversation
                close = {number + step for number in evidence for step in range(-FAR, FAR + 1)} if same else set()
                far = [turn for number, turn in enumerate(other.turns) if turn.facts and number not in close]
                kind = "same conversation" if same else "other conversation"
                measured[kind].extend(map(verdict, chance.sample(far, NEGATIVES)))
    return measured


# --- figures ----------------------------------------------------------------------------------------------------------


def _set_aside(verdicts: Sequence[Verdict], threshold: float, *, by_words: bool = True) -> float:
    """Share of the turns of which no fact is near, as RelevanceCheck decides, or as if it did not look at words."""
    aside = [all(near < threshold and not (by_words and tells) for tells, near in verdict) for verdict in verdicts]
    return sum(aside) / len(aside)


def _print_pages(tables: Mapping[str, Measured]) -> None:
    print("| new facts, page | pages | read of what belongs | set aside, same conversation | set aside, others |")
    print("| --- | --- | --- | --- | --- |")
    for name, measured in tables.items():
        lost, same, other = (_set_aside(measured[kind], THRESHOLD) for kind in KINDS)
        print(f"| {name} | {len(measured['belongs'])} | {1 - lost:.1%} | {same:.1%} | {other:.1%} |")


def _print_sweep(tables: Mapping[str, Measured]) -> None:
    """The mean over the kinds of pages, and the worst of them for what belongs."""
    print("\n| threshold | read of what belongs (worst) | set aside, same conversation | set aside, others |")
    print("| --- | --- | --- | --- |")
    for by_words in (True, False):
        for threshold in THRESHOLDS:
            aside = {
                kind: [_set_aside(measured[kind], threshold, by_words=by_words) for measured in tables.values()]
                for kind in KINDS
            }
            lost, same, other = (sum(aside[kind]) / len(aside[kind]) for kind in KINDS)
            worst = 1 - max(aside["belongs"])
            name = f"{threshold}{'' if by_words else ', without words'}"
            print(f"| {name} | {1 - lost:.1%} ({worst:.1%}) | {same:.1%} | {other:.1%} |")


if __name__ == "__main__":
    main()
