"""Use cases of a knowledge base: a page and its mental model come, change and go together."""

from __future__ import annotations

from itertools import count
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from application.command_handler import KNOWLEDGE_BASE, MENTAL_MODEL, knowledge_base_stream, mental_model_stream
from application.knowledge_base import KnowledgeBases, PageOptions
from application.knowledge_base_import import FolderFile, KnowledgeBaseImports, PageFile
from domain.bank import BankOpened
from domain.event import Context
from domain.knowledge_base import (
    ChangeTree,
    CreateFolder,
    FolderCreated,
    KnowledgeBase,
    KnowledgeBaseDeleted,
    MoveTo,
    NodeRenamed,
    NodesDeleted,
    PageCreated,
)
from domain.knowledge_base.refusals import NodeNotFound, NotAFolder, NotAPage, NothingToChangeOfNode, PageNameTaken
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    MentalModelCreated,
    MentalModelDeleted,
    MentalModelRenamed,
    SourceQueryChanged,
)
from domain.mental_model.state import MentalModel
from domain.mental_model.trigger import Trigger
from domain.operation import OperationCancelled
from domain.refusals import InvalidInput, Refusal, StaleVersion
from tests.support.examples import BANK, BANK_STREAM, KNOWLEDGE_BASE_STREAM, MODEL
from tests.support.world import World

QUESTION = PageOptions("Which bridges?")


class OwnIdentities:
    """Ids that the world does not give."""

    def __init__(self) -> None:
        self._numbers = count(10**9)

    def new(self) -> UUID:
        return UUID(int=next(self._numbers))


class Tree:
    """The knowledge base of the bank of a world."""

    def __init__(self, world: World | None = None) -> None:
        self.world = world or World()
        handler, log, identities = self.world.handler, self.world.log, OwnIdentities()
        self.bases = KnowledgeBases(handler, log, identities, self.world.refresh_requests, self.world.banks.config)
        self.imports = KnowledgeBaseImports(handler, log, identities, self.bases)

    @property
    def context(self) -> Context:
        return self.world.context

    @property
    def state(self) -> KnowledgeBase:
        return self.bases.tree(BANK)

    def folder(self, name: str, parent_id: str | None = None) -> str:
        return self.bases.create_folder(self.context, BANK, name=name, parent_id=parent_id)

    def page(self, name: str, parent_id: str | None = None, options: PageOptions = QUESTION) -> tuple[str, str]:
        """Its id, and that of its mental model."""
        made = self.bases.create_page(self.context, BANK, name=name, options=options, parent_id=parent_id)
        return made.page_id, made.mental_model_id

    def model(self, mental_model_id: str) -> MentalModel:
        state = self.world.log.load(MENTAL_MODEL, mental_model_stream(BANK, mental_model_id)).state
        assert isinstance(state, MentalModel)
        return state

    def import_(self, *pages: PageFile, folders: tuple[FolderFile, ...] = (), dry_run: bool = False) -> list[str]:
        """What became of the pages."""
        imported = self.imports.import_(self.context, BANK, folders, pages, dry_run=dry_run)
        return [page.change for page in imported.pages]

    def is_whole(self) -> None:
        """Every page has its mental model, of its name; no mental model of a page is without one."""
        pages = {node.mental_model_id: node.name for node in self.state.nodes.values() if node.mental_model_id}
        models = {each: self.model(each).name for each in self.world.mental_models_of(BANK)}
        assert pages == models


def test_a_page_and_its_mental_model_are_made_in_one_transaction_which_opens_the_bank() -> None:
    tree = Tree()
    page, model = tree.page("Bridges", options=PageOptions("Which?", ("a",), 512, {"fact_types": None}))
    assert (page[:3], len(page), model[:3], len(model)) == ("kp-", 35, "mm-", 35)
    assert tree.world.log.of(BANK_STREAM) == [BankOpened(bank_id=BANK, name=BANK)]
    assert tree.world.log.of(KNOWLEDGE_BASE_STREAM) == [
        PageCreated(page_id=page, mental_model_id=model, name="Bridges", parent_id=None, sort_order=0)
    ]
    assert tree.world.document(model) == [
        MentalModelCreated(
            bank_id=BANK,
            mental_model_id=model,
            name="Bridges",
            source_query="Which?",
            tags=("a",),
            max_tokens=512,
            trigger=Trigger(mode="delta", exclude_mental_models=True, refresh_after_consolidation=True),
        )
    ]
    assert len(tree.world.in_flight(BANK, model)) == 1
    assert tree.world.transactions.committed == 1


