"""Documents that refresh themselves: by the clock, and after memory was written.

It only asks for refreshes, and only for those that have something to do; whether one has is asked again under the lock
of the document, so that any number of processes may look at the same time. Sources: spec of the system of reference,
scheduling: "After-consolidation trigger", "Cron tick".
"""

from __future__ import annotations

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Literal, Protocol

from application.command_handler import MENTAL_MODEL, mental_model_stream
from application.ports import Clock, EventLog, MemoryStore
from application.refresh_requests import RefreshRequests
from domain.event import Context
from domain.memory import RecallQuery
from domain.mental_model.state import MentalModel
from domain.refusals import NotFound
from domain.scheduling import CronSchedule, Failures, due_by_cron, min_interval, next_look, wait_after

logger = logging.getLogger(__name__)

LOOKS = 3
"""How often a document is judged anew, because a refresh of it ended between the look and the request."""
AFTER_AN_ERROR = timedelta(minutes=1)
"""How long a document is left alone that could not be looked at."""

AFTER_WRITE = "memory was written"
RECONCILED = "a look for stale documents"


class Schedules(Protocol):
    """What read models tell of documents that refresh themselves."""

    def by_cron(self) -> Sequence[CronSchedule]:
        """Those of all banks that have a cron."""
        ...

    def after_writes(self, bank_id: str | None = None) -> Sequence[tuple[str, str]]:
        """Bank and id of those to refresh after memory was written: of one bank, or of all."""
        ...

    def stale(self, bank_id: str, mental_model_ids: Sequence[str]) -> Mapping[str, datetime]:
        """Those that are stale, and when each was last refreshed. That was read first: a refresh that ends meanwhile
        shows by another time."""
        ...

    def waiting(self, bank_id: str, mental_model_ids: Sequence[str]) -> Collection[str]:
        """Those of which a refresh waits that has not begun: it will read all there is by then."""
        ...

    def failures(self, bank_id: str, mental_model_ids: Sequence[str]) -> Mapping[str, Failures]:
        """Refreshes that failed since the last one that did not; documents without any may be left out."""
        ...


class Consolidations(Protocol):
    """What comes before the documents: facts that wait are made into observations, which documents read."""

    def banks(self) -> Sequence[str]:
        """Those in which facts wait."""
        ...

    def holds_up(self, bank_id: str, cause: str) -> bool:
        """Asks for what a bank needs. Whether its documents wait for the end of that."""
        ...


Outcome = Literal["queued", "folded", "paused", "not_wanted", "fresh", "waiting", "failed"]
"""What a look at a document came to. The first four are as in `Asked.status`; then: there is nothing to do, it is to be
tried later as it failed before, and an error."""


@dataclass(frozen=True)
class _Settled:
    """A document was looked at: there is nothing to do until a time, unless it or its bank changes."""

    version: int
    position: int
    until: datetime

    def holds(self, schedule: CronSchedule, now: datetime) -> bool:
        return (self.version, self.position) == (schedule.version, schedule.position) and now < self.until


