"""An observation as the consolidator works on it: what holds, and what held before, each with its day.

Ada lives in Oslo (since 2024-03-02); before: Ada lives in Rome (2023-01-10)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from uuid import UUID

from adapters.offline.consolidation_claims import Claim, Facet, claim_of
from adapters.offline.consolidation_words import SINCE
from adapters.offline.documents import stamp_of
from domain.consolidation import LONGEST_OBSERVATION, RelatedObservation
from domain.memory import Fact

_DAY = r"\d{4}-\d{2}-\d{2}"
_SINCE = "|".join(sorted({re.escape(since).replace(r"\{\}", f"(?:{_DAY})") for since, _ in SINCE.values()}))
_BEFORE = re.compile(rf"; (?:{'|'.join(sorted({re.escape(before) for _, before in SINCE.values()}))}): ")
_STAMPED = re.compile(rf"(?P<text>.+) \((?:{_SINCE}|{_DAY})\)", re.DOTALL)
_ANY_DAY = re.compile(_DAY)
_EVENT = re.compile(rf"(?P<text>.+) \((?P<stamp>\d{{4}}(?:-\d{{2}}(?:-\d{{2}})?)?|{_DAY} to {_DAY})\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Times:
    """The days (UTC) on which something is known to be so: `first` to `last`, told by when it happened (`happened`) or
    else by when it was said; `said` is when it was said last."""

    first: date
    last: date
    happened: bool
    said: date | None

    def is_before(self, other: Times) -> bool:
        """Whether all of it is surely before the other: not when it happened before and was said after."""
        if self.last >= other.first:
            return False
        if self.happened == other.happened or self.said is None or other.said is None:
            return True
        return self.said <= other.said

    def meets(self, other: Times) -> bool:
        return self.first <= other.last and other.first <= self.last

    def with_those_of(self, other: Times) -> Times:
        said = max(filter(None, (self.said, other.said)), default=None)
        first, last = min(self.first, other.first), max(self.last, other.last)
        return Times(first, last, self.happened and other.happened, said)


def times_of(fact: Fact) -> Times | None:
    """When a fact, or an observation, was so; None when nothing tells."""
    said = _day(fact.mentioned_at)
    first = _day(fact.occurred_start) or _day(fact.occurred_end)
    if first:
        return Times(first, max(first, _day(fact.occurred_end) or first), True, said)
    return Times(said, said, False, said) if said else None


def _day(moment: datetime | None) -> date | None:
    return moment.astimezone(UTC).date() if moment else None


@dataclass(frozen=True, slots=True)
class State:
    """Something that is or was so."""

    text: str
    claim: Claim
    times: Times | None


def state_of(fact: Fact) -> State:
    return State(fact.text, claim_of(fact.text), times_of(fact))


@dataclass(slots=True)
class History:
    """States, newest first, more than one only if each excludes the next; the facts that are new to it; the names it is
    about. `observation` is None for one that is to be added."""

    states: list[State]
    language: str = "en"
    observation: Fact | None = None
    sources: list[Fact] = field(default_factory=list)
    subjects: set[str] = field(default_factory=set)
    stamp: str = ""
    """When it happened, if that is written with a single state."""

    @classmethod
    def of_observation(cls, related: RelatedObservation) -> History:
        """Read back what this engine wrote; any other text is a single state."""
        observation = related.observation
        times = _known_times(related)
        history = cls([State(observation.text, claim_of(observation.text), times)], observation=observation)
        if written := _read(observation, times):
            history.language, history.states = written
        elif observation.occurred_start and (event := _EVENT.fullmatch(observation.text)):
            history.states = [State(event["text"], claim_of(event["text"]), times)]
            history.stamp = event["stamp"]
        history.subjects = set(subjects_of(observation, *(state.claim for state in history.states)))
        history.subjects.update(*(subjects_of(source, claim_of(source.text)) for source in related.sources))
        return history

    @classmethod
    def of_fact(cls, fact: Fact) -> History:
        state = state_of(fact)
        return cls([state], sources=[fact], subjects=set(subjects_of(fact, state.claim)))

    def with_its_day(self) -> None:
        """Says when it happened, if that is known, to be told from what happened at another time."""
        if len(self.states) == 1 and self.observation is None and not _BEFORE.search(self.states[0].text):
            self.stamp = stamp_of(min(self.sources, key=lambda fact: (fact.occurred_start is None, fact.position)))

    def text(self) -> str:
        """One state as it stands; several with their days."""
        if len(self.states) == 1:
            text = self.states[0].text
            return f"{_without_full_stop(text)} ({self.stamp})" if self.stamp else text
        since, before = SINCE[self.language]
        now, *earlier = ((_without_full_stop(state.text), _first_day(state)) for state in self.states)
        said = [f"{now[0]} ({since.format(now[1])})", *(f"{before}: {text} ({day})" for text, day in earlier)]
        return "; ".join(said)

    # --- what it says already -----------------------------------------------------------------------------------------

    def saying(self, state: State) -> int | None:
        """Which of its states says the same at the same time, or less of it or more; None when none does."""
        for number, mine in enumerate(self.states):
            if (mine.claim.contains(state.claim) or state.claim.contains(mine.claim)) and self._is_time_of(
                number, state
            ):
                return number
        return None

    def _is_time_of(self, number: int, state: State) -> bool:
        mine = self.states[number]
        if mine.times is None or state.times is None:
            return True
        if len(self.states) == 1:
            if mine.claim.lasts or mine.times.meets(state.times):
                return True
            restated = mine.claim.words == state.claim.words
            return restated and not (mine.times.happened and state.times.happened)
        at = self._place(state.times)
        if at == number:
            return True
        # What lasts began earlier than was known; an event would be another one.
        before = self.states[at : at + 1]
        return mine.claim.lasts and at == number + 1 and all(_first_day(each) != state.times.first for each in before)

    def _place(self, times: Times) -> int:
        """Which state held on the first of some days; the number of the states when it was before them all."""
        return next(
            (number for number, state in enumerate(self.states) if _first_day(state) <= times.first), len(self.states)
        )

    def strengthen(self, number: int, state: State, fact: Fact) -> bool:
        """The state is said by a fact too, in more words perhaps; False when there is no room for these."""
        mine = self.states[number]
        more = state if len(state.claim.words) > len(mine.claim.words) else mine
        times = mine.times.with_those_of(state.times) if mine.times and state.times else mine.times or state.times
        return self._become(
            [*self.states[:number], replace(more, times=times), *self.states[number + 1 :]], fact, state
        )

    # --- what it says no longer ---------------------------------------------------------------------------------------

    def changed_by(self, state: State) -> tuple[int, Facet] | None:
        """Where a state belongs among those here, and in what it differs from what it stands next to; None when it
        excludes none of them, or the days do not tell the order."""
        if state.times is None or any(mine.times is None for mine in self.states):
            return None
        at = self._place(state.times)
        older, newer = self.states[at : at + 1], self.states[max(at - 1, 0) : at]
        if not all(mine.times and mine.times.is_before(state.times) for mine in older):
            return None
        if not all(mine.times and state.times.is_before(mine.times) for mine in newer):
            return None
        differing = [mine.claim.excluded_by(state.claim) for mine in (*older, *newer)]
        facet = next(iter(differing), None)
        return (at, facet) if facet else None

    def change(self, at: int, facet: Facet, state: State, fact: Fact) -> bool:
        """One state more; False when there is no room for it."""
        if len(self.states) == 1:
            self.language = facet.language
        return self._become([*self.states[:at], state, *self.states[at:]], fact, state)

    def _become(self, states: Sequence[State], fact: Fact, state: State) -> bool:
        changed = History(list(states), self.language, stamp=self.stamp)
        if len(changed.text()) > max(LONGEST_OBSERVATION, len(self.text())):
            return False
        self.states = list(states)
        self.sources.append(fact)
        self.subjects |= subjects_of(fact, state.claim)
        return True

    # --- order --------------------------------------------------------------------------------------------------------

    def key(self) -> tuple[int, UUID]:
        """Where its first source or itself stands in memory."""
        first = self.observation or min(self.sources, key=lambda fact: (fact.position, fact.id))
        return first.position, first.id

    def source_ids(self) -> tuple[UUID, ...]:
        return tuple(fact.id for fact in sorted(self.sources, key=lambda fact: (fact.position, fact.id)))


def subjects_of(fact: Fact, *claims: Claim) -> frozenset[str]:
    """The names that a fact is about; not those in the value of a facet, which change with it."""
    valued = {" ".join(facet.value) for claim in claims for facet in claim.facets if facet.lasting}
    return frozenset(
        name for entity in fact.entities if (name := entity.casefold()) and not any(name in each for each in valued)
    )


def _known_times(related: RelatedObservation) -> Times | None:
    """The days of an observation: those of its sources if all are given, else those it tells itself."""
    observation, sources = related.observation, related.sources
    if sources and {source.id for source in sources} >= set(observation.source_ids):
        known = [times for times in map(times_of, sources) if times]
        if len(known) == len(sources):
            together = known[0]
            for each in known[1:]:
                together = together.with_those_of(each)
            return together
    return times_of(observation)


def _read(observation: Fact, times: Times | None) -> tuple[str, list[State]] | None:
    """Language and states of a text with a history; None for any other text."""
    text = observation.text
    parts = _BEFORE.split(text)
    states = list(_states(parts))
    if len(parts) < 2 or len(states) < len(parts):
        return None
    now = states[0].times
    if now and times:  # what holds may have been said again since, and is not over before
        states[0] = replace(states[0], times=replace(now, last=max(now.last, times.last), said=times.said))
    written = (name for name, (since, before) in SINCE.items() if _is_written_in(text, since, before))
    return next(written, "en"), states


def _states(parts: Sequence[str]) -> Iterator[State]:
    for part in parts:
        if not (stamped := _STAMPED.fullmatch(part)):
            return
        day = _ANY_DAY.findall(part)[-1]
        try:
            first = date.fromisoformat(day)
        except ValueError:
            return
        yield State(stamped["text"], claim_of(stamped["text"]), Times(first, first, False, None))


def _is_written_in(text: str, since: str, before: str) -> bool:
    stamp = re.escape(since).replace(r"\{\}", _DAY)
    return f"; {before}: " in text and re.search(rf" \({stamp}\); ", text) is not None


def _without_full_stop(text: str) -> str:
    return text.rstrip().rstrip(".。").rstrip() or text


def _first_day(state: State) -> date:
    return state.times.first if state.times else date.min
