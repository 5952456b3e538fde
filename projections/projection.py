"""What a read model is: a table, a pure fold of events into statements, and queries over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from domain.event import Event, Recorded

T = TypeVar("T")
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Json:
    """A parameter stored as jsonb."""

    value: Any


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL with named parameters `%(name)s`; tables without a schema, so that a rebuild can aim it at shadow tables."""

    sql: str
    params: Mapping[str, Any]


@dataclass(frozen=True)
class Projection:
    """One read model. A change of `version` makes it rebuild at the next start.

    `keys` are the columns that identify a row, in the order rows are compared by."""

    name: str
    version: int
    table: str
    keys: tuple[str, ...]
    ddl: str
    handles: tuple[type[Event], ...]
    project: Callable[[Recorded], Iterable[Statement]]


@dataclass(frozen=True)
class Query(Generic[T]):
    """A question to read models: `read` makes the answer of the rows."""

    sql: str
    params: Mapping[str, Any]
    read: Callable[[Sequence[Row]], T]
