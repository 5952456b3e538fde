"""Embeddings on their way to pgvector, in its binary form: writing 256 numbers as text costs more than storing them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import psycopg
from psycopg.adapt import Dumper
from psycopg.pq import Format


class Vector:
    """A parameter for `%(name)b::vector` (cast on to `halfvec` where it is stored or compared)."""

    __slots__ = ("packed",)

    def __init__(self, numbers: Sequence[float]) -> None:
        self.packed = struct.pack(f">HH{len(numbers)}f", len(numbers), 0, *numbers)


class _VectorDumper(Dumper):
    # It has no type of its own: the server takes that from the cast.
    format = Format.BINARY

    def dump(self, obj: Vector) -> bytes:
        return obj.packed


psycopg.adapters.register_dumper(Vector, _VectorDumper)
