"""Which element of a new sequence is which of an old one, by equality and order, in linear time."""

from collections import defaultdict, deque
from collections.abc import Hashable, Sequence


def align(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[int | None]:
    """For each element of `new`, the index of the equal element of `old` that it continues, if any; none twice.

    Heckel's method: what occurs once in both continues, wherever it moved; so do equal neighbours of what continues,
    where both sequences begin and end included; what is left over and equal is paired in order.
    """
    alignment = _Alignment(old, new)
    alignment.pair_unique()
    alignment.spread(1)
    alignment.spread(-1)
    alignment.pair_in_order()
    return alignment.old_of


class _Alignment:
    def __init__(self, old: Sequence[Hashable], new: Sequence[Hashable]) -> None:
        self._old, self._new = old, new
        self.old_of: list[int | None] = [None] * len(new)
        self._continues = [False] * len(old)

    def pair_unique(self) -> None:
        old_places, new_places = _places(self._old), _places(self._new)
        for element, places in new_places.items():
            if len(places) == 1 and len(old_places.get(element, ())) == 1:
                self._pair(old_places[element][0], places[0])

    def spread(self, step: int) -> None:
        """Pair the equal neighbours of pairs, after them (step 1) or before them (step -1)."""
        neighbour: int | None = 0 if step == 1 else len(self._old) - 1
        for place in range(len(self._new))[::step]:
            if self.old_of[place] is None and neighbour is not None and self._may_pair(neighbour, place):
                self._pair(neighbour, place)
            paired = self.old_of[place]
            neighbour = None if paired is None else paired + step

    def pair_in_order(self) -> None:
        left: dict[Hashable, deque[int]] = defaultdict(deque)
        for place, element in enumerate(self._old):
            if not self._continues[place]:
                left[element].append(place)
        for place, element in enumerate(self._new):
            if self.old_of[place] is None and left[element]:
                self._pair(left[element].popleft(), place)

    def _may_pair(self, old_place: int, new_place: int) -> bool:
        return (
            0 <= old_place < len(self._old)
            and not self._continues[old_place]
            and self._old[old_place] == self._new[new_place]
        )

    def _pair(self, old_place: int, new_place: int) -> None:
        self.old_of[new_place] = old_place
        self._continues[old_place] = True


def _places(sequence: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    places: dict[Hashable, list[int]] = defaultdict(list)
    for place, element in enumerate(sequence):
        places[element].append(place)
    return places
