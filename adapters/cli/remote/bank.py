"""`palimpsest bank`: banks, what they hold, and their config and templates.

`create` and `delete` name their bank; all other commands are about the bank that `--bank`, the environment or the
profile names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.remote import bank_config, bank_template
from adapters.cli.remote.completion import complete_bank
from adapters.cli.remote.inputs import confirm, given
from adapters.cli.remote.remote import Limit, Offset, Server, Yes
from adapters.cli.remote.shared_options import Shared, command
from adapters.cli.unusable import Unusable

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(no_args_is_help=True)
app.add_typer(bank_config.app, name="config", help="What a bank sets itself.")
app.add_typer(bank_template.app, name="template", help="A bank without its memory, to make others alike.")

BANKS = "/v1/default/banks"
MOST = 1000

BankArgument = Annotated[str, typer.Argument(metavar="ID", help="Id of the bank.", autocompletion=complete_bank)]
Mission = Annotated[str | None, typer.Option(metavar="TEXT", help="What it is to know, for answers and documents.")]


def _settings(
    name: Annotated[str | None, typer.Option(metavar="NAME", help="For people.")] = None,
    mission: Mission = None,
    retain_mission: Annotated[str | None, typer.Option(metavar="TEXT", help="What to look for in texts.")] = None,
    observations_mission: Annotated[str | None, typer.Option(metavar="TEXT", help="What to observe.")] = None,
    skepticism: Annotated[int | None, typer.Option(min=1, max=5)] = None,
    literalism: Annotated[int | None, typer.Option(min=1, max=5)] = None,
    empathy: Annotated[int | None, typer.Option(min=1, max=5)] = None,
) -> dict[str, Any]:
    """The body of a request with what was given."""
    return given(
        name=name,
        reflect_mission=mission,
        retain_mission=retain_mission,
        observations_mission=observations_mission,
        disposition=given(skepticism=skepticism, literalism=literalism, empathy=empathy) or None,
    )


Settings = Annotated[dict[str, Any], Shared(_settings)]


@command(app, "list")
def list_banks(
    server: Server,
    part: Annotated[str | None, typer.Argument(metavar="PART", help="Part of the id or the name.")] = None,
    limit: Limit = None,
    offset: Offset = None,
) -> None:
    """Banks, by id."""
    server.show(server.ask_server("GET", BANKS, params={"q": part, "limit": limit, "offset": offset}), _listed)


@command(app, "get")
def get_bank(server: Server) -> None:
    """The bank: its name, mission and size."""
    told = server.ask_server("GET", BANKS, params={"q": server.bank, "limit": MOST})
    found = next((each for each in told["banks"] if each["bank_id"] == server.bank), None)
    if found is None:
        raise Unusable(f"there is no bank '{server.bank}'")
    server.show(found, _single)


@command(app, "create")
def create_bank(server: Server, bank_id: BankArgument, settings: Settings) -> None:
    """Create a bank, or change what is given of one that is there."""
    from adapters.api_client import bank_path

    server.say(server.ask_server("PUT", bank_path(bank_id), body=settings), f"bank {bank_id} is there")


@command(app, "update")
def update_bank(server: Server, settings: Settings) -> None:
    """Change what is given; more is set by `bank config set`."""
    server.say(server.ask("PATCH", body=settings), f"bank {server.bank} is changed")


@command(app, "delete")
def delete_bank(server: Server, bank_id: BankArgument, yes: Yes = False) -> None:
    """Delete a bank with its memory and its mental models, for good."""
    from adapters.api_client import bank_path

    confirm(f"Delete bank '{bank_id}' with all its memory?", yes=yes)
    told = server.ask_server("DELETE", bank_path(bank_id))
    server.say(told, told["message"])


@command(app, "stats")
def stats(server: Server) -> None:
    """What the bank holds, and its operations by status."""
    server.show(server.ask("GET", "stats"), _stats)


@command(app, "consolidate")
def consolidate(
    server: Server,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the end; exit code 1 when it failed.")] = False,
) -> None:
    """Ask for facts that wait to be made into observations."""
    from adapters.cli.remote.waiting import submitted

    told = server.ask("POST", "consolidate")
    how = "joined a consolidation that waits" if told["deduplicated"] else "queued"
    submitted(server, told, f"{how}; operation {told['operation_id']}", wait=wait)


def _listed(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import counted, moment, number, table

    rows = (
        (each["bank_id"], each["name"], number(each["fact_count"]), moment(each.get("last_write_at")))
        for each in told["banks"]
    )
    yield table("id", "name", "facts", "written (UTC)", rows=rows, flow=("name",))
    yield counted(len(told["banks"]), told["total"], told["offset"])


def _single(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import fields, moment, number

    traits = told["disposition"]
    yield fields(
        [
            ("id", told["bank_id"]),
            ("name", told["name"]),
            ("mission", told.get("mission") or None),
            ("disposition", ", ".join(f"{name} {value}" for name, value in traits.items())),
            ("facts", number(told["fact_count"])),
            ("created", moment(told["created_at"])),
            ("written", moment(told.get("last_write_at"))),
        ]
    )


def _stats(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import fields, moment, number

    by_type = ", ".join(f"{number(count)} {name}" for name, count in told["nodes_by_fact_type"].items())
    by_status = ", ".join(f"{number(count)} {name}" for name, count in told["operations_by_status"].items())
    yield fields(
        [
            ("memories", f"{number(told['total_nodes'])} ({by_type})" if by_type else "0"),
            ("documents", number(told["total_documents"])),
            ("observations", number(told["total_observations"])),
            ("to consolidate", number(told["pending_consolidation"])),
            ("not consolidated", number(told["failed_consolidation"])),
            ("operations", by_status or "none"),
            ("written", moment(told.get("last_memory_write_at"))),
            ("consolidated", moment(told.get("last_consolidated_at"))),
        ]
    )
