"""Which memories a document may have been made from, and who may therefore see it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from domain.api_keys.principal import Principal
from domain.event import Recorded
from domain.mental_model.events import MentalModelCreated, TagsChanged, TriggerChanged
from domain.mental_model.record import RefreshRecord
from domain.mental_model.trigger import Trigger
from domain.scope import Scope, TagGroup, TagLeaf, refresh_scope
from domain.scope_inclusion import within


@dataclass(frozen=True, slots=True)
class Origin:
    """The tags of a mental model, what its next refresh would read, and the scopes that its text was made in."""

    tags: tuple[str, ...]
    reads: Scope
    made_in: tuple[Scope, ...] = ()


def reads(tags: tuple[str, ...], trigger: Trigger) -> Scope:
    return refresh_scope(tags, trigger.tags_match, trigger.tag_groups, trigger.fact_types)


def is_visible(principal: Principal, origin: Origin) -> bool:
    """Whether its tags are visible, and all memories that it says something of, or will at its next refresh."""
    visible = principal.scope
    return principal.sees(origin.tags) and all(within(each, visible) for each in (origin.reads, *origin.made_in))


def origins_of(events: Iterable[Recorded]) -> list[Origin]:
    """All that a mental model ever was and was made from, in all lives under its id."""
    tags: tuple[str, ...] = ()
    trigger = Trigger()
    origins: list[Origin] = []
    for recorded in events:
        match recorded.event:
            case MentalModelCreated() as event:
                tags, trigger = event.tags, event.trigger
            case TagsChanged() as event:
                tags = event.tags
            case TriggerChanged() as event:
                trigger = event.trigger
        record: RefreshRecord | None = getattr(recorded.event, "record", None)
        origins.append(Origin(tags, reads(tags, trigger), () if record is None else (record.scope.scope,)))
    return list(dict.fromkeys(origins))


def held_to(groups: tuple[TagGroup, ...], tags: tuple[str, ...], trigger: Trigger) -> Trigger:
    """The trigger of a mental model with these tags, so that it reads nothing but what all groups admit: they are added
    to its own where it would read more. Whoever is held to groups can make a document only narrower."""
    scope = reads(tags, trigger).model_copy(update={"fact_types": None})
    if not groups or within(scope, Scope(tag_groups=groups)):
        return trigger
    own: tuple[TagGroup, ...] = scope.tag_groups or ()
    if scope.tags or scope.tags_match == "exact":
        own = (TagLeaf(tags=scope.tags, match=scope.tags_match),)
    return trigger.model_copy(update={"tag_groups": (*own, *groups)})
