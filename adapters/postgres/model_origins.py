"""Which memories the documents of a bank were made from, as their read models tell it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from domain.mental_model.origins import Origin, reads
from domain.mental_model.trigger import Trigger
from domain.scope import Scope
from projections.projection import Query, Row


def of_models(bank_id: str, mental_model_id: str | None = None) -> Query[dict[str, Origin]]:
    """By mental model, of one or of all of a bank."""
    return Query(
        "SELECT mental_model_id, d.tags, s.scope_trigger, s.made_in FROM staleness s"
        " JOIN documents d USING (bank_id, mental_model_id)"
        " WHERE bank_id = %(bank_id)s AND (%(id)s::text IS NULL OR mental_model_id = %(id)s)",
        {"bank_id": bank_id, "id": mental_model_id},
        _read,
    )


def _read(rows: Sequence[Row]) -> dict[str, Origin]:
    return {
        row["mental_model_id"]: Origin(
            tags=tuple(row["tags"]),
            reads=reads(tuple(row["tags"]), _trigger(row["scope_trigger"])),
            made_in=tuple(map(_scope, row["made_in"])),
        )
        for row in rows
    }


@lru_cache(maxsize=4096)
def _trigger(stored: str) -> Trigger:
    return Trigger.model_validate_json(stored)


@lru_cache(maxsize=4096)
def _scope(stored: str) -> Scope:
    return Scope.model_validate_json(stored)
