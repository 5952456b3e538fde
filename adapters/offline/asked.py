"""What a question asks for, as far as its words tell: about whom, about what, and whether in order of time."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adapters.offline.common_words import NO_NAMES, word_set
from adapters.offline.small_talk import SHORTEST_PET_NAME, is_question, telling_terms
from domain.editing import NewFact
from domain.memory import Fact, estimated_tokens
from domain.terms import terms

MOST_TOLD = 8
"""Telling words of a statement that count; a longer one is no better."""
FEWEST_TOLD = 2
"""Telling words of something said that is worth a line of a page."""
_GENERAL = frozenset(
    terms(
        " ".join(
            word_set(
                "known summary summarise summarize overview information info detail details fact facts important"
                " history event events order chronological chronologically chronology timeline sequence first last"
                " next date dates remember memory memories person people life list describe explain about overall"
                " general main topic topics user users profile learn learned background current currently use used"
                " using"
            )
        )
    )
)
_IN_ORDER = re.compile(r"\b(?:in (?:chronological )?order|chronolog\w*|time ?line|sequence of events)\b", re.IGNORECASE)
_CAPITAL = re.compile(r"(?<!\w)[^\W\d_a-z]\w+")
_OF_YOU = re.compile(r"\byou\b|\byour|^(?:so |very )?(?:glad|happy|proud|good luck)\b", re.IGNORECASE)
_OF_ME = re.compile(r"\b(?:I|my|me|we|our|us)\b")
_SPEAKER = re.compile(r"(?P<name>[^:\n]{1,40}): ")


@dataclass(frozen=True, slots=True)
class Asked:
    """`named` are the names in the question, `names` their terms, `words` those of what else it is about."""

    named: tuple[str, ...]
    names: frozenset[str]
    words: frozenset[str]
    in_order: bool

    @property
    def is_general(self) -> bool:
        """Whether no word tells one fact from another: "What is known about Ada?", "What happened?"."""
        return not self.words


def asked_by(question: str) -> Asked:
    """A capital inside the question makes a name, as it does in any sentence."""
    capitals = [match[0] for match in _CAPITAL.finditer(question) if match.start()]
    named = tuple(dict.fromkeys(word for word in capitals if word.casefold() not in NO_NAMES))
    names = frozenset(term for name in named for term in terms(name))
    return Asked(named, names, telling_terms(question) - _GENERAL - names, bool(_IN_ORDER.search(question)))


def is_about(fact: Fact, names: frozenset[str]) -> bool:
    """Whether a fact has one of the names, or one that is short for it ("Mel" for "Melanie"). In what somebody says, a
    word is none that only addresses the other."""
    had = [term for name in fact.entities for term in terms(name)]
    if not names.isdisjoint(had) or _is_short_for_any(names, had):
        return True
    return not speaker_of(fact) and not names.isdisjoint(terms(fact.text))


def _is_short_for_any(names: Iterable[str], had: Sequence[str]) -> bool:
    return any(len(name) >= SHORTEST_PET_NAME and term.startswith(name) for name in names for term in had)


def speaker_of(fact: Fact) -> str:
    """Who says it: one of its names, before a colon at its beginning; empty when nobody does."""
    said = _SPEAKER.match(fact.text)
    return said["name"] if said and said["name"] in fact.entities else ""


def told_by(fact: Fact) -> int:
    """How much a fact tells: its telling words, up to a number. What somebody asks tells nothing, and what they say of
    the one they speak to half as much: it was that one's to tell."""
    speaker = speaker_of(fact)
    said = fact.text.removeprefix(f"{speaker}: ")
    told = min(len(telling_terms(said)), MOST_TOLD)
    if not speaker:
        return max(told, 1)
    if is_question(said):
        return 0
    return (told + 1) // 2 if _OF_YOU.search(said) and not _OF_ME.search(said) else told


def most_telling_first(facts: Iterable[Fact], *, dated: bool = False) -> list[Fact]:
    """What says most first, of equals in the order given: more words, a date, more proofs. `dated`: what has a date
    before all else."""

    def key(fact: Fact) -> tuple[bool, float]:
        when = fact.occurred_start is not None
        return dated and not when, -(told_by(fact) + 2 * when + min(fact.proof_count, 3))

    return sorted(facts, key=key)


def shares_of_words(facts: Sequence[Fact], words: frozenset[str]) -> list[float]:
    """How much of what was asked for each fact has, from 0 to 1: a word in few of these facts counts for more."""
    had = [words.intersection(terms("\n".join((fact.text, *fact.entities)))) for fact in facts]
    counted = Counter(word for each in had for word in each)
    weights = {word: math.log1p(len(facts) / (1 + counted[word])) for word in words}
    whole = sum(weights.values())
    return [sum(weights[word] for word in each) / whole if whole else 0.0 for each in had]


def worth_adding(asked: Asked, facts: Iterable[NewFact], max_tokens: int) -> tuple[NewFact, ...]:
    """The facts that a page has use for, in their order. Corrections (`was`) and what nobody says all stay. Of what
    people say to each other, which is much and of anything, that stays which tells something, to a general question
    only of those it names: the most telling of it, as far as `max_tokens` (estimated) go."""
    given = tuple(facts)
    spoken = [new.fact for new in given if new.was is None and speaker_of(new.fact)]
    telling = [fact for fact in spoken if told_by(fact) >= FEWEST_TOLD]
    if asked.is_general and asked.names:
        telling = [fact for fact in telling if is_about(fact, asked.names)]
    left, tokens = {fact.id for fact in spoken}, 0
    for fact in most_telling_first(telling, dated=asked.in_order):
        tokens += estimated_tokens(fact.text)
        if tokens > max_tokens:
            break
        left.discard(fact.id)
    return tuple(new for new in given if new.fact.id not in left)
