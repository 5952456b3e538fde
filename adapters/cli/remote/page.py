"""`palimpsest page`: the knowledge base, folders with pages that keep themselves current."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.remote import page_files
from adapters.cli.remote.inputs import confirm, given, given_json, names
from adapters.cli.remote.mental_model_options import Wait
from adapters.cli.remote.remote import Server, Tags, Yes
from adapters.cli.remote.shared_options import Shared, command
from adapters.cli.remote.trigger import TriggerFields
from adapters.cli.unusable import Unusable

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(no_args_is_help=True)

KNOWLEDGE = "knowledge-base"
PageId = Annotated[str, typer.Argument(metavar="ID", help="Id of the page.")]
NodeId = Annotated[str, typer.Argument(metavar="ID", help="Id of the page or folder.")]
Folder = Annotated[str | None, typer.Option("--in", metavar="FOLDER", help="Id of the folder; else the root.")]
MaxTokens = Annotated[int | None, typer.Option(metavar="N", help="Length aimed at, in tokens; 4096 when new.")]
Order = Annotated[int | None, typer.Option(metavar="N", help="Its place among its siblings, lowest first.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="What it is called.")]


def _filter(
    tags: Tags = None,
    tags_match: Annotated[
        str | None, typer.Option(metavar="MODE", help="any, all, any_strict, all_strict or exact.")
    ] = None,
    tag_groups: Annotated[str | None, typer.Option(metavar="JSON", help="Groups of tags: JSON, @FILE or -.")] = None,
) -> dict[str, Any]:
    """Which pages are meant, as parameters."""
    import json

    groups = given_json(tag_groups, "--tag-groups")
    return given(tags=names(tags), tags_match=tags_match, tag_groups=None if groups is None else json.dumps(groups))


Filter = Annotated[dict[str, Any], Shared(_filter)]


@command(app, "tree")
def tree(server: Server, pages: Filter) -> None:
    """All folders and pages, with what is stale."""
    server.show(server.ask("GET", KNOWLEDGE, "tree", params=pages), _tree)


@command(app, "create-folder")
def create_folder(server: Server, name: Name, folder: Folder = None, order: Order = None) -> None:
    """Make a folder."""
    told = server.ask("POST", KNOWLEDGE, "folders", body=given(name=name, parent_id=folder, sort_order=order))
    server.say(told, f"folder {told['id']} created")


@command(app, "create")
def create_page(
    server: Server,
    name: Name,
    source_query: Annotated[str, typer.Argument(metavar="QUESTION", help="What it answers.")],
    trigger: TriggerFields,
    folder: Folder = None,
    tags: Tags = None,
    max_tokens: MaxTokens = None,
    order: Order = None,
    wait: Wait = False,
) -> None:
    """Make a page and ask for its first refresh."""
    from adapters.cli.remote.waiting import submitted

    options = given(parent_id=folder, tags=names(tags), max_tokens=max_tokens, sort_order=order, trigger=trigger)
    told = server.ask("POST", KNOWLEDGE, "pages", body={"name": name, "source_query": source_query, **options})
    submitted(server, told, f"page {told['page_id']} created; operation {told.get('operation_id', '-')}", wait=wait)


@command(app, "get")
def get_page(
    server: Server,
    page_id: PageId,
    raw: Annotated[bool, typer.Option("--raw", help="Its text alone, to the byte.")] = False,
    front_matter: Annotated[bool, typer.Option("--front-matter", help="With --raw: as an exported file.")] = False,
) -> None:
    """One page with its text."""
    told = server.ask("GET", KNOWLEDGE, "pages", page_id)
    server.show_document(told, told["markdown" if front_matter else "body"], raw=raw or front_matter, render=_page)


@command(app, "search")
def search(
    server: Server,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Words, or what is meant.")],
    pages: Filter,
    limit: Annotated[int | None, typer.Option(help="At most so many.", min=1)] = None,
) -> None:
    """Pages by word and meaning, best first."""
    server.show(server.ask("GET", KNOWLEDGE, "search", params={"q": query, "limit": limit, **pages}), _found)


@command(app, "update")
def update_node(
    server: Server,
    node_id: NodeId,
    trigger: TriggerFields,
    name: Annotated[str | None, typer.Option(metavar="NAME")] = None,
    source_query: Annotated[str | None, typer.Option(metavar="QUESTION", help="What the page answers.")] = None,
    tags: Tags = None,
    max_tokens: MaxTokens = None,
    order: Order = None,
) -> None:
    """Change what is given of a page, or the name of a folder."""
    changes = given(
        name=name,
        source_query=source_query,
        tags=names(tags),
        max_tokens=max_tokens,
        sort_order=order,
        trigger=trigger,
    )
    server.say(server.ask("PATCH", KNOWLEDGE, "nodes", node_id, body=changes), f"{node_id} is changed")


@command(app, "move")
def move_node(
    server: Server,
    node_id: NodeId,
    folder: Annotated[str | None, typer.Argument(metavar="FOLDER", help="Id of the folder it goes to.")] = None,
    root: Annotated[bool, typer.Option("--root", help="To the root instead.")] = False,
) -> None:
    """Move a page or a folder with all that is in it."""
    if (folder is None) != root:
        raise Unusable("name the folder it goes to, or --root: one of them")
    told = server.ask("PATCH", KNOWLEDGE, "nodes", node_id, body={"parent_id": folder})
    server.say(told, f"{node_id} is in {folder or 'the root'}")


@command(app, "delete")
def delete_node(server: Server, node_id: NodeId, yes: Yes = False) -> None:
    """Delete a page, or a folder with all that is in it."""
    confirm(f"Delete {node_id} with all that is in it?", yes=yes)
    server.say(server.ask("DELETE", KNOWLEDGE, "nodes", node_id), f"{node_id} deleted")


page_files.add_to(app)


def _tree(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from rich.text import Text
    from rich.tree import Tree

    def grow(branch: Tree, nodes: Sequence[Mapping[str, Any]]) -> None:
        for node in nodes:
            folder = node["kind"] == "folder"
            label = Text.assemble((node["name"], "bold" if folder else ""), ("/" if folder else ""))
            label.append(f"  {node['id']}", style="dim")
            if node.get("is_stale"):
                reasons = ", ".join(node.get("stale_reasons") or ()).replace("_", " ")
                label.append(f"  stale{f': {reasons}' if reasons else ''}", style="yellow")
            if node.get("last_refresh_failed_at"):
                label.append("  failed", style="red")
            grow(branch.add(label), node.get("children") or ())

    root = Tree(Text("knowledge base", style="dim"))
    grow(root, told["roots"])
    yield root


def _page(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from rich.rule import Rule

    from adapters.cli.remote.output import document, fields, listed, moment

    yield fields(
        [
            ("id", told["id"]),
            ("name", told["name"]),
            ("type", told["type"]),
            ("answers", told.get("description")),
            ("tags", listed(told.get("tags"))),
            ("refreshed", moment(told.get("timestamp"))),
        ]
    )
    yield Rule()
    yield document(told["body"] or "")


def _found(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from rich.text import Text

    from adapters.cli.remote.output import number, table

    def told_of(page: Mapping[str, Any]) -> Text:
        pieces = page.get("highlights") or [{"text": page["snippet"], "match": False}]
        snippet = [(piece["text"], "bold yellow" if piece["match"] else "") for piece in pieces]
        return Text.assemble((page["name"], "bold"), "\n", *snippet, (f"\n{page['id']}", "dim"))

    rows = ((number(each["score"]), told_of(each)) for each in told["results"])
    yield table("score", "page", rows=rows, flow=("page",))
    yield Text(f"{told['total']} found", style="dim")
