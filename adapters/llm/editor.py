"""The document editor that asks a language model for operations.

One call of one tool. The reply is read entry by entry, each checked against the operation's type, instead of being
forced as a whole into one typed shape: that would ask again by itself for the whole reply when a single entry is wrong,
and lose the entries that are right. Whether to ask again is decided where the operations are tried on the document: the
request then holds what was wrong with the reply before.
"""

from __future__ import annotations

from adapters.llm.aliases import Aliases
from adapters.llm.edit_replies import edits_in
from adapters.llm.edit_tool import EDIT, EDIT_TOOL
from adapters.llm.editing_prompts import editing_messages, notes_of
from adapters.llm.endpoint import Endpoint
from adapters.llm.failures import UnusableReply
from adapters.llm.numbered_document import numbered
from domain.editing import EditRequest, Proposal, ProposedEdit, RefusedEdit
from domain.usage import ModelCall


class LlmDocumentEditor:
    """A DocumentEditor: one call for each proposal, counted as `delta_` and the task, `_again` for a correction."""

    deterministic = False

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.engine = endpoint.model

    def propose(self, request: EditRequest) -> Proposal:
        """The operations of one reply, in their order; what in it was none is refused with a reason.

        Raises MindFailed: reason `delta_ops_failed` when the reply is cut off, refused or no reply at all,
        `unexpected_error` when the endpoint could not be asked.
        """
        aliases = Aliases.of_edit(request)
        document = numbered(request.document, request.shown, notes_of(request.grounds, aliases))
        paid: list[ModelCall] = []
        try:
            reply = self._endpoint.chat(
                editing_messages(request, document, aliases),
                purpose=f"delta_{request.task}_again" if request.correction else f"delta_{request.task}",
                paid=paid,
                tools=[EDIT_TOOL],
                tool_choice={"type": "function", "function": {"name": EDIT}},
            )
        except UnusableReply as failure:
            failure.reason = "delta_ops_failed"
            raise
        entries = list(edits_in(reply, document, aliases))
        return Proposal(
            edits=tuple(each for each in entries if isinstance(each, ProposedEdit)),
            refused=tuple(each for each in entries if isinstance(each, RefusedEdit)),
            raw=reply.raw,
            calls=tuple(paid),
        )
