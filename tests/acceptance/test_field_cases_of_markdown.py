"""Reports from the field about markdown that refreshes damaged. Whatever no edit names keeps its bytes."""

from __future__ import annotations

import unicodedata

import pytest

from tests.support import scripted_llm as script
from tests.support.scripted_llm import Reply, Request
from tests.support.scripted_pages import PAGE, Page, edit, recalls, writes

NOTES = "## Notes\n\nPlain text.\n"


@pytest.fixture
def page(page: Page) -> Page:
    """A page to be written over."""
    page.begins("To be written over.\n")
    return page


def goes_through_deltas(page: Page, content: str, *sections: str) -> None:
    """A refresh without operations changes nothing, and one that appends to a section (each of `sections` in turn, by
    default all there are) changes nothing else: not a byte."""
    page.says(content)
    assert page.content == content
    versions = len(page.history)
    assert page.is_edited()["details"]["outcome"] == "content_unchanged"
    assert (page.content, len(page.history)) == (content, versions)
    for number, section in enumerate(sections or [each["id"] for each in page.sections]):
        before, added = page.content, f"Appended {number}."
        assert page.is_edited(edit("append_block", section_id=section, text=added))["status"] == "completed"
        assert_only_added(before, page.content, added)
        assert block_texts(page, section)[-1] == added


def assert_only_added(before: str, after: str, added: str) -> None:
    """The text grew by this, a block by itself, and nothing but line breaks beside it changed."""
    head, tail = after.split(added)
    head, tail = head.rstrip("\r\n"), tail.lstrip("\r\n")
    assert before.startswith(head)
    assert before.endswith(tail)
    assert before[len(head) : len(before) - len(tail)].strip("\r\n") == ""


def block_texts(page: Page, section: str) -> list[str]:
    return [block["text"] for each in page.sections if each["id"] == section for block in each["blocks"]]


def headings(page: Page) -> list[str]:
    """The titles of all sections, empty for what stands before the first heading."""
    return [each["heading"] for each in page.sections]


TABLES = {
    "md_01 a header without its last pipe": "| Tier | Cap\n|---|---|\n| free | 10 |\n| team | 50 |\n",
    "md_01 rows without their last pipe": "| Tier | Cap |\n|---|---\n| free | 10\n| team | 50\n",
    "md_02 no outer pipes": "Env | Host\n--- | ---\nprod | a1\nstage | b2\n",
    "md_02 an alignment row": "Env | Host\n:--- | ---:\nprod | a1\nstage | b2\n",
    "md_03 ragged rows": "| k | v |\n|---|---|\n| a | 1 |\n| b |\n| c | 3 | extra |\n",
    "md_03 an escaped pipe and an empty cell": "| k | v |\n|---|---|\n| a \\| b |  |\n||\n",
}


