"""API keys as a table for people, and as JSON for programs. Neither has a secret: none is kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime

from rich import box
from rich.table import Table
from rich.text import Text

from projections.api_keys import KeyRow, ListedKey


def key_table(keys: Sequence[ListedKey], now: datetime) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("id", no_wrap=True)
    for heading in ("name", "banks", "tags", "may", "status", "last used (UTC)"):
        table.add_column(heading, overflow="fold")
    for each in keys:
        key = each.key
        table.add_row(
            key.key_id,
            Text(key.name),  # as Text: brackets in it are no markup
            Text("all" if key.banks is None else ", ".join(key.banks)),
            Text("all" if key.tags is None else ", ".join(key.tags)),
            "read" if key.read_only else "read, write",
            _status(key, now),
            _minute(each.last_used_at) or "never",
        )
    return table


def _status(key: KeyRow, now: datetime) -> str:
    if key.revoked_at is not None:
        return f"revoked {_minute(key.revoked_at)}"
    if key.expires_at is None:
        return "live"
    return f"{'live until' if key.is_live(now) else 'expired'} {_minute(key.expires_at)}"


def _minute(time: datetime | None) -> str | None:
    return None if time is None else time.astimezone(UTC).strftime("%Y-%m-%d %H:%M")


def keys_as_json(keys: Sequence[ListedKey]) -> str:
    return json.dumps([_fields(each) for each in keys], ensure_ascii=False, indent=2)


def _fields(each: ListedKey) -> dict[str, object]:
    key = each.key
    return {
        "id": key.key_id,
        "name": key.name,
        "banks": key.banks,
        "tags": key.tags,
        "read_only": key.read_only,
        "created_at": _iso(key.created_at),
        "expires_at": _iso(key.expires_at),
        "revoked_at": _iso(key.revoked_at),
        "last_used_at": _iso(each.last_used_at),
    }


def _iso(time: datetime | None) -> str | None:
    return None if time is None else time.astimezone(UTC).isoformat()
