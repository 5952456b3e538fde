"""`palimpsest tag`: which tags there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.remote.remote import Limit, Offset, Server
from adapters.cli.remote.shared_options import command

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(no_args_is_help=True)


@app.callback()
def tags() -> None:
    """A group, though it has one command."""


@command(app, "list")
def list_tags(
    server: Server,
    pattern: Annotated[str | None, typer.Argument(metavar="PATTERN", help="`*` stands for any characters.")] = None,
    source: Annotated[str | None, typer.Option(metavar="SOURCE", help="memories (default) or mental_models.")] = None,
    limit: Limit = None,
    offset: Offset = None,
) -> None:
    """Tags with how many bear them, the most frequent first."""
    params = {"q": pattern, "source": source, "limit": limit, "offset": offset}
    server.show(server.ask("GET", "tags", params=params), _listed)


def _listed(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import counted, number, table

    yield table("tag", "on", rows=((each["tag"], number(each["count"])) for each in told["items"]))
    yield counted(len(told["items"]), told["total"], told["offset"])
