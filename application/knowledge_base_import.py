"""The import of a knowledge base from files: folders and pages are made, or made to say what the files say.

A folder or a page is known again by its name and the folder it is in. What the files do not name stays. The text of a
file is a text written by hand: the baseline of the next delta. All of it is one transaction.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from application.command_handler import (
    ATTEMPTS,
    KNOWLEDGE_BASE,
    MENTAL_MODEL,
    CommandHandler,
    Step,
    knowledge_base_stream,
    mental_model_stream,
    open_bank,
)
from application.knowledge_base import KnowledgeBases, change_tree, new_folder_id, new_page_ids, new_trigger
from application.ports import EventLog, Identities
from application.refresh_requests import ask_refresh
from domain.event import Context, Event
from domain.knowledge_base import (
    PAGE_MAX_TOKENS,
    ChangeNode,
    ChangeTree,
    CreateFolder,
    CreatePage,
    KnowledgeBase,
    Node,
    TreeChange,
    name_key,
)
from domain.mental_model.commands import ChangeMentalModel, Command, CreateMentalModel
from domain.mental_model.state import MentalModel
from domain.refusals import MentalModelAlreadyExists, MentalModelNotFound, Refusal, StaleVersion


@dataclass(frozen=True)
class FolderFile:
    """A folder as files tell it: `path` is where it is among them, "" stands for the root."""

    path: str
    parent: str
    name: str
    sort_order: int | None = None


@dataclass(frozen=True)
class PageFile:
    """A page as a file tells it, in the folder at path `folder`; None is what it does not tell. `earlier` is what it
    said before, oldest first."""

    path: str
    folder: str
    name: str
    body: str
    source_query: str | None = None
    tags: tuple[str, ...] | None = None
    max_tokens: int | None = None
    trigger: Mapping[str, Any] | None = None
    sort_order: int | None = None
    earlier: tuple[str, ...] = ()


@dataclass(frozen=True)
class ImportedPage:
    """`change` is what became of it, or would."""

    path: str
    name: str
    page_id: str
    mental_model_id: str
    change: str
    operation_id: UUID | None = None


@dataclass(frozen=True)
class ImportedTree:
    folders_created: tuple[str, ...]
    pages: tuple[ImportedPage, ...]


@dataclass
class _Plan:
    """What makes the tree as the files say; `places` are the ids of the folders by path, `taken` nodes of the tree that
    a file has been found to be."""

    tree: KnowledgeBase
    version: int
    bank_trigger: Mapping[str, Any] | None
    changes: list[TreeChange] = field(default_factory=list)
    models: list[Step] = field(default_factory=list)
    refreshes: list[Step] = field(default_factory=list)
    folders_created: list[str] = field(default_factory=list)
    pages: list[ImportedPage] = field(default_factory=list)
    places: dict[str, str | None] = field(default_factory=lambda: {"": None})
    taken: set[str] = field(default_factory=set)
    known: dict[tuple[str | None, bool, str], list[Node]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in sorted(self.tree.nodes.values(), key=lambda each: each.sort_order):
            self.known.setdefault((node.parent_id, node.is_page, name_key(node.name)), []).append(node)

    def find(self, parent_id: str | None, *, is_page: bool, name: str) -> Node | None:
        """The first node of this name there that no file has been found to be yet."""
        for node in self.known.get((parent_id, is_page, name_key(name)), ()):
            if node.node_id not in self.taken:
                self.taken.add(node.node_id)
                return node
        return None

    def imported(self) -> ImportedTree:
        return ImportedTree(tuple(self.folders_created), tuple(self.pages))


class KnowledgeBaseImports:
    def __init__(
        self, handler: CommandHandler, log: EventLog, identities: Identities, knowledge_bases: KnowledgeBases
    ) -> None:
        self._handler = handler
        self._log = log
        self._identities = identities
        self._knowledge_bases = knowledge_bases

    def import_(
        self,
        context: Context,
        bank_id: str,
        folders: Sequence[FolderFile],
        pages: Sequence[PageFile],
        *,
        dry_run: bool = False,
    ) -> ImportedTree:
        """Folders come before what is in them; pages are made in the order given. Opens the bank if need be. With
        `dry_run` nothing is changed, but the refusals are the same.

        Raises PageNameTaken when two files are the same page, TreeTooDeep, KnowledgeBaseFull, InvalidInput, and
        StaleVersion when others keep changing what is imported into."""
        for _ in range(ATTEMPTS):
            plan = self._plan(bank_id, folders, pages)
            _accepted(KNOWLEDGE_BASE.decide(ChangeTree(bank_id, tuple(plan.changes)), plan.tree))
            if dry_run:
                return plan.imported()
            try:
                self._carry_out(context, bank_id, plan)
            except (StaleVersion, MentalModelNotFound, MentalModelAlreadyExists):
                continue
            return plan.imported()
        raise StaleVersion(f"the knowledge base of bank '{bank_id}'")

    def _carry_out(self, context: Context, bank_id: str, plan: _Plan) -> None:
        tree = change_tree(bank_id, *plan.changes, expected=plan.version)
        self._handler.execute(context, open_bank(bank_id), tree, *plan.models, *plan.refreshes)

    def _plan(self, bank_id: str, folders: Sequence[FolderFile], pages: Sequence[PageFile]) -> _Plan:
        loaded = self._log.load(KNOWLEDGE_BASE, knowledge_base_stream(bank_id))
        plan = _Plan(loaded.state, loaded.version, self._knowledge_bases.bank_trigger(bank_id))
        for folder in folders:
            self._folder(plan, folder)
        for page in pages:
            self._page(bank_id, plan, page)
        return plan

    def _folder(self, plan: _Plan, file: FolderFile) -> None:
        parent_id = plan.places[file.parent]
        found = plan.find(parent_id, is_page=False, name=file.name)
        if found is not None:
            plan.places[file.path] = found.node_id
            plan.changes.extend(_told(found, file.name, file.sort_order))
            return
        plan.places[file.path] = created = new_folder_id(self._identities)
        plan.folders_created.append(file.path)
        plan.changes.append(CreateFolder(created, file.name, parent_id, file.sort_order or 0))

    def _page(self, bank_id: str, plan: _Plan, file: PageFile) -> None:
        parent_id = plan.places[file.folder]
        found = plan.find(parent_id, is_page=True, name=file.name)
        if found is not None and found.mental_model_id is not None:
            self._update(bank_id, plan, file, found, found.mental_model_id)
            return
        page_id, model = new_page_ids(self._identities)
        create = CreateMentalModel(
            bank_id,
            model,
            file.name,
            file.source_query or file.name,
            file.tags or (),
            file.max_tokens or PAGE_MAX_TOKENS,
            new_trigger(plan.bank_trigger, file.trigger),
            file.body or None,
            file.earlier,
        )
        operation_id = None
        if not file.body:
            operation_id = self._identities.new()
            plan.refreshes.append(ask_refresh(bank_id, model, operation_id, None))
        plan.changes.append(CreatePage(page_id, model, file.name, parent_id, file.sort_order or 0))
        plan.models.append(Step(MENTAL_MODEL, mental_model_stream(bank_id, model), create))
        plan.pages.append(ImportedPage(file.path, file.name, page_id, model, "created", operation_id))

    def _update(self, bank_id: str, plan: _Plan, file: PageFile, page: Node, model: str) -> None:
        """A file without a text leaves the text there is."""
        stream = mental_model_stream(bank_id, model)
        loaded = self._log.load(MENTAL_MODEL, stream)
        if not isinstance(loaded.state, MentalModel):
            raise MentalModelNotFound(bank_id, model)
        change: Command = ChangeMentalModel(
            bank_id,
            model,
            file.name,
            file.source_query,
            file.tags,
            file.max_tokens,
            file.trigger,
            file.body or None,
        )
        of_tree = list(_told(page, file.name, file.sort_order))
        plan.changes.extend(of_tree)
        if events := _accepted(MENTAL_MODEL.decide(change, loaded.state)):
            plan.models.append(Step(MENTAL_MODEL, stream, change, loaded.version))
        told = "updated" if events or of_tree else "unchanged"
        plan.pages.append(ImportedPage(file.path, file.name, page.node_id, model, told))


def _told(node: Node, name: str, sort_order: int | None) -> Sequence[TreeChange]:
    """Names may differ in case."""
    order = sort_order if sort_order != node.sort_order else None
    renamed = name if name != node.name else None
    return () if order is None and renamed is None else (ChangeNode(node.node_id, renamed, None, order),)


def _accepted(decided: Sequence[Event] | Refusal) -> Sequence[Event]:
    if isinstance(decided, Refusal):
        raise decided
    return decided
