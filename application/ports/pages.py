"""The pages of a bank: its mental models as they are read by others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol
from uuid import UUID

from domain.memory import Fact
from domain.reflection import PageFound
from domain.scope import Scope


@dataclass(frozen=True)
class PageMatch:
    """A page and how it meets a query: cosine similarity to its vector (None: it has none that can be compared), and
    the search terms of the query that are in it; `made_in` are the scopes its text was made from."""

    mental_model_id: str
    tags: tuple[str, ...]
    semantic: float | None
    terms: frozenset[str]
    is_empty: bool = False
    made_in: tuple[Scope, ...] = ()
    vector_is_current: bool = True
    """Its vector is of the text it has now, not of one before."""


@dataclass(frozen=True)
class PageText:
    """The text that a page is found by, at a version of its stream."""

    bank_id: str
    mental_model_id: str
    version: int
    name: str
    text: str


class PageOrigin(NamedTuple):
    """The tags of a page, and the scopes its text was made from."""

    tags: tuple[str, ...]
    made_in: tuple[Scope, ...] = ()


class PageIndex(Protocol):
    """Where pages are looked up; vectors of one embedding model are comparable, others are as if they were missing."""

    def matches(self, bank_id: str, terms: Sequence[str], vector: Sequence[float]) -> Sequence[PageMatch]:
        """Every page of a bank, by id."""
        ...

    def origins(self, bank_id: str) -> Mapping[str, PageOrigin]:
        """Of every page of a bank that says something."""
        ...

    def read(self, bank_id: str, mental_model_ids: Sequence[str]) -> Mapping[str, PageFound]:
        """Pages as they stand, with what makes them stale; unknown ids are left out."""
        ...

    def without_vector(self, bank_id: str | None, limit: int) -> Sequence[PageText]:
        """Pages whose vector is missing, of another text or of another embedding model; of all banks without one."""
        ...

    def keep_vectors(self, vectors: Sequence[tuple[PageText, Sequence[float]]]) -> None:
        """A vector of an older text than one that is there is dropped; so is that of a page that is gone."""
        ...

    def forget_gone(self) -> None:
        """Erases the vectors of pages that are gone."""
        ...


class Pages(Protocol):
    """What a reflection reads pages through: only those that a scope admits and that are not kept out."""

    def any_visible(self, bank_id: str, scope: Scope, excluded: Collection[str]) -> bool: ...

    def search(
        self, bank_id: str, query: str, vector: Sequence[float], scope: Scope, excluded: Collection[str], limit: int
    ) -> Sequence[PageFound]:
        """Best first."""
        ...

    def read(
        self, bank_id: str, mental_model_ids: Sequence[str], scope: Scope, excluded: Collection[str]
    ) -> Sequence[PageFound]:
        """In the order asked; what is unknown or not visible is left out."""
        ...


class SourceTexts(Protocol):
    """The texts that facts were read from."""

    def chunks(self, bank_id: str, facts: Sequence[Fact], scope: Scope, upto: int | None = None) -> Mapping[UUID, str]:
        """By id of a fact. Left out: facts whose document keeps no text, and parts that hold what the scope does not
        admit or what was read after a position."""
        ...

    def documents(
        self, bank_id: str, facts: Sequence[Fact], scope: Scope, upto: int | None = None
    ) -> Mapping[UUID, str]:
        """The same for whole documents."""
        ...
