"""API keys: made once, revoked once, and what each of them sees and writes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.api_keys import (
    ApiKey,
    CreateKey,
    Forbidden,
    KeyAlreadyExists,
    KeyCreated,
    KeyNotFound,
    KeyRevoked,
    NoKey,
    Principal,
    RevokeKey,
    decide,
    evolve,
)
from domain.api_keys.decider import NAME_LENGTH
from domain.api_keys.token import NO_DIGEST, digest_of, is_token_of, key_id_of, token_of
from domain.mental_model.events import MentalModelCreated, TagsChanged, TriggerChanged
from domain.mental_model.origins import Origin, held_to, is_visible, origins_of, reads
from domain.mental_model.trigger import Trigger
from domain.refusals import InvalidInput
from domain.scope import Scope, TagLeaf, TagNot, admits
from domain.scope_inclusion import within
from tests.support.examples import NOW, created, later, recorded, written

ID = "0123456789ab"
SECRET = "s" * 43
ASKED = CreateKey(
    key_id=ID, name="Guides", banks=("prague",), tags=("a", "b", "a"), read_only=True, digest="d" * 64, now=NOW
)
MADE = KeyCreated(key_id=ID, name="Guides", banks=("prague",), tags=("a", "b"), read_only=True, digest="d" * 64)

# --- decisions --------------------------------------------------------------------------------------------------------


def test_a_key_is_made_once() -> None:
    assert decide(ASKED, NoKey()) == (MADE,)
    assert isinstance(decide(ASKED, evolve(NoKey(), recorded(MADE))), KeyAlreadyExists)


def test_a_key_is_revoked_once_and_stays_so() -> None:
    assert isinstance(decide(RevokeKey(ID), NoKey()), KeyNotFound)
    live = evolve(NoKey(), recorded(MADE))
    assert decide(RevokeKey(ID), live) == (KeyRevoked(),)
    ended = evolve(live, recorded(KeyRevoked()))
    assert ended == ApiKey(is_revoked=True)
    assert decide(RevokeKey(ID), ended) == ()
    assert isinstance(decide(ASKED, ended), KeyAlreadyExists), "its id is not given to another"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"banks": ()}, "banks"),
        ({"tags": ()}, "tags"),
        ({"banks": ("prague", " ")}, "banks"),
        ({"tags": ("",)}, "tags"),
        ({"tags": tuple(map(str, range(101)))}, "tags"),
        ({"name": "x" * (NAME_LENGTH + 1)}, "name"),
        ({"expires_at": NOW}, "expires_at"),
    ],
)
def test_what_nobody_means_is_refused(changes: dict[str, object], field: str) -> None:
    refused = decide(replace(ASKED, **changes), NoKey())  # type: ignore[arg-type]  # fields by name
    assert isinstance(refused, InvalidInput)
    assert refused.field == field


def test_a_key_may_be_for_everything_and_may_end() -> None:
    asked = replace(ASKED, banks=None, tags=None, expires_at=later(1))
    (made,) = decide(asked, NoKey())  # type: ignore[misc]  # events
    assert isinstance(made, KeyCreated)
    assert (made.banks, made.tags, made.expires_at) == (None, None, NOW + timedelta(minutes=1))


# --- tokens -----------------------------------------------------------------------------------------------------------


def test_a_token_tells_its_id_and_is_known_by_its_digest() -> None:
    told = token_of(ID, SECRET)
    assert told == f"pal_{ID}_{SECRET}"
    assert key_id_of(told) == ID
    assert is_token_of(told, digest_of(told))
    assert not is_token_of(told, digest_of(f"{told}x"))
    assert not is_token_of(told, NO_DIGEST)
    assert digest_of(token_of("ba9876543210", SECRET)) != digest_of(told), "the id is its salt"


@pytest.mark.parametrize(
    "text", ["", "pal_", ID, f"pal_{ID}", f"pal_{ID}_short", f"pal_{ID}_{SECRET}\n", f"pal_{ID.upper()}_{SECRET}"]
)
def test_what_is_no_token_has_no_id(text: str) -> None:
    assert key_id_of(text) is None


def test_parts_that_could_not_be_told_apart_are_no_token() -> None:
    for key_id, secret in (("short", SECRET), (ID, "short"), (ID, "s" * 42 + "\u00e9")):
        with pytest.raises(ValueError, match="hexadecimal"):
            token_of(key_id, secret)


# --- what somebody sees -----------------------------------------------------------------------------------------------

TAGS = st.lists(st.sampled_from("abcd"), unique=True).map(tuple)


@given(held=TAGS.filter(bool), memory=TAGS, asked=st.sampled_from([Scope(), Scope(tags=("a", "c"), tags_match="any")]))
def test_a_scope_is_narrowed_to_what_has_one_of_the_tags(
    held: tuple[str, ...], memory: tuple[str, ...], asked: Scope
) -> None:
    principal = Principal(tags=held)
    seen = admits(principal.narrowed(asked), memory, "world")
    assert seen == (admits(asked, memory, "world") and bool(set(held) & set(memory)))
    assert principal.sees(memory) == admits(principal.scope, memory, "world")


def test_who_is_held_to_nothing_sees_and_writes_all() -> None:
    anybody = Principal()
    assert anybody.narrowed(Scope(tags=("a",))) == Scope(tags=("a",))
    assert anybody.sees(())
    assert anybody.may_enter("any")
    anybody.require_writable((), "It")


def test_what_is_written_has_only_tags_of_the_key_and_at_least_one() -> None:
    principal = Principal(banks=frozenset({"prague"}), tags=("a", "b"))
    principal.require_writable(("a",), "It")
    principal.require_writable(("b", "a"), "It")
    with pytest.raises(Forbidden, match="'c'"):
        principal.require_writable(("a", "c"), "It")
    with pytest.raises(Forbidden, match="no tag"):
        principal.require_writable((), "It")
    assert principal.may_enter("prague")
    assert not principal.may_enter("brno")


# --- documents --------------------------------------------------------------------------------------------------------

HELD = Principal(tags=("a",))


def test_a_document_is_visible_when_all_it_was_made_from_is() -> None:
    own = Scope(tags=("a",), tags_match="all_strict")
    assert is_visible(HELD, Origin(("a",), own))
    assert is_visible(HELD, Origin(("a", "b"), own, (own,)))
    assert not is_visible(HELD, Origin(("b",), own)), "its tags are another's"
    assert not is_visible(HELD, Origin(("a",), Scope(tags=("a",), tags_match="any"))), "it will read what has no tags"
    assert not is_visible(HELD, Origin(("a",), own, (own, Scope()))), "it was made from everything"
    assert is_visible(Principal(), Origin((), Scope()))


def test_every_life_of_a_document_counts() -> None:
    events = [
        created(tags=("b",)),
        written(),
        TagsChanged(tags=("a",)),
        TriggerChanged(trigger=Trigger(tags_match="any")),
    ]
    origins = origins_of(recorded(event) for event in events)
    assert [each.tags for each in origins] == [("b",), ("b",), ("a",), ("a",)]
    assert [each.made_in for each in origins] == [(), (Scope(),), (), ()]
    assert origins[-1].reads == Scope(tags=("a",), tags_match="any")
    assert isinstance(events[0], MentalModelCreated)


LEAF = TagLeaf(tags=("a", "b"))


@given(
    tags=TAGS,
    match=st.sampled_from([None, "any", "all", "any_strict", "all_strict", "exact"]),
    groups=st.sampled_from([None, (LEAF,), (TagNot(none_of=TagLeaf(tags=("a",))),), (TagLeaf(tags=("c",)),)]),
    memory=TAGS,
)
def test_a_trigger_that_is_held_reads_what_it_read_of_what_the_key_sees_and_nothing_else(
    tags: tuple[str, ...], match: str | None, groups: tuple[TagLeaf, ...] | None, memory: tuple[str, ...]
) -> None:
    trigger = Trigger.model_validate({"tags_match": match, "tag_groups": groups})
    held = held_to((LEAF,), tags, trigger)
    before, after = reads(tags, trigger), reads(tags, held)
    expected = admits(before, memory, "world") and bool({"a", "b"} & set(memory))
    assert admits(after, memory, "world") == expected
    assert within(after, Scope(tag_groups=(LEAF,)))
    assert held_to((LEAF,), tags, held) == held, "once is enough"


def test_a_trigger_that_reads_nothing_else_stays_as_it_is() -> None:
    assert held_to((LEAF,), ("a",), Trigger()) == Trigger()
    assert held_to((), (), Trigger()) == Trigger()
