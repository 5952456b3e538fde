"""Items of a retain as they are to be read: by which strategy of the bank, and with what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from application.ports import RetainSteering
from domain.bank_config import BankConfig
from domain.memory import RetainItem
from domain.refusals import DocumentTextNotStored, InvalidInput
from domain.retain import read_with


@dataclass(frozen=True)
class AskedItem:
    """An item with the place it has in its request, its document, and how it is read."""

    place: int
    item: RetainItem
    document_id: str
    config: BankConfig
    steering: RetainSteering
    read_with: str
    said_now: bool


def steering_of(config: BankConfig, *, causal_links: bool = True) -> RetainSteering:
    return RetainSteering(
        causal_links=causal_links,
        mission=config.retain_mission,
        mode=config.retain_extraction_mode,
        custom_instructions=config.retain_custom_instructions,
        labels=config.entity_labels or (),
        free_form_entities=config.entities_allow_free_form,
    )


def require_known_strategies(items: Sequence[RetainItem], config: BankConfig) -> None:
    """Raises InvalidInput for an item that names a strategy that the bank does not have, or appends where no text is
    kept to append to."""
    known = sorted(config.retain_strategies or {})
    for place, item in enumerate(items):
        if item.strategy is not None and item.strategy not in known:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise InvalidInput(
                f"items.{place}.strategy",
                f"the bank has no retain strategy '{item.strategy}'; {has} (retain_strategies of its config)",
            )
        if item.update_mode == "append" and not config.for_strategy(item.strategy).store_document_text:
            raise DocumentTextNotStored(item.document_id or "")


def asked_items(
    items: Sequence[RetainItem],
    document_ids: Sequence[str],
    config: BankConfig,
    asked_at: datetime,
    *,
    rereads: bool,
    places: Sequence[int],
) -> list[AskedItem]:
    asked = []
    for place, item, document_id in zip(places, items, document_ids, strict=True):
        asked.append(asked_item(place, item, document_id, config, said_now=item.timestamp == asked_at, rereads=rereads))
    return asked


def asked_item(
    place: int, item: RetainItem, document_id: str, config: BankConfig, *, said_now: bool, rereads: bool
) -> AskedItem:
    own = config.for_strategy(item.strategy)
    digest = digest_of(item, config, said_now=said_now, rereads=rereads)
    return AskedItem(place, item, document_id, own, steering_of(own), digest, said_now)


def digest_of(item: RetainItem, config: BankConfig, *, said_now: bool, rereads: bool) -> str:
    """Of all that has a say in what is read out of an item; `config` is that of its bank."""
    return read_with(item, said_now=said_now, steering=(repr(steering_of(config.for_strategy(item.strategy))), rereads))
