"""`palimpsest bank config`: what a bank sets itself."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adapters.cli.remote.inputs import confirm, pairs
from adapters.cli.remote.remote import Server, Yes
from adapters.cli.remote.shared_options import command
from adapters.cli.unusable import Unusable

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(no_args_is_help=True)


@command(app, "get")
def get_config(
    server: Server,
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="One key: its value alone, as JSON.")] = None,
) -> None:
    """Every key with the value that counts in the bank."""
    told = server.ask("GET", "config")
    if name is None:
        server.show(told, _listed)
        return
    if name not in told["config"]:
        raise Unusable(f"there is no key '{name}'; `palimpsest bank config get` lists them")
    server.print_json(told["config"][name])


@command(app, "set")
def set_config(
    server: Server,
    values: Annotated[
        list[str],
        typer.Argument(
            metavar="NAME=VALUE", help="The value is JSON, else text; null takes the bank's own value away."
        ),
    ],
) -> None:
    """Set keys, all of them or none."""
    updates = {name: _value(text) for name, text in pairs(values, "a key").items()}
    server.show(server.ask("PATCH", "config", body={"updates": updates}), _own)


@command(app, "reset")
def reset_config(server: Server, yes: Yes = False) -> None:
    """Take away all that the bank sets itself, missions and disposition included."""
    confirm(f"Take away all that bank '{server.bank}' sets itself?", yes=yes)
    server.say(server.ask("DELETE", "config"), f"bank {server.bank} sets nothing itself")


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _listed(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    return _rows(told["config"], told["overrides"])


def _own(told: Mapping[str, Any]) -> Iterator[RenderableType]:
    return _rows(told["overrides"], told["overrides"])


def _rows(config: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import table

    rows = (
        (name, json.dumps(value, ensure_ascii=False), "bank" if name in own else "server")
        for name, value in config.items()
    )
    yield table("key", "value", "set by", rows=rows, flow=("value",))
