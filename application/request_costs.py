"""What requests cost that are answered at once: told by an event of a stream of their own.

A stream for each request, so that no request waits for another to tell what it cost.
"""

from __future__ import annotations

from collections.abc import Sequence

from application.aggregate import Aggregate
from application.command_handler import CommandHandler, Step
from application.ports import Identities
from domain import request
from domain.event import Context, StreamId
from domain.request import Asking, TellModelsAsked
from domain.usage import ModelCall

REQUEST: Aggregate[request.Request] = Aggregate(
    "request", request.STATE_VERSION, request.Request, request.Request(), request.decide, request.evolve
)


class RequestCosts:
    def __init__(self, handler: CommandHandler, identities: Identities) -> None:
        self._handler = handler
        self._identities = identities

    def steps(self, bank_id: str, asking: Asking, calls: Sequence[ModelCall]) -> list[Step]:
        """To be recorded together with what the request came to; none when no model was asked."""
        if not calls:
            return []
        stream = StreamId("request", bank_id, str(self._identities.new()))
        return [Step(REQUEST, stream, TellModelsAsked(asking, tuple(calls)))]

    def record(self, context: Context, bank_id: str, asking: Asking, calls: Sequence[ModelCall]) -> None:
        """For a request that records nothing else, or failed."""
        if steps := self.steps(bank_id, asking, calls):
            self._handler.execute(context, *steps)
