"""How far each document has read its bank, and in which scope: what tells a stale document from a fresh one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from domain.event import Recorded
from domain.mental_model.events import (
    ContentCleared,
    ContentPreservedNoNewFacts,
    ContentReverted,
    ContentUnchanged,
    ContentWritten,
    MentalModelCreated,
    MentalModelDeleted,
    TagsChanged,
    TriggerChanged,
)
from domain.mental_model.record import RefreshRecord
from domain.mental_model.trigger import Trigger
from domain.scope import Scope, admits, refresh_scope, same, staleness_scope
from projections.projection import OLDER, Projection, Query, Row, Statement, model_key

DDL = """
CREATE TABLE staleness (
    bank_id text NOT NULL,
    mental_model_id text NOT NULL,
    version bigint NOT NULL,
    covered bigint NOT NULL,
    covered_scope text,
    made_in text[] NOT NULL DEFAULT '{}',
    ever_made_in text[] NOT NULL DEFAULT '{}',
    evidence_covered bigint,
    tags text NOT NULL,
    scope_trigger text NOT NULL,
    unread int NOT NULL DEFAULT 0,
    retraction_pending bool NOT NULL DEFAULT false,
    PRIMARY KEY (bank_id, mental_model_id)
)"""
# scopes are JSON in columns of text: compared and looked up as they are, read once for all models of the same scope

HANDLES = (
    MentalModelCreated,
    TagsChanged,
    TriggerChanged,
    ContentWritten,
    ContentUnchanged,
    ContentPreservedNoNewFacts,
    ContentReverted,
    ContentCleared,
    MentalModelDeleted,
)

_SCOPE_FIELDS = {"tags_match", "tag_groups", "fact_types"}


def project(recorded: Recorded) -> Iterable[Statement]:
    key = model_key(recorded)
    match recorded.event:
        case MentalModelCreated(tags=tags, trigger=trigger):
            yield Statement(
                "INSERT INTO staleness (bank_id, mental_model_id, version, covered, tags, scope_trigger)"
                " VALUES (%(bank_id)s, %(id)s, %(version)s, 0, %(tags)s, %(scope_trigger)s) ON CONFLICT DO NOTHING",
                {**key, "tags": _tags(tags), "scope_trigger": _scope_fields(trigger)},
            )
        case TagsChanged(tags=tags):
            yield _set(key, tags=_tags(tags))
        case TriggerChanged(trigger=trigger):
            yield _set(key, scope_trigger=_scope_fields(trigger))
        case ContentWritten(record=record):
            yield _read_so_far(key, record, looked=True, made=_ANEW if _is_anew(record) else _EDITED)
        case ContentUnchanged(record=record):
            yield _read_so_far(key, record, looked=True, made=_ANEW if _is_anew(record) else "")
        case ContentPreservedNoNewFacts(record=record):
            # a rewrite that found nothing did not look at what the document rests on
            yield _read_so_far(key, record, looked=not _is_anew(record))
        case ContentReverted(evidence=evidence):
            # what it rests on again may have ended at any time since it was written
            since = min((cited.position for cited in evidence), default=None)
            yield _set(key, _OF_ANY_SCOPE, evidence_covered=since, retraction_pending=False)
        case ContentCleared():
            yield _set(key, evidence_covered=None, retraction_pending=False, made_in=[])
        case MentalModelDeleted():
            yield Statement(f"DELETE FROM staleness WHERE {OLDER}", key)


def _set(key: dict[str, Any], also: str = "", **columns: Any) -> Statement:
    assignments = ", ".join(f"{column} = %({column})s" for column in ("version", *columns))
    return Statement(f"UPDATE staleness SET {assignments}{also} WHERE {OLDER}", {**key, **columns})


_LATE = "covered > %(covered)s"
"""Another run read more and ended sooner: what it says of scope and room stands."""


def _is_anew(record: RefreshRecord) -> bool:
    return record.effective_mode == "full"


def _with_scope(column: str) -> str:
    return f"{column} = CASE WHEN %(scope)s::text = ANY({column}) THEN {column} ELSE {column} || %(scope)s::text END,"


_EVER = _with_scope("ever_made_in")
_ANEW = f" made_in = ARRAY[%(scope)s::text], {_EVER}"
_EDITED = f" {_with_scope('made_in')} {_EVER}"
_OF_ANY_SCOPE = ", made_in = ever_made_in"
"""The scopes a text was made from: of the run that wrote it anew and of later edits; one put back may be of any."""


def _read_so_far(key: dict[str, Any], record: RefreshRecord, *, looked: bool, made: str = "") -> Statement:
    """`looked`: at what the document rests on, which is known to stand as far as this run read, and no farther."""
    checked = "%(covered)s" if looked else "greatest(evidence_covered, %(covered)s)"
    return Statement(
        "UPDATE staleness SET covered = greatest(covered, %(covered)s),"
        f" covered_scope = CASE WHEN {_LATE} THEN covered_scope ELSE %(scope)s END,"
        f" unread = CASE WHEN {_LATE} THEN greatest(unread, %(unread)s) ELSE %(unread)s END,"
        f" evidence_covered = {checked},{made}"
        " retraction_pending = coalesce(%(retraction_pending)s::bool, retraction_pending),"
        f" version = %(version)s WHERE {OLDER}",
        {
            **key,
            "covered": record.window.upto,
            "scope": _stored(record.scope.scope),
            "unread": record.unread,
            "retraction_pending": _retraction_pending(record) if looked else None,
        },
    )


def _retraction_pending(record: RefreshRecord) -> bool:
    """Whether the document still says what rests on facts that are known to be gone."""
    retraction = record.retraction
    return retraction is not None and bool(retraction.fact_ids) and not retraction.applied


def _tags(tags: Sequence[str]) -> str:
    return json.dumps(list(tags), ensure_ascii=False)


def _scope_fields(trigger: Trigger) -> str:
    return trigger.model_dump_json(by_alias=True, include=_SCOPE_FIELDS)


def _stored(scope: Scope) -> str:
    return scope.model_dump_json(by_alias=True)


PROJECTION = Projection("staleness", 4, "staleness", ("bank_id", "mental_model_id"), DDL, HANDLES, project)


PENDING_CONSOLIDATION = "pending_consolidation"


@dataclass(frozen=True, slots=True)
class Staleness:
    """`reasons` is empty for a fresh document: `new_memories`, `scope_changed`, `evidence_changed` (facts it rests on
    are gone or say something else, which is not worked in yet), `unread_memories` (there was no room for them),
    `pending_consolidation` (facts wait that it will read as observations)."""

    reasons: tuple[str, ...]

    @property
    def is_stale(self) -> bool:
        return bool(self.reasons)

    @property
    def has_to_read(self) -> bool:
        """Whether a refresh would find anything: what is still to be consolidated is not there yet."""
        return any(reason != PENDING_CONSOLIDATION for reason in self.reasons)


_WAITING = (
    "SELECT 'pending', NULL, NULL, NULL, NULL, json_agg(s.tags)::text, NULL, NULL, NULL, NULL"
    " FROM (SELECT DISTINCT c.tag_set FROM consolidation c"
    "   WHERE c.bank_id = %(bank_id)s AND c.consolidated_at IS NULL AND c.failed_at IS NULL) w,"
    " LATERAL (SELECT s.tags FROM scope_clock s WHERE s.bank_id = %(bank_id)s AND s.tag_set = w.tag_set LIMIT 1) s"
    " WHERE coalesce((SELECT (b.overrides->>'enable_observations')::bool FROM banks b"
    "   WHERE b.bank_id = %(bank_id)s), %(observations)s)"
)
"""The tags of facts that wait to be made into observations, which have those or some of them: all in one row."""


def of_models(
    bank_id: str, mental_model_ids: Sequence[str], *, observations: bool, among: str = "%(ids)s::text[]"
) -> Query[dict[str, Staleness]]:
    """By id, in one query for any number of models (or for `among`, an array in SQL); unknown ids are left out. Alike
    ones come in one row. Facts wait for consolidation only where the bank makes observations, else as `observations`.

    Which facts ended is found by position and joined to citations by their index, by force: the plan that is kept for a
    prepared statement would be another for as long as the tables have no statistics, and take half a second."""
    return Query(
        "WITH models AS MATERIALIZED (SELECT * FROM staleness"
        f"   WHERE bank_id = %(bank_id)s AND mental_model_id = ANY({among})),"
        " changed AS (SELECT c.mental_model_id, max(f.to_position) AS position FROM fact_versions f,"
        "   LATERAL (SELECT c.mental_model_id FROM citations c WHERE c.bank_id = %(bank_id)s"
        "     AND c.fact_id = f.fact_id AND c.fact_version = f.version AND c.until IS NULL OFFSET 0) c"
        "   WHERE f.bank_id = %(bank_id)s AND f.to_position > (SELECT min(evidence_covered) FROM models) GROUP BY 1)"
        " SELECT 'models' AS row, array_agg(mental_model_id) AS ids, covered AS position, covered_scope,"
        "   evidence_covered, tags, scope_trigger, unread > 0 AS unread, retraction_pending, NULL AS fact_type"
        "   FROM models GROUP BY 3, 4, 5, 6, 7, 8, 9"
        " UNION ALL SELECT 'changed', ARRAY[mental_model_id], position, NULL, NULL, NULL, NULL, NULL, NULL, NULL"
        "   FROM changed"
        " UNION ALL SELECT 'clock', NULL, s.position, NULL, NULL, to_json(s.tags)::text, NULL, NULL, NULL, s.fact_type"
        "   FROM scope_clock s WHERE s.bank_id = %(bank_id)s AND s.position > (SELECT min(covered) FROM models)"
        f" UNION ALL {_WAITING}",
        {"bank_id": bank_id, "ids": list(mental_model_ids), "observations": observations},
        _read,
    )


@dataclass(frozen=True, slots=True)
class _Written:
    """The newest write of memories with these tags and this type."""

    position: int
    tags: Sequence[str]
    fact_type: str


class _Clock:
    """The newest writes of a bank, newest first, all and by each of their tags."""

    def __init__(self, written: Iterable[_Written]) -> None:
        self.all = sorted(written, key=lambda each: -each.position)
        self.by_tag: dict[str, list[_Written]] = {}
        for each in self.all:
            for tag in each.tags:
                self.by_tag.setdefault(tag, []).append(each)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What models of the same tags and trigger have in common: the scope they read, and the same as it is stored; where
    a write makes them stale."""

    scope: Scope
    stored: str
    strict: Scope

    def newest(self, clock: _Clock) -> int:
        """The position of the newest write that makes them stale; 0 when there is none."""
        # by strict rules what a tagged model reads has one of its tags
        tags = self.strict.tags
        looked_at = (clock.by_tag.get(tag, ()) for tag in tags) if tags else (clock.all,)
        return max(next((each.position for each in written if self._admits(each)), 0) for written in looked_at)

    def _admits(self, written: _Written) -> bool:
        # under a `not` the strict scope admits more than a refresh reads: both must
        return admits(self.strict, written.tags, written.fact_type) and admits(
            self.scope, written.tags, written.fact_type
        )


