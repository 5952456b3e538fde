"""The tree of folders and pages: what is recorded, what is refused, and that no command ever makes a loop."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from domain.event import Event
from domain.knowledge_base import (
    DEEPEST,
    NODES_AT_MOST,
    ChangeNode,
    ChangeTree,
    CreateFolder,
    CreatePage,
    DeleteKnowledgeBase,
    DeleteNode,
    DeletePageOf,
    FolderCreated,
    KnowledgeBase,
    KnowledgeBaseDeleted,
    MoveTo,
    Node,
    NodeMoved,
    NodeRenamed,
    NodeReordered,
    NodesDeleted,
    PageCreated,
    RenamePageOf,
    TreeChange,
    after,
    decide,
    name_key,
    page_trigger,
)
from domain.knowledge_base.refusals import (
    KnowledgeBaseFull,
    NodeNotFound,
    NotAFolder,
    NotAPage,
    NothingToChangeOfNode,
    OwnDescendant,
    OwnParent,
    PageNameTaken,
    TreeTooDeep,
)
from domain.mental_model.trigger import Trigger
from domain.refusals import Refusal
from tests.dsl import given
from tests.support.examples import BANK, MODEL


def folder(folder_id: str, parent_id: str | None = None, name: str | None = None, sort_order: int = 0) -> FolderCreated:
    return FolderCreated(folder_id=folder_id, name=name or folder_id, parent_id=parent_id, sort_order=sort_order)


def page(page_id: str, parent_id: str | None = None, name: str | None = None) -> PageCreated:
    return PageCreated(
        page_id=page_id, mental_model_id=f"mm-{page_id}", name=name or page_id, parent_id=parent_id, sort_order=0
    )


def change(*changes: TreeChange) -> ChangeTree:
    return ChangeTree(BANK, changes)


def move(node_id: str, parent_id: str | None, **more: Any) -> ChangeTree:
    return change(ChangeNode(node_id, move=MoveTo(parent_id), **more))


# --- created ----------------------------------------------------------------------------------------------------------


def test_a_folder_is_created_at_the_root_and_in_a_folder() -> None:
    given().when(change(CreateFolder("a", "A"))).then(folder("a", name="A"))
    given(folder("a")).when(change(CreateFolder("b", "B", "a", 3))).then(folder("b", "a", "B", 3))


def test_a_page_names_its_mental_model() -> None:
    created = PageCreated(page_id="p", mental_model_id=MODEL, name="P", parent_id="a", sort_order=0)
    given(folder("a")).when(change(CreatePage("p", MODEL, "P", "a"))).then(created)


@pytest.mark.parametrize("create", [CreateFolder("n", "N", "none"), CreatePage("n", "m", "N", "none")])
def test_what_it_is_created_in_has_to_exist(create: TreeChange) -> None:
    given(folder("a")).when(change(create)).then_refused(NodeNotFound, "'none'")


@pytest.mark.parametrize("create", [CreateFolder("n", "N", "p"), CreatePage("n", "m", "N", "p")])
def test_what_it_is_created_in_has_to_be_a_folder(create: TreeChange) -> None:
    given(page("p")).when(change(create)).then_refused(NotAFolder, "'p' is a page")


@pytest.mark.parametrize("name", ["Straße", "STRASSE", " straße "])
def test_the_name_of_a_page_is_unique_in_its_folder_whatever_its_case(name: str) -> None:
    given(folder("a"), page("p", "a", "Straße")).when(change(CreatePage("q", "m", name, "a"))).then_refused(
        PageNameTaken, "'Straße'"
    )


def test_accents_written_in_two_ways_are_one_name() -> None:
    given(page("p", name="Café")).when(change(CreatePage("q", "m", "Cafe\u0301"))).then_refused(PageNameTaken)


def test_other_folders_and_folders_themselves_may_share_a_name() -> None:
    given(folder("a"), page("p", "a", "Notes")).when(
        change(CreatePage("q", "m", "Notes"), CreateFolder("b", "Notes", "a"), CreateFolder("c", "Notes", "a"))
    ).then(
        PageCreated(page_id="q", mental_model_id="m", name="Notes", parent_id=None, sort_order=0),
        folder("b", "a", "Notes"),
        folder("c", "a", "Notes"),
    )


def test_changes_of_one_command_see_those_before_them_and_are_all_made_or_none() -> None:
    given().when(change(CreateFolder("a", "A"), CreatePage("p", "m", "P", "a"))).then(
        folder("a", name="A"), PageCreated(page_id="p", mental_model_id="m", name="P", parent_id="a", sort_order=0)
    )
    given().when(change(CreatePage("p", "m", "P"), CreatePage("q", "n", "p"))).then_refused(PageNameTaken)


def test_folders_are_nested_only_so_deep() -> None:
    chain: list[Event] = [folder("0")]
    chain += [folder(str(depth), str(depth - 1)) for depth in range(1, DEEPEST)]
    given(*chain[:-1]).when(change(CreateFolder("x", "x", str(DEEPEST - 2)))).then(folder("x", str(DEEPEST - 2)))
    given(*chain).when(change(CreateFolder("x", "x", str(DEEPEST - 1)))).then_refused(TreeTooDeep)
    given(*chain, folder("y"), page("z", "y")).when(move("y", str(DEEPEST - 2))).then_refused(TreeTooDeep)


def test_a_knowledge_base_has_room_for_so_many() -> None:
    nodes = {str(number): Node(node_id=str(number), name="f", parent_id=None) for number in range(NODES_AT_MOST)}
    full = KnowledgeBase().model_copy(update={"nodes": nodes})
    assert isinstance(decide(change(CreateFolder("x", "x")), full), KnowledgeBaseFull)
    del nodes["0"]
    assert decide(change(CreateFolder("x", "x")), full) == (folder("x"),)


# --- changed ----------------------------------------------------------------------------------------------------------


def test_a_node_is_renamed_moved_and_reordered_at_once() -> None:
    given(folder("a"), page("p")).when(move("p", "a", name="Q", sort_order=7)).then(
        NodeMoved(node_id="p", parent_id="a"),
        NodeRenamed(node_id="p", name="Q"),
        NodeReordered(node_id="p", sort_order=7),
    )


def test_it_is_moved_to_the_root() -> None:
    given(folder("a"), page("p", "a")).when(move("p", None)).then(NodeMoved(node_id="p", parent_id=None))


def test_what_is_so_already_is_no_event() -> None:
    given(folder("a"), page("p", "a", "P")).when(move("p", "a", name="P", sort_order=0)).then_nothing()


def test_a_change_of_nothing_is_refused() -> None:
    given(page("p")).when(change(ChangeNode("p"))).then_refused(NothingToChangeOfNode, "name, parent_id")


def test_options_are_of_pages_only() -> None:
    given(page("p")).when(change(ChangeNode("p", options=True))).then_nothing()
    given(folder("a")).when(change(ChangeNode("a", options=True))).then_refused(NotAPage, "'a'")


def test_a_node_that_is_not_there_is_not_changed_and_not_deleted() -> None:
    given().when(change(ChangeNode("p", name="P"))).then_refused(NodeNotFound)
    given().when(change(DeleteNode("p"))).then_refused(NodeNotFound)
    given(page("p")).when(move("p", "none")).then_refused(NodeNotFound, "'none'")


def test_nothing_is_moved_into_itself_or_what_is_in_it_or_a_page() -> None:
    """KP-01"""
    tree = given(folder("a"), folder("b", "a"), folder("c", "b"), page("p"))
    tree.when(move("a", "a")).then_refused(OwnParent)
    tree.when(move("a", "b")).then_refused(OwnDescendant)
    tree.when(move("a", "c")).then_refused(OwnDescendant, "'c'")
    tree.when(move("a", "p")).then_refused(NotAFolder)
    tree.when(move("c", "a")).then(NodeMoved(node_id="c", parent_id="a"))


def test_a_page_keeps_its_name_unique_when_it_is_moved_or_renamed() -> None:
    tree = given(folder("a"), page("p", "a", "Notes"), page("q", None, "notes"), page("r", "a", "Other"))
    tree.when(move("q", "a")).then_refused(PageNameTaken)
    tree.when(change(ChangeNode("r", name="NOTES"))).then_refused(PageNameTaken)
    tree.when(change(ChangeNode("p", name="NOTES"))).then(NodeRenamed(node_id="p", name="NOTES"))
    tree.when(move("q", "a", name="free")).then(
        NodeMoved(node_id="q", parent_id="a"), NodeRenamed(node_id="q", name="free")
    )


def test_a_page_follows_its_mental_model() -> None:
    tree = given(page("p", name="P"), page("q", name="Q"))
    tree.when(RenamePageOf(BANK, "mm-p", "New")).then(NodeRenamed(node_id="p", name="New"))
    tree.when(RenamePageOf(BANK, "mm-p", "P")).then_nothing()
    tree.when(RenamePageOf(BANK, "mm-p", "q")).then_refused(PageNameTaken)
    tree.when(RenamePageOf(BANK, "no page", "q")).then_nothing()
    tree.when(DeletePageOf(BANK, "mm-p")).then(NodesDeleted(node_ids=("p",)))
    tree.when(DeletePageOf(BANK, "no page")).then_nothing()


# --- deleted ----------------------------------------------------------------------------------------------------------


def test_a_folder_is_deleted_with_all_that_is_in_it() -> None:
    given(folder("a"), page("p", "a"), folder("b", "a"), page("q", "b"), page("r")).when(change(DeleteNode("a"))).then(
        NodesDeleted(node_ids=("a", "p", "b", "q"))
    )


def test_all_of_it_is_deleted_with_its_bank_if_there_is_any() -> None:
    given(folder("a")).when(DeleteKnowledgeBase(BANK)).then(KnowledgeBaseDeleted())
    given(folder("a"), KnowledgeBaseDeleted()).when(DeleteKnowledgeBase(BANK)).then_nothing()


def test_walks_end_on_a_loop_that_was_stored() -> None:
    """KP-01"""
    loop = given(folder("a"), folder("b", "a"), page("p", "b"), NodeMoved(node_id="a", parent_id="b"))
    loop.when(move("p", "a")).then(NodeMoved(node_id="p", parent_id="a"))
    loop.when(move("a", None)).then(NodeMoved(node_id="a", parent_id=None))
    loop.when(move("b", "a", name="B")).then(NodeRenamed(node_id="b", name="B"))
    loop.when(change(DeleteNode("a"))).then(NodesDeleted(node_ids=("a", "b", "p")))


# --- whatever is asked ------------------------------------------------------------------------------------------------

IDS = st.sampled_from([f"n{number}" for number in range(8)])
PLACES = st.none() | IDS
NAMES = st.sampled_from(["Notes", "notes", "NOTES", "Plan", "plan "])
CHANGES = st.one_of(
    st.builds(CreateFolder, st.just(""), NAMES, PLACES),
    st.builds(CreatePage, st.just(""), st.just(""), NAMES, PLACES),
    st.builds(
        ChangeNode, IDS, st.none() | NAMES, st.none() | st.builds(MoveTo, PLACES), st.none() | st.integers(-1, 1)
    ),
    st.builds(DeleteNode, IDS),
)


@for_all(st.lists(st.lists(CHANGES, min_size=1, max_size=3), max_size=40))
def test_whatever_is_asked_there_is_never_a_loop_and_names_stay_unique(asked: list[list[TreeChange]]) -> None:
    state, made = KnowledgeBase(), 0
    for changes in asked:
        numbered: list[TreeChange] = []
        for each in changes:
            if isinstance(each, CreateFolder):
                each = CreateFolder(f"n{made}", each.name, each.parent_id)
                made += 1
            elif isinstance(each, CreatePage):
                each = CreatePage(f"n{made}", f"mm{made}", each.name, each.parent_id)
                made += 1
            numbered.append(each)
        decided = decide(change(*numbered), state)
        for event in () if isinstance(decided, Refusal) else decided:
            state = after(state, event)
        _is_sound(state)


def _is_sound(state: KnowledgeBase) -> None:
    for node in state.nodes.values():
        way = list(state.ancestors(node.node_id))
        assert way[-1].parent_id is None, "every way leads to the root"
        assert len(way) <= DEEPEST
        assert all(not above.is_page for above in way[1:])
    pages = [(node.parent_id, name_key(node.name)) for node in state.nodes.values() if node.is_page]
    assert len(pages) == len(set(pages))


# --- the trigger of a page --------------------------------------------------------------------------------------------


def test_a_page_edits_itself_from_observations_after_consolidation_unless_told_otherwise() -> None:
    default = Trigger(
        mode="delta", fact_types=("observation",), exclude_mental_models=True, refresh_after_consolidation=True
    )
    assert page_trigger(None, None) == default
    assert page_trigger({"mode": "full"}, None) == default.model_copy(update={"mode": "full"})
    assert page_trigger({"mode": "full"}, {"mode": "delta", "fact_types": None}) == default.model_copy(
        update={"fact_types": None}
    )
    cron = page_trigger(None, {"refresh_cron": "0 6 * * *"})
    assert (cron.refresh_cron, cron.refresh_after_consolidation) == ("0 6 * * *", False)
    assert page_trigger({"refresh_cron": "0 6 * * *"}, {"refresh_after_consolidation": True}) == default
