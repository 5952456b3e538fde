"""The folders and pages of each bank, and the questions that a knowledge base is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from domain.event import Recorded
from domain.knowledge_base.events import (
    FolderCreated,
    KnowledgeBaseDeleted,
    NodeMoved,
    NodeRenamed,
    NodeReordered,
    NodesDeleted,
    PageCreated,
)
from projections import staleness
from projections.projection import Projection, Query, Row, Statement
from projections.staleness import Staleness

DDL = """
CREATE TABLE knowledge_nodes (
    bank_id text NOT NULL,
    node_id text NOT NULL,
    version bigint NOT NULL,
    created_version bigint NOT NULL,
    mental_model_id text,
    name text NOT NULL,
    parent_id text,
    sort_order int NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (bank_id, node_id)
);
CREATE INDEX knowledge_nodes_pages ON knowledge_nodes (bank_id, mental_model_id) WHERE mental_model_id IS NOT NULL"""

HANDLES = (
    FolderCreated,
    PageCreated,
    NodeRenamed,
    NodeMoved,
    NodeReordered,
    NodesDeleted,
    KnowledgeBaseDeleted,
)


def project(recorded: Recorded) -> Iterable[Statement]:
    key = {"bank_id": recorded.stream.bank_id, "version": recorded.version}
    at = recorded.occurred_at
    match recorded.event:
        case FolderCreated() as event:
            yield _insert(key, event, at, node_id=event.folder_id, mental_model_id=None)
        case PageCreated() as event:
            yield _insert(key, event, at, node_id=event.page_id, mental_model_id=event.mental_model_id)
        case NodeRenamed(node_id=node_id, name=name):
            yield _set({**key, "id": node_id}, name=name, updated_at=at)
        case NodeMoved(node_id=node_id, parent_id=parent_id):
            yield _set({**key, "id": node_id}, parent_id=parent_id, updated_at=at)
        case NodeReordered(node_id=node_id, sort_order=sort_order):
            yield _set({**key, "id": node_id}, sort_order=sort_order, updated_at=at)
        case NodesDeleted(node_ids=node_ids):
            yield Statement(
                "DELETE FROM knowledge_nodes WHERE bank_id = %(bank_id)s AND node_id = ANY(%(ids)s::text[])"
                " AND version < %(version)s",
                {**key, "ids": list(node_ids)},
            )
        case KnowledgeBaseDeleted():
            yield Statement("DELETE FROM knowledge_nodes WHERE bank_id = %(bank_id)s AND version < %(version)s", key)


def _insert(key: dict[str, Any], event: FolderCreated | PageCreated, at: datetime, **ids: str | None) -> Statement:
    return Statement(
        "INSERT INTO knowledge_nodes (bank_id, node_id, version, created_version, mental_model_id, name, parent_id,"
        " sort_order, updated_at) VALUES (%(bank_id)s, %(node_id)s, %(version)s, %(version)s, %(mental_model_id)s,"
        " %(name)s, %(parent_id)s, %(sort_order)s, %(at)s) ON CONFLICT DO NOTHING",
        {
            **key,
            **ids,
            "name": event.name,
            "parent_id": event.parent_id,
            "sort_order": event.sort_order,
            "at": at,
        },
    )


def _set(key: dict[str, Any], **columns: Any) -> Statement:
    assignments = ", ".join(f"{column} = %({column})s" for column in ("version", *columns))
    return Statement(
        f"UPDATE knowledge_nodes SET {assignments} WHERE bank_id = %(bank_id)s AND node_id = %(id)s"
        " AND version < %(version)s",
        {**key, **columns},
    )


PROJECTION = Projection("knowledge_tree", 1, "knowledge_nodes", ("bank_id", "node_id"), DDL, HANDLES, project)


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A folder, or a page with what its mental model says of it. `content` is told where it is asked for."""

    node_id: str
    mental_model_id: str | None
    name: str
    parent_id: str | None
    sort_order: int
    created_version: int
    updated_at: datetime
    source_query: str | None
    tags: Sequence[str]
    max_tokens: int | None
    trigger: Mapping[str, Any] | None
    last_refreshed_at: datetime | None
    last_refresh_failed_at: datetime | None
    version: int | None
    content: str | None = None

    @property
    def kind(self) -> Literal["folder", "page"]:
        return "folder" if self.mental_model_id is None else "page"

    @property
    def timestamp(self) -> datetime:
        """Of a page when it was last refreshed, of a folder when it was last changed."""
        return self.last_refreshed_at or self.updated_at


