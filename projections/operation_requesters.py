"""Which API key asked for an operation: a key that is held to tags sees those that it asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from domain.event import Recorded
from domain.operation import OperationRemoved, OperationRequested
from projections.projection import Projection, Query, Statement

DDL = """
CREATE TABLE operation_requesters (
    bank_id text NOT NULL,
    operation_id uuid NOT NULL,
    version bigint NOT NULL,
    key_id text NOT NULL,
    PRIMARY KEY (bank_id, operation_id)
);
CREATE INDEX operation_requesters_key ON operation_requesters (bank_id, key_id)"""

HANDLES = (OperationRequested, OperationRemoved)


def project(recorded: Recorded) -> Iterable[Statement]:
    key = {"bank_id": recorded.stream.bank_id, "id": recorded.stream.name, "version": recorded.version}
    if isinstance(recorded.event, OperationRemoved):
        yield Statement(
            "DELETE FROM operation_requesters"
            " WHERE bank_id = %(bank_id)s AND operation_id = %(id)s AND version < %(version)s",
            key,
        )
    elif recorded.key_id is not None:
        yield Statement(
            "INSERT INTO operation_requesters (bank_id, operation_id, version, key_id)"
            " VALUES (%(bank_id)s, %(id)s, %(version)s, %(key_id)s) ON CONFLICT DO NOTHING",
            {**key, "key_id": recorded.key_id},
        )


PROJECTION = Projection(
    "operation_requesters", 1, "operation_requesters", ("bank_id", "operation_id"), DDL, HANDLES, project
)


@dataclass(frozen=True, slots=True)
class Seen:
    """Operations that somebody sees: those of some mental models, and some by id."""

    models: Collection[str]
    own: Collection[str]

    def has(self, operation_id: str, mental_model_id: str | None) -> bool:
        return operation_id in self.own or mental_model_id in self.models


def asked_by(bank_id: str, key_id: str) -> Query[frozenset[str]]:
    """Ids of the operations that a key asked for."""
    return Query(
        "SELECT operation_id::text AS id FROM operation_requesters WHERE bank_id = %(bank_id)s AND key_id = %(key_id)s",
        {"bank_id": bank_id, "key_id": key_id},
        lambda rows: frozenset(row["id"] for row in rows),
    )
