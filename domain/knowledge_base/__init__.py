"""The knowledge base of a bank: folders and pages as one tree. A page is a mental model that has a place in it."""

from domain.knowledge_base.commands import (
    ChangeNode,
    ChangeTree,
    CreateFolder,
    CreatePage,
    DeleteKnowledgeBase,
    DeleteNode,
    DeletePageOf,
    KnowledgeBaseCommand,
    MoveTo,
    RenamePageOf,
    TreeChange,
)
from domain.knowledge_base.decider import DEEPEST, NODES_AT_MOST, decide
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
from domain.knowledge_base.pages import PAGE_MAX_TOKENS, page_trigger
from domain.knowledge_base.state import STATE_VERSION, KnowledgeBase, Node, after, evolve, name_key

__all__ = [
    "DEEPEST",
    "NODES_AT_MOST",
    "PAGE_MAX_TOKENS",
    "STATE_VERSION",
    "ChangeNode",
    "ChangeTree",
    "CreateFolder",
    "CreatePage",
    "DeleteKnowledgeBase",
    "DeleteNode",
    "DeletePageOf",
    "FolderCreated",
    "KnowledgeBase",
    "KnowledgeBaseCommand",
    "KnowledgeBaseDeleted",
    "KnowledgeBaseEvent",
    "MoveTo",
    "Node",
    "NodeMoved",
    "NodeRenamed",
    "NodeReordered",
    "NodesDeleted",
    "PageCreated",
    "RenamePageOf",
    "TreeChange",
    "after",
    "decide",
    "evolve",
    "name_key",
    "page_trigger",
]
