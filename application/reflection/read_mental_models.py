"""The tool `read_mental_models`: whole pages in the order asked, as many as there is room for; always the first."""

from __future__ import annotations

from application.reflection.readable import Desk
from domain.memory import estimated_tokens
from domain.reflection import PageShown, ToolCall, ToolResult


def read_mental_models(call: ToolCall, desk: Desk) -> ToolResult:
    readable = desk.readable
    pages = desk.pages.read(readable.bank_id, call.ids, readable.scope, readable.excluded_page_ids)
    shown: list[PageShown] = []
    left = call.max_tokens
    for page in pages:
        if page.mental_model_id in desk.shown_whole:
            shown.append(PageShown(page=page, form="stub"))
            continue
        left -= estimated_tokens(page.content)
        if left < 0 and any(each.form == "whole" for each in shown):
            break
        shown.append(PageShown(page=page, form="whole"))
    read = {each.page.mental_model_id for each in shown}
    return ToolResult(call=call, pages=tuple(shown), not_read=tuple(each for each in call.ids if each not in read))
