"""Minds that consolidate as told, and banks whose facts they are asked about."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any
from uuid import UUID

from adapters.service import Service
from application.ports import MindFailed
from domain.consolidation import ConsolidationProposal, ConsolidationRequest, NewObservation
from projections import operations
from projections.operations import OperationRow
from tests.support.examples import call
from tests.support.services import context

Act = Callable[[ConsolidationRequest], ConsolidationProposal]


def each_by_itself(request: ConsolidationRequest) -> ConsolidationProposal:
    """An observation for every fact, in its words."""
    creates = tuple(NewObservation(text=f"Observed: {fact.text}", source_ids=(fact.id,)) for fact in request.facts)
    return ConsolidationProposal(creates=creates)


def all_in_one(request: ConsolidationRequest) -> ConsolidationProposal:
    """One observation of all facts."""
    text = "Together: " + " / ".join(fact.text for fact in request.facts)
    return ConsolidationProposal(
        creates=(NewObservation(text=text, source_ids=tuple(fact.id for fact in request.facts)),)
    )


class ToldConsolidator:
    """Consolidator: does `act`; every request costs a call. `asked` keeps them, `before` is called with each."""

    engine = "told"

    def __init__(self, act: Act = each_by_itself, *, deterministic: bool = False) -> None:
        self.act = act
        self.deterministic = deterministic
        self.asked: list[ConsolidationRequest] = []
        self.before: Callable[[ConsolidationRequest], object] = lambda _request: None
        self._lock = Lock()

    def consolidate(self, request: ConsolidationRequest) -> ConsolidationProposal:
        with self._lock:
            self.asked.append(request)
        self.before(request)
        return self.act(request).model_copy(update={"calls": (call("consolidate", 10, 1),)})

    def texts(self) -> list[list[str]]:
        """The facts of each request."""
        return [[fact.text for fact in request.facts] for request in self.asked]


def failing(*, transient: bool = False, replied: bool = True, on_request: bool = False) -> MindFailed:
    """A request that is turned away is a call too, one that costs nothing."""
    paid = call("consolidate", 5 if replied else 0, 0)
    return MindFailed("no use", reason="unexpected_error", transient=transient, calls=(paid,), on_request=on_request)


def late() -> MindFailed:
    """No answer in time: the endpoint may be down, or the request too much for it."""
    return failing(transient=True, replied=False, on_request=True)


def observing(service: Service, bank_id: str, **config: Any) -> None:
    """Has a bank make observations, when it is asked to unless its config says otherwise."""
    changes = {"enable_observations": True, "enable_auto_consolidation": False, **config}
    service.banks.put(context(service), bank_id, changes=changes)


def consolidate(service: Service, bank_id: str) -> OperationRow:
    """Asks for a consolidation and makes one attempt at it."""
    asked = service.consolidation_requests.consolidate(context(service), bank_id)
    return attempt(service, bank_id, asked.operation_id)


def attempt(service: Service, bank_id: str, operation_id: UUID) -> OperationRow:
    service.background.run(bank_id, operation_id)
    return operation(service, bank_id, operation_id)


def operation(service: Service, bank_id: str, operation_id: UUID) -> OperationRow:
    found = service.reader.ask(operations.find(bank_id, str(operation_id)))
    assert found is not None
    return found


def operations_of(service: Service, bank_id: str, operation_type: str = "consolidation") -> Sequence[OperationRow]:
    """Newest first."""
    rows, _ = service.reader.ask(
        operations.page(bank_id, status=None, operation_type=operation_type, limit=100, offset=0)
    )
    return rows


def observations(service: Service, bank_id: str) -> dict[str, dict[str, Any]]:
    """Rows of the current observations by text."""
    return {row["text"]: row for row in rows_of(service, bank_id) if row["fact_type"] == "observation"}


def rows_of(service: Service, bank_id: str) -> list[dict[str, Any]]:
    """Rows of the current facts, by position."""
    with service.database.connection() as connection:
        return connection.execute(
            "SELECT * FROM fact_versions WHERE bank_id = %s AND to_position IS NULL ORDER BY from_position", (bank_id,)
        ).fetchall()


def waiting(service: Service, bank_id: str) -> tuple[int, int]:
    """How many facts wait, and how many failed."""
    with service.database.connection() as connection:
        row = connection.execute(
            "SELECT count(*) FILTER (WHERE consolidated_at IS NULL AND failed_at IS NULL) AS waits,"
            " count(*) FILTER (WHERE failed_at IS NOT NULL) AS failed FROM consolidation WHERE bank_id = %s",
            (bank_id,),
        ).fetchone()
    assert row is not None
    return row["waits"], row["failed"]
