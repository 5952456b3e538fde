"""Documents written by a person: `mental-model edit` and `revert`."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from adapters.cli.remote.inputs import file_text, if_version
from adapters.cli.remote.mental_model_options import IfVersion, ModelId
from adapters.cli.remote.remote import Server
from adapters.cli.remote.shared_options import command
from adapters.cli.unusable import Unusable


def add_to(app: typer.Typer) -> None:
    """Adds the commands to the group of mental models."""
    command(app, "edit")(edit)
    command(app, "revert")(revert)


def edit(
    server: Server,
    model: ModelId,
    file: Annotated[
        str | None, typer.Argument(metavar="FILE", help="The new text; - is standard input, none opens $EDITOR.")
    ] = None,
    version: IfVersion = None,
) -> None:
    """Write the document by hand, to the byte; the next delta builds on it."""
    if file is None:
        before = server.ask("GET", "mental-models", model, params={"detail": "content"})
        text, version = edited(before["content"]), version or before["version"]
        if text == before["content"]:
            raise Unusable("nothing was changed")
    else:
        text = file_text(file)
    told = server.ask("PATCH", "mental-models", model, body={"content": text}, headers=if_version(version))
    server.say(told, f"{model} is at version {told['version']}")


def revert(
    server: Server,
    model: ModelId,
    to: Annotated[int, typer.Argument(metavar="VERSION", help="The version whose document is wanted back.", min=1)],
    version: IfVersion = None,
) -> None:
    """Put the document back to what it said at a version."""
    told = server.ask("POST", "mental-models", model, "revert", body={"version": to}, headers=if_version(version))
    server.say(told, f"{model} says what it said at version {to}; it is at version {told['version']}")


def edited(text: str) -> str:
    """The text after its user changed it in an editor (VISUAL, EDITOR, else vi), to the byte. Raises Unusable."""
    editor = shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi")
    with tempfile.TemporaryDirectory(prefix="palimpsest-") as folder:
        draft = Path(folder) / "document.md"
        draft.write_bytes(text.encode())
        try:
            ended = subprocess.run([*editor, str(draft)], check=False)
        except OSError as error:
            raise Unusable(f"the editor {editor[0]} cannot be started: {error.strerror}; set EDITOR") from error
        if ended.returncode:
            raise Unusable(f"the editor {editor[0]} ended with exit code {ended.returncode}; nothing was changed")
        return file_text(str(draft))
