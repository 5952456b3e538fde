"""The document editor that needs no model: facts become bullets, bullets go with their facts."""

from __future__ import annotations

from adapters.offline.asked import asked_by, worth_adding
from adapters.offline.compaction import removals
from adapters.offline.retraction import edits_of_retracted_facts
from adapters.offline.working_in import edits_of_new_facts
from domain.editing import EditRequest, Proposal


class OfflineDocumentEditor:
    """Adds, replaces and removes whole statements, and never rewrites one: a page written by hand keeps its words.

    Of a document shown in parts every fact has one place, told from the whole of it; the edit is proposed with the part
    that shows the place, that of a new section with the last part. A correction changes nothing: the same request
    would be answered in the same way."""

    engine = "offline"
    deterministic = True

    def propose(self, request: EditRequest) -> Proposal:
        """Never fails and costs nothing."""
        document = request.document
        if request.task == "compaction":
            return Proposal(edits=tuple(removals(request)))
        if request.task == "retraction":
            placed = list(edits_of_retracted_facts(document, request.retracted, request.facts))
        else:
            # Half of the page at most: what stood there is not all to go for what was said last.
            worth = worth_adding(asked_by(request.source_query), request.facts, request.max_tokens // 2)
            placed = edits_of_new_facts(document, request.name, worth)
        return Proposal(edits=tuple(each.edit for each in placed if each.is_due(request)))
