"""What a retain would read out of a text: told, paid for and not stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from application.ports import FactExtractor, MindFailed
from application.request_costs import RequestCosts
from application.retain_asked import require_known_strategies, steering_of
from application.retain_reading import extracted
from domain.bank_config import BankConfig
from domain.chunking import chunks_of
from domain.entities import cleaned
from domain.event import Context
from domain.memory import Chunk, ExtractedFact, RetainItem
from domain.usage import ModelCall


@dataclass(frozen=True)
class Preview:
    """Chunks are numbered from 0; a fact tells the number of its chunk, if it is of one."""

    chunks: Sequence[Chunk]
    facts: Sequence[ExtractedFact]
    calls: Sequence[ModelCall]


class ExtractionPreviews:
    """`config_of` gives the configuration of a bank."""

    def __init__(self, extractor: FactExtractor, config_of: Callable[[str], BankConfig], costs: RequestCosts) -> None:
        self._extractor = extractor
        self._config_of = config_of
        self._costs = costs

    def extract(
        self,
        context: Context,
        bank_id: str,
        item: RetainItem,
        changes: Mapping[str, Any],
        *,
        causal_links: bool = True,
    ) -> Preview:
        """Reads the item as the bank would, but for `changes` of its config, which are valid ones. What that cost is on
        record, also when it failed. Raises InvalidInput for an unknown strategy, MindFailed."""
        config = self._config_of(bank_id)
        require_known_strategies([item], config)
        own = config.for_strategy(item.strategy).model_copy(update=dict(changes))
        steering = steering_of(own, causal_links=causal_links)
        chunks = chunks_of(item.content, own.retain_chunk_size, own.retain_structured_chunk_size)
        to_read = [chunk for chunk in chunks if chunk.text.strip()]
        try:
            read = extracted(self._extractor, item, steering, to_read, context.now)
        except MindFailed as failed:
            self._costs.record(context, bank_id, "preview", failed.calls)
            raise
        self._costs.record(context, bank_id, "preview", read.calls)
        facts = [fact.model_copy(update={"entities": cleaned(fact.entities)}) for fact in read.facts]
        return Preview(chunks, facts, read.calls)
