"""The bounds that work nobody asked for keeps to: a minimum interval of refreshes, and a budget of tokens a day."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime

from application.ports import Transaction
from application.refresh_requests import InFlight
from domain.mental_model.state import MentalModel
from domain.operation import Operation
from domain.scheduling import Park, min_interval, next_day, park_of


@dataclass(frozen=True)
class Automation:
    """`tokens_a_day` None is no bound; `min_interval_of` gives the seconds that a bank sets for models that do not say
    otherwise.

    `tokens_of_day` gives what a bank has spent on a day (UTC), `in_flight` the refreshes of a model under way, as
    a transaction sees them."""

    tokens_of_day: Callable[[str, date], int]
    in_flight: Callable[[str, str, Transaction], Sequence[InFlight]]
    min_interval_of: Callable[[str], int] = lambda _bank_id: 0
    tokens_a_day: int | None = None

    def park(self, model: MentalModel, now: datetime) -> Park | None:
        """Whether an automatic refresh of the model has to wait, until when and why."""
        spent = self.tokens_of_day(model.bank_id, now.date()) if self.tokens_a_day is not None else 0
        interval = min_interval(model, self.min_interval_of(model.bank_id))
        return park_of(model, now, interval=interval, tokens_today=spent, tokens_a_day=self.tokens_a_day)

    def park_in_bank(self, bank_id: str, now: datetime) -> Park | None:
        """Whether automatic work that is of no model has to wait: only for the tokens of the next day."""
        left = self.tokens_left(bank_id, now)
        return None if left is None or left > 0 else Park(next_day(now), "token_budget")

    def tokens_left(self, bank_id: str, now: datetime) -> int | None:
        """What automatic work may still spend on the day; None without a bound."""
        return None if self.tokens_a_day is None else self.tokens_a_day - self.tokens_of_day(bank_id, now.date())

    def another_waits(self, operation: Operation, mental_model_id: str, tx: Transaction) -> bool:
        """Whether a refresh of the same model waits behind this one, which holds in a transaction that holds the
        model."""
        return any(
            each.status == "pending" and each.operation_id != str(operation.operation_id)
            for each in self.in_flight(operation.bank_id, mental_model_id, tx)
        )
