"""What happens to the folders and pages of a bank. Names and shapes are permanent."""

from __future__ import annotations

from typing import ClassVar

from domain.event import Event


class FolderCreated(Event):
    """A folder was created in another one, or at the root (`parent_id` null). Siblings are shown by `sort_order`, then
    by name."""

    TOPIC: ClassVar[str] = "knowledge_base.folder_created"

    folder_id: str
    name: str
    parent_id: str | None
    sort_order: int


class PageCreated(Event):
    """A mental model got its place in the tree, under its name."""

    TOPIC: ClassVar[str] = "knowledge_base.page_created"

    page_id: str
    mental_model_id: str
    name: str
    parent_id: str | None
    sort_order: int


class NodeRenamed(Event):
    """The name of a folder or a page changed."""

    TOPIC: ClassVar[str] = "knowledge_base.node_renamed"

    node_id: str
    name: str


class NodeMoved(Event):
    """A folder or a page went into another folder, or to the root; what is in it went with it."""

    TOPIC: ClassVar[str] = "knowledge_base.node_moved"

    node_id: str
    parent_id: str | None


class NodeReordered(Event):
    """Its place among its siblings changed."""

    TOPIC: ClassVar[str] = "knowledge_base.node_reordered"

    node_id: str
    sort_order: int


class NodesDeleted(Event):
    """A folder or a page was deleted, with all that was in it: the first of `node_ids` and those below it."""

    TOPIC: ClassVar[str] = "knowledge_base.nodes_deleted"

    node_ids: tuple[str, ...]


class KnowledgeBaseDeleted(Event):
    """All of it was deleted, with its bank."""

    TOPIC: ClassVar[str] = "knowledge_base.deleted"


KnowledgeBaseEvent = (
    FolderCreated | PageCreated | NodeRenamed | NodeMoved | NodeReordered | NodesDeleted | KnowledgeBaseDeleted
)
