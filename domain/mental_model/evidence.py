"""What a document rests on after a refresh: a full one replaces its evidence, a delta adds to it and prunes it.

Sources: spec of the system of reference, refresh pipeline, "Evidence bookkeeping" and "Retraction". Where a run kept
the document, its evidence is kept too.
"""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from domain.memory import Fact
from domain.mental_model.record import Citation, Evidence, RefreshRecord


def citation_of(fact: Fact) -> Citation:
    return Citation(fact_id=fact.id, version=fact.version, position=fact.position, fact_type=fact.fact_type)


def evidence_of(fact: Fact) -> Evidence:
    return Evidence(**citation_of(fact).model_dump(), text=fact.text, context=fact.context)


def pruned(record: RefreshRecord) -> frozenset[UUID]:
    """The facts whose citations end with a finished delta: taken out, never found, or gone over to another fact."""
    retraction = record.retraction
    if retraction is None:
        return frozenset()
    gone = retraction.fact_ids if retraction.applied else ()
    return frozenset((*gone, *retraction.broken, *(relink.before for relink in retraction.relinked)))


def cited_after(before: Sequence[Citation], record: RefreshRecord, *, wrote: bool) -> tuple[Citation, ...]:
    """The citations of a document after a finished run. `wrote`: it came to a text, the same or another."""
    if record.effective_mode == "full":
        return tuple(map(_citation, record.evidence)) if wrote else tuple(before)
    dropped = pruned(record)
    kept = {each.fact_id: each for each in before if each.fact_id not in dropped}
    relinked = record.retraction.relinked if record.retraction else ()
    for each in (*(relink.after for relink in relinked), *map(_citation, record.evidence)):
        kept.pop(each.fact_id, None)
        kept[each.fact_id] = each
    return tuple(kept.values())


def _citation(evidence: Evidence) -> Citation:
    return Citation(
        fact_id=evidence.fact_id,
        version=evidence.version,
        position=evidence.position,
        fact_type=evidence.fact_type,
    )
