"""Operations on sections: added, removed, renamed, moved."""

import pytest

from domain.document import AddSection, AppendBlock, MoveSection, RemoveSection, RenameSection, apply, parse
from tests.domain.document.edits.outcomes import b, done, edited, i, reasons, skipped
from tests.domain.document.markdown_texts import titles_of

THREE = "# A\n\none\n\n## B\n\ntwo\n\n# C\n\nthree\n"
NO_HEADING = ("the section has no heading: it is what precedes the first one", False)


def add(heading: str, *blocks: str, after: str | None = None, new_id: str | None = None, level: int = 2) -> AddSection:
    return AddSection(heading=heading, level=level, blocks=blocks, after_section_id=after, new_id=new_id)


def rename(new_heading: str, section_id: str = "a") -> RenameSection:
    return RenameSection(section_id=section_id, new_heading=new_heading)


def move(section_id: str, after: str | None = None) -> MoveSection:
    return MoveSection(section_id=section_id, after_section_id=after)


# --- add --------------------------------------------------------------------------------------------------------------


def test_a_section_is_added_at_the_end_or_behind_its_anchor() -> None:
    assert edited("# A\n", add("New", "x", " \n", "- y\n")) == "# A\n\n## New\n\nx\n\n- y\n"
    assert edited(THREE, add("New", "x", after="a", level=3)) == THREE.replace("## B", "### New\n\nx\n\n## B")


def test_an_added_section_is_written_with_all_that_is_in_it() -> None:
    result = done(THREE, add("New", "x", "- y"))
    assert (result.before, result.after) == ("", "## New\n\nx\n\n- y")
    assert result.wrote == ("new", b("x"), b("- y"), i("- y"))
    assert result.assigned_id == "new"


@pytest.mark.parametrize("heading", ["New", "## New", " #New ", "#\tNew\n", "New ##"])
def test_a_heading_is_put_on_one_line_without_its_marks(heading: str) -> None:
    assert titles_of(apply(parse(""), [add(heading)]).document) == ["New"]


def test_line_breaks_in_a_heading_become_spaces() -> None:
    assert edited("", add("two\r\nlines\n# x")) == "## two lines # x\n"


@pytest.mark.parametrize("heading", ["", " \n", "##", "# #", "\u2028"])
def test_a_blank_heading_is_skipped(heading: str) -> None:
    assert skipped(THREE, add(heading)) == ("heading is empty", False)
    assert skipped(THREE, rename(heading)) == ("heading is empty", False)


def test_ids_of_added_sections_come_from_the_heading_or_are_those_asked_for() -> None:
    assert done(THREE, add("A")).assigned_id == "a-2"
    assert done(THREE, add("Other", new_id="a")).assigned_id == "a-2"
    assert done(THREE, add("Other", new_id="My id")).assigned_id == "My id"


@pytest.mark.parametrize(
    ("added", "anchor"),
    [
        (add("A"), "a-2"),
        (add("## New one"), "## New one"),
        (add("## New one"), "New one"),
        (add("## New one"), "new-one"),
        (add("New one", new_id="chosen"), "chosen"),
        (add("New one", new_id="chosen"), "New one"),
    ],
)
def test_a_section_added_before_in_the_batch_can_be_an_anchor(added: AddSection, anchor: str) -> None:
    document = apply(parse(THREE), [added, add("End"), add("Behind", after=anchor)]).document
    assert titles_of(document)[4:] == ["Behind", "End"]


def test_an_anchor_may_be_a_title_or_its_slug() -> None:
    text = "# Who are we?\n\n# 概要\n"
    renamed = rename("Was: renamed", "who-are-we")
    assert edited(text, add("N", after="Who are we?")) == "# Who are we?\n\n## N\n\n# 概要\n"
    assert edited(text, renamed, add("N", after="Was: renamed")) == "# Was: renamed\n\n## N\n\n# 概要\n"


def test_the_section_added_for_a_heading_goes_before_an_older_one_with_that_slug() -> None:
    document = apply(parse("# A\n\n# B\n"), [add("A"), add("Behind", after="A")]).document
    assert titles_of(document) == ["A", "B", "A", "Behind"]


def test_an_unknown_anchor_is_skipped() -> None:
    assert skipped(THREE, add("N", after="nowhere")) == ("unknown after_section_id: nowhere", True)


def test_a_heading_that_repeats_that_of_the_added_section_is_left_out() -> None:
    assert edited("", add("New", "# New\n\nx", "y")) == "## New\n\nx\n\ny\n"


def test_other_headings_in_the_blocks_of_an_added_section_are_skipped() -> None:
    assert skipped(THREE, add("New", "x", "### Deep\n\ny")) == ("the text holds a heading; use add_section", False)


