"""What holds for edits of any page and any facts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from adapters.offline.sameness import bare
from domain.document import AddSection, AppendBlock, AppendItem, InsertItem, RemoveItem, ReplaceItem, parse
from domain.editing import NewFact, ProposedEdit
from domain.memory import Fact
from tests.adapters.offline.edit_requests import proposed, request
from tests.adapters.offline.facts_of import stored, unhurried

SENTENCES = [
    "Bob drinks tea.",
    "Acme grew",
    "我们使用 <b>。",
    "# one",
    "1. two",
    "**",
    "- - -",
    "`a` *b*",
    "| a |",
    "   ",
]
HEADINGS = ["# Team", "## Acme", "## More", "### 我们", "Acme\n====", "## **Bob**", "#", "# Acme"]
BLOCKS = [
    "Bob drinks\ntea.",
    "- Acme grew.\n- (2024-05-01) Bob drinks tea.",
    "* (2024-05-03) a\n* (2024-05-02) b",
    "1. Acme grew\n2. two",
    "- a\n  - 我们使用 \\<b>。\n\n  more\n- b",
    "| who | what |\n| --- | --- |\n| Bob | tea |",
    "```\n- code\n```",
    "> Acme grew",
    "<div>\n- a\n</div>",
    "[a]: /b",
    "---",
    "- (2024-05-01) a\n\n\n- b\n- (2024-05-09) c",
    "+",
    "    - code",
]
PAGES = st.lists(st.sampled_from(HEADINGS + BLOCKS), max_size=8).map(lambda parts: "\n\n".join([*parts, ""]))
DAYS = st.none() | st.integers(1, 9).map(lambda day: datetime(2024, 5, day, tzinfo=UTC))
NAMES = st.lists(st.sampled_from(["Acme", "acme", "Bob", "我们", "More", "#", "Eve"]), max_size=2)
FACTS = st.lists(st.tuples(st.sampled_from(SENTENCES), NAMES, DAYS, DAYS), max_size=6).map(
    lambda rows: [
        stored(number, text, names=names, occurred=occurred, mentioned=mentioned)
        for number, (text, names, occurred, mentioned) in enumerate(rows, 1)
    ]
)
EARLIER = st.lists(st.none() | st.sampled_from(SENTENCES), min_size=6, max_size=6)


def words(markdown: str) -> str:
    return bare(markdown.replace("\\", ""))


def written(edits: Sequence[ProposedEdit]) -> str:
    """All text that the edits bring."""
    texts: list[str] = []
    for edit in edits:
        operation = edit.operation
        texts += operation.blocks if isinstance(operation, AddSection) else [getattr(operation, "text", "")]
    return "\n".join(texts)


@unhurried
@given(PAGES, FACTS)
def test_every_new_fact_is_proposed_once_or_said_already_and_nothing_that_stands_is_touched(
    markdown: str, facts: list[Fact]
) -> None:
    edits = proposed(request(markdown, facts))
    assert all(isinstance(edit.operation, AppendBlock | AppendItem | InsertItem | AddSection) for edit in edits)
    named = Counter(fact_id for edit in edits for fact_id in edit.facts)
    assert set(named.values()) <= {1}
    for fact in facts:
        if fact.id in named:
            (edit,) = [edit for edit in edits if edit.facts == (fact.id,)]
            assert words(fact.text) in words(written([edit]))
        else:
            assert words(fact.text) in words(f"{markdown}\n{written(edits)}")


@unhurried
@given(PAGES, FACTS, EARLIER)
def test_what_a_fact_was_is_all_that_is_replaced_or_removed(
    markdown: str, facts: list[Fact], earlier: list[str | None]
) -> None:
    document = parse(markdown)
    sources = {
        piece.id: piece.source
        for section in document.sections
        for block in section.blocks
        for piece in (block, *block.items)
    }
    new = [NewFact(fact, was=was) for fact, was in zip(facts, earlier, strict=False)]
    edits = proposed(request(markdown, new))
    touched = [
        (
            edit,
            edit.operation.item_id if isinstance(edit.operation, ReplaceItem | RemoveItem) else edit.operation.block_id,
        )
        for edit in edits
        if edit.operation.op in ("replace_item", "remove_item", "replace_block", "remove_block")
    ]
    assert len({identity for _, identity in touched}) == len(touched)
    for edit, identity in touched:
        (was,) = [each.was for each in new if (each.fact.id,) == edit.facts]
        assert was is not None
        assert words(sources[identity]).endswith(words(was))


@unhurried
@given(PAGES, FACTS, EARLIER, st.data())
def test_the_parts_of_a_page_get_together_what_the_whole_page_gets(
    markdown: str, facts: list[Fact], earlier: list[str | None], data: st.DataObject
) -> None:
    new = [NewFact(fact, was=was) for fact, was in zip(facts, earlier, strict=False)]
    sections = [section.id for section in parse(markdown).sections]
    cut = data.draw(st.integers(0, len(sections)))
    parts = (
        *proposed(request(markdown, new, shown=sections[:cut], last_part=False)),
        *proposed(request(markdown, new, shown=sections[cut:], last_part=True)),
    )
    assert sorted(map(repr, parts)) == sorted(map(repr, proposed(request(markdown, new))))
