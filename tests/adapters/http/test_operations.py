"""The endpoints of operations: cancel, retry, delete, what a parked one tells, and what is refused."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from application.command_handler import OPERATION, CommandHandler, Step, operation_stream
from application.ports import MindFailed
from domain.event import Context
from domain.operation import FailOperation, OperationCommand, ParkOperation, RefreshDone, StartOperation
from tests.adapters.http.told_minds import Told
from tests.support.rest import assert_refused


def asked_for(told: Told) -> str:
    """A refresh that waits."""
    told.bank.retain("Ada Lovelace works at Acme.")
    told.creates()
    return str(told.bank.get("/operations")["operations"][0]["id"])


def goes_on(told: Told, *commands: OperationCommand) -> None:
    """What a worker records."""
    handler = CommandHandler(told.service.log, told.service.database)
    for command in commands:
        context = Context("worker", told.service.clock.now(), cause="test")
        handler.execute(context, Step(OPERATION, operation_stream(told.bank.bank_id, command.operation_id), command))


def parked(told: Told) -> str:
    operation = asked_for(told)
    until = told.service.clock.now() + timedelta(hours=1)
    goes_on(told, ParkOperation(told.bank.bank_id, UUID(operation), until, "min_interval"))
    return operation


def started(told: Told) -> str:
    operation = asked_for(told)
    goes_on(told, StartOperation(told.bank.bank_id, UUID(operation)))
    return operation


def failed(told: Told) -> str:
    operation = started(told)
    goes_on(told, FailOperation(told.bank.bank_id, UUID(operation), "no answer", 0, None))
    return operation


def completed(told: Told) -> str:
    operation = asked_for(told)
    told.work()
    return operation


def status(told: Told, operation: str) -> Any:
    return told.bank.get(f"/operations/{operation}")["status"]


def test_one_that_runs_tells_how_far_it_is_and_one_that_does_not_tells_nothing(told: Told) -> None:
    operation = asked_for(told)
    seen: list[Any] = []

    def look() -> None:
        listed = told.bank.get("/operations", type="refresh_mental_model")["operations"][0]
        single = told.bank.get(f"/operations/{operation}")
        assert (listed["status"], single["status"]) == ("processing", "processing")
        assert listed["progress"] == {**single["progress"], "detail": None}
        seen.append(single["progress"])

    told.policy.before_answer = look
    assert told.bank.get("/operations")["operations"][0]["progress"] is None
    told.work()

    (progress,) = seen
    assert (progress["stage"], progress["processed"], progress["total"]) == ("reflecting", 2, 10)
    assert datetime.fromisoformat(progress["at"]).utcoffset() == timedelta(0)
    assert told.bank.get("/operations")["operations"][0]["progress"] is None
    assert "progress" not in told.bank.get(f"/operations/{operation}")


def test_one_that_is_cancelled_while_it_runs_shows_no_progress(told: Told) -> None:
    operation = asked_for(told)

    def cancel_and_look() -> None:
        told.bank.ask("DELETE", f"/operations/{operation}")
        assert told.bank.get("/operations")["operations"][0]["progress"] is None

    told.policy.before_answer = cancel_and_look
    told.work()

    cancelled = told.bank.get("/operations")["operations"][0]
    assert (cancelled["status"], cancelled["progress"]) == ("cancelled", None)


def test_one_that_waits_to_be_tried_again_shows_no_progress(told: Told) -> None:
    operation = asked_for(told)
    told.policy.fails = MindFailed("the endpoint answered 503", reason="unexpected_error", transient=True)
    told.service.background.run(told.bank.bank_id, UUID(operation))

    waiting = told.bank.get("/operations")["operations"][0]
    assert (waiting["status"], waiting["retry_count"], waiting["progress"]) == ("pending", 1, None)


@pytest.mark.parametrize("begins", [asked_for, parked, started], ids=["waits", "parked", "runs"])
def test_what_waits_or_runs_is_cancelled_and_never_runs(told: Told, begins: Any) -> None:
    operation = begins(told)
    answer = told.bank.ask("DELETE", f"/operations/{operation}")
    assert (answer.status_code, answer.json()) == (
        200,
        {"success": True, "message": f"Operation {operation} cancelled", "operation_id": operation},
    )
    cancelled = told.bank.get(f"/operations/{operation}")
    assert cancelled["status"] == "cancelled"
    assert cancelled["completed_at"]
    assert {"next_retry_at", "park_reason"} & set(cancelled) == set()
    told.service.background.run(told.bank.bank_id, UUID(operation))
    assert told.bank.get("/mental-models/ada")["content"] == ""


@pytest.mark.parametrize("ends", [failed, parked], ids=["failed", "parked"])
def test_what_failed_or_waits_is_queued_again(told: Told, ends: Any) -> None:
    operation = ends(told)
    assert told.bank.post(f"/operations/{operation}/retry") == {
        "success": True,
        "message": f"Operation {operation} queued for retry",
        "operation_id": operation,
    }
    retried = told.bank.get(f"/operations/{operation}")
    assert (retried["status"], retried["retry_count"]) == ("pending", 0)
    assert {"next_retry_at", "park_reason", "error_message", "completed_at", "details"} & set(retried) == set()
    told.work()
    assert status(told, operation) == "completed"
    assert "Acme" in told.bank.get("/mental-models/ada")["content"]


@pytest.mark.parametrize("ends", [failed, completed], ids=["failed", "completed"])
def test_what_has_ended_is_deleted(told: Told, ends: Any) -> None:
    operation = ends(told)
    answer = told.bank.ask("DELETE", f"/operations/{operation}/delete")
    assert (answer.status_code, answer.json()) == (
        200,
        {"success": True, "message": f"Operation {operation} deleted", "operation_id": operation},
    )
    assert status(told, operation) == "not_found"
    assert told.bank.get("/operations")["total"] == 0


@pytest.mark.parametrize(
    ("begins", "method", "path", "words"),
    [
        (completed, "DELETE", "", "has ended"),
        (completed, "POST", "/retry", "is completed: only a failed, cancelled or waiting one can be retried"),
        (started, "POST", "/retry", "is processing: only a failed, cancelled or waiting one can be retried"),
        (asked_for, "DELETE", "/delete", "is pending: only one that has ended can be deleted; cancel it first"),
        (started, "DELETE", "/delete", "is processing: only one that has ended can be deleted; cancel it first"),
    ],
)
def test_what_the_status_forbids_is_a_conflict(told: Told, begins: Any, method: str, path: str, words: str) -> None:
    operation = begins(told)
    before = status(told, operation)
    assert_refused(told.bank.ask(method, f"/operations/{operation}{path}"), 409, operation, words)
    assert status(told, operation) == before


@pytest.mark.parametrize(("method", "path"), [("DELETE", ""), ("POST", "/retry"), ("DELETE", "/delete")])
def test_an_operation_nobody_knows_is_not_found_and_what_is_no_id_is_told_as_such(
    told: Told, method: str, path: str
) -> None:
    unknown = str(uuid4())
    assert_refused(told.bank.ask(method, f"/operations/{unknown}{path}"), 404, "Bank", told.bank.bank_id)
    asked_for(told)
    assert_refused(told.bank.ask(method, f"/operations/{unknown}{path}"), 404, unknown, "list the bank's operations")
    assert_refused(told.bank.ask(method, f"/operations/mine{path}"), 400, "'mine' is not an operation id")


def test_a_parked_operation_tells_how_long_it_waits_and_why(told: Told) -> None:
    operation = parked(told)
    (listed,) = told.bank.get("/operations", status="pending", type="refresh_mental_model")["operations"]
    one = told.bank.get(f"/operations/{operation}")
    for each in (listed, one):
        assert (each["status"], each["park_reason"], each["retry_count"]) == ("pending", "min_interval", 0)
        assert each["next_retry_at"] > each["created_at"]
    assert "error_message" not in one


def test_a_running_operation_has_no_details_of_an_attempt_before(told: Told) -> None:
    operation = started(told)
    bank_id, operation_id = told.bank.bank_id, UUID(operation)
    refused = RefreshDone(outcome="refresh_failed_error", failure_reason="no_answer")
    goes_on(told, FailOperation(bank_id, operation_id, "no", 3, told.service.clock.now(), refused))
    assert told.bank.get(f"/operations/{operation}")["details"]["failure_reason"] == "no_answer"
    goes_on(told, StartOperation(bank_id, operation_id))
    running = told.bank.get(f"/operations/{operation}")
    assert running["status"] == "processing"
    assert {"details", "error_message", "next_retry_at"} & set(running) == set()


def test_op_06_pages_after_an_operation_neither_repeat_nor_miss_while_new_ones_arrive(told: Told) -> None:
    def asked() -> str:
        return str(told.bank.post("/memories", {"items": [{"content": "Tea."}], "async": True})["operation_id"])

    ids = [asked() for _ in range(5)]
    seen: list[str] = []
    while page := told.bank.get("/operations", limit=2, **({"after": seen[-1]} if seen else {}))["operations"]:
        seen += [each["id"] for each in page]
        asked()
    assert seen == ids[::-1]
    assert_refused(told.bank.ask("GET", f"/operations?after={uuid4()}"), 404, "list the bank's operations")
    assert_refused(told.bank.ask("GET", "/operations?after=last"), 400, "'last' is not an operation id")


def test_cancelled_operations_are_listed_by_their_status(told: Told) -> None:
    operation = asked_for(told)
    told.bank.ask("DELETE", f"/operations/{operation}")
    assert [each["id"] for each in told.bank.get("/operations", status="cancelled")["operations"]] == [operation]
    assert told.bank.get("/operations", status="pending")["total"] == 0
