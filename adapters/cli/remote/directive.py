"""`palimpsest directive`: rules that the answers and documents of a bank keep to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.remote.inputs import confirm, given, given_text, names
from adapters.cli.remote.remote import Limit, Offset, Server, Tags, Yes
from adapters.cli.remote.shared_options import command

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(no_args_is_help=True)

DirectiveId = Annotated[str, typer.Argument(metavar="ID", help="Id of the directive.")]
Priority = Annotated[int | None, typer.Option(help="The higher one is told first.")]
Active = Annotated[bool | None, typer.Option("--active/--inactive", help="Whether it is told.")]


@command(app, "list")
def list_directives(
    server: Server,
    tags: Tags = None,
    tags_match: Annotated[str | None, typer.Option(metavar="MODE", help="any, all or exact.")] = None,
    inactive: Annotated[bool, typer.Option("--all", help="Those that are not active too.")] = False,
    limit: Limit = None,
    offset: Offset = None,
) -> None:
    """Directives of the bank, the one that is told first in front."""
    params = {
        "tags": names(tags),
        "tags_match": tags_match,
        "active_only": False if inactive else None,
        "limit": limit,
        "offset": offset,
    }
    server.show(server.ask("GET", "directives", params=params), _listed)


@command(app, "get")
def get_directive(server: Server, directive_id: DirectiveId) -> None:
    """One directive."""
    server.show(server.ask("GET", "directives", directive_id), _single)


@command(app, "create")
def create_directive(
    server: Server,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")],
    content: Annotated[str, typer.Argument(metavar="RULE", help="What it says; @FILE, or - for standard input.")],
    priority: Priority = None,
    active: Active = None,
    tags: Tags = None,
) -> None:
    """Add a rule."""
    changes = given(priority=priority, is_active=active, tags=names(tags))
    body = {"name": name, "content": given_text(content), **changes}
    server.show(server.ask("POST", "directives", body=body), _single)


@command(app, "update")
def update_directive(
    server: Server,
    directive_id: DirectiveId,
    name: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    content: Annotated[str | None, typer.Option("--rule", metavar="RULE", help="Text, @FILE or -.")] = None,
    priority: Priority = None,
    active: Active = None,
    tags: Tags = None,
) -> None:
    """Change what is given."""
    rule = None if content is None else given_text(content)
    changes = given(name=name, content=rule, priority=priority, is_active=active, tags=names(tags))
    server.show(server.ask("PATCH", "directives", directive_id, body=changes), _single)


@command(app, "delete")
def delete_directive(server: Server, directive_id: DirectiveId, yes: Yes = False) -> None:
    """Remove a rule."""
    confirm(f"Delete directive {directive_id}?", yes=yes)
    server.say(server.ask("DELETE", "directives", directive_id), f"directive {directive_id} deleted")


def _listed(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import counted, listed, stacked, table

    rows = (
        (
            str(each["priority"]),
            _active(each),
            listed(each["tags"]),
            stacked(f"{each['name']}: {each['content']}", each["id"]),
        )
        for each in told["items"]
    )
    yield table("priority", "active", "tags", "rule", rows=rows, flow=("tags", "rule"))
    yield counted(len(told["items"]), told["total"], told["offset"])


def _single(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import fields, listed, moment

    yield fields(
        [
            ("id", told["id"]),
            ("name", told["name"]),
            ("priority", str(told["priority"])),
            ("active", _active(told)),
            ("tags", listed(told["tags"])),
            ("changed", moment(told["updated_at"])),
            ("rule", told["content"]),
        ]
    )


def _active(directive: Mapping[str, Any]) -> str:
    return "yes" if directive["is_active"] else "no"