# --- remove -----------------------------------------------------------------------------------------------------------


def test_a_section_is_removed_with_its_blocks_and_not_with_deeper_ones() -> None:
    result = done(THREE, RemoveSection(section_id="a"))
    assert edited(THREE, RemoveSection(section_id="a")) == "## B\n\ntwo\n\n# C\n\nthree\n"
    assert (result.before, result.after) == ("# A\n\none", "")
    assert (result.wrote, result.removed) == ((), ("a", b("one")))


def test_a_preamble_is_removed_and_cannot_be_named_any_more() -> None:
    removed = RemoveSection(section_id="preamble")
    assert edited("\nintro\n\nmore\n\n# A\n", removed) == "\n# A\n"
    assert done("\nintro\n\n# A\n", removed).before == "intro"
    assert skipped("intro\n\n# A\n", removed, AppendBlock(section_id="preamble", text="x"))[0] == (
        "unknown section_id: preamble"
    )


def test_everything_can_be_removed_and_added_again() -> None:
    assert edited("\n# A\n\nx", RemoveSection(section_id="a")) == "\n"
    assert edited("\n# A\n\nx", RemoveSection(section_id="a"), add("New", "y")) == "\n## New\n\ny"


# --- rename -----------------------------------------------------------------------------------------------------------


def test_a_renamed_section_keeps_id_level_and_everything_else() -> None:
    text = "#  A  #\n\n\none\n"
    result = done(text, rename("## New"))
    assert edited(text, rename("## New")) == "# New\n\n\none\n"
    assert (result.before, result.after, result.wrote) == ("#  A  #", "# New", ("a",))
    assert [section.id for section in apply(parse(text), [rename("New")]).document.sections] == ["a"]


def test_renaming_to_the_same_title_writes_nothing() -> None:
    assert edited("#  A  #\n", rename("A")) == "#  A  #\n"
    assert done("#  A  #\n", rename("A")).wrote == ()


@pytest.mark.parametrize(
    ("heading", "expected"),
    [("New", "New\n  ====="), ("- new", "# - new"), ("1. new", "# 1. new"), ("two\nlines", "two lines\n  =====")],
)
def test_an_underlined_heading_stays_one_if_the_title_can_be(heading: str, expected: str) -> None:
    text = "A\nlong\n  =====\n\ntext\n"
    assert edited(text, rename(heading, "a-long")) == f"{expected}\n\ntext\n"


def test_what_has_no_heading_is_not_renamed_or_moved() -> None:
    assert skipped("intro\n\n# A\n", rename("N", "preamble")) == NO_HEADING
    assert skipped("intro\n\n# A\n", move("preamble", "a")) == NO_HEADING


# --- move -------------------------------------------------------------------------------------------------------------


def test_a_section_moves_behind_another_or_to_the_front() -> None:
    assert edited(THREE, move("a", "b")) == "## B\n\ntwo\n\n# A\n\none\n\n# C\n\nthree\n"
    assert edited(THREE, move("a", "c")) == "## B\n\ntwo\n\n# C\n\nthree\n\n# A\n\none\n"
    assert edited(THREE, move("c")) == "# C\n\nthree\n\n# A\n\none\n\n## B\n\ntwo\n"
    assert edited(f"intro\n\n{THREE}", move("c")) == "intro\n\n# C\n\nthree\n\n# A\n\none\n\n## B\n\ntwo\n"


def test_a_move_writes_and_removes_nothing() -> None:
    result = done(THREE, move("a", "b"))
    assert result.before == result.after == "# A\n\none"
    assert (result.wrote, result.removed) == ((), ())


def test_a_section_may_move_to_where_it_is_but_not_behind_itself() -> None:
    assert edited(THREE, move("b", "a")) == edited(THREE, move("a")) == THREE
    assert skipped(THREE, move("b", "b")) == ("a section cannot follow itself", False)


def test_a_section_that_never_ends_does_not_move_before_another() -> None:
    assert "never ends" in skipped("# A\n\n# B\n\n```\nopen", move("b"))[0]


def test_each_operation_sees_what_those_before_it_did() -> None:
    operations = [
        add("New", "x", after="a"),
        AppendBlock(section_id="new", text="y"),
        rename("Newer", "new"),
        move("new"),
        RemoveSection(section_id="a"),
        AppendBlock(section_id="a", text="too late"),
    ]
    applied = apply(parse(THREE), operations)
    assert applied.document.render() == "## Newer\n\nx\n\ny\n\n## B\n\ntwo\n\n# C\n\nthree\n"
    assert reasons(applied) == [None] * 5 + ["unknown section_id: a"]
