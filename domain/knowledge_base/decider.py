"""What a knowledge base answers to a command: events, or a refusal. Pure and total.

Rules: spec of the system of reference, REST, "Knowledge Base": the name of a page is unique in its folder, whatever its
case (folders may share names, and the root counts as a folder); nothing is moved into itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from domain.event import Event
from domain.knowledge_base.commands import (
    ChangeNode,
    ChangeTree,
    CreateFolder,
    CreatePage,
    DeleteKnowledgeBase,
    DeleteNode,
    DeletePageOf,
    KnowledgeBaseCommand,
    RenamePageOf,
    TreeChange,
)
from domain.knowledge_base.events import (
    FolderCreated,
    KnowledgeBaseDeleted,
    KnowledgeBaseEvent,
    NodeMoved,
    NodeRenamed,
    NodeReordered,
    NodesDeleted,
    PageCreated,
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
from domain.knowledge_base.state import KnowledgeBase, Node, after, name_key
from domain.refusals import Refusal

DEEPEST = 32
"""Levels of nodes inside each other: readers of the tree recurse."""
NODES_AT_MOST = 10_000
"""Of one bank: the tree is read as a whole."""

NODE_FIELDS = "name, parent_id, sort_order, source_query, tags, max_tokens, trigger"


def decide(command: KnowledgeBaseCommand, state: KnowledgeBase) -> Sequence[Event] | Refusal:
    """The events a command causes in a state; none when it is already so."""
    try:
        return tuple(_events(command, state))
    except Refusal as refused:
        return refused


def _events(command: KnowledgeBaseCommand, state: KnowledgeBase) -> Iterator[KnowledgeBaseEvent]:
    match command:
        case ChangeTree(bank_id=bank_id, changes=changes):
            for change in changes:
                for event in _change(bank_id, change, state):
                    state = after(state, event)
                    yield event
        case RenamePageOf(mental_model_id=mental_model_id, name=name):
            page = state.page_of(mental_model_id)
            if page is not None:
                yield from _renamed(page, name, page.parent_id, state)
        case DeletePageOf(mental_model_id=mental_model_id):
            page = state.page_of(mental_model_id)
            if page is not None:
                yield NodesDeleted(node_ids=(page.node_id,))
        case DeleteKnowledgeBase():
            if state.nodes:
                yield KnowledgeBaseDeleted()
        case _:
            assert_never(command)


def _change(bank_id: str, change: TreeChange, state: KnowledgeBase) -> Sequence[KnowledgeBaseEvent]:
    match change:
        case CreateFolder():
            _room(bank_id, change.parent_id, 1, state)
            return (
                FolderCreated(
                    folder_id=change.folder_id,
                    name=change.name,
                    parent_id=change.parent_id,
                    sort_order=change.sort_order,
                ),
            )
        case CreatePage():
            _room(bank_id, change.parent_id, 1, state)
            _name_is_free(change.name, change.parent_id, state)
            return (
                PageCreated(
                    page_id=change.page_id,
                    mental_model_id=change.mental_model_id,
                    name=change.name,
                    parent_id=change.parent_id,
                    sort_order=change.sort_order,
                ),
            )
        case ChangeNode():
            return tuple(_changed(bank_id, change, state))
        case DeleteNode():
            _node(bank_id, change.node_id, state)
            return (NodesDeleted(node_ids=tuple(node.node_id for node, _ in state.below(change.node_id))),)
        case _:
            assert_never(change)


def _changed(bank_id: str, change: ChangeNode, state: KnowledgeBase) -> Iterator[KnowledgeBaseEvent]:
    node = _node(bank_id, change.node_id, state)
    if change.options and not node.is_page:
        raise NotAPage(bank_id, node.node_id)
    if not change.options and change.name is None and change.move is None and change.sort_order is None:
        raise NothingToChangeOfNode(NODE_FIELDS)
    parent_id = node.parent_id if change.move is None else change.move.parent_id
    if parent_id != node.parent_id:
        _may_go_into(bank_id, node, parent_id, state)
        if node.is_page:
            _name_is_free(change.name or node.name, parent_id, state, but=node.node_id)
        yield NodeMoved(node_id=node.node_id, parent_id=parent_id)
    if change.name is not None:
        yield from _renamed(node, change.name, parent_id, state)
    if change.sort_order is not None and change.sort_order != node.sort_order:
        yield NodeReordered(node_id=node.node_id, sort_order=change.sort_order)


def _renamed(node: Node, name: str, parent_id: str | None, state: KnowledgeBase) -> Iterator[KnowledgeBaseEvent]:
    if name != node.name:
        if node.is_page:
            _name_is_free(name, parent_id, state, but=node.node_id)
        yield NodeRenamed(node_id=node.node_id, name=name)


def _may_go_into(bank_id: str, node: Node, parent_id: str | None, state: KnowledgeBase) -> None:
    if parent_id == node.node_id:
        raise OwnParent(node.node_id)
    if any(each.node_id == node.node_id for each in state.ancestors(parent_id)):
        raise OwnDescendant(node.node_id, parent_id or "")
    height = 1 + max(depth for _, depth in state.below(node.node_id))
    _depth(bank_id, parent_id, height, state)


def _room(bank_id: str, parent_id: str | None, height: int, state: KnowledgeBase) -> None:
    if len(state.nodes) >= NODES_AT_MOST:
        raise KnowledgeBaseFull(NODES_AT_MOST)
    _depth(bank_id, parent_id, height, state)


def _depth(bank_id: str, parent_id: str | None, height: int, state: KnowledgeBase) -> None:
    if parent_id is None:
        return
    if _node(bank_id, parent_id, state).is_page:
        raise NotAFolder(parent_id)
    if sum(1 for _ in state.ancestors(parent_id)) + height > DEEPEST:
        raise TreeTooDeep(DEEPEST)


def _name_is_free(name: str, parent_id: str | None, state: KnowledgeBase, but: str | None = None) -> None:
    wanted = name_key(name)
    for other in state.nodes.values():
        if other.parent_id == parent_id and other.is_page and other.node_id != but and name_key(other.name) == wanted:
            raise PageNameTaken(other.name, other.node_id)


def _node(bank_id: str, node_id: str, state: KnowledgeBase) -> Node:
    if node_id not in state.nodes:
        raise NodeNotFound(bank_id, node_id)
    return state.nodes[node_id]
