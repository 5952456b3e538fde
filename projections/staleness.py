"""How far each document has read its bank, and in which scope: what tells a stale document from a fresh one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
from projections.projection import OLDER, Json, Projection, Query, Row, Statement, model_key

DDL = """
CREATE TABLE staleness (
    bank_id text NOT NULL,
    mental_model_id text NOT NULL,
    version bigint NOT NULL,
    covered bigint NOT NULL,
    covered_scope jsonb,
    tags text[] NOT NULL,
    scope_trigger jsonb NOT NULL,
    unread int NOT NULL DEFAULT 0,
    retraction_pending bool NOT NULL DEFAULT false,
    PRIMARY KEY (bank_id, mental_model_id)
)"""

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
                " VALUES (%(bank_id)s, %(id)s, %(version)s, 0, %(tags)s, %(trigger)s) ON CONFLICT DO NOTHING",
                {**key, "tags": list(tags), "trigger": _scope_fields(trigger)},
            )
        case TagsChanged(tags=tags):
            yield Statement(
                f"UPDATE staleness SET tags = %(tags)s, version = %(version)s WHERE {OLDER}",
                {**key, "tags": list(tags)},
            )
        case TriggerChanged(trigger=trigger):
            yield Statement(
                f"UPDATE staleness SET scope_trigger = %(trigger)s, version = %(version)s WHERE {OLDER}",
                {**key, "trigger": _scope_fields(trigger)},
            )
        case ContentWritten(record=record) | ContentUnchanged(record=record):
            yield _read_so_far(key, record, retraction_pending=_retraction_pending(record))
        case ContentPreservedNoNewFacts(record=record):
            # a rewrite that found nothing did not look at what the document rests on
            looked = record.effective_mode == "delta"
            yield _read_so_far(key, record, retraction_pending=_retraction_pending(record) if looked else None)
        case ContentReverted() | ContentCleared():
            yield Statement(
                f"UPDATE staleness SET retraction_pending = false, version = %(version)s WHERE {OLDER}", key
            )
        case MentalModelDeleted():
            yield Statement(f"DELETE FROM staleness WHERE {OLDER}", key)


def _read_so_far(key: dict[str, Any], record: RefreshRecord, *, retraction_pending: bool | None) -> Statement:
    return Statement(
        "UPDATE staleness SET covered = greatest(covered, %(covered)s), covered_scope = %(scope)s, unread = %(unread)s,"
        " retraction_pending = coalesce(%(retraction_pending)s::bool, retraction_pending),"
        f" version = %(version)s WHERE {OLDER}",
        {
            **key,
            "covered": record.window.upto,
            "scope": Json(record.scope.scope.model_dump(mode="json", by_alias=True)),
            "unread": record.unread,
            "retraction_pending": retraction_pending,
        },
    )


def _retraction_pending(record: RefreshRecord) -> bool:
    """Whether the document still says what rests on facts that are known to be gone."""
    retraction = record.retraction
    return retraction is not None and bool(retraction.fact_ids) and not retraction.applied


def _scope_fields(trigger: Trigger) -> Json:
    return Json(trigger.model_dump(mode="json", by_alias=True, include=_SCOPE_FIELDS))


PROJECTION = Projection("staleness", 2, "staleness", ("bank_id", "mental_model_id"), DDL, HANDLES, project)


@dataclass(frozen=True, slots=True)
class Staleness:
    """`reasons` is empty for a fresh document: `new_memories`, `scope_changed`, `evidence_changed` (facts it rests on
    are gone or say something else, which is not worked in yet), `unread_memories` (there was no room for them)."""

    reasons: tuple[str, ...]

    @property
    def is_stale(self) -> bool:
        return bool(self.reasons)


def of_models(bank_id: str, mental_model_ids: Sequence[str]) -> Query[dict[str, Staleness]]:
    """Staleness of any number of models of a bank in one small query: what they covered, what was written since by tag
    set and fact type, and which of the facts they rest on changed since."""
    return Query(
        # joined, not `= ANY`: a plan made for any number of ids would compare each row with each of them
        "WITH models AS (SELECT s.* FROM unnest(%(ids)s::text[]) AS wanted (id)"
        "   JOIN staleness s ON s.bank_id = %(bank_id)s AND s.mental_model_id = wanted.id),"
        " since AS (SELECT coalesce(min(covered), 0) AS position FROM models),"
        " changed AS (SELECT c.mental_model_id, max(f.to_position) AS position"
        "   FROM fact_versions f JOIN citations c ON c.bank_id = f.bank_id AND c.fact_id = f.fact_id"
        "   JOIN models USING (mental_model_id)"
        "   WHERE f.bank_id = %(bank_id)s AND f.to_position > (SELECT position FROM since)"
        "     AND c.until IS NULL AND c.fact_version = f.version GROUP BY 1)"
        " SELECT 'model' AS row, m.mental_model_id AS id, m.covered AS position, m.covered_scope, m.tags,"
        "   m.scope_trigger, m.unread, m.retraction_pending, c.position AS changed, NULL AS fact_type"
        "   FROM models m LEFT JOIN changed c USING (mental_model_id)"
        " UNION ALL SELECT 'clock', NULL, s.position, NULL, s.tags, NULL, NULL, NULL, NULL, s.fact_type"
        "   FROM scope_clock s WHERE s.bank_id = %(bank_id)s AND s.position > (SELECT position FROM since)",
        {"bank_id": bank_id, "ids": list(mental_model_ids)},
        _read,
    )


@dataclass(frozen=True, slots=True)
class _Shape:
    """What models of the same tags and trigger have in common: the scope they read, the same as it is stored, and the
    position of the newest write in it that makes a document stale (0: none)."""

    scope: Scope
    stored: dict[str, Any]
    newest: int


def _read(rows: Sequence[Row]) -> dict[str, Staleness]:
    clock = [row for row in rows if row["row"] == "clock"]
    shapes: dict[str, _Shape] = {}
    found: dict[str, Staleness] = {}
    for row in rows:
        if row["row"] == "model":
            key = repr((row["tags"], row["scope_trigger"]))
            if key not in shapes:
                shapes[key] = _shape(row, clock)
            found[row["id"]] = _staleness(row, shapes[key])
    return found


def _shape(row: Row, clock: Sequence[Row]) -> _Shape:
    trigger = Trigger.model_validate(row["scope_trigger"])
    scope = refresh_scope(tuple(row["tags"]), trigger.tags_match, trigger.tag_groups, trigger.fact_types)
    strict = staleness_scope(scope)
    # under a `not` the strict scope admits more than a refresh reads: both must
    written = (
        each["position"]
        for each in clock
        if admits(strict, each["tags"], each["fact_type"]) and admits(scope, each["tags"], each["fact_type"])
    )
    return _Shape(scope, scope.model_dump(mode="json", by_alias=True), max(written, default=0))


def _staleness(row: Row, shape: _Shape) -> Staleness:
    covered = row["position"]
    reasons = []
    if shape.newest > covered:
        reasons.append("new_memories")
    before = row["covered_scope"]
    if before is not None and before != shape.stored and not same(Scope.model_validate(before), shape.scope):
        reasons.append("scope_changed")
    if row["retraction_pending"] or (row["changed"] is not None and row["changed"] > covered):
        reasons.append("evidence_changed")
    if row["unread"]:
        reasons.append("unread_memories")
    return Staleness(tuple(reasons))
