"""The bounds that refreshes nobody asked for keep to: a minimum interval, and a budget of tokens a day."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from application.refresh_requests import InFlight
from domain.mental_model.state import MentalModel
from domain.operation import Operation
from domain.scheduling import Park, min_interval, park_of


@dataclass(frozen=True)
class Automation:
    """`min_interval_seconds` is for models that do not say otherwise; `tokens_a_day` None is no bound.

    `tokens_of_day` gives what a bank has spent on a day (UTC), `in_flight` the refreshes of a model under way."""

    tokens_of_day: Callable[[str, date], int]
    in_flight: Callable[[str, str], Sequence[InFlight]]
    min_interval_seconds: int = 0
    tokens_a_day: int | None = None

    def park(self, model: MentalModel, now: datetime) -> Park | None:
        """Whether an automatic refresh of the model has to wait, until when and why."""
        spent = self.tokens_of_day(model.bank_id, now.date()) if self.tokens_a_day is not None else 0
        interval = min_interval(model, self.min_interval_seconds)
        return park_of(model, now, interval=interval, tokens_today=spent, tokens_a_day=self.tokens_a_day)

    def another_waits(self, operation: Operation, mental_model_id: str) -> bool:
        """Whether a refresh of the same model waits behind this one."""
        return any(
            each.status == "pending" and each.operation_id != str(operation.operation_id)
            for each in self.in_flight(operation.bank_id, mental_model_id)
        )
