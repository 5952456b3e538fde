"""Which documents rest on which facts, on which version of them, and from which version of the document to which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from domain.event import Event, Recorded
from domain.mental_model.events import (
    ContentCleared,
    ContentPreservedNoNewFacts,
    ContentReverted,
    ContentUnchanged,
    ContentWritten,
    MentalModelDeleted,
)
from domain.mental_model.evidence import pruned
from domain.mental_model.record import Citation, RefreshRecord
from projections.projection import Projection, Query, Statement, model_key

DDL = """
CREATE TABLE citations (
    bank_id text NOT NULL,
    mental_model_id text NOT NULL,
    fact_id uuid NOT NULL,
    since bigint NOT NULL,
    until bigint,
    version bigint NOT NULL,
    place int NOT NULL,
    fact_version int NOT NULL,
    fact_position bigint NOT NULL,
    fact_type text NOT NULL,
    text text NOT NULL,
    context text,
    PRIMARY KEY (bank_id, mental_model_id, fact_id, since)
);
CREATE INDEX citations_now ON citations (bank_id, mental_model_id, since DESC, place) WHERE until IS NULL;
CREATE INDEX citations_of_fact ON citations (bank_id, fact_id) WHERE until IS NULL"""

HANDLES = (
    ContentWritten,
    ContentUnchanged,
    ContentPreservedNoNewFacts,
    ContentReverted,
    ContentCleared,
    MentalModelDeleted,
)

MOST_TOLD = 1000
"""How many facts at most are told of one document, the newest cited first; it rests on all of them."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A fact version that a document rests on from version `since` of its stream to before `until` (None: it still
    does), as it was read; `place` is where it stood among those cited by the same event."""

    fact_id: UUID
    since: int
    until: int | None
    place: int
    fact_version: int
    fact_position: int
    fact_type: str
    text: str
    context: str | None


@dataclass(frozen=True, slots=True)
class _Cites:
    """A fact version that is cited. Without a text of its own it has that of the last citation of `like`, in
    `like_version` of it or, without one, in any."""

    citation: Citation
    text: str | None = None
    context: str | None = None
    like: UUID | None = None
    like_version: int | None = None


@dataclass(frozen=True, slots=True)
class _Change:
    """What an event cites, and which citations it ends besides those it replaces (None: all others). A fact cited again
    in the same version is no new citation."""

    cites: Mapping[UUID, _Cites]
    ends: frozenset[UUID] | None


def project(recorded: Recorded) -> Iterable[Statement]:
    change = _change(recorded.event)
    if change is None:
        return
    if change.ends is None or change.ends or change.cites:
        yield Statement(_END.format(others="true" if change.ends is None else _NAMED), _ending(recorded, change))
    if change.cites:
        yield Statement(_CITE, _citing(recorded, change))


def after(rows: Sequence[Cited], recorded: Recorded) -> tuple[Cited, ...]:
    """The rows of a document's citations, in the order of `since`, after one more event: what `project` makes of the
    table, without a database."""
    change = _change(recorded.event)
    if change is None:
        return tuple(rows)
    told = []
    still = set()
    for row in rows:
        again = change.cites.get(row.fact_id)
        same = again is not None and again.citation.version == row.fact_version
        ends = change.ends is None or row.fact_id in change.ends or again is not None
        told.append(replace(row, until=recorded.version) if row.until is None and ends and not same else row)
        if told[-1].until is None:
            still.add(row.fact_id)
    for place, (fact_id, cites) in enumerate(change.cites.items()):
        if fact_id not in still:
            told.append(_row(cites, rows, recorded.version, place))
    return tuple(told)


def newest_first(rows: Iterable[Cited]) -> list[Cited]:
    """The citations that hold now, in the order in which they are told, at most MOST_TOLD."""
    now = (row for row in rows if row.until is None)
    return sorted(now, key=lambda row: (-row.since, row.place))[:MOST_TOLD]


def _row(cites: _Cites, rows: Sequence[Cited], version: int, place: int) -> Cited:
    cited = cites.citation
    like = [row for row in rows if row.fact_id == cites.like and cites.like_version in (None, row.fact_version)]
    text, context = (like[-1].text, like[-1].context) if like else (cites.text, cites.context)
    return Cited(
        fact_id=cited.fact_id,
        since=version,
        until=None,
        place=place,
        fact_version=cited.version,
        fact_position=cited.position,
        fact_type=cited.fact_type,
        text=text or "",
        context=context,
    )


def _change(event: Event) -> _Change | None:
    match event:
        case ContentWritten(record=record) | ContentUnchanged(record=record) if record.effective_mode == "full":
            return _Change(_evidence(record), None)
        case (
            ContentWritten(record=record) | ContentUnchanged(record=record) | ContentPreservedNoNewFacts(record=record)
        ) if record.effective_mode == "delta":
            relinked = {
                relink.after.fact_id: _Cites(relink.after, like=relink.before)
                for relink in (record.retraction.relinked if record.retraction else ())
            }
            return _Change({**relinked, **_evidence(record)}, pruned(record))
        case ContentReverted(evidence=evidence):
            return _Change(
                {each.fact_id: _Cites(each, like=each.fact_id, like_version=each.version) for each in evidence}, None
            )
        case ContentCleared() | MentalModelDeleted():
            return _Change({}, None)
        case _:
            return None


def _evidence(record: RefreshRecord) -> dict[UUID, _Cites]:
    return {each.fact_id: _Cites(each, each.text, each.context) for each in record.evidence}


_NAMED = "(c.fact_id = ANY(%(ends)s::uuid[]) OR c.fact_id = ANY(%(facts)s::uuid[]))"
_END = (
    "UPDATE citations c SET until = %(version)s, version = %(version)s"
    " WHERE bank_id = %(bank_id)s AND mental_model_id = %(id)s AND until IS NULL AND {others}"
    " AND NOT EXISTS (SELECT FROM unnest(%(facts)s::uuid[], %(versions)s::int[]) AS again (fact_id, fact_version)"
    "   WHERE again.fact_id = c.fact_id AND again.fact_version = c.fact_version)"
    " AND version < %(version)s"
)
_CITE = (
    "INSERT INTO citations (bank_id, mental_model_id, fact_id, since, version, place, fact_version, fact_position,"
    " fact_type, text, context) SELECT %(bank_id)s, %(id)s, n.fact_id, %(version)s, %(version)s, n.place - 1,"
    " n.fact_version, n.fact_position, n.fact_type, coalesce(liked.text, n.text, ''),"
    " CASE WHEN liked.text IS NULL THEN n.context ELSE liked.context END"
    " FROM unnest(%(facts)s::uuid[], %(versions)s::int[], %(positions)s::bigint[], %(types)s::text[],"
    "   %(texts)s::text[], %(contexts)s::text[], %(likes)s::uuid[], %(like_versions)s::int[]) WITH ORDINALITY"
    "   AS n (fact_id, fact_version, fact_position, fact_type, text, context, like_id, like_version, place)"
    " LEFT JOIN LATERAL (SELECT c.text, c.context FROM citations c WHERE c.bank_id = %(bank_id)s"
    "   AND c.mental_model_id = %(id)s AND c.fact_id = n.like_id"
    "   AND (n.like_version IS NULL OR c.fact_version = n.like_version) ORDER BY c.since DESC LIMIT 1) liked ON true"
    " WHERE NOT EXISTS (SELECT FROM citations c WHERE c.bank_id = %(bank_id)s AND c.mental_model_id = %(id)s"
    "   AND c.fact_id = n.fact_id AND c.since <= %(version)s AND (c.until IS NULL OR c.until > %(version)s))"
    " ON CONFLICT DO NOTHING"
)


def _ending(recorded: Recorded, change: _Change) -> dict[str, Any]:
    return {
        **model_key(recorded),
        "ends": sorted(change.ends or ()),
        "facts": list(change.cites),
        "versions": [each.citation.version for each in change.cites.values()],
    }


def _citing(recorded: Recorded, change: _Change) -> dict[str, Any]:
    cited = list(change.cites.values())
    return {
        **model_key(recorded),
        "facts": list(change.cites),
        "versions": [each.citation.version for each in cited],
        "positions": [each.citation.position for each in cited],
        "types": [each.citation.fact_type for each in cited],
        "texts": [each.text for each in cited],
        "contexts": [each.context for each in cited],
        "likes": [each.like for each in cited],
        "like_versions": [each.like_version for each in cited],
    }


PROJECTION = Projection(
    "citations", 2, "citations", ("bank_id", "mental_model_id", "fact_id", "since"), DDL, HANDLES, project
)

_COLUMNS = "fact_id, since, until, place, fact_version, fact_position, fact_type, text, context"
_AT = "since <= %(at)s AND (until IS NULL OR until > %(at)s)"


def of_document(
    bank_id: str, mental_model_id: str, at_version: int | None = None, limit: int | None = None
) -> Query[list[Cited]]:
    """What a document rests on, or rested on at a version of its stream; newest cited first, `limit` at most."""
    return Query(
        f"SELECT {_COLUMNS} FROM citations WHERE bank_id = %(bank_id)s AND mental_model_id = %(id)s"
        f" AND {'until IS NULL' if at_version is None else _AT} ORDER BY since DESC, place LIMIT %(limit)s::int",
        {"bank_id": bank_id, "id": mental_model_id, "at": at_version, "limit": limit},
        lambda rows: [Cited(**row) for row in rows],
    )


def citing(bank_id: str, fact_ids: Sequence[UUID]) -> Query[list[str]]:
    """Ids of the mental models whose documents rest on any of these facts now."""
    return Query(
        "SELECT DISTINCT mental_model_id FROM citations WHERE bank_id = %(bank_id)s"
        " AND fact_id = ANY(%(facts)s::uuid[]) AND until IS NULL ORDER BY mental_model_id",
        {"bank_id": bank_id, "facts": list(fact_ids)},
        lambda rows: [row["mental_model_id"] for row in rows],
    )


def grounds_sql(document: str, at_version: str | None = None) -> str:
    """SQL for the entries of `newest_first`, for `entries_of` to read. `document` is a row with the columns that name a
    mental model, `at_version` SQL for a version of its stream (None: now)."""
    holds = "c.until IS NULL"
    if at_version is not None:
        holds = f"c.since <= {at_version} AND (c.until IS NULL OR c.until > {at_version})"
    columns = ("fact_id", "text", "fact_type", "context", "fact_version", "fact_position")
    # a list a column: of a thousand facts in half the time that a list of objects takes
    return (
        f"(SELECT json_build_array({', '.join(f'json_agg(c.{column})' for column in columns)}) FROM"
        f"  (SELECT {', '.join(f'c.{column}' for column in columns)} FROM citations c"
        f"  WHERE c.bank_id = {document}.bank_id AND c.mental_model_id = {document}.mental_model_id AND {holds}"
        f"  ORDER BY c.since DESC, c.place LIMIT {MOST_TOLD}) c)"
    )


def entries_of(grounds: Sequence[Sequence[Any] | None]) -> list[dict[str, Any]]:
    """The facts that `grounds_sql` found, as the contract tells them."""
    columns = [column or () for column in grounds]  # of no facts the columns are null
    return [dict(zip(_ENTRY, fact, strict=True)) for fact in zip(*columns, strict=True)]


def entry(cited: Cited) -> dict[str, Any]:
    """A citation as `entries_of` tells it."""
    told = (str(cited.fact_id), cited.text, cited.fact_type, cited.context, cited.fact_version, cited.fact_position)
    return dict(zip(_ENTRY, told, strict=True))


_ENTRY = ("id", "text", "type", "context", "version", "position")
