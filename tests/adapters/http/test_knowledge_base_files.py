"""A knowledge base as markdown files and back: names of files, front matter, and files that are not ours."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
import yaml
from fastapi.exceptions import RequestValidationError
from hypothesis import given
from hypothesis import strategies as st

from adapters.http.knowledge_base_bundle import ReadBundle, read
from adapters.http.knowledge_base_export import Bundle, Texts
from adapters.http.knowledge_base_markdown import front_matter, page_markdown
from adapters.http.knowledge_base_wire import nested
from domain.candidate import is_blank
from domain.mental_model.trigger import Trigger
from projections.knowledge_tree import NodeRow
from projections.staleness import Staleness
from tests.support.examples import NOW

STORABLE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=80)
TITLES = STORABLE.filter(lambda text: not is_blank(text))


def row(number: int, name: str = "Page", **fields: Any) -> NodeRow:
    """A page, unless it has no mental model."""
    told: dict[str, Any] = {
        "node_id": f"kp-{number:032x}",
        "mental_model_id": f"mm-{number}",
        "name": name,
        "parent_id": None,
        "sort_order": 0,
        "created_version": number,
        "updated_at": NOW,
        "source_query": "What?",
        "tags": (),
        "max_tokens": 2048,
        "trigger": Trigger().model_dump(mode="json", by_alias=True),
        "last_refreshed_at": NOW,
        "last_refresh_failed_at": None,
        "version": 1,
        "content": "",
    }
    return NodeRow(**{**told, **fields})


def folder(number: int, name: str, parent_id: str | None = None, **fields: Any) -> NodeRow:
    return row(number, name, node_id=f"kf-{number}", mental_model_id=None, parent_id=parent_id, **fields)


def files(*rows: NodeRow, earlier: dict[str, Texts] | None = None) -> dict[str, str]:
    """By path; none is there twice, also where case does not count."""
    made = Bundle(rows, earlier or {}).files()
    paths = [each["path"] for each in made]
    assert len({path.casefold() for path in paths}) == len(paths)
    return {each["path"]: each["content"] for each in made}


def read_again(made: dict[str, str]) -> ReadBundle:
    return read(list(made.items()))


def matter(content: str) -> Any:
    """What a reader of YAML makes of the front matter."""
    return yaml.safe_load(content.split("\n---\n", 1)[0].removeprefix("---\n"))


def refused(*given_files: tuple[str, str]) -> dict[str, Any]:
    with pytest.raises(RequestValidationError) as error:
        read(given_files)
    first: dict[str, Any] = dict(error.value.errors()[0])
    return first


# --- written ----------------------------------------------------------------------------------------------------------


def test_titles_of_one_slug_are_files_of_their_own() -> None:
    """KP-06"""
    made = files(row(1, "A/B"), row(2, "A B"), row(3, "a-b"), row(4, 'x: "y" # z'), row(5, "t" * 120), row(6, "東京"))
    assert sorted(made) == sorted(
        ["index.md", "a-b.md", "a-b-2.md", "a-b-3.md", "x-y-z.md", f"{'t' * 60}.md", "東京.md"]
    )
    assert {matter(content)["title"] for path, content in made.items() if path != "index.md"} == {
        "A/B", "A B", "a-b", 'x: "y" # z', "t" * 120, "東京",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("title", "path"),
    [("index", "index-page.md"), ("CON", "con-page.md"), ("???", "page.md"), ("a.log", "a-log.md"), ("..", "page.md")],
)
def test_names_that_would_be_in_the_way_are_others(title: str, path: str) -> None:
    assert path in files(row(1, title))


def test_a_name_that_is_counted_up_does_not_meet_one_that_is_so_called() -> None:
    assert set(files(row(1, "a"), row(2, "a!"), row(3, "a-2"))) == {"index.md", "a.md", "a-2.md", "a-2-2.md"}


def test_folders_are_directories_with_their_names_inside_and_the_index_shows_all() -> None:
    made = files(folder(1, "Team [x]"), row(2, "Page", parent_id="kf-1", content="Text."), folder(3, "Empty", "kf-1"))
    assert list(made) == ["index.md", "team-x/index.md", "team-x/empty/index.md", "team-x/page.md"]
    assert made["index.md"].endswith(
        "- [Team \\[x\\]](team-x/index.md)\n  - [Empty](team-x/empty/index.md)\n  - [Page](team-x/page.md)\n"
    )
    assert matter(made["team-x/empty/index.md"])["title"] == "Empty"


@given(TITLES, STORABLE, st.lists(STORABLE, max_size=3))
def test_front_matter_is_yaml_that_says_what_it_was_given_whatever_it_is(
    title: str, description: str, tags: list[str]
) -> None:
    """KP-06"""
    fields = {"title": title, "description": description, "tags": tags}
    assert matter(front_matter(fields)) == fields


def test_a_page_for_a_reader_has_a_type_and_says_that_it_is_empty() -> None:
    told = page_markdown(row(1, "P", tags=("a", "type:runbook", "type:other")))
    assert matter(told)["type"] == "runbook"
    assert matter(told)["tags"] == ["a"]
    assert told.endswith("---\n\nNo content yet.")
    assert page_markdown(row(1, "P", content="# P\n")).endswith("---\n\n# P\n")


# --- written and read -------------------------------------------------------------------------------------------------

SCHEMA = {"type": "object", "properties": {"count": {"type": "integer", "minimum": 3}}}
TEXTS = st.text(st.sampled_from("ab`~-#: \n\r\u2028東"), max_size=60).filter(lambda text: bool(text.strip()))


@given(TITLES, TEXTS | st.just(""), st.lists(TEXTS, max_size=3), st.integers(-3, 3))
def test_what_is_written_is_read_as_it_was(title: str, body: str, before: list[str], order: int) -> None:
    trigger = Trigger(mode="delta", refresh_cron="0 6 * * *", response_schema=SCHEMA)
    page = row(
        1,
        title,
        parent_id="kf-2",
        content=body,
        sort_order=order,
        tags=("type:x", "a, b"),
        max_tokens=300,
        source_query='Which "one": #?',
        trigger=trigger.model_dump(mode="json", by_alias=True),
    )
    earlier: dict[str, Sequence[tuple[datetime, str]]] = {"mm-1": [(NOW, text) for text in before]}
    bundle = read_again(files(folder(2, title, sort_order=order), page, earlier=earlier))
    (read_folder,), (read_page,) = bundle.folders, bundle.pages
    assert (read_folder.name, read_folder.sort_order) == (title, order)
    assert (read_page.name, read_page.folder, read_page.body) == (title, read_folder.path, body)
    assert (read_page.tags, read_page.max_tokens, read_page.sort_order) == (("type:x", "a, b"), 300, order)
    assert (read_page.source_query, read_page.earlier) == ('Which "one": #?', tuple(before))
    assert Trigger.model_validate(read_page.trigger) == trigger
    assert bundle.ignored == ["index.md"]


def test_what_a_trigger_of_an_export_does_not_tell_is_null() -> None:
    (page,) = read_again(files(row(1))).pages
    assert page.trigger is not None
    assert page.trigger["fact_types"] is None
    assert page.trigger["refresh_after_consolidation"] is False


def test_line_breaks_may_have_been_changed_on_the_way() -> None:
    made = files(row(1, "P", content="# P\n\nText.\n"), earlier={"mm-1": [(NOW, "Old.")]})
    (page,) = read_again({path: content.replace("\n", "\r\n") for path, content in made.items()}).pages
    assert (page.name, page.body, page.earlier) == ("P", "# P\r\n\r\nText.\r\n", ("Old.\r",))


# --- files that are not ours ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "content", "title", "body"),
    [
        ("notes.md", "Just text.\n", "notes", "Just text.\n"),
        ("a/notes.md", "\n# The *Title* #\n\nText.\n", "The *Title*", "\n# The *Title* #\n\nText.\n"),
        ("n.md", "---\ntitle: 2024-01-01\ntags: [a, b]\n---\n\n\nText.", "2024-01-01", "Text."),
        ("n.md", "---\ntitle:\n---\nText.", "n", "Text."),
        ("n.md", "---\ndate: yes\n---\n", "n", ""),
        ("n.md", "\ufeff---\ntitle: T\n---\nText.", "T", "Text."),
        ("n.md", "---\n\nA rule above.\n", "n", "---\n\nA rule above.\n"),
    ],
)
def test_any_markdown_is_a_page(path: str, content: str, title: str, body: str) -> None:
    (page,) = read([(path, content)]).pages
    assert (page.name, page.body) == (title, body)


def test_front_matter_of_others_tells_what_it_can() -> None:
    (page,) = read(
        [("n.md", "---\ntitle: T\ndescription: Why?\ntags: a, b\nmax_tokens: 512\ntrigger:\n  mode: delta\n---\nText.")]
    ).pages
    assert (page.source_query, page.tags, page.max_tokens) == ("Why?", ("a", "b"), 512)
    assert page.trigger == {"mode": "delta"}


def test_directories_without_a_file_of_their_own_are_folders_of_their_name() -> None:
    folders = read([("a b/c/n.md", "Text."), ("a b/d/n.md", "Text.")]).folders
    assert [(each.path, each.parent, each.name) for each in folders] == [
        ("a b", "", "a b"),
        ("a b/c", "a b", "c"),
        ("a b/d", "a b", "d"),
    ]


def test_an_export_of_the_system_of_reference_is_read() -> None:
    name = "kp-0123456789abcdef0123456789abcdef"
    content = f'---\nid: "{name}"\ntype: "runbook"\ntitle: "T"\ndescription: "Why?"\ntags: ["a"]\n---\n\nText.\n'
    bundle = read([("index.md", f"- [T]({name}.md)\n"), (f"{name}.md", content)])
    (page,) = bundle.pages
    assert (page.name, page.tags, page.body, bundle.ignored) == ("T", ("type:runbook", "a"), "Text.\n", ["index.md"])


def test_an_index_that_is_no_table_of_contents_is_a_page() -> None:
    assert [page.name for page in read([("index.md", "# Welcome\n")]).pages] == ["Welcome"]


def test_a_log_without_its_page_is_told_to_be_left_out() -> None:
    bundle = read([("p.log.md", '---\ntype: "log"\n---\n')])
    assert (bundle.pages, bundle.ignored) == ([], ["p.log.md"])


@pytest.mark.parametrize(
    "path", ["/a.md", "a//b.md", "../a.md", "a/./b.md", "a\\b.md", "", "a.txt", "x" * 1001 + ".md"]
)
def test_a_path_that_leads_nowhere_is_refused(path: str) -> None:
    assert refused(("ok.md", "Text."), (path, "Text."))["loc"] == ("body", "files", 1, "path")


def test_a_path_is_there_once() -> None:
    assert "file 0" in refused(("a.md", "1"), ("A.md", "2"))["msg"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("---\ntitle: [\n---\n", "not YAML"),
        ("---\na: &a [x]\nb: [*a, *a]\n---\n", "aliases"),
        (f"---\na: {'[' * 20_000}\n---\n", "too many lists"),
        (f"---\na: {'x' * 20_000}\n---\n", "too long"),
        (f"---\na: {'x' * 60_000}\n---\n", "longer than"),
        ("---\ntitle: [a]\n---\n", "string"),
        ("---\nmax_tokens: 5\n---\n", "256"),
        ('---\ntrigger: {"mode": "sideways"}\n---\n', "full"),
        ("---\ntrigger: {mode\n---\n", "not YAML"),
        ("---\ntags: [' ']\n---\n", "blank"),
        ("x" * 100_001, "100000"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_of_the_file(content: str, says: str) -> None:
    error = refused(("ok.md", "Text."), ("bad.md", content))
    assert error["loc"][:4] == ("body", "files", 1, "content")
    assert says in error["msg"]


def test_a_log_that_is_cut_off_is_refused() -> None:
    made = files(row(1, "P"), earlier={"mm-1": [(NOW, "Old.")]})
    cut = made["p.log.md"][:-5]
    assert "fences" in refused(("p.md", made["p.md"]), ("p.log.md", cut))["msg"]


# --- the tree ---------------------------------------------------------------------------------------------------------


def names(nodes: Sequence[dict[str, Any]]) -> list[Any]:
    return [(node["name"], names(node["children"])) if node["children"] else node["name"] for node in nodes]


def test_siblings_are_in_their_order_then_by_name_then_by_age() -> None:
    rows = [row(3, "b"), row(2, "B"), row(1, "z", sort_order=-1), folder(9, "b"), row(4, "a", parent_id="kf-9")]
    assert names(nested(rows, {}, kept=None)) == ["z", "B", "b", ("b", ["a"])]


def test_of_a_tree_that_is_cut_down_only_the_way_to_what_is_kept_is_left() -> None:
    rows = [folder(1, "f"), folder(2, "g", "kf-1"), row(3, "p", parent_id="kf-2"), row(4, "q"), folder(5, "empty")]
    assert names(nested(rows, {}, kept={rows[2].node_id})) == [("f", [("g", ["p"])])]
    assert nested(rows, {}, kept=set()) == []


def test_every_node_of_a_stored_loop_is_told_once() -> None:
    """KP-01"""
    rows = [folder(1, "a", "kf-2"), folder(2, "b", "kf-1"), row(3, "p", parent_id="kf-2"), folder(4, "self", "kf-4")]
    assert names(nested(rows, {}, kept=None)) == [("a", [("b", ["p"])]), "self"]
    assert names(nested(rows, {}, kept={rows[2].node_id})) == [("a", [("b", ["p"])])]


def test_a_page_tells_why_it_is_stale() -> None:
    (node,) = nested([row(1)], {"mm-1": Staleness(("new_memories",))}, kept=None)
    assert (node["is_stale"], list(node["stale_reasons"])) == (True, ["new_memories"])
