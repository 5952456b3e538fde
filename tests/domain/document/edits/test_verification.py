"""Operations that change how the text around them is read are found, however many they are, however far they reach."""

import time
from collections.abc import Callable, Sequence

import pytest

from domain.document import (
    AppendBlock,
    AppendItem,
    Block,
    Document,
    InsertBlock,
    Operation,
    RemoveBlock,
    RenameSection,
    Section,
    apply,
    parse,
)
from domain.document.commonmark import MOST_CELLS
from tests.domain.document.edits.outcomes import b, edited, reasons

WRONG = "it would change how the text around it is read"
TOO_MANY = "too many operations here change how the text around them is read: send fewer of them"
MANY = 200
READINGS = 100  # in each case some 10 to 25 suffice; to find every operation by readings of all would take over 400


def seconds(action: Callable[[], object]) -> float:
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def append(text: str, section_id: str = "a") -> AppendBlock:
    return AppendBlock(section_id=section_id, text=text)


def sections_ending_in_lists() -> tuple[Document, Sequence[Operation]]:
    prose = "Some words that make this a line of prose, and of some length.\n" * 8
    document = parse("".join(f"## Part {number}\n\n{prose}\n- item\n\n" for number in range(MANY)))
    return document, [append("    code", section.id) for section in document.sections]


def one_long_section() -> tuple[Document, Sequence[Operation]]:
    document = parse("# A\n\n" + "Some words that make this a line of prose.\n\n" * 2500 + "- item\n")
    return document, [append("    code")] * MANY


def one_long_list() -> tuple[Document, Sequence[Operation]]:
    document = parse("- some words that make this an item, and of some length\n" * 2000)
    return document, [AppendItem(block_id=document.sections[0].blocks[0].id, text="---")] * MANY


def front_matter_without_end() -> tuple[Document, Sequence[Operation]]:
    document = parse("---\nk: v\n\n# A\n" + "key: a value that makes this a line of prose\n" * 2500)
    return document, [append("---\n\nk: v")] * MANY


@pytest.mark.parametrize("drawn", [sections_ending_in_lists, one_long_section, one_long_list, front_matter_without_end])
def test_many_operations_that_are_read_differently_cost_few_readings(
    drawn: Callable[[], tuple[Document, Sequence[Operation]]],
) -> None:
    document, operations = drawn()
    text = document.render()
    reading = min(seconds(lambda: parse(text)) for _ in range(5))
    assert seconds(lambda: apply(document, operations)) < READINGS * reading
    applied = apply(document, operations)
    assert applied.document == document
    assert set(reasons(applied)) <= {WRONG, TOO_MANY}


def test_many_items_of_a_long_list_cost_few_readings() -> None:
    document = parse("- some words that make this an item, and of some length\n" * 2000 + "# A\n")
    operations = [AppendItem(block_id=document.sections[0].blocks[0].id, text="new")] * MANY
    reading = min(seconds(lambda: parse(document.render())) for _ in range(5))
    assert seconds(lambda: apply(document, operations)) < READINGS * reading


def test_what_is_not_verified_in_time_is_skipped_and_the_rest_is_done() -> None:
    document, operations = one_long_list()
    applied = apply(document, [append("first", "preamble"), *operations, append("last", "preamble")])
    assert applied.document.render() == document.render() + "\nfirst\n"
    assert reasons(applied)[:2] == [None, WRONG]
    assert reasons(applied)[-1] == TOO_MANY


def test_every_operation_that_is_read_differently_is_found_among_others() -> None:
    document, wrong = sections_ending_in_lists()
    operations = [each for operation in wrong for each in (operation, append("prose", operation.section_id))]  # type: ignore[union-attr]
    applied = apply(document, operations)
    assert reasons(applied) == [WRONG, None] * MANY
    assert applied.document.render().count("- item\n\nprose\n") == MANY


def test_what_would_take_the_next_block_is_found_without_reading_everything() -> None:
    document = parse("".join(f"## Part {number}\n\n    code\n\n" for number in range(MANY)))
    applied = apply(document, [InsertBlock(section_id=section.id, text="- item") for section in document.sections])
    assert reasons(applied) == [WRONG] * MANY


def test_an_operation_that_changes_nothing_is_not_blamed_for_a_document_that_is_read_differently() -> None:
    document = Document("", (Section("a", None, (Block("b1", "# no paragraph", "\n", "paragraph"),)),))
    assert reasons(apply(document, [append("x", "nowhere")])) == ["unknown section_id: nowhere"]
    assert reasons(apply(document, [append("x")])) == [WRONG]


def test_what_would_close_front_matter_far_above_is_skipped() -> None:
    text = "---\nk: v\n\n# A\n\nkey: v\n\n# B\n"
    applied = apply(parse(text), [append("new: v"), append("---", "b"), append("end", "b")])
    assert reasons(applied) == [None, WRONG, None]
    assert applied.document.render() == "---\nk: v\n\n# A\n\nkey: v\n\nnew: v\n\n# B\n\nend\n"


def test_a_table_that_is_one_too_many_to_be_read_as_such_is_skipped() -> None:
    side = int((MOST_CELLS / 3) ** 0.5) + 1
    text = 3 * ("|a" * side + "\n" + "|-" * side + "\n" + "|\n" * side + "\n") + "# A\n"
    applied = apply(parse(text), [append("one"), append("|h|\n|-|\n|x|"), append("two")])
    assert reasons(applied) == [None, WRONG, None]
    assert applied.document.render() == f"{text}\none\n\ntwo\n"


def test_a_rule_is_no_front_matter_where_it_does_not_begin_the_text() -> None:
    text = "# A\n\nx\n\n---\nk: v\n---\n"
    assert edited(text, RenameSection(section_id="k-v", new_heading="k: w")) == "# A\n\nx\n\n---\nk: w\n---\n"


def test_front_matter_is_read_as_the_beginning_of_the_text() -> None:
    text = "---\nk: v\n---\n\nx\n"
    assert edited(text, RemoveBlock(section_id="preamble", block_id=b("x"))) == "---\nk: v\n---\n"
    assert edited(text, append("y", "preamble")) == f"{text}\ny\n"


def test_a_batch_that_is_read_as_built_in_the_end_is_done() -> None:
    text = "# A\n\n- x\n\ntext\n\n    code\n"
    operations = [RemoveBlock(section_id="a", block_id=b("text")), RemoveBlock(section_id="a", block_id=b("    code"))]
    assert edited(text, *operations) == "# A\n\n- x\n"
