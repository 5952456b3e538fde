"""Identity through a full rewrite: what is unchanged keeps its id, and no id ever means two things."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from domain.document import Document, parse
from tests.domain.document.markdown_texts import blocks_of, ids_of, markdown_text, titles_of, unhurried

PARTS = ["# A", "# B", "# C", "Same\n====", "one", "two", "three", "---", "- x\n- y", "- x\n- z", "|h|\n|-|\n|x|\n|y|"]
document_text = st.lists(st.sampled_from(PARTS), max_size=14).map("\n\n".join)


Content = tuple[str | None, ...]


def contents(document: Document) -> dict[str, Content]:
    """The title and the blocks of each section by its id."""
    titles = zip(titles_of(document), document.sections, strict=True)
    return {section.id: (title, *(block.source for block in section.blocks)) for title, section in titles}


def block_ids(document: Document) -> dict[str, str]:
    return {block.source: block.id for block in blocks_of(document)}


def section_ids(document: Document) -> dict[str | None, str]:
    return dict(zip(titles_of(document), (section.id for section in document.sections), strict=True))


def item_ids(document: Document) -> dict[str, str]:
    return {item.source: item.id for block in blocks_of(document) for item in block.items}


@unhurried
@given(markdown_text)
def test_rewriting_the_same_text_changes_nothing(text: str) -> None:
    assert parse(text, previous=parse(text)) == parse(text)


@unhurried
@given(st.lists(document_text, min_size=2, max_size=4))
def test_ids_stay_unique_and_blocks_with_equal_text_keep_theirs_over_any_rewrites(texts: list[str]) -> None:
    document = parse(texts[0])
    for text in texts[1:]:
        previous, document = document, parse(text, previous=document)
        assert document.render() == text
        assert len(set(ids_of(document))) == len(ids_of(document))
        assert parse(text, previous=document) == document
        before = {block.id: block.source for block in blocks_of(previous)}
        kept = Counter(block.source for block in blocks_of(document) if before.get(block.id) == block.source)
        assert kept == Counter(before.values()) & Counter(block.source for block in blocks_of(document))


@unhurried
@given(document_text, document_text)
def test_sections_with_equal_content_keep_their_ids(old: str, new: str) -> None:
    previous = parse(old)
    before, after = contents(previous), contents(parse(new, previous=previous))
    kept = Counter(content for identity, content in after.items() if before.get(identity) == content)
    assert kept == Counter(before.values()) & Counter(after.values())


@unhurried
@given(document_text, document_text)
def test_an_id_of_the_previous_document_is_never_given_to_another_text(old: str, new: str) -> None:
    previous = parse(old)
    before = {block.id: block.source for block in blocks_of(previous)} | {
        item.id: item.source for block in blocks_of(previous) for item in block.items
    }
    document = parse(new, previous=previous)
    after = {block.id: block.source for block in blocks_of(document)} | {
        item.id: item.source for block in blocks_of(document) for item in block.items
    }
    assert all(after[identity] == before[identity] for identity in before.keys() & after.keys())


def test_a_section_with_an_unchanged_title_keeps_its_id_when_its_blocks_change() -> None:
    previous = parse("# Usage\n\nold\n\n# Limits\n\nold too\n")
    document = parse("# New\n\ntext\n\n## Limits\n\nchanged\n\n# Usage\n\nchanged too\n", previous)
    assert section_ids(document) == {"New": "new", "Limits": "limits", "Usage": "usage"}


def test_a_renamed_section_with_the_same_blocks_keeps_its_id() -> None:
    document = parse("# Howto\n\none\n\ntwo\n", parse("# Usage\n\none\n\ntwo\n"))
    assert section_ids(document) == {"Howto": "usage"}


def test_a_renamed_section_with_another_block_gets_a_new_id() -> None:
    document = parse("# Howto\n\none\n\nthree\n", parse("# Usage\n\none\n\ntwo\n"))
    assert section_ids(document) == {"Howto": "howto"}


def test_a_new_section_does_not_take_the_id_of_a_renamed_one() -> None:
    renamed = parse("# Howto\n\none\n", parse("# Usage\n\none\n"))
    document = parse("# Howto\n\none\n\n# Usage\n\nnew\n", renamed)
    assert section_ids(document) == {"Howto": "usage", "Usage": "usage-2"}


def test_a_new_heading_does_not_take_the_id_of_a_removed_preamble() -> None:
    document = parse("# Preamble\n\ntext\n", parse("intro\n"))
    assert section_ids(document) == {"Preamble": "preamble-2"}


def test_a_block_keeps_its_id_wherever_it_moves() -> None:
    previous = parse("# A\n\none\n\ntwo\n\n# B\n\nthree\n")
    document = parse("# B\n\ntwo\n\nnew\n\nthree\n\n# A\n\none\n", previous)
    assert block_ids(document) == block_ids(previous) | {"new": block_ids(document)["new"]}


def test_surroundings_decide_between_blocks_with_the_same_text() -> None:
    previous = parse("# A\n\nsame\n\n# B\n\nsame\n")
    document = parse("# B\n\nsame\n", previous)
    assert block_ids(document)["same"] == previous.sections[1].blocks[0].id


def test_surroundings_decide_between_sections_with_the_same_title() -> None:
    previous = parse("# Usage\n\nfor A\n\n# Usage\n\nfor B\n")
    document = parse("# Usage\n\nfor B\n", previous)
    assert [section.id for section in document.sections] == ["usage-2"]


def test_items_keep_their_ids_when_one_is_added_to_their_list() -> None:
    previous = parse("- one\n- two\n\n| h |\n|---|\n| a |\n| b |\n")
    document = parse("- zero\n- one\n- two\n\n| h |\n|---|\n| b |\n| c |\n", previous)
    before, after = item_ids(previous), item_ids(document)
    assert {source: after[source] for source in ("- one", "- two", "| b |")} == {
        source: before[source] for source in ("- one", "- two", "| b |")
    }
    assert {after["- zero"], after["| c |"]}.isdisjoint(before.values())


def test_items_of_an_unchanged_list_stay_its_own_when_an_equal_item_is_elsewhere() -> None:
    previous = parse("- x\n- y\n\ntext\n\n- x\n- z\n")
    document = parse("- x\n- z\n\ntext\n\n- x\n- w\n", previous)
    old, new = blocks_of(previous), blocks_of(document)
    assert new[0].id == old[2].id
    assert [item.id for item in new[0].items] == [item.id for item in old[2].items]
    assert new[2].items[0].id == old[0].items[0].id
