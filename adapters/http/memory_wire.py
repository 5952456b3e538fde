"""Facts that were found as responses."""

from __future__ import annotations

from adapters.http.responses import RecallResult, RecallScores
from adapters.http.times import iso_or_none
from domain.memory import RecalledFact


def recall_result(recalled: RecalledFact) -> RecallResult:
    fact, scores = recalled.fact, recalled.scores
    return RecallResult(
        id=str(fact.id),
        text=fact.text,
        type=fact.fact_type,
        entities=list(fact.entities),
        context=fact.context,
        occurred_start=iso_or_none(fact.occurred_start),
        occurred_end=iso_or_none(fact.occurred_end),
        mentioned_at=iso_or_none(fact.mentioned_at),
        document_id=fact.document_id,
        metadata=dict(fact.metadata) or None,
        chunk_id=fact.chunk_id,
        tags=list(fact.tags),
        scores=RecallScores(final=scores.final, semantic=scores.semantic, keyword=scores.keyword),
    )
