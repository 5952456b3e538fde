"""Use cases of curation: a person corrects, sets aside, restores and deletes what is remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, TypeVar
from uuid import UUID

from application.command_handler import ATTEMPTS, CommandHandler, Done, Step, require_bank
from application.fact_vectors import FactVectors
from application.ports import Embedder, MemoryStore, MindFailed, Transaction
from application.ports.curation import DocumentFacts, DocumentSettings, FactCuration, Replacement
from application.request_costs import RequestCosts
from application.retain_asked import digest_of
from application.retain_names import names_as_known
from domain.bank_config import BankConfig
from domain.consolidation import resolved_scopes
from domain.curation import (
    CuratedFact,
    DocumentEdit,
    ErasedFacts,
    FactEdit,
    edited,
    given_again,
    needs_new_vector,
    retagged,
    screened,
    screened_reason,
)
from domain.event import Context
from domain.memory import Fact, ObservationScopes
from domain.refusals import (
    DocumentNotFound,
    FactNotCurated,
    FactNotFound,
    FactSetAside,
    NothingToChange,
    Refusal,
    StaleVersion,
)
from domain.retain import Part, items_of
from domain.scope import Scope

T = TypeVar("T")
State = Literal["valid", "invalidated"]


class _Moved(Exception):
    """The fact was changed between its reading and its writing."""


class Asked(NamedTuple):
    """What is asked of a fact. `resolve_entities`: names are matched with those the bank knows."""

    edit: FactEdit
    state: State | None = None
    reason: str | None = None
    resolve_entities: bool = True


class Curation:
    """`config_of` gives the configuration of a bank, and `rereads` whether its extractor does; `written` is told of
    each bank whose memory changed, after it did, and neither waits nor raises."""

    def __init__(
        self,
        handler: CommandHandler,
        curation: FactCuration,
        memory: MemoryStore,
        embedder: Embedder,
        costs: RequestCosts,
        config_of: Callable[[str], BankConfig],
        *,
        rereads: bool,
        written: Callable[[str], object] = lambda _bank_id: None,
    ) -> None:
        self._handler = handler
        self._curation = curation
        self._memory = memory
        self._embedder = embedder
        self._costs = costs
        self._config_of = config_of
        self._rereads = rereads
        self._written = written

    def curate(self, context: Context, bank_id: str, fact_id: UUID, asked: Asked) -> CuratedFact:
        """Edits a fact, and sets it aside or restores it: what is set aside is edited before, what is restored is
        restored as edited. Returns it as it is then. Secrets are taken out of texts first, where the bank says so.

        Raises BankNotFound, FactNotFound, FactNotCurated, FactSetAside, NothingToChange, InvalidInput, MindFailed."""
        if not asked.edit.changes() and asked.state is None:
            raise NothingToChange(
                "text, context, occurred_start, occurred_end, mentioned_at, fact_type, entities, state"
            )
        policy = self._config_of(bank_id).memory_defense
        asked = asked._replace(edit=screened(asked.edit, policy), reason=screened_reason(asked.reason, policy))
        vectors = FactVectors(self._embedder)
        try:
            for _ in range(ATTEMPTS):
                try:
                    return self._curate(context, bank_id, fact_id, asked, vectors)
                except _Moved:
                    continue
            raise StaleVersion(f"memory '{fact_id}'")
        except (MindFailed, Refusal):
            self._costs.record(context, bank_id, "curate", vectors.calls)
            raise

    def _curate(self, context: Context, bank_id: str, fact_id: UUID, asked: Asked, vectors: FactVectors) -> CuratedFact:
        found = self._found(context, bank_id, fact_id)
        if not found.valid and asked.state != "valid" and asked.edit.changes():
            raise FactSetAside(str(fact_id))
        after = edited(found.fact, self._named(bank_id, found.fact, asked))
        vector: Sequence[float] | None = None
        if after is not None and needs_new_vector(found.fact, after):
            vector = vectors.of(after)

        def write(tx: Transaction) -> CuratedFact:
            self._curation.hold(bank_id, tx)
            if self._curation.fact(bank_id, fact_id, tx) != found:
                raise _Moved
            if asked.state == "valid" and not found.valid:
                self._curation.restore(bank_id, Replacement(after or found.fact, vector), context.now, tx)
            elif after is not None:
                self._curation.replace(bank_id, [Replacement(after, vector)], context.now, tx)
            if asked.state == "invalidated" and found.valid:
                current = self._still_there(bank_id, fact_id, tx).fact
                self._curation.invalidate(bank_id, current, asked.reason, context.now, tx)
            return self._still_there(bank_id, fact_id, tx)

        written = self._do(context, bank_id, write, self._costs.steps(bank_id, "curate", vectors.calls))
        if written != found:
            self._written(bank_id)
        return written

    def _found(self, context: Context, bank_id: str, fact_id: UUID) -> CuratedFact:
        found = self._curation.fact(bank_id, fact_id)
        if found is None:
            self._handler.execute(context, require_bank(bank_id))
            raise FactNotFound(bank_id, str(fact_id))
        if found.fact.fact_type == "observation":
            raise FactNotCurated(str(fact_id))
        return found

    def _still_there(self, bank_id: str, fact_id: UUID, tx: Transaction) -> CuratedFact:
        found = self._curation.fact(bank_id, fact_id, tx)
        assert found is not None  # nobody else changes what is held
        return found

    def _named(self, bank_id: str, fact: Fact, asked: Asked) -> FactEdit:
        """The edit with its names as the bank writes them. A name that it takes away is not what another means."""
        names = asked.edit.entities
        if names is None:
            return asked.edit
        known = names_as_known(self._memory, bank_id, names, resolve=asked.resolve_entities, instead_of=fact.entities)
        return asked.edit.model_copy(update={"entities": known})

    # --- documents ---

    def edit_document(self, context: Context, bank_id: str, document_id: str, edit: DocumentEdit) -> int:
        """Gives a document and all its facts other tags or scopes of observations, also those that are set aside; tells
        how many current facts changed. What rests on them is made anew only where its scopes change. Raises
        BankNotFound, DocumentNotFound, NothingToChange."""
        if not edit.model_fields_set:
            raise NothingToChange(", ".join(DocumentEdit.model_fields))
        config = self._config_of(bank_id)

        def write(tx: Transaction) -> int:
            self._curation.hold(bank_id, tx)
            found = self._curation.document(bank_id, document_id, tx)
            if found is None:
                raise DocumentNotFound(bank_id, document_id)
            settings = self._settings(document_id, found, edit, config)
            if (settings.tags, settings.observation_scopes, settings.parts) != (
                found.tags,
                found.observation_scopes,
                found.parts,
            ):
                self._curation.keep_settings(bank_id, document_id, settings, context.now, tx)
            replacements = _retagged(found, edit, config.default_observation_scopes)
            if replacements:
                self._curation.replace(bank_id, replacements, context.now, tx)
            aside = [after for fact in found.set_aside if (after := retagged(fact, edit, found.tags)) is not None]
            self._curation.retag_set_aside(bank_id, aside, tx)
            return len(replacements)

        changed = self._do(context, bank_id, write)
        if changed:
            self._written(bank_id)
        return changed

    def _settings(
        self, document_id: str, found: DocumentFacts, edit: DocumentEdit, config: BankConfig
    ) -> DocumentSettings:
        """Its chunks count as read with what its items are given now: sent again with the same, they are not read."""
        parts = given_again(found.parts, edit, found.tags)
        before, after = self._digests(document_id, found.parts, config), self._digests(document_id, parts, config)
        return DocumentSettings(
            tags=tuple(sorted(set(edit.tags))) if "tags" in edit.model_fields_set else found.tags,
            parts=parts,
            observation_scopes=(
                edit.observation_scopes if "observation_scopes" in edit.model_fields_set else found.observation_scopes
            ),
            read_with={old: new for old, new in zip(before, after, strict=True) if old != new},
        )

    def _digests(self, document_id: str, parts: Sequence[Part], config: BankConfig) -> list[str]:
        return [
            digest_of(item, config, said_now=said_now, rereads=self._rereads)
            for items in items_of(document_id, "", parts)
            for item, said_now in items
        ]

    def delete_document(self, context: Context, bank_id: str, document_id: str) -> ErasedFacts:
        """Deletes a document with its facts. Raises BankNotFound, DocumentNotFound."""

        def write(tx: Transaction) -> ErasedFacts:
            erased = self._curation.erase_document(bank_id, document_id, context.now, tx)
            if erased is None:
                raise DocumentNotFound(bank_id, document_id)
            return erased

        return self._erase(context, bank_id, write)

    # --- deleting ---

    def delete_fact(self, context: Context, bank_id: str, fact_id: UUID) -> ErasedFacts:
        """Deletes one fact, or one observation, whose sources are then consolidated anew. Raises BankNotFound,
        FactNotFound."""

        def write(tx: Transaction) -> ErasedFacts:
            erased = self._curation.erase(bank_id, Scope(), context.now, tx, [fact_id])
            if not erased.facts:
                raise FactNotFound(bank_id, str(fact_id))
            return erased

        return self._erase(context, bank_id, write)

    def delete_facts(self, context: Context, bank_id: str, scope: Scope) -> ErasedFacts:
        """Deletes the facts in a scope, and with them documents that they were the last of. Documents in the scope that
        have no facts go too, unless it is one of fact types. Raises BankNotFound."""

        def write(tx: Transaction) -> ErasedFacts:
            erased = self._curation.erase(bank_id, scope, context.now, tx)
            self._curation.erase_documents(bank_id, scope, erased.document_ids, tx)
            return erased

        return self._erase(context, bank_id, write)

    def _erase(self, context: Context, bank_id: str, write: Callable[[Transaction], ErasedFacts]) -> ErasedFacts:
        erased = self._do(context, bank_id, write)
        if erased.facts:
            self._written(bank_id)
        return erased

    def _do(self, context: Context, bank_id: str, write: Callable[[Transaction], T], costs: Sequence[Step] = ()) -> T:
        results: list[T] = []

        def within(tx: Transaction, _results: tuple[Done, ...]) -> None:
            results.append(write(tx))

        self._handler.execute(context, require_bank(bank_id), *costs, within=within)
        return results[-1]


def _retagged(document: DocumentFacts, edit: DocumentEdit, default: ObservationScopes | None) -> list[Replacement]:
    found: list[Replacement] = []
    for fact in document.facts:
        after = retagged(fact, edit, document.tags)
        if after is not None:
            same = _scopes(fact, default) == _scopes(after, default)
            found.append(Replacement(after, keeps_observations=same))
    return found


def _scopes(fact: Fact, default: ObservationScopes | None) -> Any:
    return resolved_scopes(fact.tags, fact.observation_scopes, default)
