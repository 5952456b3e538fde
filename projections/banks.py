"""The banks there are, with their missions and dispositions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from domain.bank import (
    BankConfigured,
    BankDeleted,
    BankOpened,
    BankRenamed,
    Disposition,
    DispositionChanged,
    Missions,
    MissionsChanged,
)
from domain.bank.values import set_keys
from domain.bank_config import BankConfig
from domain.event import RECORDED, Recorded
from projections.projection import Json, Projection, Query, Statement, page_reader, page_sql

DDL = """
CREATE TABLE banks (
    bank_id text PRIMARY KEY,
    version bigint NOT NULL,
    name text NOT NULL,
    missions jsonb NOT NULL,
    disposition jsonb NOT NULL,
    overrides jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL
)"""

HANDLES = (BankOpened, BankRenamed, MissionsChanged, DispositionChanged, BankConfigured, BankDeleted)


@dataclass(frozen=True, slots=True)
class BankRow:
    bank_id: str
    name: str
    missions: dict[str, Any]
    disposition: dict[str, int | None]
    """Traits that are not set are None, as are missions."""
    overrides: dict[str, Any]
    """What else is set of the config."""
    created_at: datetime
    updated_at: datetime

    @property
    def config(self) -> BankConfig:
        """All that the bank sets itself."""
        own = set_keys(Missions(**self.missions), Disposition(**self.disposition))
        return BankConfig.model_validate({**self.overrides, **own}, context=dict(RECORDED))


def project(recorded: Recorded) -> Iterable[Statement]:
    key = {"bank_id": recorded.stream.bank_id, "version": recorded.version, "at": recorded.occurred_at}
    match recorded.event:
        case BankOpened() as event:
            values = {
                **key,
                "name": event.name,
                "missions": Json(Missions().model_dump()),
                "disposition": Json(Disposition().model_dump()),
                "overrides": Json({}),
            }
            yield Statement(
                "INSERT INTO banks (bank_id, version, name, missions, disposition, overrides, created_at, updated_at)"
                " VALUES (%(bank_id)s, %(version)s, %(name)s, %(missions)s, %(disposition)s, %(overrides)s, %(at)s,"
                " %(at)s)"
                " ON CONFLICT (bank_id) DO NOTHING",
                values,
            )
        case BankRenamed(name=name):
            yield _set("name", name, key)
        case MissionsChanged(missions=missions):
            yield _set("missions", Json(missions.model_dump()), key)
        case DispositionChanged(disposition=disposition):
            yield _set("disposition", Json(disposition.model_dump()), key)
        case BankConfigured(overrides=overrides):
            yield _set("overrides", Json(overrides.wire(only_set=True)), key)
        case BankDeleted():
            yield Statement("DELETE FROM banks WHERE bank_id = %(bank_id)s AND version < %(version)s", key)


def _set(column: str, value: Any, key: dict[str, Any]) -> Statement:
    return Statement(
        f"UPDATE banks SET {column} = %(value)s, version = %(version)s, updated_at = %(at)s"
        " WHERE bank_id = %(bank_id)s AND version < %(version)s",
        {**key, "value": value},
    )


PROJECTION = Projection("banks", 2, "banks", ("bank_id",), DDL, HANDLES, project)


_COLUMNS = "bank_id, name, missions, disposition, overrides, created_at, updated_at"


def find(bank_id: str) -> Query[BankRow | None]:
    return Query(
        f"SELECT {_COLUMNS} FROM banks WHERE bank_id = %(bank_id)s",
        {"bank_id": bank_id},
        lambda rows: BankRow(**rows[0]) if rows else None,
    )


def page(
    q: str | None, limit: int, offset: int, among: Sequence[str] | None = None
) -> Query[tuple[list[BankRow], int]]:
    """Banks (`among`: of these) whose id or name contains `q` (case-insensitive), by id, and how many there are in
    all."""
    where = (
        "(%(among)s::text[] IS NULL OR bank_id = ANY(%(among)s)) AND (%(q)s::text IS NULL"
        " OR strpos(lower(bank_id), lower(%(q)s)) > 0 OR strpos(lower(name), lower(%(q)s)) > 0)"
    )
    return Query(
        page_sql("banks", _COLUMNS, where, ("bank_id",)),
        {"q": q, "limit": limit, "offset": offset, "among": None if among is None else list(among)},
        page_reader(BankRow, "bank_id"),
    )
