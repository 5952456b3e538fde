"""Why a command of a knowledge base is refused."""

from __future__ import annotations

from domain.refusals import Conflict, NotFound, Unfit


class NodeNotFound(NotFound):
    def __init__(self, bank_id: str, node_id: str) -> None:
        super().__init__(
            f"'{node_id}' is no folder or page of bank '{bank_id}'; its knowledge-base tree shows the ids it has"
        )


class NotAPage(NotFound):
    def __init__(self, bank_id: str, node_id: str) -> None:
        super().__init__(
            f"'{node_id}' of bank '{bank_id}' is a folder: only a page has a text, and source_query, tags, max_tokens"
            " and trigger"
        )


class NotAFolder(Conflict):
    def __init__(self, node_id: str) -> None:
        super().__init__(
            f"'{node_id}' is a page: it cannot hold others; name a folder as parent_id, or null for the root"
        )


class PageNameTaken(Conflict):
    def __init__(self, name: str, node_id: str) -> None:
        super().__init__(
            f"Its folder has a page named '{name}' already ({node_id}); pages differ by more than case:"
            " choose another name or another folder"
        )


class OwnDescendant(Conflict):
    """With another tree it would be no loop: two opposite moves at once end here."""

    def __init__(self, node_id: str, parent_id: str) -> None:
        super().__init__(f"'{node_id}' cannot be moved into '{parent_id}', which is inside it; read the tree again")


class KnowledgeBaseFull(Conflict):
    def __init__(self, at_most: int) -> None:
        super().__init__(f"A knowledge base has {at_most} folders and pages at most; delete some that are not needed")


class OwnParent(Unfit):
    def __init__(self, node_id: str) -> None:
        super().__init__(f"'{node_id}' cannot be its own parent; name another folder, or null for the root")


class TreeTooDeep(Unfit):
    def __init__(self, deepest: int) -> None:
        super().__init__(f"Folders may be nested {deepest} levels deep at most; choose a folder nearer to the root")


class NothingToChangeOfNode(Unfit):
    def __init__(self, fields: str) -> None:
        super().__init__(f"The request changes nothing: give at least one of {fields}")
