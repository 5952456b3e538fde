"""A memory of facts and nothing else: no pages, no texts of documents."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from application.ports.pages import Pages, SourceTexts
from domain.memory import Fact
from domain.reflection import PageFound
from domain.scope import Scope


class _NoPages:
    def any_visible(self, bank_id: str, scope: Scope, excluded: Collection[str]) -> bool:
        del bank_id, scope, excluded
        return False

    def search(
        self, bank_id: str, query: str, vector: Sequence[float], scope: Scope, excluded: Collection[str], limit: int
    ) -> Sequence[PageFound]:
        del bank_id, query, vector, scope, excluded, limit
        return ()

    def read(
        self, bank_id: str, mental_model_ids: Sequence[str], scope: Scope, excluded: Collection[str]
    ) -> Sequence[PageFound]:
        del bank_id, mental_model_ids, scope, excluded
        return ()


class _NoTexts:
    def chunks(self, bank_id: str, facts: Sequence[Fact], scope: Scope, upto: int | None = None) -> Mapping[UUID, str]:
        del bank_id, facts, scope, upto
        return {}

    documents = chunks


NO_PAGES: Pages = _NoPages()
NO_TEXTS: SourceTexts = _NoTexts()