def test_what_a_bank_sets_for_pages_is_under_what_is_given() -> None:
    tree = Tree()
    own = {"refresh_cron": "0 6 * * *", "mode": "full"}
    tree.world.banks.put(tree.context, BANK, changes={"knowledge_page_default_trigger": own})
    trigger = tree.model(tree.page("P", options=PageOptions("?", trigger={"mode": "delta"}))[1]).trigger
    assert (trigger.refresh_cron, trigger.refresh_after_consolidation, trigger.mode) == ("0 6 * * *", False, "delta")
    both = {"refresh_after_consolidation": True, "refresh_cron": "* * * * *"}
    with pytest.raises(InvalidInput, match="exclude each other") as refused:
        tree.page("Q", options=PageOptions("?", trigger=both))
    assert refused.value.field == "trigger"


def test_a_page_that_is_refused_leaves_nothing_behind() -> None:
    """KP-02, TS-12"""
    tree = Tree()
    with pytest.raises(NodeNotFound):
        tree.page("P", "none")
    assert tree.world.log.streams == {}, "no bank, no mental model, no operation"
    page, _ = tree.page("P")
    before = {stream: list(events) for stream, events in tree.world.log.streams.items()}
    with pytest.raises(NotAFolder):
        tree.page("Q", page)
    with pytest.raises(PageNameTaken):
        tree.page("p")
    assert {stream: events for stream, events in tree.world.log.streams.items() if events} == before
    tree.page("Q")
    tree.is_whole()


def test_a_page_and_its_mental_model_are_renamed_together_whichever_is_asked_for() -> None:
    """KP-03"""
    tree = Tree()
    page, model = tree.page("Old")
    tree.bases.change(tree.context, BANK, page, name="New")
    assert tree.world.document(model)[-1] == MentalModelRenamed(name="New")
    tree.world.mental_models.change(tree.context, BANK, model, name="Newer")
    assert tree.world.log.of(KNOWLEDGE_BASE_STREAM)[-1] == NodeRenamed(node_id=page, name="Newer")
    tree.is_whole()
    _, other = tree.page("Other")
    with pytest.raises(PageNameTaken):
        tree.world.mental_models.change(tree.context, BANK, other, name="newer")
    tree.is_whole()


def test_a_mental_model_that_is_no_page_is_renamed_and_deleted_beside_the_tree() -> None:
    tree = Tree(World().has_a_model())
    tree.page("Charles Bridge")
    tree.world.mental_models.change(tree.context, BANK, MODEL, name="charles bridge")
    tree.world.mental_models.delete(tree.context, BANK, MODEL)
    assert len(tree.state.nodes) == 1


def test_another_question_asks_for_a_refresh_the_same_one_does_not() -> None:
    tree = Tree()
    page, model = tree.page("P")
    (first,) = tree.world.in_flight(BANK, model)
    tree.world.log.record(tree.world.stream_of(UUID(first.operation_id)), OperationCancelled())
    tree.bases.change(tree.context, BANK, page, options=QUESTION)
    tree.bases.change(tree.context, BANK, page, options=PageOptions(tags=("a",)))
    assert not any(isinstance(event, SourceQueryChanged) for event in tree.world.document(model))
    assert tree.world.in_flight(BANK, model) == []
    tree.bases.change(tree.context, BANK, page, options=PageOptions("Another?"))
    assert len(tree.world.in_flight(BANK, model)) == 1


def test_a_change_is_of_all_that_is_asked_or_of_nothing() -> None:
    tree = Tree()
    folder, (page, model) = tree.folder("F"), tree.page("P")
    tree.page("Q", folder)
    with pytest.raises(PageNameTaken):
        tree.bases.change(tree.context, BANK, page, name="Q", move=MoveTo(folder), options=PageOptions("Another?"))
    assert (tree.model(model).name, tree.model(model).source_query) == ("P", "Which bridges?")
    with pytest.raises(InvalidInput):
        tree.bases.change(
            tree.context, BANK, page, move=MoveTo(folder), options=PageOptions(trigger={"refresh_cron": "never"})
        )
    assert tree.state.nodes[page].parent_id is None
    tree.bases.change(tree.context, BANK, page, name="R", move=MoveTo(folder), options=PageOptions(max_tokens=300))
    assert (tree.state.nodes[page].parent_id, tree.model(model).max_tokens) == (folder, 300)
    tree.is_whole()


