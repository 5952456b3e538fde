"""Curation: what a person does to single facts and to the facts of a document.

Rules: the contract's UpdateMemoryRequest and UpdateDocumentRequest. Observations are made of facts: who wants another
observation curates the facts that it rests on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from domain.entities import folded
from domain.memory import Fact, ObservationScopes
from domain.memory_defense import Action, defense_of
from domain.redaction import redacted, secrets_in
from domain.refusals import InvalidInput
from domain.retain import Part
from domain.value import Value


class FactEdit(Value):
    """What is to change of a fact: the fields that are set. None clears a time or the context."""

    text: str | None = None
    context: str | None = None
    occurred_start: datetime | None = None
    occurred_end: datetime | None = None
    mentioned_at: datetime | None = None
    fact_type: Literal["world", "experience"] | None = None
    entities: tuple[str, ...] | None = None

    def changes(self) -> dict[str, Any]:
        """By field of the fact; a text, a type or names that are None say nothing."""
        given = {name: getattr(self, name) for name in self.model_fields_set}
        return {name: value for name, value in given.items() if value is not None or name not in _NEVER_NONE}


_NEVER_NONE = ("text", "fact_type", "entities")


class CuratedFact(Value):
    """A fact with its state: one that is invalidated is in no recall and under no observation, but can be restored."""

    fact: Fact
    invalidated_at: datetime | None = None
    reason: str | None = None

    @property
    def valid(self) -> bool:
        return self.invalidated_at is None


class DocumentEdit(Value):
    """What is to change of a document and all its facts: the fields that are set. `tags` replace all that are there."""

    tags: tuple[str, ...] = ()
    observation_scopes: ObservationScopes | None = None


def screened(edit: FactEdit, policy: Mapping[str, Any] | None) -> FactEdit:
    """The edit as it may be stored under the bank's memory_defense. Raises InvalidInput for one that is blocked."""
    action = defense_of(policy)
    safe: dict[str, Any] = {
        name: value and _screened(name, value, action) for name, value in edit.changes().items() if name in _TEXTS
    }
    if edit.entities is not None:
        safe["entities"] = tuple(_screened("entities", name, action) for name in edit.entities)
    return edit.model_copy(update=safe)


def screened_reason(reason: str | None, policy: Mapping[str, Any] | None) -> str | None:
    """The same for the reason of an invalidation."""
    return reason and _screened("reason", reason, defense_of(policy))


_TEXTS = ("text", "context")


def _screened(field: str, text: str, action: Action | None) -> str:
    if action is None:
        return text
    if action == "block" and (kinds := secrets_in(text)):
        raise InvalidInput(
            field,
            f"the bank's memory_defense blocks this text, for it holds secrets ({', '.join(kinds)}); take them out",
        )
    return redacted(text)


def edited(fact: Fact, edit: FactEdit) -> Fact | None:
    """The fact as it is to be; None when that is how it is. Raises InvalidInput when it would then end before it
    starts."""
    after = fact.model_copy(update=edit.changes())
    if after == fact:
        return None
    given = (after.occurred_start, after.occurred_end)
    if given != (fact.occurred_start, fact.occurred_end) and all(given) and given[1] < given[0]:  # type: ignore[operator]
        field = "occurred_end" if "occurred_end" in edit.model_fields_set else "occurred_start"
        raise InvalidInput(field, "occurred_end lies before occurred_start")
    return after


def needs_new_vector(before: Fact, after: Fact) -> bool:
    """Whether what is embedded of a fact changed: its text, and the time that goes with it."""
    return (before.text, before.occurred_start, before.mentioned_at) != (
        after.text,
        after.occurred_start,
        after.mentioned_at,
    )


def retagged(fact: Fact, edit: DocumentEdit, document_tags: Sequence[str]) -> Fact | None:
    """A fact of a document as it is to be after the document's edit; None when that is how it is.

    Tags that are labels of the fact were read out of it, not given to the document: they stay. A tag that was only
    renamed is renamed in scopes that were listed one by one as well."""
    tags = fact.tags
    if "tags" in edit.model_fields_set:
        tags = tuple(sorted({*edit.tags, *_label_tags(fact, document_tags)}))
    scopes = _scopes(fact.observation_scopes, edit, document_tags)
    after = fact.model_copy(update={"tags": tags, "observation_scopes": scopes})
    return None if after == fact else after


def _label_tags(fact: Fact, document_tags: Sequence[str]) -> set[str]:
    names = {folded(name) for name in fact.entities if ":" in name}
    return {tag for tag in fact.tags if folded(tag) in names and tag not in document_tags}


def given_again(parts: Sequence[Part], edit: DocumentEdit, document_tags: Sequence[str]) -> tuple[Part, ...]:
    """The parts of a document after its edit: when it is read again, its items are given what the edit says."""
    return tuple(
        part.model_copy(
            update={
                "items": tuple(
                    item.model_copy(update={"given": _given(item.given, edit, document_tags)}) for item in part.items
                )
            }
        )
        for part in parts
    )


def _given(given: Mapping[str, Any], edit: DocumentEdit, document_tags: Sequence[str]) -> dict[str, Any]:
    before = DocumentEdit.model_validate({name: given[name] for name in DocumentEdit.model_fields if name in given})
    others_tags = "tags" in edit.model_fields_set and set(edit.tags) != set(before.tags)
    after = DocumentEdit(
        tags=edit.tags if others_tags else before.tags,
        observation_scopes=_scopes(before.observation_scopes, edit, document_tags),
    )
    others = {name: value for name, value in given.items() if name not in DocumentEdit.model_fields}
    return {**others, **after.model_dump(mode="json", exclude_defaults=True)}


def _scopes(
    scopes: ObservationScopes | None, edit: DocumentEdit, document_tags: Sequence[str]
) -> ObservationScopes | None:
    if "observation_scopes" in edit.model_fields_set:
        scopes = edit.observation_scopes
    renamed = _renamed(document_tags, edit.tags) if "tags" in edit.model_fields_set else None
    if renamed is None or not isinstance(scopes, tuple):
        return scopes
    old, new = renamed
    return tuple(tuple(new if tag == old else tag for tag in tags) for tags in scopes)


def _renamed(before: Sequence[str], after: Sequence[str]) -> tuple[str, str] | None:
    """The one tag that went and the one that came; None when it is not one of each."""
    gone, come = set(before) - set(after), set(after) - set(before)
    return (gone.pop(), come.pop()) if len(gone) == len(come) == 1 else None


class ErasedFacts(Value):
    """What a deletion took away: facts of the kinds asked for, of which documents, and the observations that went with
    them."""

    facts: int
    observations: int = 0
    document_ids: tuple[str, ...] = ()
