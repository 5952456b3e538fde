"""What the events of a knowledge base add up to: its nodes by id, and the walks over them.

Every walk visits a node once at most: it ends on any state, also on one that has a loop.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import assert_never

from domain.event import Recorded
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
from domain.value import Value

STATE_VERSION = 1


class Node(Value):
    """A folder, or a page (it names its mental model)."""

    node_id: str
    name: str
    parent_id: str | None
    mental_model_id: str | None = None
    sort_order: int = 0

    @property
    def is_page(self) -> bool:
        return self.mental_model_id is not None


class KnowledgeBase(Value):
    """Nodes by id, in the order in which they were created. The mapping is never changed in place."""

    nodes: Mapping[str, Node] = {}

    def page_of(self, mental_model_id: str) -> Node | None:
        """The page that a mental model is."""
        return next((node for node in self.nodes.values() if node.mental_model_id == mental_model_id), None)

    def ancestors(self, node_id: str | None) -> Iterator[Node]:
        """The node itself, then what it is in, up to the root."""
        seen: set[str] = set()
        while node_id is not None and node_id in self.nodes and node_id not in seen:
            seen.add(node_id)
            yield self.nodes[node_id]
            node_id = self.nodes[node_id].parent_id

    def below(self, node_id: str) -> Sequence[tuple[Node, int]]:
        """The node and all that is in it, with how deep in it each is (0 for itself): nearest first."""
        children: dict[str | None, list[Node]] = {}
        for node in self.nodes.values():
            children.setdefault(node.parent_id, []).append(node)
        found = [(self.nodes[node_id], 0)]
        seen = {node_id}
        for node, depth in found:  # it grows while it is walked
            inside = [child for child in children.get(node.node_id, ()) if child.node_id not in seen]
            seen.update(child.node_id for child in inside)
            found.extend((child, depth + 1) for child in inside)
        return found


@lru_cache(maxsize=65_536)
def name_key(name: str) -> str:
    """By which names are told apart: not by case, and not by how an accent is written."""
    return unicodedata.normalize("NFC", name).strip().casefold()


def evolve(state: KnowledgeBase, recorded: Recorded) -> KnowledgeBase:
    event: KnowledgeBaseEvent = recorded.event  # type: ignore[assignment]  # the stream holds only these
    return after(state, event)


def after(state: KnowledgeBase, event: KnowledgeBaseEvent) -> KnowledgeBase:
    """The tree after one more event; an event that makes no sense in a state leaves it as it is."""
    match event:
        case FolderCreated():
            return _with(
                state,
                Node(node_id=event.folder_id, name=event.name, parent_id=event.parent_id, sort_order=event.sort_order),
            )
        case PageCreated():
            return _with(
                state,
                Node(
                    node_id=event.page_id,
                    name=event.name,
                    parent_id=event.parent_id,
                    mental_model_id=event.mental_model_id,
                    sort_order=event.sort_order,
                ),
            )
        case NodeRenamed(node_id=node_id, name=name):
            return _changed(state, node_id, name=name)
        case NodeMoved(node_id=node_id, parent_id=parent_id):
            return _changed(state, node_id, parent_id=parent_id)
        case NodeReordered(node_id=node_id, sort_order=sort_order):
            return _changed(state, node_id, sort_order=sort_order)
        case NodesDeleted(node_ids=node_ids):
            gone = set(node_ids)
            return _of({node_id: node for node_id, node in state.nodes.items() if node_id not in gone})
        case KnowledgeBaseDeleted():
            return _of({})
        case _:
            assert_never(event)


def _of(nodes: Mapping[str, Node]) -> KnowledgeBase:
    return KnowledgeBase().model_copy(update={"nodes": nodes})


def _with(state: KnowledgeBase, node: Node) -> KnowledgeBase:
    return _of({**state.nodes, node.node_id: node})


def _changed(state: KnowledgeBase, node_id: str, **fields: object) -> KnowledgeBase:
    node = state.nodes.get(node_id)
    return state if node is None else _with(state, node.model_copy(update=fields))
