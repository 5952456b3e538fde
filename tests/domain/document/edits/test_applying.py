"""Whatever the document and the operations, the result is a document that says what it was built to say."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from domain.document import (
    AddSection,
    AppendBlock,
    AppendItem,
    Applied,
    AppliedOperation,
    Document,
    InsertBlock,
    InsertItem,
    MoveSection,
    Operation,
    RemoveBlock,
    RemoveItem,
    RemoveSection,
    RenameSection,
    ReplaceBlock,
    ReplaceItem,
    ReplaceSectionBlocks,
    apply,
    identified,
    ids_of,
    parse,
)
from domain.document.edits.itemized import ITEMIZED, form_of, words_of
from tests.domain.document.edits.outcomes import b, reasons
from tests.domain.document.markdown_texts import any_text, blocks_of, markdown_text, unhurried

# --- documents and operations -----------------------------------------------------------------------------------------

PARTS = ["# A", "## B", "Same\n====", "one", "two\nlines", "---", "- x\n- y", "* x\n\n* z", "1. a\n2. b", "    code"]
PARTS += ["- [ ] a\n- [x] b", "-\tx\n\n\t\tcode", "0. a\n1. b", "999. a\n1000. b", "9.   a\n10.   b", "<!-- a\n\nb -->"]
PARTS += [
    "| a \\| b | c |\n|---|:-:|\n| x \\| y | 1 |\n| z |",
    "> - x\n> - y",
    "1. - x\n   - y\n2.     z",
    "[a]:\n/u\n'b'",
]
PARTS += ["|h|k|\n|-|-|\n|x|1|\n|y|2|", "```\n# c\n```", "> quote", "<div>\nx\n</div>", "[a]: /u", "- a\n  - b\n- c"]
NASTY = [
    "",
    "\n ",
    "|z|3|",
    "```\nopen",
    "<!-- open",
    "$& \\1 {0}",
    "# A\n\ntext",
    "text\n---",
    "-",
    "2024. x",
    "\ufeff",
]
NASTY += ["---\nk: v\n---", "  indented", "- - x", "\ud800", "\x00", "\r\n\r\nx\r"]
separated_text = st.tuples(
    st.sampled_from(["\n\n", "\n", "\n\n\n", "\r\n\r\n"]), st.lists(st.sampled_from(PARTS), max_size=8)
).map(lambda drawn: drawn[0].join(drawn[1]))
document_text = st.one_of(
    separated_text, st.tuples(separated_text, st.sampled_from(["\n", "\r\n", "\n\n"])).map("".join)
)
document_text |= markdown_text | any_text
edit_text = st.sampled_from([*PARTS, *NASTY]) | separated_text | markdown_text


@st.composite
def documents_and_operations(draw: st.DrawFn) -> tuple[Document, list[Operation]]:
    """A document, and operations on what is in it, most of the time."""
    document = parse(draw(document_text))
    return document, draw(st.lists(operations_on(document), max_size=6))


def operations_on(document: Document) -> st.SearchStrategy[Operation]:
    sections = [section.id for section in document.sections] + ["nowhere", "n"]
    in_sections = [(section.id, block.id) for section in document.sections for block in section.blocks]
    items = [(block.id, item.id) for block in blocks_of(document) for item in block.items]
    section, text, texts = st.sampled_from(sections), edit_text, st.lists(edit_text, max_size=3).map(tuple)
    place = st.sampled_from([*in_sections, ("a", "nowhere"), ("nowhere", "a")])
    item = st.sampled_from([*items, ("nowhere", "i"), *((block.id, block.id) for block in blocks_of(document))])
    anchor = st.none() | section
    return st.one_of(
        st.builds(AppendBlock.model_construct, section_id=section, text=text),
        st.builds(
            lambda at, text: InsertBlock.model_construct(section_id=at[0], after_block_id=at[1], text=text), place, text
        ),
        st.builds(InsertBlock.model_construct, section_id=section, text=text, after_block_id=st.none()),
        st.builds(
            lambda at, text: ReplaceBlock.model_construct(section_id=at[0], block_id=at[1], text=text), place, text
        ),
        st.builds(lambda at: RemoveBlock(section_id=at[0], block_id=at[1]), place),
        st.builds(
            AddSection.model_construct,
            heading=text | st.just("N"),
            level=st.integers(1, 6),
            blocks=texts,
            after_section_id=anchor | text,
            new_id=st.sampled_from([None, "n", "a", ""]),
        ),
        st.builds(RemoveSection, section_id=section),
        st.builds(ReplaceSectionBlocks.model_construct, section_id=section, blocks=texts),
        st.builds(RenameSection.model_construct, section_id=section, new_heading=text),
        st.builds(MoveSection, section_id=section, after_section_id=anchor),
        st.builds(lambda at, text: AppendItem.model_construct(block_id=at[0], text=text), item, text),
        st.builds(
            lambda at, text: InsertItem.model_construct(block_id=at[0], after_item_id=at[1], text=text), item, text
        ),
        st.builds(lambda at, text: ReplaceItem.model_construct(block_id=at[0], item_id=at[1], text=text), item, text),
        st.builds(lambda at: RemoveItem(block_id=at[0], item_id=at[1]), item),
    )


# --- what is true of all of them --------------------------------------------------------------------------------------


@unhurried
@given(documents_and_operations())
def test_the_text_written_is_read_as_the_document_it_was_built_as(drawn: tuple[Document, list[Operation]]) -> None:
    document, operations = drawn
    written = apply(document, operations).document
    assert identified(written.render(), ids_of(written)) == written
    assert len(set(ids_of(written))) == len(ids_of(written))


@unhurried
@given(documents_and_operations())
def test_applying_again_gives_the_same(drawn: tuple[Document, list[Operation]]) -> None:
    document, operations = drawn
    before = document.render()
    assert apply(document, operations) == apply(identified(before, ids_of(document)), operations)
    assert document.render() == before


@unhurried
@given(documents_and_operations())
def test_every_id_is_there_unless_it_was_removed_and_new_ones_were_written(
    drawn: tuple[Document, list[Operation]],
) -> None:
    document, operations = drawn
    applied = apply(document, operations)
    ids = set(ids_of(document))
    for result in done_by(applied):
        assert set(result.removed) <= ids
        ids = (ids - set(result.removed)) | set(result.wrote)
    assert ids == set(ids_of(applied.document))


@unhurried
@given(documents_and_operations())
def test_pieces_that_no_operation_names_keep_their_bytes_and_order(drawn: tuple[Document, list[Operation]]) -> None:
    document, operations = drawn
    applied = apply(document, operations)
    named = names_in(document, applied)
    left = [leaf for leaf in leaves(document) if leaf.id not in named]
    ids = {leaf.id for leaf in left}
    kept = [leaf for leaf in leaves(applied.document) if leaf.id in ids]
    if any(isinstance(result.operation, MoveSection) for result in done_by(applied)):
        left, kept = sorted(left), sorted(kept)
    assert [leaf[:2] for leaf in kept] == [leaf[:2] for leaf in left]
    for before, after in zip(left, kept, strict=True):
        assert before.gap is None or after.gap is None or after.gap.startswith(before.gap)


@unhurried
@given(documents_and_operations())
def test_what_writes_and_removes_nothing_changes_no_text(drawn: tuple[Document, list[Operation]]) -> None:
    document, operations = drawn
    for result in done_by(apply(document, operations)):
        if not result.wrote and not result.removed and not isinstance(result.operation, ReplaceBlock):
            assert result.before == result.after


@unhurried
@given(documents_and_operations())
def test_what_an_operation_wrote_and_removed_is_what_differs(drawn: tuple[Document, list[Operation]]) -> None:
    document, operations = drawn
    for operation in operations:
        applied = apply(document, [operation])
        before, after = said_by(document), said_by(applied.document)
        for result in done_by(applied):
            assert result.wrote == tuple(identity for identity in after if before.get(identity) != after[identity])
            assert result.removed == tuple(identity for identity in before if identity not in after)
            assert result.before in document.render()
            assert result.after in applied.document.render()


@unhurried
@given(documents_and_operations(), st.sampled_from(["new", "> new", "```\nnew\n```"]))
def test_a_block_appended_and_removed_leaves_all_lines(drawn: tuple[Document, list[Operation]], text: str) -> None:
    document, _ = drawn
    for section in document.sections:
        added = apply(document, [AppendBlock(section_id=section.id, text=text)])
        for result in done_by(added):
            removed = apply(added.document, [RemoveBlock(section_id=section.id, block_id=result.wrote[0])])
            if done_by(removed):
                assert removed.document.render().split() == document.render().split()


@unhurried
@given(document_text)
def test_no_operations_change_nothing(text: str) -> None:
    document = parse(text)
    assert apply(document, []) == Applied(document, ())


@unhurried
@given(document_text)
def test_every_block_written_as_it_is_changes_nothing(text: str) -> None:
    document = parse(text)
    operations = [
        ReplaceBlock.model_construct(section_id=section.id, block_id=block.id, text=block.source)
        for section in document.sections
        for block in section.blocks
    ]
    applied = apply(document, operations)
    assert applied.document == document
    assert reasons(applied) == [None] * len(operations)


def said_by(document: Document) -> dict[str, object]:
    """What each piece says, by id, in order: headings and blocks their bytes, lists and tables what is no item, items
    their words."""
    said: dict[str, object] = {}
    for section in document.sections:
        said[section.id] = None if section.heading is None else section.heading.source
        for block in section.blocks:
            said[block.id] = (block.kind, form_of(block) if block.kind in ITEMIZED else block.source)
            said |= {item.id: words_of(block, item.source) for item in block.items}
    return said


def done_by(applied: Applied) -> list[AppliedOperation]:
    return [result for result in applied.results if isinstance(result, AppliedOperation)]


class Leaf(NamedTuple):
    """A piece that has no pieces: a heading, a block without items, an item. `gap` is None of the last of the document
    and of the last item of a list, which are not followed by the gap of a piece."""

    id: str
    source: str
    gap: str | None


def leaves(document: Document) -> list[Leaf]:
    found = list(_leaves(document))
    return [*found[:-1], *(Leaf(leaf.id, leaf.source, None) for leaf in found[-1:])]


def _leaves(document: Document) -> Iterator[Leaf]:
    for section in document.sections:
        if section.heading is not None:
            yield Leaf(section.id, section.heading.source, section.heading.gap)
        for block in section.blocks:
            if not block.items:
                yield Leaf(block.id, block.source, block.gap)
            for item in block.items:
                yield Leaf(item.id, item.source, item.gap or None)


def names_in(document: Document, applied: Applied) -> set[str]:
    """What the operations that were done name, wrote or removed; a block with its items, a section with its blocks."""
    named: set[str] = set()
    for result in done_by(applied):
        named |= {*result.wrote, *result.removed}
        if isinstance(result.operation, ReplaceBlock | RemoveItem | AppendItem):
            named |= within(document, result.operation.block_id)
        if isinstance(result.operation, ReplaceSectionBlocks):
            named |= within(document, result.operation.section_id)
        if result.merged_into_block_id is not None:
            named.add(result.merged_into_block_id)
    return named


def within(document: Document, identity: str) -> set[str]:
    blocks = [block for section in document.sections for block in section.blocks if identity in (section.id, block.id)]
    return {identity for block in blocks for identity in (block.id, *(item.id for item in block.items))}


# --- a batch that is not read as it was built -------------------------------------------------------------------------


def batch(*texts: str) -> Sequence[Operation]:
    return [AppendBlock(section_id="a", text=text) for text in texts]


def test_only_the_operations_that_change_how_the_text_is_read_are_skipped() -> None:
    applied = apply(parse("# A\n\n- x\n"), batch("- y", "    code", "text", "    code", "    more", "end"))
    assert applied.document.render() == "# A\n\n- x\n- y\n\ntext\n\n    code\n\nend\n"
    wrong = "it would change how the text around it is read"
    assert reasons(applied) == [None, wrong, None, None, wrong, None]


def test_anchors_mean_the_same_where_another_operation_is_skipped() -> None:
    added, behind = AddSection(heading="A"), AddSection(heading="Behind", after_section_id="A", new_id="behind")
    applied = apply(parse("# A\n\n- x\n\n# Z\n"), [added, *batch("    code"), AddSection(heading="End"), behind])
    assert [section.id for section in applied.document.sections] == ["a", "z", "a-2", "behind", "end"]


def test_ids_of_an_operation_that_was_skipped_are_free() -> None:
    applied = apply(parse("# A\n\n- x\n"), batch("    code", "text", "    code"))
    assert done_by(applied)[-1].wrote == (b("    code"),)


def test_a_removal_that_would_let_a_list_take_the_next_block_is_skipped() -> None:
    document = parse("# A\n\n- x\n\ntext\n\n    code\n")
    applied = apply(document, [RemoveBlock(section_id="a", block_id=b("text"))])
    assert applied.document == document
    assert reasons(applied) == ["it would change how the text around it is read"]
