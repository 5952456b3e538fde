"""Cases of the field, by their id, as far as a document and operations alone show them."""

import pytest

from domain.document import (
    AppendBlock,
    AppendItem,
    Document,
    Operation,
    RemoveBlock,
    RemoveSection,
    ReplaceBlock,
    ReplaceSectionBlocks,
    apply,
    identified,
    ids_of,
    parse,
)
from tests.domain.document.edits.outcomes import b, edited, i, reasons, skipped
from tests.domain.document.markdown_texts import titles_of


def append(text: str, section_id: str) -> AppendBlock:
    return AppendBlock(section_id=section_id, text=text)


def rounds(document: Document, operation: Operation, count: int) -> Document:
    """The document after writing with the operation and reading it back, again and again."""
    for _ in range(count):
        written = apply(document, [operation]).document
        document = identified(written.render(), ids_of(written))
        assert document == written
    return document


def test_md_01_a_table_beside_an_edit_survives_every_round() -> None:
    limits = "## Limits\n\n| Tier | Cap\n|---|---|\n| free | 10 |\n| team | 50 |\n\n"
    document = rounds(parse(f"{limits}## Notes\n\nPlain text.\n"), append("More.", "notes"), 3)
    assert document.render() == f"{limits}## Notes\n\nPlain text.\n\nMore.\n\nMore.\n\nMore.\n"


UNTOUCHED = {
    "md_02": "Env | Host\n--- | ---:\nprod | a1\nstage | b2\n",
    "md_03": "| k | v |\n|---|---|\n| a | 1 |\n| b |\n| c | 3 | extra |\n",
    "md_04": "- retry\n  - only on 5xx\n    - max three times\n- log\n",
    "md_05": "- first item\n  continues here\n\n  second paragraph of the item\n- second item\n",
    "md_09": "# Ops\n\n```bash\n# restart the queue\nsystemctl restart q\n```\n\nafter\n",
    "md_12": "Overview\n========\n\ntext\n\nDetails\n-------\n\nmore\n",
    "md_13": "<details>\n<summary>More</summary>\n\nhidden *text*\n\n</details>\n\n<!-- keep: me -->\n\nafter\n",
    "md_19": "- [ ] open\n- [x] done\n- [ ]\n- [x] \n",
    "md_21": "## C#\n\na\n\n## F## ##\n\nb\n\n##\n\nc\n\n#notaheading\n",
    "md_23": "> quote\n## Two\ntext\n- a\n- b\n### Three\n",
    "md_25": "\n\n\n# H\n\n\n\ntext\n\n\n",
}


@pytest.mark.parametrize("text", UNTOUCHED.values(), ids=UNTOUCHED)
def test_no_operations_and_operations_on_another_section_leave_every_byte(text: str) -> None:
    assert apply(parse(text), []).document.render() == text
    with_notes = f"{text}\n## Notes\n\nx\n"
    assert edited(with_notes, append("new", "notes")) == f"{with_notes}\nnew\n"


def test_md_09_a_fence_with_a_comment_is_replaced_as_one_block() -> None:
    fence = "```bash\n# restart the queue\nsystemctl restart q\n```"
    operation = ReplaceBlock(section_id="ops", block_id=b(fence), text="```bash\n# stop it\n```")
    assert edited(UNTOUCHED["md_09"], operation) == "# Ops\n\n```bash\n# stop it\n```\n\nafter\n"


@pytest.mark.parametrize(
    ("text", "section_id", "expected"),
    [
        ("```\n~~~\n# not a heading\n```\n## Real\n", "preamble", "new\n## Real\n"),
        ("````\n```\n# no\n```\n````\n## Real\n", "preamble", "new\n## Real\n"),
        ("```md\n```js\n# no\n```\n## Real\n", "preamble", "new\n## Real\n"),
        ("# A\n   ```\n# no\n   ```\n## Real\n", "a", "# A\nnew\n## Real\n"),
    ],
)
def test_md_10_replacing_a_section_takes_the_whole_fence(text: str, section_id: str, expected: str) -> None:
    assert edited(text, ReplaceSectionBlocks(section_id=section_id, blocks=("new",))) == expected


def test_md_11_a_section_inside_an_open_fence_is_unknown() -> None:
    text = "## One\n\n```\nno closer\n\n## Two\n\nbody\n\n## Three\n\nbody\n"
    assert skipped(text, append("x", "three")) == ("unknown section_id: three", True)
    assert "never ends" in skipped(text, append("x", "one"))[0]


def test_md_12_an_appended_rule_makes_no_heading() -> None:
    text = edited("## S\n\nlast paragraph\n", append("---\n\nnext part", "s"))
    assert text == "## S\n\nlast paragraph\n\n---\n\nnext part\n"
    assert titles_of(parse(text)) == ["S"]
    assert edited(UNTOUCHED["md_12"], append("x", "details")) == UNTOUCHED["md_12"] + "\nx\n"


