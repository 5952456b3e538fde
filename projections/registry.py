"""All read models, in the order they are folded."""

from __future__ import annotations

from projections import (
    api_keys,
    banks,
    citations,
    directives,
    documents,
    history,
    knowledge_tree,
    operation_requesters,
    operations,
    schedules,
    search,
    staleness,
    timeline,
    usage,
)
from projections.projection import Projection

PROJECTIONS: tuple[Projection, ...] = (
    banks.PROJECTION,
    directives.PROJECTION,
    documents.PROJECTION,
    search.PROJECTION,
    history.PROJECTION,
    staleness.PROJECTION,
    schedules.PROJECTION,
    citations.PROJECTION,
    timeline.PROJECTION,
    operations.PROJECTION,
    usage.PROJECTION,
    knowledge_tree.PROJECTION,
    api_keys.PROJECTION,
    operation_requesters.PROJECTION,
)


def projection_named(name: str) -> Projection | None:
    return next((projection for projection in PROJECTIONS if projection.name == name), None)
