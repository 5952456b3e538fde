"""Which element of a new sequence is which of an old one, by equality and order, in linear time."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence

Pair = tuple[int, int]
"""An index in the old sequence and the one in the new that continues it."""


def align(old: Sequence[Hashable], new: Sequence[Hashable], known: Iterable[Pair] = ()) -> list[int | None]:
    """For each element of `new`, the index of the equal element of `old` that it continues, if any; none twice.

    Heckel's method: besides the `known` pairs of an old and a new index, what occurs once in both continues, wherever
    it moved; so do equal neighbours of what continues, first those before it; so does what is equal from the beginning
    or to the end; what is left over and equal is paired in order.
    """
    alignment = _Alignment(old, new)
    for old_place, new_place in known:
        alignment.pair(old_place, new_place)
    alignment.pair_unique()
    alignment.spread(-1, None)
    alignment.spread(1, None)
    alignment.spread(1, 0)
    alignment.spread(-1, len(old) - 1)
    alignment.pair_in_order()
    return alignment.old_of


class _Alignment:
    def __init__(self, old: Sequence[Hashable], new: Sequence[Hashable]) -> None:
        self._old, self._new = old, new
        self.old_of: list[int | None] = [None] * len(new)
        self._continues = [False] * len(old)

    def pair(self, old_place: int, new_place: int) -> None:
        self.old_of[new_place] = old_place
        self._continues[old_place] = True

    def pair_unique(self) -> None:
        old_places, new_places = self._left_by_element()
        for element, places in new_places.items():
            if len(places) == 1 and len(old_places.get(element, ())) == 1:
                self.pair(old_places[element][0], places[0])

    def spread(self, step: int, neighbour: int | None) -> None:
        """Pair equal neighbours of pairs, after them (step 1) or before them (-1), starting at `neighbour`."""
        for place in range(len(self._new))[::step]:
            if self.old_of[place] is None and neighbour is not None and self._may_pair(neighbour, place):
                self.pair(neighbour, place)
            paired = self.old_of[place]
            neighbour = None if paired is None else paired + step

    def pair_in_order(self) -> None:
        old_places, new_places = self._left_by_element()
        for element, places in new_places.items():
            for old_place, place in zip(old_places.get(element, ()), places, strict=False):
                self.pair(old_place, place)

    def _left_by_element(self) -> tuple[dict[Hashable, list[int]], dict[Hashable, list[int]]]:
        """Where each element is in `old` and in `new`, without those that are paired."""
        return (
            _places(self._old, self._continues),
            _places(self._new, [old_place is not None for old_place in self.old_of]),
        )

    def _may_pair(self, old_place: int, new_place: int) -> bool:
        return (
            0 <= old_place < len(self._old)
            and not self._continues[old_place]
            and self._old[old_place] == self._new[new_place]
        )


def _places(sequence: Sequence[Hashable], paired: Sequence[bool]) -> dict[Hashable, list[int]]:
    places: dict[Hashable, list[int]] = defaultdict(list)
    for place, element in enumerate(sequence):
        if not paired[place]:
            places[element].append(place)
    return places