_COLUMNS = (
    "n.node_id, n.mental_model_id, n.name, n.parent_id, n.sort_order, n.created_version, n.updated_at, d.source_query,"
    " coalesce(d.tags, '{}') AS tags, d.max_tokens, d.trigger, d.last_refreshed_at, d.last_refresh_failed_at, d.version"
)
_NODES = "FROM knowledge_nodes n LEFT JOIN documents d USING (bank_id, mental_model_id) WHERE n.bank_id = %(bank_id)s"
_MOMENTS = ("updated_at", "last_refreshed_at", "last_refresh_failed_at")


def tree(bank_id: str, *, observations: bool) -> Query[tuple[list[NodeRow], dict[str, Staleness]]]:
    """All nodes of a bank, and by mental model what makes each page stale: one query, whatever the size of the tree."""
    stale = staleness.of_models(bank_id, (), observations=observations, among=PAGES_OF_BANK)

    def read(rows: Sequence[Row]) -> tuple[list[NodeRow], dict[str, Staleness]]:
        nodes = [_of_json(row["node"]) for row in rows if row["node"] is not None]
        return nodes, stale.read([row["stale"] for row in rows if row["stale"] is not None])

    return Query(
        f"WITH stale AS ({stale.sql}), nodes AS (SELECT {_COLUMNS} {_NODES})"
        " SELECT to_jsonb(nodes) AS node, NULL::jsonb AS stale FROM nodes"
        " UNION ALL SELECT NULL, to_jsonb(stale) FROM stale",
        stale.params,
        read,
    )


PAGES_OF_BANK = (
    "ARRAY(SELECT mental_model_id FROM knowledge_nodes WHERE bank_id = %(bank_id)s AND mental_model_id IS NOT NULL)"
)


def _of_json(node: Mapping[str, Any]) -> NodeRow:
    moments = {name: node[name] and datetime.fromisoformat(node[name]) for name in _MOMENTS}
    return NodeRow(**{**node, **moments})


def node(bank_id: str, node_id: str) -> Query[NodeRow | None]:
    """One node, a page with its text."""
    return Query(
        f"SELECT {_COLUMNS}, d.content {_NODES} AND n.node_id = %(node_id)s",
        {"bank_id": bank_id, "node_id": node_id},
        lambda rows: NodeRow(**rows[0]) if rows else None,
    )


def every(bank_id: str, *, contents: bool = False) -> Query[list[NodeRow]]:
    """All nodes of a bank."""
    return Query(
        f"SELECT {_COLUMNS}{', d.content' if contents else ''} {_NODES}",
        {"bank_id": bank_id},
        lambda rows: [NodeRow(**row) for row in rows],
    )


def texts(bank_id: str, mental_model_ids: Sequence[str]) -> Query[dict[str, str]]:
    """What documents say, without markup, by mental model."""
    return Query(
        "SELECT mental_model_id, plain_text FROM document_search"
        " WHERE bank_id = %(bank_id)s AND mental_model_id = ANY(%(ids)s::text[])",
        {"bank_id": bank_id, "ids": list(mental_model_ids)},
        lambda rows: {row["mental_model_id"]: row["plain_text"] for row in rows},
    )


def earlier_texts(bank_id: str, per_page: int) -> Query[dict[str, list[tuple[datetime, str]]]]:
    """What each page said before and when it was written, oldest first, `per_page` at most; by mental model."""

    def read(rows: Sequence[Row]) -> dict[str, list[tuple[datetime, str]]]:
        found: dict[str, list[tuple[datetime, str]]] = {}
        for row in rows:
            found.setdefault(row["mental_model_id"], []).append((row["changed_at"], row["content"]))
        return found

    return Query(
        "SELECT mental_model_id, changed_at, content FROM (SELECT mental_model_id, version, changed_at, content,"
        "   row_number() OVER (PARTITION BY mental_model_id ORDER BY version DESC) AS age FROM history"
        f"   WHERE bank_id = %(bank_id)s AND mental_model_id = ANY({PAGES_OF_BANK}) AND kind <> 'refresh_failed') h"
        " WHERE age BETWEEN 2 AND %(per_page)s::bigint + 1 AND content <> '' ORDER BY mental_model_id, version",
        {"bank_id": bank_id, "per_page": per_page},
        read,
    )


def is_page(bank_id: str, mental_model_id: str) -> Query[bool]:
    """Whether a mental model is a page."""
    return Query(
        "SELECT FROM knowledge_nodes WHERE bank_id = %(bank_id)s AND mental_model_id = %(id)s",
        {"bank_id": bank_id, "id": mental_model_id},
        bool,
    )
