"""The dry run of a refresh: the same run as a real one, reported instead of recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from application.command_handler import mental_model_stream
from application.mental_models import MentalModels, stood
from application.ports import MindFailed
from application.refresh import RefreshExecutor
from application.request_costs import RequestCosts
from domain.event import Context, Recorded
from domain.mental_model.events import ContentUnchanged, ContentWritten, RefreshFailedError, RefreshOutcome
from domain.mental_model.state import MentalModel
from domain.reflection import ToolResult
from domain.refresh import decide_outcome

WOULD_FAIL = "a refresh would fail ({reason}): {message}"


@dataclass(frozen=True)
class Preview:
    """What a refresh would come to now. `events` are those of the mental model; `outputs` what each tool call gave."""

    model: MentalModel
    outcome: RefreshOutcome
    outputs: tuple[ToolResult, ...]
    events: Sequence[Recorded]

    @property
    def would_persist(self) -> bool:
        """Whether it would come to a document, if only to the same."""
        return isinstance(self.outcome, ContentWritten | ContentUnchanged)

    @property
    def content(self) -> str:
        """The document as it would stand afterwards."""
        return self.outcome.text if isinstance(self.outcome, ContentWritten) else self.model.content

    @property
    def events_with_outcome(self) -> list[Recorded]:
        """The events of the mental model as a real refresh would leave them."""
        last = self.events[-1]
        stream = mental_model_stream(self.model.bank_id, self.model.mental_model_id)
        at = self.outcome.record.window.created_before
        return [*self.events, Recorded(stream, last.version + 1, 0, self.outcome, "user", None, "", at)]


class DryRuns:
    def __init__(self, mental_models: MentalModels, executor: RefreshExecutor, costs: RequestCosts) -> None:
        self._mental_models = mental_models
        self._executor = executor
        self._costs = costs

    def refresh(self, context: Context, bank_id: str, mental_model_id: str) -> Preview:
        """Reads and asks what a refresh would, and writes nothing but what that cost. It is asked for no structured
        view.

        Raises MentalModelNotFound; MindFailed when the refresh would fail by an error."""
        version = self._mental_models.load(bank_id, mental_model_id).version
        events = self._mental_models.events(bank_id, mental_model_id)[:version]
        model = stood(mental_model_id, events, version).model
        run = self._executor.execute(model, preview=True)
        outcome = decide_outcome(run, model)
        self._costs.record(context, bank_id, "dry_run", outcome.record.calls)
        if isinstance(outcome, RefreshFailedError):
            raise MindFailed(
                WOULD_FAIL.format(reason=outcome.failure_reason, message=outcome.error_message),
                reason=outcome.failure_reason,
                transient=outcome.transient,
                calls=outcome.record.calls,
            )
        return Preview(model, outcome, run.outputs, events)
