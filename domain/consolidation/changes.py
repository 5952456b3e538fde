"""What is made of a proposal: changes of the observations of one scope that can be followed, and what was refused.

Nothing that a mind proposes reaches memory but through here. No text is ever cut: what would grow too long stays as it
is, and what is new gets an observation beside it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal
from uuid import UUID

from domain.consolidation.request import (
    ChangedObservation,
    ConsolidationProposal,
    ConsolidationRequest,
    DroppedObservation,
    NewObservation,
)
from domain.consolidation.sameness import about_the_same, bare, joined
from domain.consolidation.scopes import Tags
from domain.memory import Fact
from domain.storable import storable
from domain.value import Value

LONGEST_OBSERVATION = 2000
"""Characters: an observation has to fit in the budget in which related ones are shown, or it would never be again."""
MOST_ENTITIES = 50

Part = Literal["create", "update", "delete", "source"]


class WrittenObservation(Value):
    """An observation as it is to be from now on: a new one, or the next version of the one `before`. Times are those of
    all its sources."""

    before: Fact | None = None
    text: str
    source_ids: tuple[UUID, ...]
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    mentioned_at: datetime | None = None
    entities: tuple[str, ...] = ()


class Refused(Value):
    """A part of a proposal that was not followed, and why."""

    part: Part
    reason: str


class ObservationChanges(Value):
    """What becomes of the observations of a scope; `dropped` ones end."""

    scope: Tags
    written: tuple[WrittenObservation, ...] = ()
    dropped: tuple[Fact, ...] = ()
    refused: tuple[Refused, ...] = ()


def decide(request: ConsolidationRequest, proposal: ConsolidationProposal) -> ObservationChanges:
    """What of a proposal can be followed. It can name only facts and observations of the request, only once to one end;
    an observation that is not named stays as it is."""
    draft = _Draft(request)
    for update in proposal.updates:
        draft.update(update)
    for delete in proposal.deletes:
        draft.delete(delete)
    for create in proposal.creates:
        draft.create(create)
    return draft.changes()


class _Draft:
    def __init__(self, request: ConsolidationRequest) -> None:
        self._request = request
        self._facts = {fact.id: fact for fact in request.facts}
        self._shown = {each.observation.id: each.observation for each in request.related}
        self._updated: dict[UUID, WrittenObservation] = {}
        self._created: list[WrittenObservation] = []
        self._dropped: dict[UUID, Fact] = {}
        self._refused: list[Refused] = []

    def changes(self) -> ObservationChanges:
        changed = tuple(each for key, each in self._updated.items() if _differs(each, self._shown[key]))
        return ObservationChanges(
            scope=self._request.scope,
            written=(*changed, *self._created),
            dropped=tuple(self._dropped.values()),
            refused=tuple(self._refused),
        )

    def update(self, proposed: ChangedObservation) -> None:
        shown = self._shown.get(proposed.observation_id)
        if shown is None:
            return self._refuse("update", f"observation {proposed.observation_id} was not shown")
        text = storable(proposed.text).strip()
        if not text:
            return self._refuse("update", f"the text of observation {shown.id} would be blank")
        sources = self._known(proposed.source_ids, kept=shown.source_ids)
        if not sources:
            return self._refuse("update", f"observation {shown.id} would change without any fact that says so")
        before = self._updated.get(shown.id)
        if before is not None:
            text = joined(before.text, text)
        if len(text) > max(LONGEST_OBSERVATION, len(shown.text)):
            self._refuse("update", f"observation {shown.id} would be longer than {LONGEST_OBSERVATION} characters")
            return self._tell_apart([self._facts[each] for each in sources if each in self._facts])
        facts = [self._facts[each] for each in sources if each in self._facts]
        self._updated[shown.id] = joined_by(before or _as_written(shown), facts, text)
        return None

    def delete(self, proposed: DroppedObservation) -> None:
        gone = self._shown.get(proposed.observation_id)
        if gone is None:
            return self._refuse("delete", f"observation {proposed.observation_id} was not shown")
        if gone.id in self._updated:
            return self._refuse("delete", f"observation {gone.id} is changed as well")
        if gone.id in self._dropped:
            return None
        if proposed.merged_into is not None:
            into = self._shown.get(proposed.merged_into)
            if into is None or into.id == gone.id or into.id in self._dropped:
                return self._refuse("delete", f"observation {gone.id} cannot be merged into {proposed.merged_into}")
            target = self._updated.get(into.id) or _as_written(into)
            self._updated[into.id] = merged(target, _as_written(gone))
        self._dropped[gone.id] = gone
        return None

    def create(self, proposed: NewObservation) -> None:
        text = storable(proposed.text).strip()
        if not text:
            return self._refuse("create", "the text of an observation would be blank")
        facts = [self._facts[each] for each in self._known(proposed.source_ids)]
        if not facts:
            return self._refuse("create", "an observation would rest on no fact")
        if len(text) > LONGEST_OBSERVATION:
            self._refuse("create", f"an observation would be longer than {LONGEST_OBSERVATION} characters")
            return self._tell_apart(facts)
        self._add(text, facts)
        return None

    def _add(self, text: str, facts: Sequence[Fact]) -> None:
        """A new observation, unless one says the same in the same words about the same."""
        new = joined_by(None, facts, text)
        for key, shown in self._shown.items():
            standing = self._updated.get(key) or shown
            if key not in self._dropped and _is_said_by(new, standing):
                self._updated[key] = merged(self._updated.get(key) or _as_written(shown), new)
                return
        for number, created in enumerate(self._created):
            if _is_said_by(new, created):
                self._created[number] = merged(created, new)
                return
        if self._request.room is not None and len(self._created) >= self._request.room:
            self._refuse("create", "the scope has all the observations that it may have")
        else:
            self._created.append(new)

    def _tell_apart(self, facts: Sequence[Fact]) -> None:
        """New observations in the words of the facts, each as long as may be, none of them cut."""
        texts: list[str] = []
        of_text: list[list[Fact]] = []
        for fact in facts:
            if texts and len(texts[-1]) + 1 + len(fact.text) <= LONGEST_OBSERVATION:
                texts[-1] = f"{texts[-1]}\n{fact.text}"
                of_text[-1].append(fact)
            else:
                texts.append(fact.text)
                of_text.append([fact])
        for text, said in zip(texts, of_text, strict=True):
            self._add(text, said)

    def _known(self, source_ids: Iterable[UUID], kept: Sequence[UUID] = ()) -> list[UUID]:
        """Each once; those that the request has not are refused."""
        found: dict[UUID, None] = {}
        for each in source_ids:
            if each in self._facts or each in kept:
                found[each] = None
            else:
                self._refuse("source", f"fact {each} is not one of those asked about")
        return list(found)

    def _refuse(self, part: Part, reason: str) -> None:
        self._refused.append(Refused(part=part, reason=reason))


def absorbed(changes: ObservationChanges, near: Mapping[int, Fact]) -> ObservationChanges:
    """The changes when new observations, by their place in `written`, turn out to say what others say already: those
    rest on their facts too, and keep their text."""
    kept = {number: each for number, each in enumerate(changes.written) if number not in near}
    place = {each.before.id: number for number, each in kept.items() if each.before is not None}
    for number, same in near.items():
        created = changes.written[number]
        if (at := place.get(same.id)) is not None:
            kept[at] = merged(kept[at], created)
        else:
            kept[number] = merged(_as_written(same), created)
            place[same.id] = number
    return changes.model_copy(update={"written": tuple(kept[number] for number in sorted(kept))})


def joined_by(before: WrittenObservation | None, facts: Sequence[Fact], text: str) -> WrittenObservation:
    """An observation that rests on more facts, with another text."""
    of_facts = WrittenObservation(
        text=text,
        source_ids=tuple(fact.id for fact in facts),
        occurred_start=_first(fact.occurred_start or fact.occurred_end for fact in facts),
        occurred_end=_last(fact.occurred_end or fact.occurred_start for fact in facts),
        mentioned_at=_last(fact.mentioned_at for fact in facts),
        entities=_names(name for fact in facts for name in fact.entities),
    )
    return of_facts if before is None else merged(before, of_facts).model_copy(update={"text": text})


def merged(one: WrittenObservation, other: WrittenObservation) -> WrittenObservation:
    """The first, resting on what both rest on."""
    return one.model_copy(
        update={
            "source_ids": tuple(dict.fromkeys((*one.source_ids, *other.source_ids))),
            "occurred_start": _first((one.occurred_start, other.occurred_start)),
            "occurred_end": _last((one.occurred_end, other.occurred_end)),
            "mentioned_at": _last((one.mentioned_at, other.mentioned_at)),
            "entities": _names((*one.entities, *other.entities)),
        }
    )


def _as_written(observation: Fact) -> WrittenObservation:
    return WrittenObservation(
        before=observation,
        text=observation.text,
        source_ids=observation.source_ids,
        occurred_start=observation.occurred_start,
        occurred_end=observation.occurred_end,
        mentioned_at=observation.mentioned_at,
        entities=observation.entities,
    )


def _is_said_by(new: WrittenObservation, other: WrittenObservation | Fact) -> bool:
    return bare(new.text) == bare(other.text) and about_the_same(new.entities, other.entities)


def _differs(written: WrittenObservation, before: Fact) -> bool:
    return written != _as_written(before)


def _names(entities: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(entities))[:MOST_ENTITIES]


def _first(times: Iterable[datetime | None]) -> datetime | None:
    return min((time for time in times if time is not None), default=None)


def _last(times: Iterable[datetime | None]) -> datetime | None:
    return max((time for time in times if time is not None), default=None)
