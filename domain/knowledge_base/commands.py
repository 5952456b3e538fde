"""Commands of a knowledge base. One command may hold several changes: all of them are made, or none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CreateFolder:
    folder_id: str
    name: str
    parent_id: str | None = None
    sort_order: int = 0


@dataclass(frozen=True)
class CreatePage:
    page_id: str
    mental_model_id: str
    name: str
    parent_id: str | None = None
    sort_order: int = 0


@dataclass(frozen=True)
class MoveTo:
    """Into a folder; None is the root."""

    parent_id: str | None


@dataclass(frozen=True)
class ChangeNode:
    """None keeps a field. With `options` the mental model of the page is changed along: the node has to be a page."""

    node_id: str
    name: str | None = None
    move: MoveTo | None = None
    sort_order: int | None = None
    options: bool = False


@dataclass(frozen=True)
class DeleteNode:
    """With all that is in it."""

    node_id: str


TreeChange = CreateFolder | CreatePage | ChangeNode | DeleteNode


@dataclass(frozen=True)
class ChangeTree:
    """Changes, each on the tree as those before it leave it."""

    bank_id: str
    changes: tuple[TreeChange, ...]


@dataclass(frozen=True)
class RenamePageOf:
    """A mental model is renamed, and with it the page that it is, if it is one."""

    bank_id: str
    mental_model_id: str
    name: str


@dataclass(frozen=True)
class DeletePageOf:
    """A mental model is deleted, and with it the page that it is, if it is one."""

    bank_id: str
    mental_model_id: str


@dataclass(frozen=True)
class DeleteKnowledgeBase:
    """With its bank."""

    bank_id: str


KnowledgeBaseCommand = ChangeTree | RenamePageOf | DeletePageOf | DeleteKnowledgeBase
