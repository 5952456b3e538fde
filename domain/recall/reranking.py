"""The order after a second opinion."""

from __future__ import annotations

from collections.abc import Sequence

from domain.memory import RecalledFact

MOST_RERANKED = 300
"""Facts that a reranker reads at most, the best ones (the system of reference: "Top 300 candidates")."""


def reranked(found: Sequence[RecalledFact], scores: Sequence[float | None]) -> list[RecalledFact]:
    """The facts that were judged by their scores, 0 to 1, which are their final ones; the others follow in the order
    they had, with scores that say so."""
    judged = [_scored(each, score, score) for each, score in zip(found, scores, strict=False) if score is not None]
    least = min((each.scores.final for each in judged), default=0.0)
    others = [each for number, each in enumerate(found) if number >= len(scores) or scores[number] is None]
    # Below all that were judged, and still in order.
    most = max((each.scores.final for each in others), default=0.0)
    behind = [_scored(each, None, least * each.scores.final / most if most > 0 else 0.0) for each in others]
    return [*sorted(judged, key=lambda each: (-each.scores.final, -each.fact.position)), *behind]


def _scored(recalled: RecalledFact, reranker: float | None, final: float) -> RecalledFact:
    scores = recalled.scores.model_copy(update={"reranker": reranker, "final": final})
    return recalled.model_copy(update={"scores": scores})