class Scheduler:
    """`broken` are errors that are not of one document, but of all: they end a look. An error of one document is
    logged, and the others go on. `counts` tells what looks came to, since the start. `min_interval_of` gives the
    seconds between automatic refreshes that a bank sets for models that do not say otherwise.

    `tick` and `reconcile` are called by one thread, `after_write` by any."""

    def __init__(
        self,
        requests: RefreshRequests,
        log: EventLog,
        memory: MemoryStore,
        schedules: Schedules,
        clock: Clock,
        *,
        min_interval_of: Callable[[str], int] = lambda _bank_id: 0,
        consolidations: Consolidations | None = None,
        broken: tuple[type[Exception], ...] = (),
    ) -> None:
        self.counts: Counter[Outcome] = Counter()
        self._requests = requests
        self._log = log
        self._memory = memory
        self._schedules = schedules
        self._clock = clock
        self._min_interval_of = min_interval_of
        self._consolidations = consolidations
        self._broken = broken
        self._settled: dict[tuple[str, str], _Settled] = {}
        self._counting = Lock()

    def tick(self, now: datetime) -> int:
        """Asks for the refreshes that are due by cron, and tells how many it queued. Fires that were missed are one.

        Those in a document's own mode are for stale ones; those in full for all in whose scope anything is."""
        schedules = self._schedules.by_cron()
        listed = {(each.bank_id, each.mental_model_id) for each in schedules}
        self._settled = {key: settled for key, settled in self._settled.items() if key in listed}
        queued = 0
        for each in schedules:
            key = (each.bank_id, each.mental_model_id)
            settled = self._settled.get(key)
            if settled is not None and settled.holds(each, now):
                continue
            outcome: Outcome = "failed"
            until = now + AFTER_AN_ERROR
            with self._others_go_on(f"mental model {each.mental_model_id}", each.bank_id):
                outcome, until = self._by_cron(each, now)
            self._count(outcome)
            queued += outcome == "queued"
            self._settled[key] = _Settled(each.version, each.position, until)
        return queued

    def after_write(self, bank_id: str) -> int:
        """Asks for refreshes of the stale documents of a bank that want one after memory was written; how many it
        queued. Where facts are to be consolidated first, it asks for that instead. To be called when the write is
        committed, and when a consolidation has ended."""
        if self._consolidations is not None and self._consolidations.holds_up(bank_id, AFTER_WRITE):
            return 0
        return self._refresh_stale(self._schedules.after_writes(bank_id), self._clock.now(), AFTER_WRITE)

    def reconcile(self, now: datetime) -> int:
        """The same for all banks: what a crash between a write and its refresh lost is found here; how many it queued.
        The next tick looks at every cron anew."""
        self._settled.clear()
        held_up = self._held_up()
        documents = [each for each in self._schedules.after_writes() if each[0] not in held_up]
        return self._refresh_stale(documents, now, RECONCILED)

    def _held_up(self) -> Collection[str]:
        """Banks whose documents wait for a consolidation, which is asked for here where it is missing."""
        found: set[str] = set()
        if self._consolidations is not None:
            for bank_id in self._consolidations.banks():
                with self._others_go_on("the memory", bank_id):
                    if self._consolidations.holds_up(bank_id, RECONCILED):
                        found.add(bank_id)
        return found

    def _refresh_stale(self, documents: Sequence[tuple[str, str]], now: datetime, cause: str) -> int:
        of_bank: dict[str, list[str]] = defaultdict(list)
        for bank_id, mental_model_id in documents:
            of_bank[bank_id].append(mental_model_id)
        context = Context("consolidation", now, None, cause)
        return sum(self._refresh_stale_of(context, bank_id, ids) for bank_id, ids in of_bank.items())

    def _refresh_stale_of(self, context: Context, bank_id: str, ids: Sequence[str]) -> int:
        queued = 0
        for _ in range(LOOKS):
            again: list[str] = []
            with self._others_go_on("the mental models", bank_id):
                stale = self._schedules.stale(bank_id, ids)
                taken_in = self._schedules.waiting(bank_id, list(stale))  # seen without a lock: writes come in bursts
                failures = self._schedules.failures(bank_id, list(stale)) if stale else {}
                for each, since in stale.items():
                    outcome: Outcome = "folded"
                    if each not in taken_in:
                        outcome = self._after_write(context, bank_id, each, since, failures.get(each))
                    self._count(outcome)
                    queued += outcome == "queued"
                    if outcome == "not_wanted":
                        again.append(each)
            ids = again
            if not ids:
                break
        return queued

    # --- one document ---

    def _by_cron(self, schedule: CronSchedule, now: datetime) -> tuple[Outcome, datetime]:
        """Asks for what is due; also until when there is nothing more to do, unless the document or its bank change."""
        bank_id, mental_model_id = schedule.bank_id, schedule.mental_model_id
        model = self._log.load(MENTAL_MODEL, mental_model_stream(bank_id, mental_model_id)).state
        if not isinstance(model, MentalModel) or (until := next_look(model, now)) is None:
            return "not_wanted", now  # changed since it was listed
        due = due_by_cron(model, now)
        since = self._to_do(model, due)
        if due is None or since is None:
            return "fresh", until
        wait = self._wait(model, self._schedules.failures(bank_id, [mental_model_id]).get(mental_model_id), now)
        if wait is not None:
            return "waiting", min(wait, until)
        cron = model.trigger.full_refresh_cron if due == "full" else model.trigger.refresh_cron
        outcome = self._ask(
            Context("cron", now, None, f"cron '{cron}'"),
            bank_id,
            mental_model_id,
            lambda then: due_by_cron(then, now) == due and then.last_refreshed_at == since,
            "full" if due == "full" else None,
        )
        return outcome, now if outcome == "not_wanted" else until

    def _to_do(self, model: MentalModel, due: Literal["own", "full"] | None) -> datetime | None:
        """Since when what is due is still to do; None when there is nothing to do."""
        if due == "own":
            return self._schedules.stale(model.bank_id, [model.mental_model_id]).get(model.mental_model_id)
        if due == "full":
            query = RecallQuery(bank_id=model.bank_id, text="", scope=model.scope)
            return model.last_refreshed_at if self._memory.newest_in_scope(query) is not None else None
        return None

    def _after_write(
        self, context: Context, bank_id: str, mental_model_id: str, since: datetime, failures: Failures | None
    ) -> Outcome:
        waiting = False

        def wanted(model: MentalModel) -> bool:
            nonlocal waiting
            waiting = self._wait(model, failures, context.now) is not None
            unchanged = model.trigger.refresh_after_consolidation and model.last_refreshed_at == since
            return unchanged and not waiting

        with self._others_go_on(f"mental model {mental_model_id}", bank_id):
            outcome = self._ask(context, bank_id, mental_model_id, wanted)
            return "waiting" if waiting else outcome
        return "failed"

    def _ask(
        self,
        context: Context,
        bank_id: str,
        mental_model_id: str,
        wanted: Callable[[MentalModel], bool],
        mode: Literal["full"] | None = None,
    ) -> Outcome:
        try:
            asked = self._requests.refresh(context, bank_id, mental_model_id, mode, automatic=True, wanted=wanted)
        except NotFound:  # deleted meanwhile
            return "not_wanted"
        return asked.status

    def _wait(self, model: MentalModel, failures: Failures | None, now: datetime) -> datetime | None:
        if failures is None:
            return None
        until = wait_after(failures, min_interval(model, self._min_interval_of(model.bank_id)))
        return until if until is not None and now < until else None

    def _count(self, outcome: Outcome) -> None:
        with self._counting:
            self.counts[outcome] += 1

    @contextmanager
    def _others_go_on(self, what: str, bank_id: str) -> Iterator[None]:
        """An error in the block ends the block only, unless it is an error of all."""
        try:
            yield
        except self._broken:
            raise
        except Exception:
            logger.exception("%s of bank %s could not be refreshed automatically", what, bank_id)
