"""The tool `expand`: the text around facts that were shown, from the part of a document they were read in or all of it.

Only facts of this reflection can be expanded, and only into text of which scope and window admit every fact: what is
hidden from the question stays hidden, and what came after its snapshot is for the next one.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from application.reflection.readable import Desk
from domain.memory import Fact, beginning, estimated_tokens
from domain.reflection import Passage, ToolCall, ToolResult

NOT_SHOWN = "no search has given this id"
NO_TEXT = "no text is kept for it, or not all of it may be read here"
NO_ROOM = "there is no room left in this call"


def expand(call: ToolCall, desk: Desk) -> ToolResult:
    shown = desk.shown_facts
    facts = [shown[each] for each in call.ids if each in shown]
    of = desk.texts.chunks if call.depth == "chunk" else desk.texts.documents
    readable = desk.readable
    texts = of(readable.bank_id, facts, readable.scope, readable.window.upto) if facts else {}
    passages: list[Passage] = []
    left = call.max_tokens
    for fact_id in dict.fromkeys(call.ids):
        passage = _passage(fact_id, call, shown, texts, left)
        left -= estimated_tokens(passage.text)
        passages.append(passage)
    return ToolResult(call=call, passages=tuple(passages))


def _passage(fact_id: str, call: ToolCall, shown: Mapping[str, Fact], texts: Mapping[UUID, str], left: int) -> Passage:
    if fact_id not in shown:
        return Passage(fact_id=fact_id, depth=call.depth, problem=NOT_SHOWN)
    text = texts.get(shown[fact_id].id, "")
    if not text.strip():
        return Passage(fact_id=fact_id, depth=call.depth, problem=NO_TEXT)
    if left <= 0:
        return Passage(fact_id=fact_id, depth=call.depth, problem=NO_ROOM)
    kept = beginning(text, left)
    return Passage(fact_id=fact_id, depth=call.depth, text=kept, cut=kept != text)
