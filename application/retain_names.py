"""Names in a retain: written as the bank writes them. All are looked up at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from application.ports import MemoryStore, RetainedDocument, RetainedItem
from domain.entities import cleaned, folded, meant
from domain.storable import storable


def with_names(memory: MemoryStore, bank_id: str, documents: Sequence[RetainedDocument]) -> list[RetainedDocument]:
    """Names that the bank knows, also in a spelling that is nearly theirs, as it writes them; the others as they are
    first written. Names that an item is given with are taken literally when it says so."""
    found = [name for each in documents for item in each.items for fact in item.facts for name in fact.fact.entities]
    given = [name for each in documents for item in each.items for name in item.item.entities]
    names = cleaned(storable(name) for name in (*found, *given))
    known = memory.spellings(bank_id, names)
    resolved: dict[str, str] = {}
    literal: dict[str, str] = {}
    for name in names:
        spelled = [each.name for each in known.get(name, ())]
        resolved[folded(name)] = meant(name, spelled) or name
        literal[folded(name)] = next((each for each in spelled if folded(each) == folded(name)), name)

    def named(item: RetainedItem) -> RetainedItem:
        own = resolved if item.item.resolve_entities else literal
        facts = [
            replace(each, fact=each.fact.model_copy(update={"entities": _spelled(each.fact.entities, resolved)}))
            if each.fact.entities
            else each
            for each in item.facts
        ]
        return replace(
            item, item=item.item.model_copy(update={"entities": _spelled(item.item.entities, own)}), facts=facts
        )

    return [replace(document, items=[named(item) for item in document.items]) for document in documents]


def names_as_known(
    memory: MemoryStore, bank_id: str, names: Sequence[str], *, resolve: bool, instead_of: Sequence[str] = ()
) -> tuple[str, ...]:
    """Names that a person gives a fact, as the bank writes them: with `resolve` also those that are spelled nearly so.
    None is taken for a name that it stands `instead_of`: that one is corrected by it."""
    asked = cleaned(storable(name) for name in names)
    corrected = {folded(name) for name in instead_of} - {folded(name) for name in asked}
    known = memory.spellings(bank_id, asked)
    found: dict[str, str] = {}
    for name in asked:
        spelled = [each.name for each in known.get(name, ()) if folded(each.name) not in corrected]
        same = next((each for each in spelled if folded(each) == folded(name)), None)
        found[folded(name)] = (meant(name, spelled) if resolve else same) or name
    return _spelled(asked, found)


def _spelled(names: Sequence[str], spellings: Mapping[str, str]) -> tuple[str, ...]:
    return cleaned(spellings.get(folded(each), each) for each in cleaned(storable(name) for name in names))
