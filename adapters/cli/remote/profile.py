"""`palimpsest profile`: servers by name, so that commands need not be told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.remote import profiles
from adapters.cli.remote.completion import complete_profile
from adapters.cli.remote.connection import checked_server
from adapters.cli.remote.profiles import Profile, Profiles

if TYPE_CHECKING:
    from rich.console import RenderableType

app = typer.Typer(no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the profile.", autocompletion=complete_profile)]


@app.command("set")
def set_profile(
    name: Name,
    server: Annotated[str | None, typer.Option(metavar="URL", help="Its address.")] = None,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="Its API key; - asks for it, so that no list shows it.")
    ] = None,
    bank: Annotated[str | None, typer.Option("--bank", "-b", metavar="ID", help="Its bank.")] = None,
) -> None:
    """Make a profile or change what is given of it; '' takes a value away. The first one is the one in use."""
    known = profiles.read(profiles.place())
    profile = known.named.get(name, Profile())
    if server is not None:
        profile = replace(profile, server=checked_server(server) if server else None)
    if key is not None:
        profile = replace(profile, key=(_asked_key() if key == "-" else key) or None)
    if bank is not None:
        profile = replace(profile, bank=bank or None)
    profiles.write(profiles.place(), known.with_profile(name, profile))


@app.command("use")
def use_profile(name: Name) -> None:
    """Have commands use this one when they name none."""
    profiles.write(profiles.place(), profiles.read(profiles.place()).using(name))


@app.command("list")
def list_profiles(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON; keys are not told.")] = False,
) -> None:
    """Profiles; of a key, only whether there is one."""
    from adapters.cli.remote.output import as_json as json_of
    from adapters.cli.remote.output import console, write_raw

    known = profiles.read(profiles.place())
    if as_json:
        write_raw(json_of([_told(known, name) for name in sorted(known.named)]) + "\n")
        return
    for part in _listed(known):
        console().print(part)


@app.command("delete")
def delete_profile(name: Name) -> None:
    """Forget a profile with its key."""
    profiles.write(profiles.place(), profiles.read(profiles.place()).without(name))


def _asked_key() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("API key", hide_input=True, err=True))
    return sys.stdin.readline().strip()


def _told(known: Profiles, name: str) -> dict[str, str | bool | None]:
    profile = known[name]
    in_use = name == known.current
    return {
        "name": name, "in_use": in_use, "server": profile.server, "has_key": bool(profile.key), "bank": profile.bank
    }  # fmt: skip


def _listed(known: Profiles) -> Iterator[RenderableType]:
    from adapters.cli.remote.output import table

    rows = (
        (
            "*" if each["in_use"] else "",
            name,
            str(each["server"] or "-"),
            "yes" if each["has_key"] else "-",
            str(each["bank"] or "-"),
        )
        for name in sorted(known.named)
        if (each := _told(known, name))
    )
    yield table("", "name", "server", "key", "bank", rows=rows, flow=("server", "bank"))
