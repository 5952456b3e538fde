"""The text of every document without its markup, and the words it is found by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from domain.terms import TERMS_RULE, terms
from projections.projection import OLDER, Projection, Query, Row, Statement, model_key

DDL = """
CREATE TABLE document_search (
    bank_id text NOT NULL,
    mental_model_id text NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL,
    plain_text text NOT NULL,
    name_terms text[] NOT NULL,
    text_terms text[] NOT NULL DEFAULT '{}',
    terms tsvector NOT NULL GENERATED ALWAYS AS (array_to_tsvector(name_terms || text_terms)) STORED,
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
                "INSERT INTO document_search (bank_id, mental_model_id, version, name, plain_text, name_terms)"
                " VALUES (%(bank_id)s, %(id)s, %(version)s, %(name)s, '', %(name_terms)s) ON CONFLICT DO NOTHING",
                {**key, "name": name, "name_terms": list(terms(name))},
            )
        case MentalModelRenamed(name=name):
            yield _set(key, name=name, name_terms=list(terms(name)))
        case ContentWritten(text=text) | ContentEdited(text=text) | ContentReverted(text=text):
            plain = plain_text(parse(text))
            yield _set(key, plain_text=plain, text_terms=list(terms(plain)))
        case ContentCleared():
            yield _set(key, plain_text="", text_terms=[])
        case MentalModelDeleted():
            yield Statement(f"DELETE FROM document_search WHERE {OLDER}", key)


def _set(key: dict[str, Any], **columns: Any) -> Statement:
    assignments = ", ".join(f"{column} = %({column})s" for column in ("version", *columns))
    return Statement(f"UPDATE document_search SET {assignments} WHERE {OLDER}", {**key, **columns})


VERSION = 100 * 3 + TERMS_RULE
"""The shape of the table, and the rule by which terms are made."""

PROJECTION = Projection("search", VERSION, "document_search", ("bank_id", "mental_model_id"), DDL, HANDLES, project)


def text_of(bank_id: str, mental_model_id: str) -> Query[str | None]:
    """The document's text without markup; None when there is no such document."""
    return Query(
        "SELECT plain_text FROM document_search WHERE bank_id = %(bank_id)s AND mental_model_id = %(id)s",
        {"bank_id": bank_id, "id": mental_model_id},
        lambda rows: rows[0]["plain_text"] if rows else None,
    )


def pending_vectors(bank_id: str, space: str) -> Query[int]:
    """How many pages of a bank are found by word only, because their vector is still to be made."""
    return Query(
        f"SELECT count(*) AS pages FROM document_search s WHERE bank_id = %(bank_id)s AND {WITHOUT_VECTOR}",
        {"bank_id": bank_id, "space": space},
        lambda rows: int(rows[0]["pages"]),
    )


WITHOUT_VECTOR = (
    "NOT EXISTS (SELECT FROM page_vectors v WHERE v.bank_id = s.bank_id AND v.mental_model_id = s.mental_model_id"
    " AND v.version = s.version AND v.space = %(space)s)"
)
"""Of a row `s` of this table: no vector of its present text that can be compared with those of the space."""


def origins(bank_id: str) -> Query[list[Row]]:
    """The tags of every document of a bank that has a text, and the scopes it was made from, as they are stored."""
    return Query(
        "SELECT mental_model_id, d.tags, t.made_in FROM document_search s"
        " JOIN documents d USING (bank_id, mental_model_id) JOIN staleness t USING (bank_id, mental_model_id)"
        " WHERE bank_id = %(bank_id)s AND s.plain_text <> ''",
        {"bank_id": bank_id},
        list,
    )


def pages(bank_id: str, mental_model_ids: Sequence[str]) -> Query[list[Row]]:
    """Documents as they are read by others: id, name, content, version, tags, when last written, and the scopes the
    content was made from, as they are stored."""
    return Query(
        "SELECT mental_model_id, d.name, d.content, d.version, d.tags, d.last_refreshed_at, t.made_in FROM documents d"
        " JOIN staleness t USING (bank_id, mental_model_id)"
        " WHERE bank_id = %(bank_id)s AND mental_model_id = ANY(%(ids)s::text[])",
        {"bank_id": bank_id, "ids": list(mental_model_ids)},
        list,
    )
