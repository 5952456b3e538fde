"""What commands about a mental model share."""

from __future__ import annotations

from typing import Annotated

import typer

from adapters.cli.remote.completion import complete_model

ModelId = Annotated[str, typer.Argument(metavar="MODEL", help="Id of the mental model.", autocompletion=complete_model)]
IfVersion = Annotated[
    int | None, typer.Option("--if-version", metavar="N", help="Only while it is at this version.", min=1)
]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for the refresh; exit code 1 when it failed.")]
MaxTokens = Annotated[int | None, typer.Option(metavar="N", help="Length aimed at, in tokens; 2048 when new.")]
