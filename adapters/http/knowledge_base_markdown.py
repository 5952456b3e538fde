"""A page as a markdown document: front matter in YAML that any reader of YAML takes, then the text.

Scalars are always in double quotes, written as JSON strings, which YAML reads alike; what YAML does not print is
escaped. So no title, whatever it holds, is read as something else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.http.times import iso
from projections.knowledge_tree import NodeRow

FENCE = "---"
TYPE_MARK = "type:"
PLAIN_TYPE = "knowledge-page"
NOTHING_YET = "No content yet."

_UNPRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def page_type(tags: Sequence[str]) -> str:
    """What the first tag `type:<x>` says."""
    return next((tag.removeprefix(TYPE_MARK) for tag in tags if _is_type(tag)), PLAIN_TYPE)


def without_type(tags: Sequence[str]) -> list[str]:
    return [tag for tag in tags if not _is_type(tag)]


def _is_type(tag: str) -> bool:
    return tag.startswith(TYPE_MARK) and tag != TYPE_MARK


def page_markdown(row: NodeRow) -> str:
    """The page for a reader: an empty one says so in words."""
    told = front_matter(
        {
            "id": row.node_id,
            "type": page_type(row.tags),
            "title": row.name,
            "description": row.source_query or "",
            "tags": without_type(row.tags),
            "timestamp": iso(row.timestamp),
        }
    )
    return f"{told}\n{row.content or NOTHING_YET}"


def front_matter(fields: Mapping[str, Any]) -> str:
    """The block, its last line break included."""
    lines = (f"{key}: {quoted(value)}\n" for key, value in fields.items())
    return f"{FENCE}\n{''.join(lines)}{FENCE}\n"


def quoted(value: Any) -> str:
    """JSON on one line that YAML reads as the same."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found.group()):04x}", json.dumps(value, ensure_ascii=False))
