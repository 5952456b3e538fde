"""The command line in this process, against a server of choice, with settings of its own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner, Result

from adapters.cli.main import app
from adapters.cli.unusable import Unusable

NAMES = ("SERVER", "API_KEY", "BANK", "PROFILE")


class CommandLine:
    """Commands about a bank of a server; `folder` holds the profiles. `env` goes before the environment."""

    def __init__(self, folder: Path, server: str | None = None, bank: str | None = None) -> None:
        told = dict(zip(NAMES, (server, None, bank, None), strict=True))
        self._env: dict[str, str | None] = {f"PALIMPSEST_{name}": value for name, value in told.items()}
        self._env |= {"XDG_CONFIG_HOME": str(folder), "COLUMNS": "80", "NO_COLOR": None, "FORCE_COLOR": None}

    def run(self, *arguments: str, given: str | bytes | None = None, **env: str) -> Result:
        """What came of a command, whatever it was."""
        environment = {**self._env, **env}
        return CliRunner().invoke(app, list(arguments), input=given, env=environment, prog_name="palimpsest")

    def done(self, *arguments: str, given: str | bytes | None = None, **env: str) -> str:
        """What a command that succeeded printed."""
        result = self.run(*arguments, given=given, **env)
        assert result.exit_code == 0, f"{arguments}: {result.exit_code} {result.output} {result.exception!r}"
        return result.stdout

    def json(self, *arguments: str, **options: Any) -> Any:
        return json.loads(self.done(*arguments, "--json", **options))

    def refused(self, *arguments: str, given: str | bytes | None = None, **env: str) -> str:
        """The one line that a command could not be done for: what `main` prints, with exit code 2."""
        result = self.run(*arguments, given=given, **env)
        assert isinstance(result.exception, Unusable), f"{arguments}: {result.exit_code} {result.output}"
        assert result.stdout == ""
        assert "\n" not in str(result.exception)
        return str(result.exception)
