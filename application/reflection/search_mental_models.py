"""The tool `search_mental_models`: the best page whole when it is not too long, of the others how they begin; a page
that was shown before is only named."""

from __future__ import annotations

from application.reflection.readable import Desk
from domain.memory import estimated_tokens
from domain.reflection import PageFound, PageShown, ToolCall, ToolResult

WHOLE_TOKENS = 4000
"""Up to this length the best page is shown whole."""


def search_mental_models(call: ToolCall, desk: Desk) -> ToolResult:
    readable = desk.readable
    found = desk.pages.search(
        readable.bank_id,
        call.query,
        desk.vectors[call.query],
        readable.scope,
        readable.excluded_page_ids,
        call.max_results,
    )
    room = min(WHOLE_TOKENS, call.max_tokens)
    shown = (_shown(page, desk, room if number == 0 else 0) for number, page in enumerate(found))
    return ToolResult(call=call, pages=tuple(shown))


def _shown(page: PageFound, desk: Desk, room: int) -> PageShown:
    if page.mental_model_id in desk.shown_whole:
        return PageShown(page=page, form="stub")
    return PageShown(page=page, form="whole" if estimated_tokens(page.content) <= room else "snippet")
