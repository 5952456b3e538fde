"""Which documents rest on which facts, and on which version of them."""

from __future__ import annotations

from collections.abc import Iterable

from domain.event import Recorded
from domain.mental_model.events import ContentCleared, ContentUnchanged, ContentWritten, MentalModelDeleted
from projections.projection import Projection, Query, Statement

DDL = """
CREATE TABLE citations (
    bank_id text NOT NULL,
    mental_model_id text NOT NULL,
    fact_id uuid NOT NULL,
    fact_version int NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (bank_id, mental_model_id, fact_id)
);
CREATE INDEX citations_of_fact ON citations (bank_id, fact_id)"""

HANDLES = (ContentWritten, ContentUnchanged, ContentCleared, MentalModelDeleted)


def project(recorded: Recorded) -> Iterable[Statement]:
    """A full refresh replaces what a document rests on."""
    key = {"bank_id": recorded.stream.bank_id, "id": recorded.stream.name, "version": recorded.version}
    yield Statement(
        "DELETE FROM citations WHERE bank_id = %(bank_id)s AND mental_model_id = %(id)s AND version < %(version)s", key
    )
    match recorded.event:
        case ContentWritten(record=record) | ContentUnchanged(record=record) if record.evidence:
            facts = {each.fact_id: each.version for each in record.evidence}
            yield Statement(
                "INSERT INTO citations (bank_id, mental_model_id, fact_id, fact_version, version)"
                " SELECT %(bank_id)s, %(id)s, cited.fact_id, cited.fact_version, %(version)s"
                " FROM unnest(%(facts)s::uuid[], %(versions)s::int[]) AS cited (fact_id, fact_version)"
                " ON CONFLICT DO NOTHING",
                {**key, "facts": list(facts), "versions": list(facts.values())},
            )


PROJECTION = Projection("citations", 1, "citations", ("bank_id", "mental_model_id", "fact_id"), DDL, HANDLES, project)


def citing(bank_id: str, fact_id: str) -> Query[list[str]]:
    """Ids of the mental models whose documents rest on a fact."""
    return Query(
        "SELECT mental_model_id FROM citations WHERE bank_id = %(bank_id)s AND fact_id = %(fact_id)s"
        " ORDER BY mental_model_id",
        {"bank_id": bank_id, "fact_id": fact_id},
        lambda rows: [row["mental_model_id"] for row in rows],
    )
