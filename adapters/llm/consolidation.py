"""The consolidator that asks a language model what new facts come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.llm.aliases import Aliases
from adapters.llm.consolidation_prompts import AGAIN, consolidation_messages
from adapters.llm.consolidation_replies import changes_in
from adapters.llm.consolidation_tool import CONSOLIDATE, CONSOLIDATE_TOOL
from adapters.llm.corrections import asked_again
from adapters.llm.endpoint import Endpoint
from adapters.llm.failures import UnusableReply, one_line
from adapters.llm.replies import ChatReply
from domain.consolidation import ConsolidationProposal, ConsolidationRequest
from domain.usage import ModelCall

_PURPOSE = "consolidate"


class LlmConsolidator:
    """A Consolidator: one call a request, and one more when something in the reply could not be taken."""

    deterministic = False

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.engine = endpoint.model

    def consolidate(self, request: ConsolidationRequest) -> ConsolidationProposal:
        """The changes of a reply; facts that it says nothing about need no observation.

        Raises MindFailed when the endpoint could not be asked, the reply is cut off or refused, or when, asked again,
        the model still names changes that cannot be taken and facts would be lost with them.
        """
        if not request.facts:
            return ConsolidationProposal()
        aliases = Aliases.of_consolidation(request)
        messages = consolidation_messages(request, aliases)
        facts = [fact.id for fact in request.facts]
        paid: list[ModelCall] = []
        reply = self._ask(messages, _PURPOSE, paid)
        changes = changes_in(reply, request, aliases)
        if not changes.problems:
            return changes.proposal(raw=reply.raw, calls=tuple(paid))
        messages += asked_again(reply.raw, changes.problems, AGAIN)
        second = self._ask(messages, f"{_PURPOSE}_again", paid)
        corrected = changes_in(second, request, aliases)
        for read, said in ((corrected, second), (changes, reply)):
            if not read.loses(facts):
                return read.proposal(raw=said.raw, calls=tuple(paid))
        raise self._unusable(corrected.problems, second, paid)

    def _ask(self, messages: Sequence[Mapping[str, Any]], purpose: str, paid: list[ModelCall]) -> ChatReply:
        return self._endpoint.chat(
            messages,
            purpose=purpose,
            paid=paid,
            tools=[CONSOLIDATE_TOOL],
            tool_choice={"type": "function", "function": {"name": CONSOLIDATE}},
        )

    def _unusable(self, problems: Sequence[str], reply: ChatReply, paid: Sequence[ModelCall]) -> UnusableReply:
        failure = UnusableReply(
            f"{self._endpoint.target} did not say what the facts come to, nor when asked again: "
            f"{one_line('; '.join(problems))}",
            raw=reply.raw,
        )
        failure.calls = tuple(paid)
        return failure
