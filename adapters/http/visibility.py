"""What is there for the key that asks: single things are found or not, lists hold what is visible, and what is to be
written is looked at first. Keys that are held to no tags cost nothing here."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from adapters.http.backend import Backend
from adapters.postgres import document_visibility, memory_listing, model_origins
from adapters.postgres.memory_listing import ListedFact
from domain.api_keys import Forbidden
from domain.memory import ObservationScopes, RetainItem
from domain.mental_model.origins import Origin, is_visible, origins_of
from domain.refusals import DocumentNotFound, FactNotFound, MentalModelNotFound, OperationNotFound
from projections import operation_requesters, operations
from projections.operation_requesters import Seen

# --- mental models ---


async def require_model(api: Backend, bank_id: str, mental_model_id: str) -> None:
    """Raises MentalModelNotFound for one that the caller does not see."""
    if api.principal.tags is not None:
        await _visible_origin(api, bank_id, mental_model_id)


async def require_writable_model(api: Backend, bank_id: str, mental_model_id: str) -> None:
    """Raises MentalModelNotFound, or Forbidden for one that has tags of others as well."""
    if api.principal.tags is not None:
        origin = await _visible_origin(api, bank_id, mental_model_id)
        api.principal.require_writable(origin.tags, f"Mental model '{mental_model_id}'")


async def _visible_origin(api: Backend, bank_id: str, mental_model_id: str) -> Origin:
    found = (await api.ask(model_origins.of_models(bank_id, mental_model_id))).get(mental_model_id)
    if found is None or not is_visible(api.principal, found):
        raise MentalModelNotFound(bank_id, mental_model_id)
    return found


async def require_whole_life(api: Backend, bank_id: str, mental_model_id: str) -> None:
    """What it was tells of what it was made from then: raises MentalModelNotFound unless the caller may see all of it,
    from its first event on."""
    if api.principal.tags is None:
        return
    events = await api.command(api.service.mental_models.events, bank_id, mental_model_id)
    if not all(is_visible(api.principal, each) for each in origins_of(events)):
        raise MentalModelNotFound(bank_id, mental_model_id)


async def visible_models(api: Backend, bank_id: str) -> list[str] | None:
    """Ids of the mental models of a bank that the caller sees; None: of all."""
    tags = await visible_model_tags(api, bank_id)
    return None if tags is None else list(tags)


async def visible_model_tags(api: Backend, bank_id: str) -> dict[str, tuple[str, ...]] | None:
    """The same, with their tags as far as they are the caller's."""
    if api.principal.tags is None:
        return None
    own = api.principal.tags
    origins = await api.ask(model_origins.of_models(bank_id))
    return {
        model: tuple(tag for tag in origin.tags if tag in own)
        for model, origin in origins.items()
        if is_visible(api.principal, origin)
    }


# --- memories and documents ---


async def seen_memory(api: Backend, bank_id: str, fact_id: UUID) -> ListedFact:
    """Raises BankNotFound, FactNotFound."""
    listed = await api.ask(memory_listing.find(bank_id, fact_id))
    if listed is None or not api.principal.sees(listed.fact.tags):
        await api.require_bank(bank_id)
        raise FactNotFound(bank_id, str(fact_id))
    return listed


async def require_writable_memory(api: Backend, bank_id: str, fact_id: UUID) -> None:
    """Raises BankNotFound, FactNotFound, or Forbidden for one that has tags of others as well."""
    if api.principal.tags is not None:
        listed = await seen_memory(api, bank_id, fact_id)
        api.principal.require_writable(listed.fact.tags, f"Memory '{fact_id}'")


async def require_document(api: Backend, bank_id: str, document_id: str) -> None:
    """Raises BankNotFound, DocumentNotFound."""
    tags = api.principal.tags
    if tags is not None and not await api.ask(document_visibility.visible(bank_id, document_id, tags)):
        await api.require_bank(bank_id)
        raise DocumentNotFound(bank_id, document_id)


async def require_writable_document(api: Backend, bank_id: str, document_id: str) -> None:
    """Raises BankNotFound, DocumentNotFound, or Forbidden for one that holds what is others'."""
    if api.principal.tags is not None:
        await require_document(api, bank_id, document_id)
        await _require_own(api, bank_id, [document_id])


async def require_writable_items(api: Backend, bank_id: str, items: Sequence[RetainItem]) -> None:
    """Raises Forbidden for tags that the caller may not write, observations that others would see, and documents that
    hold what is others': a retain may replace them."""
    if api.principal.tags is None:
        return
    for place, item in enumerate(items):
        api.principal.require_writable(item.tags, f"Item {place}")
        require_writable_scopes(api, item.observation_scopes)
    named = [item.document_id for item in items if item.document_id is not None]
    if named:
        await _require_own(api, bank_id, named)


def require_writable_scopes(api: Backend, scopes: ObservationScopes | None) -> None:
    """Raises Forbidden for observations that would be outside of the caller's tags."""
    if api.principal.tags is None:
        return
    if scopes == "shared":
        raise Forbidden("observation_scopes 'shared' makes observations without tags, which this API key may not write")
    for scope in scopes if isinstance(scopes, tuple) else ():
        api.principal.require_writable([tag for tag in scope if "*" not in tag] or scope, "A scope of observations")


async def _require_own(api: Backend, bank_id: str, document_ids: Sequence[str]) -> None:
    others = await api.ask(document_visibility.not_writable(bank_id, document_ids, api.principal.tags or ()))
    if others:
        raise Forbidden(f"Document '{others[0]}' is not this API key's alone to write; choose another document_id")


# --- operations ---


async def seen_operations(api: Backend, bank_id: str) -> Seen | None:
    """Of the mental models that the caller sees, and what it asked for itself; None: all."""
    models = await visible_models(api, bank_id)
    if models is None:
        return None
    own = await api.ask(operation_requesters.asked_by(bank_id, api.principal.key_id or ""))
    return Seen(models, own)


async def require_operation(api: Backend, bank_id: str, operation_id: str) -> None:
    """Raises OperationNotFound."""
    seen = await seen_operations(api, bank_id)
    if seen is None:
        return
    row = await api.ask(operations.find(bank_id, operation_id))
    if row is None or not seen.has(row.operation_id, row.mental_model_id):
        raise OperationNotFound(bank_id, operation_id)
