"""`palimpsest bank template`: a bank without its memory, as a manifest in JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.remote.inputs import file_text, given_object
from adapters.cli.remote.remote import Server
from adapters.cli.remote.shared_options import command

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(no_args_is_help=True)


@command(app, "export")
def export_template(server: Server) -> None:
    """Print the bank's config, mental models and directives as a manifest."""
    server.print_json(server.ask("GET", "export"))


@command(app, "import")
def import_template(
    server: Server,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A manifest; - is standard input.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what it would do.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the refreshes; exit code 1 when one failed.")] = False,
) -> None:
    """Make the bank as a manifest says, all of it or nothing; creates it when there is none."""
    from adapters.cli.remote.waiting import finish_all

    manifest = given_object(file_text(file), file)
    told = server.ask("POST", "import", params={"dry_run": dry_run or None}, body=manifest)
    if wait and told["operation_ids"]:
        finish_all(server, told["operation_ids"])
    else:
        server.show(told, _imported)


def _imported(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import fields, listed

    yield fields(
        [
            ("would be done" if told["dry_run"] else "done", f"in bank {told['bank_id']}"),
            ("config", "set" if told["config_applied"] else "as it was"),
            ("created", listed([*told["mental_models_created"], *told["directives_created"]])),
            ("changed", listed([*told["mental_models_updated"], *told["directives_updated"]])),
            ("operations", "\n".join(told["operation_ids"]) or None),
        ]
    )
