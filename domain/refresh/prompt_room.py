"""What fits into one prompt of an editing call: nothing is ever cut, what does not fit is gone through in parts.

The bounds are those of the system of reference (spec, structured document, "Limits and budgets"): 24,000 tokens in all.
"""

from __future__ import annotations

from domain.document import Document, Section
from domain.memory import estimated_tokens

PROMPT_TOKENS = 24_000
RULES_TOKENS = 2_000
"""What instructions, the shape of operations and the question take."""
DOCUMENT_TOKENS = 16_000
"""Of a document, shown in one prompt."""
IDS = 1.3
"""How much larger a document is in a prompt, with the ids of its pieces, than by itself."""


def facts_room(document: Document) -> int:
    """Estimated tokens of facts that fit beside a document, or beside the largest part of it that is shown."""
    shown = min(_tokens(document.render()), DOCUMENT_TOKENS)
    return PROMPT_TOKENS - RULES_TOKENS - shown


def parts_of(document: Document) -> tuple[frozenset[str] | None, ...]:
    """The sections to show in full, part by part; a single None when all fit into one. A section larger than a part is
    one by itself."""
    if _tokens(document.render()) <= DOCUMENT_TOKENS:
        return (None,)
    parts: list[set[str]] = []
    taken = 0
    for section in document.sections:
        size = _tokens(_text(section))
        if not parts or taken + size > DOCUMENT_TOKENS:
            parts.append(set())
            taken = 0
        parts[-1].add(section.id)
        taken += size
    return tuple(map(frozenset, parts))


def _tokens(text: str) -> int:
    return int(IDS * estimated_tokens(text))


def _text(section: Section) -> str:
    heading = section.heading.source if section.heading else ""
    return heading + "".join(block.source + block.gap for block in section.blocks)
