"""`palimpsest document`: the texts that memory was made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.remote.inputs import confirm, names
from adapters.cli.remote.remote import Limit, Offset, Server, Tags, Yes
from adapters.cli.remote.shared_options import command

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(no_args_is_help=True)

DocumentId = Annotated[str, typer.Argument(metavar="ID", help="Id of the document.")]


@command(app, "list")
def list_documents(
    server: Server,
    part: Annotated[str | None, typer.Argument(metavar="PART", help="Part of the id or the text.")] = None,
    tags: Tags = None,
    tags_match: Annotated[str | None, typer.Option(metavar="MODE", help="any, all, any_strict ... exact.")] = None,
    limit: Limit = None,
    offset: Offset = None,
) -> None:
    """Documents of the bank, the last written first."""
    params = {"q": part, "tags": names(tags), "tags_match": tags_match, "limit": limit, "offset": offset}
    server.show(server.ask("GET", "documents", params=params), _listed)


@command(app, "get")
def get_document(
    server: Server,
    document_id: DocumentId,
    raw: Annotated[bool, typer.Option("--raw", help="Its text alone, to the byte.")] = False,
) -> None:
    """One document with its text."""
    told = server.ask("GET", "documents", document_id)
    server.show_document(told, told["original_text"], raw=raw, render=_single)


@command(app, "delete")
def delete_document(server: Server, document_id: DocumentId, yes: Yes = False) -> None:
    """Delete a document with its memories, for good."""
    confirm(f"Delete document '{document_id}' with its memories?", yes=yes)
    told = server.ask("DELETE", "documents", document_id)
    server.say(told, told["message"])


def _listed(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import counted, moment, number, stacked, table

    rows = (
        (
            moment(each["updated_at"]).replace(" ", "\n"),
            number(each["memory_unit_count"]),
            number(each["text_length"]),
            stacked(each["id"], ", ".join(each["tags"])),
        )
        for each in told["items"]
    )
    yield table("written", "memories", "characters", "document", rows=rows, flow=("document",))
    yield counted(len(told["items"]), told["total"], told["offset"])


def _single(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from rich.rule import Rule
    from rich.text import Text

    from adapters.cli.remote.output import fields, listed, moment, number

    by_type = ", ".join(f"{number(count)} {name}" for name, count in (told.get("nodes_by_fact_type") or {}).items())
    metadata = (f"{name}={value}" for name, value in (told.get("document_metadata") or {}).items())
    yield fields(
        [
            ("id", told["id"]),
            ("memories", f"{number(told['memory_unit_count'])}{f' ({by_type})' if by_type else ''}"),
            ("tags", listed(told["tags"])),
            ("metadata", "\n".join(metadata) or None),
            ("written", moment(told["updated_at"])),
        ]
    )
    yield Rule()
    text = told["original_text"]
    yield Text("(its text is not stored)", style="dim") if text is None else Text(text)
