"""The table of commands in docs/cli.md, made from the commands themselves.

`python -m adapters.cli.command_table` prints it; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer.main
from typer import Context

from adapters.cli.main import app


def render() -> str:
    """A row a command: how it is called, and what it does."""
    rows = [f"| `{usage}` | {told} |" for usage, told in _commands(typer.main.get_command(app), "palimpsest")]
    return "\n".join(["| command | what |", "| --- | --- |", *rows]) + "\n"


def _commands(command: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every command below one, with its arguments."""
    context = Context(command)
    if not hasattr(command, "list_commands"):
        arguments = [_argument(each) for each in command.params if each.param_type_name == "argument"]
        yield " ".join([path, *arguments]), " ".join((command.help or "").split())
        return
    for name in command.list_commands(context):
        yield from _commands(command.get_command(context, name), f"{path} {name}")


def _argument(argument: Any) -> str:
    name = str(argument.metavar or argument.name).upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


if __name__ == "__main__":
    print(render(), end="")