def _read(rows: Sequence[Row]) -> dict[str, Staleness]:
    clock = _Clock(
        _Written(row["position"], json.loads(row["tags"]), row["fact_type"]) for row in rows if row["row"] == "clock"
    )
    changed = {row["ids"][0]: row["position"] for row in rows if row["row"] == "changed"}
    pending = (row["tags"] for row in rows if row["row"] == "pending" and row["tags"] is not None)
    waiting = _Clock(_Written(1, tags, "observation") for row in pending for tags in json.loads(row))
    newest: dict[tuple[str, str], tuple[int, bool]] = {}
    found: dict[str, Staleness] = {}
    for row in rows:
        if row["row"] == "models":
            key = row["tags"], row["scope_trigger"]
            shape = _shape(*key)
            if key not in newest:
                newest[key] = shape.newest(clock), bool(shape.newest(waiting))
            found |= _staleness(row, shape, *newest[key], changed)
    return found


@lru_cache(maxsize=4096)
def _shape(tags: str, scope_trigger: str) -> _Shape:
    trigger = Trigger.model_validate_json(scope_trigger)
    scope = refresh_scope(tuple(json.loads(tags)), trigger.tags_match, trigger.tag_groups, trigger.fact_types)
    return _Shape(scope, _stored(scope), staleness_scope(scope))


def _staleness(row: Row, shape: _Shape, newest: int, waits: bool, changed: Mapping[str, int]) -> dict[str, Staleness]:
    """Of models that are alike in all but what became of the facts they rest on. `waits`: facts are to be consolidated
    that they will read as observations."""
    new: tuple[str, ...] = ("new_memories",) if newest > row["position"] else ()
    before = row["covered_scope"]
    if before is not None and before != shape.stored and not same(Scope.model_validate_json(before), shape.scope):
        new += ("scope_changed",)
    unread = (("unread_memories",) if row["unread"] else ()) + ((PENDING_CONSOLIDATION,) if waits else ())
    stands = Staleness((*new, *unread))
    gone = Staleness((*new, "evidence_changed", *unread))
    if row["retraction_pending"]:
        return dict.fromkeys(row["ids"], gone)
    covered = row["evidence_covered"]
    if covered is None or not changed:
        return dict.fromkeys(row["ids"], stands)
    return {each: gone if changed.get(each, 0) > covered else stands for each in row["ids"]}
