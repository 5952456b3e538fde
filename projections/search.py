"""The text of every document without its markup, for search by word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from domain.document import parse, plain_text
from domain.event import Recorded
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentReverted,
    ContentWritten,
    MentalModelCreated,
    MentalModelDeleted,
    MentalModelRenamed,
)
from projections.projection import OLDER, Projection, Query, Statement, model_key

DDL = """
CREATE TABLE document_search (
    bank_id text NOT NULL,
    mental_model_id text NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL,
    plain_text text NOT NULL,
    PRIMARY KEY (bank_id, mental_model_id)
)"""

HANDLES = (
    MentalModelCreated,
    MentalModelRenamed,
    ContentWritten,
    ContentEdited,
    ContentReverted,
    ContentCleared,
    MentalModelDeleted,
)


def project(recorded: Recorded) -> Iterable[Statement]:
    key = model_key(recorded)
    match recorded.event:
        case MentalModelCreated(name=name):
            yield Statement(
                "INSERT INTO document_search (bank_id, mental_model_id, version, name, plain_text)"
                " VALUES (%(bank_id)s, %(id)s, %(version)s, %(name)s, '') ON CONFLICT DO NOTHING",
                {**key, "name": name},
            )
        case MentalModelRenamed(name=name):
            yield _set(key, "name", name)
        case ContentWritten(text=text) | ContentEdited(text=text) | ContentReverted(text=text):
            yield _set(key, "plain_text", plain_text(parse(text)))
        case ContentCleared():
            yield _set(key, "plain_text", "")
        case MentalModelDeleted():
            yield Statement(f"DELETE FROM document_search WHERE {OLDER}", key)


def _set(key: dict[str, Any], column: str, value: str) -> Statement:
    return Statement(
        f"UPDATE document_search SET {column} = %(value)s, version = %(version)s WHERE {OLDER}",
        {**key, "value": value},
    )


PROJECTION = Projection("search", 2, "document_search", ("bank_id", "mental_model_id"), DDL, HANDLES, project)


def text_of(bank_id: str, mental_model_id: str) -> Query[str | None]:
    """The document's text without markup; None when there is no such document."""
    return Query(
        "SELECT plain_text FROM document_search WHERE bank_id = %(bank_id)s AND mental_model_id = %(id)s",
        {"bank_id": bank_id, "id": mental_model_id},
        lambda rows: rows[0]["plain_text"] if rows else None,
    )
