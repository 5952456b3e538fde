"""The changes in a reply, in every form in which models write them. What is no change is refused by itself, with a
reason; the others are taken."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from adapters.llm.aliases import Aliases
from adapters.llm.consolidation_tool import CHANGES, CONSOLIDATE, OPS
from adapters.llm.listed_entries import ListedEntries, excerpt
from adapters.llm.quoted_data import single_line
from adapters.llm.replies import ChatReply, json_in
from domain.consolidation import (
    ChangedObservation,
    ConsolidationProposal,
    ConsolidationRequest,
    DroppedObservation,
    NewObservation,
)

LONGEST_REASON = 300
"""Characters of a reason that are kept."""

_CHANGES: Final = ListedEntries(CONSOLIDATE, CHANGES, OPS, "prose")
_LISTS: Final = {"creates": "create", "updates": "update", "deletes": "delete"}
"""The lists of the system of reference, as some models know them, and what their entries are."""
_OBSERVATION: Final = ("observation", "observation_id", "id")
_FACTS: Final = ("facts", "source_fact_ids")


@dataclass
class ProposedChanges:
    """The changes that can be taken, and what was wrong with the others, one line each."""

    creates: list[NewObservation] = field(default_factory=list)
    updates: list[ChangedObservation] = field(default_factory=list)
    deletes: list[DroppedObservation] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    refused_facts: set[UUID] = field(default_factory=set)
    """Facts of entries that were refused."""
    unread: bool = False
    """Whether something was refused of which it is not known what facts it was about."""

    def loses(self, facts: Iterable[UUID]) -> bool:
        """Whether, without what was refused, a fact may be left out that the model wanted to keep."""
        sources = [each.source_ids for each in self.creates] + [each.source_ids for each in self.updates]
        kept = {fact for ids in sources for fact in ids}
        return bool(self.refused_facts - kept) or (self.unread and not kept.issuperset(facts))

    def proposal(self, **about: Any) -> ConsolidationProposal:
        return ConsolidationProposal(
            creates=tuple(self.creates), updates=tuple(self.updates), deletes=tuple(self.deletes), **about
        )


def changes_in(reply: ChatReply, request: ConsolidationRequest, aliases: Aliases) -> ProposedChanges:
    """All changes of a reply, of however many calls; none for one that says nothing, or `[]`."""
    reading = _Reading(request, aliases)
    for text in [use.arguments for use in reply.tool_uses] or [reply.content]:
        try:
            entries = _entries(text)
        except ValueError as unreadable:
            reading.changes.unread = True
            reading.changes.problems.append(f"{CHANGES}: {unreadable}")
        else:
            for entry in entries:
                reading.take(entry)
    reading.refuse_merges_into_nothing()
    return reading.changes


def _entries(text: str) -> list[Any]:
    """Raises ValueError, with what the text is instead of a list of changes."""
    value = json_in(text)
    if not isinstance(value, dict) or not (_LISTS.keys() & value.keys()):
        return _CHANGES.of(text)
    listed = [(entry, op) for name, op in _LISTS.items() for entry in _listed(value.get(name))]
    return [{"op": op, **entry} if isinstance(entry, Mapping) else entry for entry, op in listed]


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


class _Refused(Exception):
    """An entry is no change."""


class _Reading:
    """Reads entries one after the other; each observation may be in one change."""

    def __init__(self, request: ConsolidationRequest, aliases: Aliases) -> None:
        self.changes = ProposedChanges()
        self._facts = {str(fact.id) for fact in request.facts}
        self._observations = {str(each.observation.id) for each in request.related}
        self._aliases = aliases
        self._changed: set[UUID] = set()

    def take(self, entry: Any) -> None:
        named: list[UUID] = []
        try:
            self._take(entry, named)
        except _Refused as refused:
            self.changes.problems.append(f"{refused}, in {excerpt(entry)}")
            self.changes.refused_facts.update(named)
            is_delete = isinstance(entry, Mapping) and entry.get("op") == "delete"
            self.changes.unread = self.changes.unread or not (named or is_delete)

    def _take(self, entry: Any, named: list[UUID]) -> None:
        """`named` gets the facts of the entry, whether or not it is refused. Raises _Refused."""
        if not isinstance(entry, Mapping):
            raise _Refused("a change must be an object")
        op = entry.get("op")
        uncited = self._aliases.take_out(entry["text"]) if isinstance(entry.get("text"), str) else None
        said = _names(_first(entry, _FACTS)) + [name for _, name in (uncited.cited if uncited else ())]
        named += [UUID(each) for each in self._aliases.ids(said) if each in self._facts]
        reason = single_line(str(entry.get("reason") or ""))[:LONGEST_REASON]
        if op == "delete":
            self._delete(entry, reason)
            return
        if op not in OPS:
            raise _Refused(f"op: must be one of {', '.join(OPS)}")
        if uncited is None or not uncited.text.strip():
            raise _Refused("text: what the observation says is missing")
        if not named:
            raise _Refused("facts: must name one or more of the new facts, as f1")
        text, sources = uncited.text.strip(), tuple(named)
        if op == "create":
            self.changes.creates.append(NewObservation(text=text, source_ids=sources, reason=reason))
        else:
            changed = self._once(self._observation(_first(entry, _OBSERVATION), "observation"))
            self.changes.updates.append(
                ChangedObservation(observation_id=changed, text=text, source_ids=sources, reason=reason)
            )

    def _delete(self, entry: Mapping[str, Any], reason: str) -> None:
        dropped = self._observation(_first(entry, _OBSERVATION), "observation")
        into = entry.get("merged_into")
        target = self._observation(into, "merged_into") if into else None
        if target == dropped:
            raise _Refused("merged_into: an observation cannot be merged into itself")
        self._once(dropped)
        self.changes.deletes.append(DroppedObservation(observation_id=dropped, merged_into=target, reason=reason))

    def _observation(self, name: Any, role: str) -> UUID:
        ids = self._aliases.ids(_names(name))
        if len(ids) != 1 or ids[0] not in self._observations:
            raise _Refused(f"{role}: must be one of the observations shown, as o1")
        return UUID(ids[0])

    def _once(self, observation: UUID) -> UUID:
        if observation in self._changed:
            raise _Refused(f"observation: {self._aliases.name(observation)} is in another change already; make it one")
        self._changed.add(observation)
        return observation

    def refuse_merges_into_nothing(self) -> None:
        """What is deleted takes over no sources: not even that of a ring of merges."""
        gone = {each.observation_id for each in self.changes.deletes}
        kept = []
        for each in self.changes.deletes:
            if each.merged_into in gone:
                name = self._aliases.name(each.merged_into)
                self.changes.problems.append(f"merged_into: {name} is deleted itself; name what is left")
            else:
                kept.append(each)
        self.changes.deletes = kept


def _first(entry: Mapping[str, Any], names: Iterable[str]) -> Any:
    return next((entry[name] for name in names if entry.get(name)), None)


def _names(given: Any) -> list[str]:
    if isinstance(given, str):
        return re.split(r"[\s,;]+", given)
    return [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
