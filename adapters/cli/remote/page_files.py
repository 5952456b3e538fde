"""The knowledge base as a folder of markdown files: `page export` and `import`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.remote.inputs import file_text
from adapters.cli.remote.remote import Server
from adapters.cli.remote.shared_options import command
from adapters.cli.unusable import Unusable

if TYPE_CHECKING:
    from rich.console import RenderableType

EXPORT, IMPORT = ("knowledge-base", "export"), ("knowledge-base", "import")


def add_to(app: typer.Typer) -> None:
    """Adds the commands to the group of pages."""
    command(app, "export")(export_pages)
    command(app, "import")(import_pages)


def export_pages(
    server: Server,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Made when it is not there; its files are replaced.")],
    history: Annotated[bool, typer.Option("--history/--no-history", help="With what pages said before.")] = True,
) -> None:
    """Write every page as a markdown file, with an index."""
    told = server.ask("GET", *EXPORT, params={"history": None if history else False})
    files = [(target(folder, each["path"]), each["content"]) for each in told["files"]]
    try:
        for path, content in files:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode())
    except OSError as error:
        raise Unusable(f"{error.filename or folder} cannot be written: {error.strerror}") from error
    server.say(told, f"{len(files)} files written to {folder}")


def import_pages(
    server: Server,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Its markdown files, and those of folders in it.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what it would do.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for first refreshes of pages without text.")] = False,
) -> None:
    """Make pages of markdown files, or change those that are there; the next refresh builds on what the files say."""
    from adapters.cli.remote.waiting import finish_all

    if not folder.is_dir():
        raise Unusable(f"{folder} is no folder")
    files = [{"path": path.relative_to(folder).as_posix(), "content": file_text(str(path))} for path in found(folder)]
    if not files:
        raise Unusable(f"there are no markdown files (*.md) in {folder}")
    told = server.ask("POST", *IMPORT, body={"files": files, "dry_run": dry_run})
    operations = [page["operation_id"] for page in told["pages"] if page.get("operation_id")]
    if wait and operations:
        finish_all(server, operations)
    else:
        server.show(told, _imported)


def target(folder: Path, path: str) -> Path:
    """Where a file of an export goes. Raises Unusable for a path that leads out of the folder."""
    parts = PurePosixPath(path)
    leads_out = parts.is_absolute() or ".." in parts.parts or not parts.parts or "\0" in path
    if leads_out or PureWindowsPath(path).drive or "\\" in path:
        raise Unusable(f"the server sent a file that does not belong into {folder}: {path!r}; nothing was written")
    place = folder / parts
    if not place.resolve().is_relative_to(folder.resolve()):
        raise Unusable(f"{place} leads out of {folder} by a link; nothing was written")
    return place


def found(folder: Path) -> list[Path]:
    """Markdown files in a folder and below, by path; without hidden ones and without following links to folders."""
    paths: list[Path] = []
    for parent, folders, files in os.walk(folder):
        folders[:] = [each for each in folders if not each.startswith(".")]
        paths += [Path(parent, each) for each in files if each.endswith(".md") and not each.startswith(".")]
    return sorted(paths)


def _imported(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import table

    rows = ((page["change"], page["path"], page["name"]) for page in told["pages"])
    yield table("page", "file", "name", rows=rows, flow=("file", "name"))
    pages, folders = len(told["pages"]), len(told["folders_created"])
    would = "would be " if told["dry_run"] else ""
    yield f"{pages} pages {would}read, {folders} folders {would}made, {len(told['ignored'])} files left out"
