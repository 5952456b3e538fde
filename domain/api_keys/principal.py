"""Who asks, and what of a bank is there for them.

A key that is held to tags sees a memory that has at least one of them (`any_strict`), and what was made from such
memories alone. It writes what has only tags of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from domain.api_keys.refusals import Forbidden
from domain.scope import Scope, TagGroup, TagLeaf


@dataclass(frozen=True, slots=True)
class Principal:
    """None for `banks` and `tags`: all. No `key_id`: nobody had to say who they are."""

    key_id: str | None = None
    banks: frozenset[str] | None = None
    tags: tuple[str, ...] | None = None
    read_only: bool = False

    @property
    def is_unrestricted(self) -> bool:
        """Held to no banks and no tags."""
        return self.banks is None and self.tags is None

    def may_enter(self, bank_id: str) -> bool:
        return self.banks is None or bank_id in self.banks

    @property
    def groups(self) -> tuple[TagGroup, ...]:
        """The tag groups that are added to all that is read: one, or none."""
        return () if self.tags is None else (TagLeaf(tags=self.tags, match="any_strict"),)

    @property
    def scope(self) -> Scope:
        """All that is visible."""
        return self.narrowed(Scope())

    def narrowed(self, scope: Scope) -> Scope:
        """Of the scope, what is visible."""
        if self.tags is None:
            return scope
        return scope.model_copy(update={"tag_groups": (*(scope.tag_groups or ()), *self.groups)})

    def sees(self, tags: Iterable[str]) -> bool:
        """Whether what has these tags is visible."""
        return self.tags is None or not set(self.tags).isdisjoint(tags)

    def require_writable(self, tags: Iterable[str], what: str) -> None:
        """Raises Forbidden for tags that `what` may not have, or that are missing."""
        if self.tags is None:
            return
        given = tuple(tags)
        if outside := next((tag for tag in given if tag not in self.tags), None):
            raise Forbidden(f"{what} has the tag '{outside}', which this API key may not write")
        if not given:
            raise Forbidden(f"{what} has no tag; this API key writes what has tags of its own: {', '.join(self.tags)}")


ANYBODY = Principal()
"""Where no keys are asked for."""
