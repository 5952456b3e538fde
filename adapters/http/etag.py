"""Entity tags: the version of a mental model's stream, as `"7"`, or a digest of what is told."""

from __future__ import annotations

import re

_TAG = re.compile(r'(W/)?"([^"]*)"')


def of(version: int | str) -> str:
    return f'"{version}"'


def already_has(if_none_match: str | None, version: int | str) -> bool:
    """Whether the caller has this version; weak tags count."""
    return if_none_match is not None and (
        if_none_match.strip() == "*" or str(version) in (name for _, name in _TAG.findall(if_none_match))
    )


def allows(if_match: str, version: int) -> bool:
    """Whether a change made on what `if_match` names may go ahead; weak tags never do. A bare number is taken as a tag:
    shells eat quotes."""
    given = if_match.strip()
    if given == "*" or given == str(version):
        return True
    return any(not weak and name == str(version) for weak, name in _TAG.findall(given))