def test_what_cannot_be_changed_is_refused() -> None:
    tree = Tree()
    folder = tree.folder("F")
    with pytest.raises(NothingToChangeOfNode):
        tree.bases.change(tree.context, BANK, folder)
    with pytest.raises(NotAPage):
        tree.bases.change(tree.context, BANK, folder, options=QUESTION)
    with pytest.raises(NodeNotFound):
        tree.bases.change(tree.context, BANK, "none", name="x")
    with pytest.raises(NodeNotFound):
        tree.bases.delete(tree.context, BANK, "none")


def test_a_folder_is_deleted_with_its_pages_and_their_mental_models() -> None:
    tree = Tree()
    outer = tree.folder("outer")
    inner = tree.folder("inner", outer)
    (_, one), (_, two), (_, kept) = tree.page("one", outer), tree.page("two", inner), tree.page("kept")
    tree.bases.delete(tree.context, BANK, outer)
    assert tree.world.document(one)[-1] == tree.world.document(two)[-1] == MentalModelDeleted()
    assert tree.world.mental_models_of(BANK) == [kept]
    tree.is_whole()


def test_a_page_that_comes_while_its_folder_is_deleted_goes_with_it() -> None:
    tree = Tree()
    folder = tree.folder("F")
    tree.page("first", folder)
    tree.world.log.before_lock.append(lambda: tree.page("late", folder) and None)
    tree.bases.delete(tree.context, BANK, folder)
    assert (tree.state.nodes, tree.world.mental_models_of(BANK)) == ({}, [])


def test_a_deleted_mental_model_leaves_no_dead_page() -> None:
    tree = Tree()
    page, model = tree.page("P")
    tree.world.mental_models.delete(tree.context, BANK, model)
    assert tree.world.log.of(KNOWLEDGE_BASE_STREAM)[-1] == NodesDeleted(node_ids=(page,))
    tree.is_whole()


def test_a_deleted_bank_takes_its_tree_along() -> None:
    tree = Tree()
    tree.page("P", tree.folder("F"))
    tree.world.banks.delete(tree.context, BANK)
    assert tree.world.log.of(KNOWLEDGE_BASE_STREAM)[-1] == KnowledgeBaseDeleted()
    assert tree.state.nodes == {}
    tree.page("P")
    tree.is_whole()


# --- import -----------------------------------------------------------------------------------------------------------


def test_a_text_is_imported_as_written_by_hand_with_what_it_said_before() -> None:
    tree = Tree()
    assert tree.import_(PageFile("p.md", "", "P", "# Now\n", earlier=("# First\n", "# Second\n"))) == ["created"]
    (model,) = tree.world.mental_models_of(BANK)
    assert [event.text for event in tree.world.document(model) if isinstance(event, ContentEdited)] == [
        "# First\n",
        "# Second\n",
        "# Now\n",
    ]
    state = tree.model(model)
    assert (state.content, state.written_by_hand, state.source_query, state.max_tokens) == ("# Now\n", True, "P", 4096)
    assert tree.world.in_flight(BANK, model) == [], "what it says is kept until its trigger says otherwise"
    assert tree.world.transactions.committed == 1


def test_a_page_without_a_text_is_imported_to_be_written() -> None:
    tree = Tree()
    tree.import_(PageFile("p.md", "", "P", "", "Which?", earlier=("Old.",)))
    (model,) = tree.world.mental_models_of(BANK)
    assert isinstance(tree.world.document(model)[-1], ContentCleared)
    assert len(tree.world.in_flight(BANK, model)) == 1