def test_md_17_edits_land_in_the_section_named_and_its_heading_is_not_repeated() -> None:
    text = "## Usage\n\nfor A\n\n## Usage\n\nfor B\n"
    replaced = ReplaceBlock(section_id="usage-2", block_id=b("for B"), text="for C")
    rewritten = ReplaceSectionBlocks(section_id="usage", blocks=("## Usage", "for all"))
    assert edited(text, replaced, rewritten) == "## Usage\n\nfor all\n\n## Usage\n\nfor C\n"


def test_md_18_sections_are_flat_and_a_payload_with_headings_is_skipped() -> None:
    text = "## API\n\nintro\n\n### GET\n\ng\n\n### POST\n\np\n\n## Next\n\nn\n"
    operation = ReplaceSectionBlocks(section_id="api", blocks=("new",))
    assert edited(text, operation) == text.replace("intro", "new")
    for payload in ("new\n\n### PUT\n\nu", "new\n\n## Next\n\nm"):
        refused = ReplaceSectionBlocks(section_id="api", blocks=(payload,))
        assert skipped(text, refused) == ("the text holds a heading; use add_section", False)
    assert edited(text, RemoveSection(section_id="api")) == text.removeprefix("## API\n\nintro\n\n")


def test_md_20_appends_land_in_sections_of_any_script() -> None:
    text = "## 概要\n\nA\n\n## 設計\n\nB\n\n## 🚀\n\nC\n\n## مقدمة\n\nD\n"
    sections = [section.id for section in parse(text).sections]
    expected = text.replace("A\n", "A\n\n新\n").replace("B\n", "B\n\n新\n").replace("C\n", "C\n\n新\n")
    assert edited(text, *(append("新", section) for section in sections)) == f"{expected}\n新\n"


def test_md_24_operations_start_from_the_text_there_is() -> None:
    first = apply(parse("# A\n\none\n"), [append("two", "a")]).document
    other = parse("# B\n\nelse\n", previous=first)
    assert apply(other, [append("new", "b")]).document.render() == "# B\n\nelse\n\nnew\n"


@pytest.mark.parametrize("text", ["intro only, no heading\n", "intro\n\n# H\n"])
def test_md_25_a_preamble_can_be_named(text: str) -> None:
    intro = text.split("\n")[0]
    assert edited(text, append("new", "preamble")) == text.replace(intro, f"{intro}\n\nnew", 1)


def test_md_27_a_text_is_taken_literally() -> None:
    literal = "Cost is $& and \\1 and $$ {0} %s"
    assert edited("one\n", ReplaceBlock(section_id="preamble", block_id=b("one"), text=literal)) == f"{literal}\n"
    assert edited("- x\n", AppendItem(block_id=b("- x"), text=literal)) == f"- x\n- {literal}\n"


def test_do_01_a_block_of_another_section_is_not_overwritten_and_the_rest_is_applied() -> None:
    text = "# A\n\n1\n\n2\n\n3\n\n4\n\n5\n\n# B\n\nb\n"
    operations = [
        ReplaceBlock(section_id="a", block_id=b("b"), text="wrong"),
        ReplaceBlock(section_id="a", block_id=b("4"), text="four"),
    ]
    applied = apply(parse(text), operations)
    assert applied.document.render() == text.replace("4", "four")
    assert reasons(applied) == [f"block_id {b('b')} belongs to section b, not a", None]


def test_do_02_a_block_id_is_no_section_id() -> None:
    assert skipped("# Decisions\n\none\n", append("x", b("one"))) == (f"unknown section_id: {b('one')}", True)


def test_do_04_an_operation_that_cannot_be_done_does_not_discard_the_others() -> None:
    operations = [
        append("new", "a"),
        RemoveBlock(section_id="a", block_id="nowhere"),
        append("# Heading", "a"),
        append("newer", "a"),
    ]
    applied = apply(parse("# A\n"), operations)
    assert applied.document.render() == "# A\n\nnew\n\nnewer\n"
    assert reasons(applied) == [
        None,
        "unknown block_id: nowhere",
        "the text holds a heading; use add_section",
        None,
    ]


def test_do_06_only_an_edit_that_changes_the_text_writes() -> None:
    document = parse("# A\n\none\n\n- x\n- y\n")
    same = [
        ReplaceBlock(section_id="a", block_id=b("one"), text="one\n"),
        ReplaceBlock(section_id="a", block_id=b("- x\n- y"), text="* x\n* y"),
        ReplaceSectionBlocks(section_id="a", blocks=("one", "- x\n- y")),
    ]
    for operations in ([], same):
        applied = apply(document, operations)
        assert applied.document == document
        assert all(result.wrote == result.removed == () for result in applied.results)  # type: ignore[union-attr]
    real = apply(document, [AppendItem(block_id=b("- x\n- y"), text="z")])
    assert real.document.render() == "# A\n\none\n\n- x\n- y\n- z\n"
    assert real.results[0].wrote == (i("- z"),)  # type: ignore[union-attr]
