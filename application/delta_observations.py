"""Observations in a delta: those that say what the document has been through already, and those that are made anew."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from application.delta_run import DeltaRun
from application.ports import MemoryStore, RetainInbox
from domain.memory import Standing
from domain.mental_model.record import Citation
from domain.refresh.coverage import reading
from domain.refresh.representation import told_already
from domain.refresh.retraction import DEFERRED, REMADE, Retraction
from domain.scope import FACT_TYPES, admits

ToConsolidate = Callable[[str, Collection[UUID]], int]
"""How many of the facts of a bank wait to be consolidated."""


def leave_out_told(memory: MemoryStore, run: DeltaRun, retraction: Retraction) -> None:
    """They are accounted for, and not read. All are, when the document has to do without something it rested on."""
    resting = dict.fromkeys(source for fact in run.facts for source in fact.source_ids)
    if retraction.gone or not resting:
        return
    cited = [Citation(fact_id=each, version=1, position=0, fact_type="world") for each in resting]
    found = memory.standings(run.model.bank_id, cited, run.upto)
    now = {each.fact_id: each.now for each in found if each.now is not None}
    told = told_already(run.model, run.facts, now) - set(retraction.changed)
    run.read.extend(reading(fact, "irrelevant") for fact in run.facts if fact.id in told)
    run.facts = [fact for fact in run.facts if fact.id not in told]


def unmade_of(standings: Iterable[Standing]) -> frozenset[UUID]:
    """What observations rested on that are gone: what is left of it is made into observations again."""
    gone = (each.cited for each in standings if each.now is None and each.cited is not None)
    return frozenset(source for cited in gone for source in cited.source_ids)


@dataclass(frozen=True)
class SaidAgain:
    """What may yet say again what a document rests on that is gone."""

    inbox: RetainInbox
    to_consolidate: ToConsolidate

    def why_to_wait(self, run: DeltaRun) -> str | None:
        """Why nothing is taken back now; None when nothing is to be waited for."""
        scope, bank_id = run.model.scope, run.model.bank_id
        waiting = sum(any(admits(scope, tags, kind) for kind in FACT_TYPES) for tags in self.inbox.waiting(bank_id))
        if waiting:
            return DEFERRED.format(count=waiting)
        remade = self.to_consolidate(bank_id, run.unmade) if run.unmade else 0
        return REMADE.format(count=remade) if remade else None
