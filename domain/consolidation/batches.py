"""Which facts a mind is asked about together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from domain.consolidation.scopes import Tags
from domain.memory import Fact, estimated_tokens

BATCH_TOKENS = 6000
"""Tokens (estimated) of facts that a mind is asked about together at most; a longer fact is asked about alone."""


@dataclass(frozen=True)
class Batch:
    """Facts of the same scopes, oldest first. A mind is asked once for each scope."""

    scopes: tuple[Tags, ...]
    facts: tuple[Fact, ...]

    def halves(self) -> tuple[Batch, Batch]:
        middle = len(self.facts) // 2
        return replace(self, facts=self.facts[:middle]), replace(self, facts=self.facts[middle:])


def batches_of(facts: Iterable[Fact], scopes_of: Callable[[Fact], frozenset[Tags]], size: int) -> list[Batch]:
    """Facts share a batch only if their scopes are all the same: what one of them says is never told in a scope of
    another. In the order of their oldest facts, with at most `size` facts and `BATCH_TOKENS` each."""
    alike: dict[frozenset[Tags], list[Fact]] = {}
    for fact in sorted(facts, key=lambda fact: fact.position):
        alike.setdefault(scopes_of(fact), []).append(fact)
    batches = [Batch(tuple(sorted(scopes)), part) for scopes, group in alike.items() for part in _parts(group, size)]
    return sorted(batches, key=lambda batch: batch.facts[0].position)


def _parts(facts: Sequence[Fact], size: int) -> Iterator[tuple[Fact, ...]]:
    part: list[Fact] = []
    tokens = 0
    for fact in facts:
        told = estimated_tokens(fact.text)
        if part and (len(part) >= size or tokens + told > BATCH_TOKENS):
            yield tuple(part)
            part, tokens = [], 0
        part.append(fact)
        tokens += told
    if part:
        yield tuple(part)
