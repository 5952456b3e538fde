"""The consolidator that needs no model: what is said again strengthens an observation, what has changed is kept with
what held before, and everything else is observed as it was said."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import date
from itertools import islice
from uuid import UUID

from adapters.offline.consolidation_claims import Words, claim_of
from adapters.offline.consolidation_history import History, State, state_of, subjects_of
from domain.consolidation import (
    ChangedObservation,
    ConsolidationProposal,
    ConsolidationRequest,
    DroppedObservation,
    NewObservation,
    RelatedObservation,
    about_the_same,
)
from domain.memory import Fact

_MOST_EXCLUDED = 32
"""Observations about the same that a fact is compared with."""


class OfflineConsolidator:
    """Every fact becomes the source of exactly one observation, unless there is no room for another one:

    - of one that says the same, or less, or more, about the same time;
    - of one that it excludes, as "Ada lives in Oslo" excludes "Ada lives in Rome", when days tell which came first:
      that one then says what holds, and what held before;
    - else of a new one in its words.

    The order of the facts in a request changes nothing, nor does asking again what was done."""

    engine = "offline"
    deterministic = True

    def consolidate(self, request: ConsolidationRequest) -> ConsolidationProposal:
        """Never fails and costs nothing. Of new observations for which there is no room the best proved come first."""
        known = _Known()
        deletes = tuple(_merged(known, request.related))
        for state, fact in sorted(((state_of(fact), fact) for fact in _once(request.facts)), key=_in_order_of_time):
            _place(known, state, fact)
        known.tell_apart()
        changed = sorted((each for each in known.histories if each.sources), key=History.key)
        return ConsolidationProposal(
            creates=tuple(map(_new, _with_room([each for each in changed if not each.observation], request.room))),
            updates=tuple(_changed(each, each.observation) for each in changed if each.observation),
            deletes=deletes,
        )


class _Known:
    """Observations, found by what they say: the whole of it, a part of it, or what it is about."""

    def __init__(self) -> None:
        self.histories: list[History] = []
        self._saying: dict[Words, list[History]] = defaultdict(list)
        self._saying_more: dict[Words, list[History]] = defaultdict(list)
        self._about: dict[tuple[object, ...], list[History]] = defaultdict(list)
        self._written: dict[Words, History] = {}

    def add(self, history: History) -> None:
        self.histories.append(history)
        if len(history.states) > 1 or history.stamp:
            self._written.setdefault(claim_of(history.text()).words, history)
        for state in history.states:
            self.index(history, state)

    def index(self, history: History, state: State) -> None:
        """It says this state from now on."""
        self._saying[state.claim.words].append(history)
        for part in state.claim.parts():
            self._saying_more[part].append(history)
        for facet in state.claim.facets:
            self._about[facet.key].append(history)

    def written_as(self, state: State) -> History | None:
        """What was written in these words as a whole, history and days included, when it became known."""
        return self._written.get(state.claim.words)

    def tell_apart(self) -> None:
        """Of what would be said in the same words, what is new says when it happened."""
        saying: dict[Words, list[History]] = defaultdict(list)
        for history in self.histories:
            if len(history.states) == 1:
                saying[history.states[0].claim.words].append(history)
        for alike in saying.values():
            if len(alike) > 1:
                for history in alike:
                    history.with_its_day()

    def akin_in_words(self, state: State) -> Iterator[History]:
        """What may say the same, then more, then less; the newest first."""
        yield from reversed(self._saying.get(state.claim.words, ()))
        yield from reversed(self._saying_more.get(state.claim.words, ()))
        for part in state.claim.parts():
            yield from reversed(self._saying.get(part, ()))

    def akin_in_facet(self, state: State) -> Iterator[History]:
        """What may be excluded, the newest first; of very many the older ones stay as they are."""
        for facet in state.claim.facets:
            yield from islice(reversed(self._about.get(facet.key, ())), _MOST_EXCLUDED)


def _place(known: _Known, state: State, fact: Fact) -> None:
    """The fact becomes a source of what is known, or is known from now on."""
    about = subjects_of(fact, state.claim)
    for history in known.akin_in_words(state):
        said = history.saying(state) if _may_be_the_same(history, about) else None
        if said is not None and history.strengthen(said, state, fact):
            known.index(history, state)
            return
    for history in known.akin_in_facet(state):
        changed = history.changed_by(state) if _may_be_the_same(history, about) else None
        if changed and history.change(*changed, state, fact):
            known.index(history, state)
            return
    if copied := known.written_as(state):
        copied.sources.append(fact)
    else:
        known.add(History.of_fact(fact))


def _may_be_the_same(history: History, about: frozenset[str]) -> bool:
    return about_the_same(history.subjects, about)


def _merged(known: _Known, related: Iterable[RelatedObservation]) -> Iterator[DroppedObservation]:
    """Makes the observations known, the ones that say most first, without those whose whole content others have."""
    given = {each.observation.id: each for each in related}.values()
    for history in sorted(map(History.of_observation, given), key=_most_said_first):
        whole = next((other for other in known.akin_in_words(history.states[0]) if _says_all(other, history)), None)
        if whole and whole.observation and history.observation:
            yield DroppedObservation(
                observation_id=history.observation.id,
                merged_into=whole.observation.id,
                reason="another observation says all of it",
            )
        else:
            known.add(history)


def _most_said_first(history: History) -> tuple[int, int, tuple[int, UUID]]:
    words = sum(len(state.claim.words) for state in history.states)
    proofs = history.observation.proof_count if history.observation else 0
    return -words, -proofs, history.key()


def _says_all(other: History, history: History) -> bool:
    if not _may_be_the_same(other, frozenset(history.subjects)):
        return False
    said = [(other.saying(state), state) for state in history.states]
    return all(number is not None and other.states[number].claim.contains(state.claim) for number, state in said)


def _once(facts: Iterable[Fact]) -> Iterable[Fact]:
    return {fact.id: fact for fact in facts if fact.text.strip()}.values()


def _in_order_of_time(placed: tuple[State, Fact]) -> tuple[date, str, int, UUID]:
    """Facts of which no day is known come last: they fit what any of the others has made."""
    state, fact = placed
    return state.times.first if state.times else date.max, fact.text, fact.position, fact.id


def _with_room(new: list[History], room: int | None) -> list[History]:
    if room is None or len(new) <= room:
        return new
    best = sorted(new, key=lambda history: (-len(history.sources), history.key()))[: max(room, 0)]
    return sorted(best, key=History.key)


def _new(history: History) -> NewObservation:
    reason = "said for the first time" if len(history.sources) == 1 else f"said by {len(history.sources)} facts"
    return NewObservation(text=history.text(), source_ids=history.source_ids(), reason=reason)


def _changed(history: History, observation: Fact) -> ChangedObservation:
    text = history.text()
    reason = "said again" if text == observation.text else "said in more words, or otherwise since"
    return ChangedObservation(observation_id=observation.id, text=text, source_ids=history.source_ids(), reason=reason)
