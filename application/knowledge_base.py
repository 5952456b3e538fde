"""Use cases of a knowledge base: folders and pages are made, changed and deleted, each with its mental models.

A page and its mental model come, change and go in one transaction: there is never one without the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from application.command_handler import (
    ATTEMPTS,
    KNOWLEDGE_BASE,
    MENTAL_MODEL,
    CommandHandler,
    Done,
    Step,
    knowledge_base_stream,
    mental_model_stream,
    open_bank,
)
from application.ports import EventLog, Identities, Transaction
from application.refresh_requests import RefreshRequests, ask_refresh
from domain.bank_config import BankConfig
from domain.event import Context
from domain.knowledge_base import (
    PAGE_MAX_TOKENS,
    ChangeNode,
    ChangeTree,
    CreateFolder,
    CreatePage,
    DeleteNode,
    KnowledgeBase,
    MoveTo,
    NodesDeleted,
    TreeChange,
    page_trigger,
)
from domain.knowledge_base.refusals import NodeNotFound
from domain.mental_model.commands import ChangeMentalModel, CreateMentalModel, DeleteMentalModel
from domain.mental_model.events import SourceQueryChanged
from domain.mental_model.trigger import Trigger
from domain.refusals import InvalidInput, MentalModelNotFound, StaleVersion


@dataclass(frozen=True)
class PageMade:
    page_id: str
    mental_model_id: str
    operation_id: UUID


@dataclass(frozen=True)
class PageOptions:
    """What a page has of its mental model; None is as if it were not given. `trigger` holds the fields that were
    given, null included."""

    source_query: str | None = None
    tags: tuple[str, ...] | None = None
    max_tokens: int | None = None
    trigger: Mapping[str, Any] | None = None

    @property
    def are_given(self) -> bool:
        return any(field is not None for field in (self.source_query, self.tags, self.max_tokens, self.trigger))


class _TreeMoved(Exception):
    """A page came or went while what it is in was about to be deleted."""


class KnowledgeBases:
    """`config_of` tells how a bank is configured, also one that is not there yet."""

    def __init__(
        self,
        handler: CommandHandler,
        log: EventLog,
        identities: Identities,
        refresh_requests: RefreshRequests,
        config_of: Callable[[str], BankConfig],
    ) -> None:
        self._handler = handler
        self._log = log
        self._identities = identities
        self._refresh_requests = refresh_requests
        self._config_of = config_of

    def tree(self, bank_id: str) -> KnowledgeBase:
        """As its events tell it."""
        state: KnowledgeBase = self._log.load(KNOWLEDGE_BASE, knowledge_base_stream(bank_id)).state
        return state

    def create_folder(
        self, context: Context, bank_id: str, *, name: str, parent_id: str | None = None, sort_order: int = 0
    ) -> str:
        """Returns its id; opens the bank if need be. Raises NodeNotFound, NotAFolder, TreeTooDeep,
        KnowledgeBaseFull."""
        folder_id = new_folder_id(self._identities)
        create = CreateFolder(folder_id, name, parent_id, sort_order)
        self._handler.execute(context, open_bank(bank_id), change_tree(bank_id, create))
        return folder_id

    def create_page(
        self,
        context: Context,
        bank_id: str,
        *,
        name: str,
        options: PageOptions,
        parent_id: str | None = None,
        sort_order: int = 0,
    ) -> PageMade:
        """Opens the bank if need be, makes the page with its mental model, and asks for its first refresh, all or
        nothing. Raises what `create_folder` does, PageNameTaken, and InvalidInput for the trigger."""
        assert options.source_query is not None
        page_id, mental_model_id = new_page_ids(self._identities)
        operation_id = self._identities.new()
        create = CreateMentalModel(
            bank_id,
            mental_model_id,
            name,
            options.source_query,
            options.tags or (),
            options.max_tokens or PAGE_MAX_TOKENS,
            new_trigger(self.bank_trigger(bank_id), options.trigger),
        )
        self._handler.execute(
            context,
            open_bank(bank_id),
            change_tree(bank_id, CreatePage(page_id, mental_model_id, name, parent_id, sort_order)),
            Step(MENTAL_MODEL, mental_model_stream(bank_id, mental_model_id), create),
            ask_refresh(bank_id, mental_model_id, operation_id, None),
        )
        return PageMade(page_id, mental_model_id, operation_id)

    def bank_trigger(self, bank_id: str) -> Mapping[str, Any] | None:
        """What a bank sets for its pages, over the default of all."""
        return self._config_of(bank_id).knowledge_page_default_trigger

    def change(
        self,
        context: Context,
        bank_id: str,
        node_id: str,
        *,
        name: str | None = None,
        move: MoveTo | None = None,
        sort_order: int | None = None,
        options: PageOptions = PageOptions(),
    ) -> None:
        """Renames, moves and sets the options of a page, all or nothing. When the question of a page has changed, its
        refresh is asked for afterwards.

        Raises NodeNotFound, NotAPage, NotAFolder, PageNameTaken, OwnParent, OwnDescendant, TreeTooDeep,
        NothingToChangeOfNode, InvalidInput."""
        node = self.tree(bank_id).nodes.get(node_id)
        if node is None:
            raise NodeNotFound(bank_id, node_id)
        steps = [change_tree(bank_id, ChangeNode(node_id, name, move, sort_order, options.are_given))]
        model = node.mental_model_id
        if model is not None and (options.are_given or name is not None):
            given = (name, options.source_query, options.tags, options.max_tokens, options.trigger)
            steps.append(
                Step(MENTAL_MODEL, mental_model_stream(bank_id, model), ChangeMentalModel(bank_id, model, *given))
            )
        done = self._handler.execute(context, *steps)
        if model is not None and any(isinstance(event, SourceQueryChanged) for event in done[-1].events):
            with suppress(MentalModelNotFound):  # deleted since
                self._refresh_requests.refresh(context, bank_id, model)

    def delete(self, context: Context, bank_id: str, node_id: str) -> None:
        """With all that is in it and all their mental models. Raises NodeNotFound."""
        for _ in range(ATTEMPTS):
            tree = self.tree(bank_id)
            if node_id not in tree.nodes:
                raise NodeNotFound(bank_id, node_id)
            gone = [node for node, _ in tree.below(node_id)]
            models = [node.mental_model_id for node in gone if node.mental_model_id is not None]
            with suppress(_TreeMoved, MentalModelNotFound):
                return self._delete(context, bank_id, node_id, {node.node_id for node in gone}, models)
        raise StaleVersion(f"the knowledge base of bank '{bank_id}'")

    def _delete(self, context: Context, bank_id: str, node_id: str, expected: set[str], models: Sequence[str]) -> None:
        def as_expected(_tx: Transaction, results: tuple[Done, ...]) -> None:
            gone = {each for event in results[0].events if isinstance(event, NodesDeleted) for each in event.node_ids}
            if gone != expected:
                raise _TreeMoved

        steps = [
            Step(MENTAL_MODEL, mental_model_stream(bank_id, each), DeleteMentalModel(bank_id, each)) for each in models
        ]
        self._handler.execute(context, change_tree(bank_id, DeleteNode(node_id)), *steps, within=as_expected)


def new_trigger(of_bank: Mapping[str, Any] | None, given: Mapping[str, Any] | None) -> Trigger:
    """Of a new page. Raises InvalidInput."""
    try:
        return page_trigger(of_bank, given)
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidInput(".".join(["trigger", *(str(part) for part in first["loc"])]), first["msg"]) from error


def change_tree(bank_id: str, *changes: TreeChange, expected: int | None = None) -> Step:
    return Step(KNOWLEDGE_BASE, knowledge_base_stream(bank_id), ChangeTree(bank_id, changes), expected)


def new_folder_id(identities: Identities) -> str:
    return f"kf-{identities.new().hex}"


def new_page_ids(identities: Identities) -> tuple[str, str]:
    """Of a page, and of its mental model."""
    return f"kp-{identities.new().hex}", f"mm-{identities.new().hex}"
