"""Facts as they were read: of some chunks, or as the chunks themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from domain.entities import cleaned
from domain.memory import Chunk, ExtractedFact


def of_chunks(known: Sequence[tuple[str, ExtractedFact]], chunks: Sequence[Chunk]) -> list[ExtractedFact]:
    """The facts of some chunks, given each with the text of its chunk."""
    numbers: dict[str, int] = {}
    for chunk in chunks:
        numbers.setdefault(chunk.text, chunk.number)
    placed = [fact.model_copy(update={"chunk": numbers.get(text)}) for text, fact in known]
    return _chosen(placed, [place for place, (text, _) in enumerate(known) if text in numbers])


def _chosen(facts: Sequence[ExtractedFact], places: Sequence[int]) -> list[ExtractedFact]:
    """Some of the facts; causes are told by the new places, those that are left out not at all."""
    if len(places) == len(facts):
        return list(facts)
    new = {place: number for number, place in enumerate(places)}
    return [
        facts[place].model_copy(
            update={"caused_by": tuple(new[each] for each in facts[place].caused_by if each in new)}
        )
        for place in places
    ]


def shifted(facts: Iterable[ExtractedFact], by: int) -> Iterator[ExtractedFact]:
    """The facts as they stand after so many others."""
    for fact in facts:
        yield fact.model_copy(update={"caused_by": tuple(each + by for each in fact.caused_by)})


def verbatim(facts: Sequence[ExtractedFact], chunks: Sequence[Chunk]) -> list[ExtractedFact]:
    """Each chunk as one fact: its text as it stands, with what was found in it."""
    numbers = {chunk.number for chunk in chunks}
    found: dict[int, list[ExtractedFact]] = {}
    for fact in facts:
        number = fact.chunk if fact.chunk is not None and fact.chunk in numbers else chunks[0].number
        found.setdefault(number, []).append(fact)
    return [_whole(chunk, found.get(chunk.number, [])) for chunk in chunks]


def _whole(chunk: Chunk, found: Sequence[ExtractedFact]) -> ExtractedFact:
    starts = [fact.occurred_start for fact in found if fact.occurred_start is not None]
    ends = [fact.occurred_end for fact in found if fact.occurred_end is not None]
    return ExtractedFact(
        text=chunk.text.strip(),
        fact_type=found[0].fact_type if found else "world",
        occurred_start=min(starts, default=None),
        occurred_end=max(ends, default=None),
        entities=cleaned(name for fact in found for name in fact.entities),
        tags=tuple(dict.fromkeys(tag for fact in found for tag in fact.tags)),
        chunk=chunk.number,
    )
