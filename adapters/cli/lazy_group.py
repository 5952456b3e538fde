"""Groups of commands whose module is imported when one of them is wanted: the program starts in no time."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
import typer.main
from typer.core import TyperGroup


def add_group(app: typer.Typer, name: str, told: str, module: str) -> None:
    """Adds the commands of `module.app` as the group `name`, with what it is for."""

    class Lazy(TyperGroup):
        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            self._load()
            return super().get_command(ctx, cmd_name)

        def list_commands(self, ctx: Any) -> list[str]:
            self._load()
            return super().list_commands(ctx)

        def _load(self) -> None:
            if not self.commands:
                group = typer.main.get_group(import_module(module).app)
                self.commands.update(group.commands)

    app.add_typer(typer.Typer(cls=Lazy, no_args_is_help=True), name=name, help=told)
