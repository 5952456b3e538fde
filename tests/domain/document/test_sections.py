"""What begins a section: top-level headings of CommonMark, and nothing else. Cases of the field by their id."""

import pytest

from domain.document import parse
from tests.domain.document.markdown_texts import blocks_of, titles_of


def kinds(text: str) -> list[str]:
    return [block.kind for block in blocks_of(parse(text))]


def test_md_09_a_comment_in_a_fence_is_no_heading() -> None:
    text = "# Ops\n\n```bash\n# restart the queue\nsystemctl restart q\n```\n\nafter\n"
    document = parse(text)
    assert titles_of(document) == ["Ops"]
    fence, after = document.sections[0].blocks
    assert fence.source == "```bash\n# restart the queue\nsystemctl restart q\n```"
    assert after.source == "after"
    assert document.render() == text


@pytest.mark.parametrize(
    ("text", "titles", "fence"),
    [
        ("```\n~~~\n# not a heading\n```\n## Real\n", [None, "Real"], "```\n~~~\n# not a heading\n```"),
        ("````\n```\n# no\n```\n````\n## Real\n", [None, "Real"], "````\n```\n# no\n```\n````"),
        ("```md\n```js\n# no\n```\n## Real\n", [None, "Real"], "```md\n```js\n# no\n```"),
        ("# A\n   ```\n# no\n   ```\n## Real\n", ["A", "Real"], "   ```\n# no\n   ```"),
    ],
    ids=["other character", "shorter run", "info string", "indented"],
)
def test_md_10_only_a_right_closer_ends_a_fence(text: str, titles: list[str | None], fence: str) -> None:
    document = parse(text)
    assert titles_of(document) == titles
    assert [block.source for block in document.sections[0].blocks] == [fence]
    assert document.render() == text


def test_md_11_an_unclosed_fence_runs_to_the_end_as_in_commonmark() -> None:
    text = "## One\n\n```\nno closer\n\n## Two\n\nbody\n\n## Three\n\nbody\n"
    document = parse(text)
    assert titles_of(document) == ["One"]
    assert [block.source for block in blocks_of(document)] == [text.removeprefix("## One\n\n").rstrip("\n")]
    assert document.render() == text


def test_md_12_setext_headings_are_sections_and_keep_their_underline() -> None:
    text = "Overview\n========\n\ntext\n\nDetails\n-------\n\nmore\n"
    document = parse(text)
    assert [(s.heading.source, s.heading.title, s.heading.level) for s in document.sections if s.heading] == [
        ("Overview\n========", "Overview", 1),
        ("Details\n-------", "Details", 2),
    ]
    assert document.render() == text


def test_md_12_a_rule_after_a_blank_line_makes_no_heading() -> None:
    document = parse("## S\n\nlast paragraph\n\n---\n\nnext part\n")
    assert titles_of(document) == ["S"]
    assert [block.kind for block in blocks_of(document)] == ["paragraph", "rule", "paragraph"]


def test_md_17_sections_with_the_same_heading_have_their_own_ids() -> None:
    document = parse("## Usage\n\nfor A\n\n## Usage\n\nfor B\n")
    assert [(section.id, section.blocks[0].source) for section in document.sections] == [
        ("usage", "for A"),
        ("usage-2", "for B"),
    ]


def test_md_20_headings_in_any_script_have_distinct_readable_ids() -> None:
    text = "## 概要\n\nA\n\n## 設計\n\nB\n\n## 🚀\n\nC\n\n## مقدمة\n\nD\n"
    document = parse(text)
    assert [section.id for section in document.sections] == ["概要", "設計", "section", "مقدمة"]
    assert document.render() == text


def test_md_21_closing_hashes_are_not_part_of_a_title_but_c_sharp_is() -> None:
    text = "## C#\n\na\n\n## F## ##\n\nb\n\n##\n\nc\n\n#notaheading\n"
    document = parse(text)
    assert titles_of(document) == ["C#", "F##", ""]
    assert document.sections[-1].blocks[-1].source == "#notaheading"
    assert document.render() == text


def test_md_23_a_heading_needs_no_blank_line_before_it() -> None:
    text = "> quote\n## Two\ntext\n- a\n- b\n### Three\n"
    document = parse(text)
    assert titles_of(document) == [None, "Two", "Three"]
    assert [block.source for block in blocks_of(document)] == ["> quote", "text", "- a\n- b"]
    assert document.render() == text


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("intro only, no heading\n", [("preamble", None, 1)]),
        ("intro\n\n# H\n", [("preamble", None, 1), ("h", "H", 0)]),
        ("# H\n", [("h", "H", 0)]),
        ("\n\n\n# H\n\n\n\ntext\n\n\n", [("h", "H", 1)]),
    ],
    ids=["no heading", "intro before a heading", "heading only", "runs of blank lines"],
)
def test_md_25_no_text_is_lost_and_no_heading_invented(text: str, sections: list[tuple[str, str | None, int]]) -> None:
    document = parse(text)
    assert [
        (section.id, section.heading and section.heading.title, len(section.blocks)) for section in document.sections
    ] == sections
    assert document.render() == text


@pytest.mark.parametrize("text", ["", "\n", " \t\n\r\n", "\ufeff", "\f\n"])
def test_a_blank_document_has_no_sections(text: str) -> None:
    assert parse(text).sections == ()


@pytest.mark.parametrize(
    "text",
    ["> # quoted\n", "- # in an item\n", "    # code\n", "####### seven\n", "#tag\n", "\\# escaped\n", "text #\n"],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    assert titles_of(parse(text)) == [None]


def test_sections_are_flat_whatever_their_levels() -> None:
    document = parse("# T\n\n#### deep\n\na\n\n## back\n")
    assert [section.heading.level for section in document.sections if section.heading] == [1, 4, 2]


def test_a_title_of_several_lines_is_one_line() -> None:
    (section,) = parse("Two *line*\n   title\n===\n").sections
    assert section.heading is not None
    assert section.heading.title == "Two *line* title"
    assert section.heading.source == "Two *line*\n   title\n==="
    assert section.heading.kind == "setext"


def test_a_heading_keeps_its_spaces_and_what_follows_it() -> None:
    (section,) = parse("  ##\tTitle  ##  \r\n\r\n \r\ntext").sections
    assert section.heading is not None
    assert section.heading.source == "  ##\tTitle  ##  "
    assert section.heading.gap == "\r\n\r\n \r\n"
    assert section.heading.title == "Title"
    assert section.heading.kind == "atx"


def test_front_matter_is_one_block_before_the_first_heading() -> None:
    document = parse("---\ntitle: A page\ntags:\n- a\n\n# a comment\n---\n# H\n")
    assert titles_of(document) == [None, "H"]
    assert [(block.kind, block.source) for block in blocks_of(document)] == [
        ("front_matter", "---\ntitle: A page\ntags:\n- a\n\n# a comment\n---")
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("---\nprose\n---\n", ["rule"]),  # a rule, then a setext heading
        ("---\n\nkey: value\n\n---\n", ["rule", "paragraph", "rule"]),
        ("---\nkey: value\nprose\n---\n", ["rule"]),
        ("---\nkey: value\n", ["rule", "paragraph"]),
        ("---\n---\n", ["rule", "rule"]),
        ("--- x\nkey: value\n---\n", []),
        ("\n---\nkey: value\n---\n", ["rule"]),
    ],
)
def test_what_only_looks_like_front_matter_is_markdown(text: str, expected: list[str]) -> None:
    assert kinds(text) == expected
