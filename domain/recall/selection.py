"""What of the facts found is answered: what fits, and what is told beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from domain.memory import Fact, RecalledFact, beginning, estimated_tokens
from domain.value import Value

NO_LIMIT = -1


class SourceFactsLimit(Value):
    """Tokens of source facts, in all and for each observation; -1: no bound."""

    max_tokens: int = 4096
    max_tokens_per_observation: int = NO_LIMIT


class ChunkText(Value):
    """The text of a chunk, or as much of it as there was room for. `number` counts the chunks of its document."""

    chunk_id: str
    number: int
    text: str
    truncated: bool = False


def within_tokens(found: Sequence[RecalledFact], max_tokens: int | None) -> list[RecalledFact]:
    """The facts in order until their text would be more than `max_tokens` (None: all)."""
    if max_tokens is None:
        return list(found)
    tokens = 0
    for number, each in enumerate(found):
        tokens += estimated_tokens(each.fact.text)
        if tokens > max_tokens:
            return list(found[:number])
    return list(found)


def with_observations_preferred(found: Sequence[RecalledFact], max_tokens: int | None) -> list[RecalledFact]:
    """The facts that fit, without those that an observation among them rests on; what follows takes their room."""
    covered: set[UUID] = set()
    while True:
        kept = within_tokens([each for each in found if each.fact.id not in covered], max_tokens)
        told = {source for each in kept for source in each.fact.source_ids} - covered
        if not told:
            return kept
        # More room only: what was kept stays, but for the facts that are covered now.
        covered |= told


def source_facts(
    observations: Iterable[Fact], sources: Mapping[UUID, Fact], nearness: Mapping[UUID, float], limit: SourceFactsLimit
) -> tuple[list[Fact], bool]:
    """The facts that observations rest on, and whether some were left out for want of room: those of the first
    observation first, and of one observation the nearest to the question. `sources` are those that may be told."""
    chosen: dict[UUID, Fact] = {}
    left, truncated = limit.max_tokens, False
    for observation in observations:
        own = limit.max_tokens_per_observation
        wanted = [sources[each] for each in observation.source_ids if each in sources and each not in chosen]
        for source in sorted(wanted, key=lambda each: (-nearness.get(each.id, -1.0), -each.position)):
            tokens = estimated_tokens(source.text)
            if _over(tokens, left):
                return list(chosen.values()), True
            if _over(tokens, own):
                truncated = True
                break
            chosen[source.id] = source
            left, own = _less(left, tokens), _less(own, tokens)
    return list(chosen.values()), truncated


def _over(tokens: int, left: int) -> bool:
    return left != NO_LIMIT and tokens > left


def _less(left: int, tokens: int) -> int:
    return left if left == NO_LIMIT else left - tokens


def chunks_within(chunks: Iterable[ChunkText], max_tokens: int) -> list[ChunkText]:
    """The chunks in order while there is room (-1: for all); the last one is cut to fit."""
    chosen: list[ChunkText] = []
    left = max_tokens
    for chunk in chunks:
        tokens = estimated_tokens(chunk.text)
        if _over(tokens, left):
            text = beginning(chunk.text, left)
            return [*chosen, chunk.model_copy(update={"text": text, "truncated": True})] if text else chosen
        chosen.append(chunk)
        left = _less(left, tokens)
    return chosen
