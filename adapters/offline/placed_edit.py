"""An edit with the part of the document it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from domain.editing import EditRequest, ProposedEdit


@dataclass(frozen=True, slots=True)
class PlacedEdit:
    """An edit, and the section it changes (None: one that is not there yet)."""

    section_id: str | None
    edit: ProposedEdit

    def is_due(self, request: EditRequest) -> bool:
        """Whether the request shows its section; a new section comes with the last part."""
        return request.last_part if self.section_id is None else is_shown(self.section_id, request)


def is_shown(section_id: str, request: EditRequest) -> bool:
    """Whether a section of the document is open to edits."""
    return request.shown is None or section_id in request.shown
