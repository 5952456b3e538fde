"""All read models, in the order they are folded."""

from __future__ import annotations

from projections import banks, citations, documents, history, operations, search, staleness, timeline
from projections.projection import Projection

PROJECTIONS: tuple[Projection, ...] = (
    banks.PROJECTION,
    documents.PROJECTION,
    search.PROJECTION,
    history.PROJECTION,
    staleness.PROJECTION,
    citations.PROJECTION,
    timeline.PROJECTION,
    operations.PROJECTION,
)


def projection_named(name: str) -> Projection | None:
    return next((projection for projection in PROJECTIONS if projection.name == name), None)
