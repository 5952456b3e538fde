"""What fits into one prompt: nothing is cut, what does not fit is gone through in parts."""

from __future__ import annotations

import pytest

from domain.document import Document, parse
from domain.refresh.prompt_room import (
    DOCUMENT_TOKENS,
    IDS,
    PROMPT_TOKENS,
    RULES_TOKENS,
    facts_room,
    parts_of,
)


def document(*sections: int) -> Document:
    """Sections of about so many tokens each in a prompt."""
    return parse("".join(f"# S{number}\n\n{'word' * int(size / IDS)}\n\n" for number, size in enumerate(sections)))


def test_facts_have_the_room_that_a_document_leaves() -> None:
    assert facts_room(document()) == PROMPT_TOKENS - RULES_TOKENS
    small = facts_room(document(1000))
    assert PROMPT_TOKENS - RULES_TOKENS - 1020 < small < PROMPT_TOKENS - RULES_TOKENS - 980


def test_facts_keep_room_beside_the_largest_part_of_a_document() -> None:
    least = PROMPT_TOKENS - RULES_TOKENS - DOCUMENT_TOKENS
    assert facts_room(document(DOCUMENT_TOKENS, DOCUMENT_TOKENS)) == least
    assert least >= 4000


@pytest.mark.parametrize(
    ("sizes", "parts"),
    [
        ((), [None]),
        ((15_000,), [None]),
        ((9000, 6000), [None]),
        ((9000, 9000), [["s0"], ["s1"]]),
        ((9000, 6000, 3000), [["s0", "s1"], ["s2"]]),
        ((3000, 20_000, 3000), [["s0"], ["s1"], ["s2"]]),
        ((20_000,), [["s0"]]),
    ],
    ids=[
        "an empty document",
        "one that fits",
        "two sections that fit",
        "two that do not fit together",
        "as many sections as fit",
        "a section larger than a part is one by itself",
        "one section larger than a part",
    ],
)
def test_a_document_too_large_is_shown_in_parts_of_whole_sections(
    sizes: tuple[int, ...], parts: list[list[str] | None]
) -> None:
    assert parts_of(document(*sizes)) == tuple(None if part is None else frozenset(part) for part in parts)