def test_a_page_that_is_there_is_made_to_say_what_the_file_says() -> None:
    tree = Tree()
    folder = tree.folder("Team")
    page, model = tree.page("Bridges", folder)
    file = PageFile("team/b.md", "team", "bridges", "New.\n", tags=("a",), max_tokens=300, sort_order=2)
    folders = (FolderFile("team", "", "TEAM"),)
    assert tree.import_(file, folders=folders, dry_run=True) == ["updated"]
    assert tree.model(model).content == ""
    assert tree.import_(file, folders=folders) == ["updated"]
    state = tree.model(model)
    assert (state.content, state.tags, state.max_tokens) == ("New.\n", ("a",), 300)
    assert (state.source_query, tree.state.nodes[page].sort_order) == ("Which bridges?", 2)
    before = sum(map(len, tree.world.log.streams.values()))
    assert tree.import_(file, folders=folders) == ["unchanged"]
    assert sum(map(len, tree.world.log.streams.values())) == before
    assert tree.import_(PageFile("team/b.md", "team", "bridges", ""), folders=folders) == ["unchanged"]
    assert tree.model(model).content == "New.\n", "a file without a text leaves the text there is"
    tree.is_whole()


def test_an_import_is_refused_as_a_whole_and_by_a_dry_run_too() -> None:
    tree = Tree()
    files = (PageFile("a.md", "", "Same", "1"), PageFile("b.md", "", "same", "2"))
    for dry_run in (True, False):
        with pytest.raises(PageNameTaken):
            tree.import_(*files, dry_run=dry_run)
    assert not any(tree.world.log.streams.values())


def test_folders_of_one_name_stay_two_and_are_found_again() -> None:
    tree = Tree()
    folders = (FolderFile("a", "", "Notes"), FolderFile("a-2", "", "Notes"), FolderFile("a-2/x", "a-2", "Deep"))
    files = (PageFile("a/p.md", "a", "P", "1"), PageFile("a-2/x/p.md", "a-2/x", "P", "2"))
    assert tree.import_(*files, folders=folders) == ["created", "created"]
    assert tree.import_(*files, folders=folders) == ["unchanged", "unchanged"]
    assert len(tree.state.nodes) == 5


def test_an_import_is_planned_again_when_the_tree_changed_meanwhile() -> None:
    tree = Tree()
    tree.world.log.before_lock.append(lambda: tree.page("P") and None)
    assert tree.import_(PageFile("p.md", "", "P", "Text.")) == ["updated"]
    assert len(tree.state.nodes) == 1
    tree.is_whole()


def test_an_import_into_a_tree_that_never_rests_is_given_up() -> None:
    tree = Tree()
    numbers = count()
    step = KNOWLEDGE_BASE

    def another() -> None:
        decided = step.decide(ChangeTree(BANK, (CreateFolder(f"kf-{next(numbers)}", "x"),)), tree.state)
        assert not isinstance(decided, Refusal)
        tree.world.log.record(knowledge_base_stream(BANK), *decided)

    tree.world.log.before_lock.extend([another] * 50)
    with pytest.raises(StaleVersion):
        tree.import_(PageFile("p.md", "", "P", "Text."))
    assert all(isinstance(event, FolderCreated) for event in tree.world.log.of(KNOWLEDGE_BASE_STREAM))


# --- whatever is asked ------------------------------------------------------------------------------------------------

NAMES = st.sampled_from(["One", "one", "Two", "Three"])
STEPS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 20), st.integers(0, 20), NAMES), max_size=25)


@settings(max_examples=150)
@given(STEPS)
def test_whatever_is_asked_every_page_has_a_mental_model_of_its_name_and_no_other_is_left(
    steps: list[tuple[int, int, int, str]],
) -> None:
    tree = Tree()
    for kind, first, second, name in steps:
        nodes = [None, *tree.state.nodes]
        here, there = nodes[first % len(nodes)], nodes[second % len(nodes)]
        model = tree.state.nodes[here].mental_model_id if here else None
        try:
            if kind == 0:
                tree.folder(name, here)
            elif kind == 1:
                tree.page(name, here)
            elif kind == 2 and here:
                tree.bases.change(tree.context, BANK, here, name=name, move=MoveTo(there))
            elif kind == 3 and here:
                tree.bases.delete(tree.context, BANK, here)
            elif kind == 4 and model:
                tree.world.mental_models.change(tree.context, BANK, model, name=name)
            elif kind == 5 and model:
                tree.world.mental_models.delete(tree.context, BANK, model)
        except Refusal:
            pass
        tree.is_whole()
