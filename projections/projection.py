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


OLDER = "bank_id = %(bank_id)s AND mental_model_id = %(id)s AND version < %(version)s"
"""The rows of the mental model of `model_key` that do not know its event yet."""


def model_key(recorded: Recorded) -> dict[str, Any]:
    """The parameters that name the mental model an event happened to, and the event's version in its stream."""
    return {"bank_id": recorded.stream.bank_id, "id": recorded.stream.name, "version": recorded.version}


def page_reader(make: Callable[..., T], key: str) -> Callable[[Sequence[Row]], tuple[list[T], int]]:
    """Reads rows that tell the `total` beside the columns that `make` takes. The row of an empty page has no `key`."""

    def read(rows: Sequence[Row]) -> tuple[list[T], int]:
        listed = ({column: row[column] for column in row if column != "total"} for row in rows if row[key] is not None)
        return [make(**columns) for columns in listed], rows[0]["total"] if rows else 0

    return read


def page_sql(
    table: str, columns: str, where: str, order: Sequence[str], also: str = "", beyond: str | None = None
) -> str:
    """A page of the rows of `table`, and beside each how many there are in all. `also` are further columns, made of
    those of `listed`: only the rows of the page pay for them. `beyond` holds for the rows that the page begins with."""
    listed = where if beyond is None else f"({where}) AND {beyond}"
    return (
        f"WITH listed AS (SELECT {columns} FROM {table} t WHERE {listed}"
        f"   ORDER BY {', '.join(f't.{each}' for each in order)} LIMIT %(limit)s OFFSET %(offset)s)"
        f" SELECT listed.*, counted.total{also} FROM (SELECT count(*) AS total FROM {table} t WHERE {where}) counted"
        f" LEFT JOIN listed ON true ORDER BY {', '.join(f'listed.{each}' for each in order)}"
    )