@pytest.mark.parametrize("line_break", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("case", TABLES)
def test_md_01_02_03_a_table_keeps_its_rows_however_they_are_written(page: Page, case: str, line_break: str) -> None:
    content = f"## Limits\n\n{TABLES[case]}\n{NOTES}".replace("\n", line_break)
    goes_through_deltas(page, content, "notes", "notes")
    assert page.content.startswith(content.partition("## Notes")[0])


@pytest.mark.parametrize("case", TABLES)
def test_md_01_02_03_a_table_may_be_all_there_is(page: Page, case: str) -> None:
    goes_through_deltas(page, TABLES[case])


def test_md_01_a_row_is_changed_and_added_without_touching_the_others(page: Page) -> None:
    page.says(f"{TABLES['md_01 a header without its last pipe']}\n{NOTES}")
    free = page.item("| free")
    page.is_edited(
        edit("replace_item", **free, text="| free | 20 |"),
        edit("append_item", block_id=free["block_id"], text="| pro | 99 |"),
    )
    assert page.content == f"| Tier | Cap\n|---|---|\n| free | 20 |\n| team | 50 |\n| pro | 99 |\n\n{NOTES}"


LISTS = {
    "md_04 nested bullets": "- retry\n  - only on 5xx\n    - max three times\n- log\n",
    "md_04 nested numbers": "1. retry\n   1. only on 5xx\n      - max three times\n2. log\n",
    "md_04 by tabs": "* retry\n\t* only on 5xx\n\t\t* max three times\n* log\n",
    "md_05 a continuation and a second paragraph": (
        "- first item\n  continues here\n\n  second paragraph of the item\n- second item\n"
    ),
    "md_05 a lazy continuation and a fence": "- first item\nlazy line\n\n  ```\n  code\n  ```\n\n- second item\n",
    "md_19 tasks": "- [ ] open\n- [x] done\n- [ ]\n- [x] \n",
    "md_19 tasks in other clothes": "1. [X] done\n2. [ ] \n3. [ ] open\n   - [x] nested\n",
}


@pytest.mark.parametrize("case", LISTS)
def test_md_04_05_19_a_list_keeps_its_levels_paragraphs_and_boxes(page: Page, case: str) -> None:
    goes_through_deltas(page, f"{LISTS[case]}\n{NOTES}", "notes")
    goes_through_deltas(page, f"{NOTES}\n{LISTS[case]}")


def test_md_05_an_item_of_two_paragraphs_is_one_item(page: Page) -> None:
    page.says(LISTS["md_05 a continuation and a second paragraph"])
    page.is_edited(edit("replace_item", **page.item("- second"), text="- second item, changed"))
    assert page.content == "- first item\n  continues here\n\n  second paragraph of the item\n- second item, changed\n"
    page.is_edited(edit("remove_item", **page.item("- first")))
    assert page.content == "- second item, changed\n"


FENCED = "```bash\n# restart the queue\nsystemctl restart q\n```"


@pytest.mark.parametrize("fence", [FENCED, FENCED.replace("```", "~~~"), FENCED.replace("# restart", "## restart")])
def test_md_09_a_comment_in_a_fence_is_no_heading(page: Page, fence: str) -> None:
    goes_through_deltas(page, f"# Ops\n\n{fence}\n\nafter\n", "ops")
    assert headings(page) == ["Ops"]
    assert block_texts(page, "ops")[:2] == [fence, "after"]
    page.says(f"# Ops\n\n{fence}\n\nafter\n")
    page.is_edited(edit("replace_block", **page.place(fence[:3]), text="```\n# nothing to do\n```"))
    assert page.content == "# Ops\n\n```\n# nothing to do\n```\n\nafter\n"


FENCES = {
    "the other character does not close": "```\n~~~\n# not a heading\n```\n",
    "a shorter fence does not close": "````\n```\n# no\n```\n````\n",
    "one with an info string does not close": "```md\n```js\n# no\n```\n",
    "three spaces may stand before it": "# A\n   ```\n# no\n   ```\n",
    "a longer fence closes": "```\n# no\n`````\n",
}


@pytest.mark.parametrize("case", FENCES)
def test_md_10_a_fence_ends_where_commonmark_ends_it(page: Page, case: str) -> None:
    heading = "# A\n" if FENCES[case].startswith("# A") else ""
    content = f"{FENCES[case]}## Real\n\ntext\n"
    goes_through_deltas(page, content, "real")
    assert headings(page) == ["A" if heading else "", "Real"]
    section = page.sections[0]["id"]
    page.says(content)
    page.is_edited(edit("replace_section_blocks", section_id=section, blocks=["No code any more."]))
    assert page.content.replace("\n\n", "\n") == f"{heading}No code any more.\n## Real\ntext\n"
    page.says(content)
    (block,) = block_texts(page, section)
    page.is_edited(edit("remove_block", **page.place(block)))
    assert page.content.replace("\n\n", "\n") == f"{heading}## Real\ntext\n"


def test_md_11_a_fence_that_is_never_closed_takes_the_rest_and_nothing_in_it_is_edited(page: Page) -> None:
    content = "## One\n\n```\nno closer\n\n## Two\n\nbody\n\n## Three\n\nbody\n"
    page.says(content)
    assert page.is_edited()["details"]["outcome"] == "content_unchanged"
    assert headings(page) == ["One"], "as CommonMark has it"
    for section in ("two", "three"):
        appended = script.edits(edit("append_block", section_id=section, text="Never half-way."))
        page.learns()
        operation = page.refreshes(appended, appended)
        assert (operation["status"], page.content) == ("failed", content)
        assert f"unknown section_id: {section}" in operation["error_message"]
    goes_through_deltas(page, f"{NOTES}\n{content}", "notes")


def test_md_12_a_setext_heading_keeps_its_underline(page: Page) -> None:
    goes_through_deltas(page, "Overview\n========\n\ntext\n\nDetails\n-------\n\nmore\n")
    assert headings(page) == ["Overview", "Details"]
    page.is_edited(edit("rename_section", section_id="details", new_heading="More details"))
    assert headings(page) == ["Overview", "More details"]
    assert "Overview\n========\n\ntext" in page.content


@pytest.mark.parametrize("rule", ["---", "===", "- - -", "***"])
def test_md_12_an_appended_rule_makes_no_heading_of_the_paragraph_before(page: Page, rule: str) -> None:
    for content in ("## S\n\nlast paragraph\n", "## S\n\nlast paragraph"):
        page.says(content)
        page.is_edited(edit("append_block", section_id="s", text=f"{rule}\n\nnext part"))
        assert page.content.rstrip("\n") == f"## S\n\nlast paragraph\n\n{rule}\n\nnext part"
        assert headings(page) == ["S"]
        assert "last paragraph" in block_texts(page, "s")


HTML = {
    "details": "<details>\n<summary>More</summary>\n\nhidden *text*\n\n</details>\n\n<!-- keep: me -->\n\nafter\n",
    "a table": "<table>\n<tr><td>a</td>\n\n<td>b &amp; c</td></tr>\n</table>\n",
    "a comment of many lines": "<!--\n## not a heading\n\nnor this\n-->\n",
}


@pytest.mark.parametrize("case", HTML)
def test_md_13_html_is_kept_and_a_preview_shows_no_other_change(page: Page, case: str) -> None:
    content = f"## Html\n\n{HTML[case]}\n{NOTES}"
    page.says(content)
    page.learns()
    page.llm.script(script.edits(edit("append_block", section_id="notes", text="More.")))
    preview = page.bank.post(f"{PAGE}/dry-run-refresh")
    changed = [line for line in preview["diff"].splitlines()[2:] if line[0] in "+-"]
    assert changed == ["+", "+More."]
    goes_through_deltas(page, content)


def test_md_17_sections_of_the_same_name_are_told_apart(page: Page) -> None:
    page.says("## Usage\n\nfor A\n\n## Usage\n\nfor B\n")
    first, second = (each["id"] for each in page.sections)
    assert first != second
    page.is_edited(edit("replace_block", **page.place("for B"), text="for C"))
    assert page.content == "## Usage\n\nfor A\n\n## Usage\n\nfor C\n"
    page.is_edited(edit("replace_section_blocks", section_id=first, blocks=["## Usage", "for everyone"]))
    assert page.content == "## Usage\n\nfor everyone\n\n## Usage\n\nfor C\n"
    page.is_edited(edit("append_block", section_id=second, text="## Usage\n\nand D"))
    assert page.content == "## Usage\n\nfor everyone\n\n## Usage\n\nfor C\n\nand D\n"
    assert [each["id"] for each in page.sections] == [first, second]


API = "## API\n\nintro\n\n### GET\n\ng\n\n### POST\n\np\n\n## Next\n\nn\n"


def test_md_18_new_blocks_of_a_section_leave_its_subsections_and_its_siblings(page: Page) -> None:
    page.says(API)
    page.is_edited(
        edit("replace_section_blocks", section_id="api", blocks=["other intro"]),
        edit("add_section", heading="PUT", level=3, blocks=["u"], after_section_id="post"),
    )
    expected = API.replace("intro", "other intro").replace("## Next", "### PUT\n\nu\n\n## Next")
    assert page.content == expected


@pytest.mark.parametrize("text", ["new\n\n### PUT\n\nu", "new\n\n## Next\n\nother", "# Top\n\nnew"])
def test_md_18_headings_in_a_replacement_are_refused_and_the_model_is_told_how_else(page: Page, text: str) -> None:
    page.says(API)
    page.learns()
    again = edit("replace_section_blocks", section_id="api", blocks=["new"])
    operation = page.refreshes(
        script.edits(edit("replace_section_blocks", section_id="api", blocks=[text])), script.edits(again)
    )
    assert operation["details"]["outcome"] == "content_written"
    assert "use add_section" in page.chats[-1].text
    assert page.content == API.replace("intro", "new")
    page.learns()
    refused = script.edits(edit("replace_section_blocks", section_id="api", blocks=[text]))
    assert page.refreshes(refused, refused)["status"] == "failed"
    assert page.content == API.replace("intro", "new")


def test_md_20_headings_in_any_script_have_ids_of_their_own(page: Page) -> None:
    content = "## 概要\n\nA\n\n## 設計\n\nB\n\n## 🚀\n\nC\n\n## مقدمة\n\nD\n\n## 🎉\n\nE\n\n## हिन्दी\n\nF\n"
    page.says(content)
    ids = [each["id"] for each in page.sections]
    assert len(set(ids)) == 6
    assert all(ids)
    goes_through_deltas(page, content)
    assert [each["id"] for each in page.sections] == ids


def test_md_20_text_is_neither_composed_nor_spelt_in_other_letters(page: Page) -> None:
    decomposed, composed = "Ze\u0301 und Å", "Zé und A\u030a"
    assert unicodedata.normalize("NFC", decomposed) != decomposed
    goes_through_deltas(page, f"## {decomposed}\n\n{composed}\n")
    page.is_edited(edit("append_block", section_id=page.sections[0]["id"], text=decomposed))
    assert block_texts(page, page.sections[0]["id"])[-1] == decomposed


def test_md_21_hashes_in_and_after_a_title_are_read_as_commonmark_does(page: Page) -> None:
    goes_through_deltas(page, "## C#\n\na\n\n## F## ##\n\nb\n\n##\n\nc\n\n#notaheading\n")
    assert headings(page) == ["C#", "F##", ""]
    assert "## F## ##\n" in page.content
    assert "#notaheading" in block_texts(page, page.sections[2]["id"])


def test_md_23_a_heading_needs_no_blank_line_before_it(page: Page) -> None:
    content = "> quote\n## Two\ntext\n- a\n- b\n### Three\n"
    goes_through_deltas(page, content)
    assert headings(page) == ["", "Two", "Three"]
    lines = page.content.splitlines()
    assert [line for line in lines if line and not line.startswith("Appended")] == content.splitlines()
    goes_through_deltas(page, "<!-- a -->\n## Two\n```\ncode\n```\n### Three\ntext\n")
    assert headings(page) == ["", "Two", "Three"]


def test_md_24_what_a_person_writes_is_what_the_next_delta_edits(page: Page) -> None:
    for content in ("# A\n\nOne thing.\n", "B: completely different", "\n\n- C\r\n- again\r\n\r\n\r\n"):
        page.says(content)
        assert page.content == content, "nothing is reshaped when it is stored"
        goes_through_deltas(page, content)


def test_md_24_what_a_person_writes_is_edited_whatever_the_question_was(page: Page) -> None:
    page.is_edited(edit("append_block", section_id="preamble", text="Answered."))
    page.bank.patch(PAGE, {"source_query": "Another question?", "content": "# B\n\nOther.\n"})
    page.is_edited(edit("append_block", section_id="b", text="More."))
    assert page.content == "# B\n\nOther.\n\nMore.\n"


def test_md_24_what_a_person_writes_while_a_delta_runs_is_what_it_edits(page: Page) -> None:
    page.says("# A\n\nOne thing.\n\nAnother.\n")
    edits = script.edits(
        edit("append_block", section_id="a", text="More."), edit("remove_block", **page.place("Another"))
    )

    def replies_late(_request: Request) -> Reply:
        page.says("# A\n\nWritten meanwhile.\n")
        return edits

    page.learns()
    assert page.refreshes(replies_late)["details"]["outcome"] == "content_written"
    assert page.content == "# A\n\nWritten meanwhile.\n\nMore.\n"
    (skipped,) = page.skipped
    assert "unknown block_id" in skipped


def test_md_24_a_page_may_begin_with_a_text_and_keeps_it_to_the_byte(page: Page) -> None:
    content = "Intro\n\n* odd   bullets\n\n\n\n## End ##"
    page.bank.model("other", content=content, trigger={"mode": "delta"})
    assert page.bank.get("/mental-models/other")["content"] == content


ODDLY_BUILT = {
    "no heading": "intro only, no heading\n",
    "a preamble": "intro\n\n# H\n",
    "a heading only": "# H\n",
    "runs of blank lines": "\n\n\n# H\n\n\n\ntext\n\n\n",
    "no line break at the end": "intro\n\n# H\n\ntext",
}


@pytest.mark.parametrize("case", ODDLY_BUILT)
def test_md_25_a_page_without_headings_or_texts_is_a_page(page: Page, case: str) -> None:
    content = ODDLY_BUILT[case]
    titles = [line.removeprefix("# ") for line in content.splitlines() if line.startswith("#")]
    goes_through_deltas(page, content)
    assert [title for title in headings(page) if title] == titles, "no heading is invented"


LITERALS = ["Cost is $& and \\1 and $$ {0} %s", "\\g<0> $1 ${name} %(x)s {{}}", "C:\\new\\table \\\\ \\u0041 \\n"]


@pytest.mark.parametrize("text", LITERALS)
def test_md_27_a_text_is_inserted_literally(page: Page, text: str) -> None:
    page.says("## Cost\n\nunknown\n\n- item\n")
    page.is_edited(
        edit("replace_block", **page.place("unknown"), text=text),
        edit("replace_item", **page.item("- item"), text=f"- {text}"),
        edit("add_section", heading="More", blocks=[text]),
    )
    assert page.content == f"## Cost\n\n{text}\n\n- {text}\n\n## More\n\n{text}\n"


def test_md_what_a_model_writes_anew_is_served_as_it_was_written(page: Page) -> None:
    """The constructs above in one document of a full refresh."""
    page.learns("Ada works at Acme.")
    blocks = [each.rstrip("\n") for each in (*TABLES.values(), *LISTS.values(), FENCED, HTML["details"], *LITERALS)]
    expected = "## Ada\n\n" + "\n\n".join(blocks) + "\n"
    page.refreshes(recalls(), writes(*blocks), mode="full")
    assert page.content == expected
    assert page.refreshes(recalls(), writes(*blocks), mode="full")["details"]["outcome"] == "content_unchanged"
    assert page.content == expected
