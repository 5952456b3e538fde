"""The examples of how to run the service say what is so: commands, options and settings that there are."""

from __future__ import annotations

import json
import re
import shlex
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from pydantic import AliasChoices

from adapters.cli.main import app
from adapters.settings import Settings

DEPLOY = Path(__file__).parent.parent / "deploy"
UNITS = ("palimpsest.service", "palimpsest-worker.service")
KNOWN = {
    "Unit": {"Description", "After", "Wants"},
    "Service": {
        "Type", "User", "StateDirectory", "StateDirectoryMode", "Environment", "EnvironmentFile", "ExecStart",
        "Restart", "RestartSec", "KillMode", "TimeoutStopSec", "NoNewPrivileges", "ProtectSystem", "ProtectHome",
        "PrivateTmp", "PrivateDevices", "ProtectKernelTunables", "ProtectControlGroups", "RestrictSUIDSGID",
    },
    "Install": {"WantedBy"},
}  # fmt: skip


def unit(name: str) -> dict[str, dict[str, list[str]]]:
    """The values of each key of each section."""
    read: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    section = ""
    for line in (DEPLOY / name).read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            key, _, value = line.partition("=")
            read[section][key].append(value)
    return read


def settings() -> set[str]:
    """Every name that a setting is read from."""
    names: set[str] = set()
    for field in Settings.model_fields.values():
        assert isinstance(field.validation_alias, AliasChoices)
        names |= {str(choice) for choice in field.validation_alias.choices}
    return names


def assert_is_a_command(arguments: list[str]) -> None:
    """Parsed as the command line does it, without running it."""
    commands: Any = typer.main.get_command(app)
    name, *rest = arguments
    command = commands.commands[name]
    command.make_context(name, rest)


@pytest.mark.parametrize("name", UNITS)
def test_a_unit_has_keys_and_settings_that_there_are_and_starts_a_command(name: str) -> None:
    read = unit(name)
    assert read.keys() == KNOWN.keys()
    for section, keys in read.items():
        assert keys.keys() <= KNOWN[section]
    assert {each.partition("=")[0] for each in read["Service"]["Environment"]} <= settings()
    (start,) = read["Service"]["ExecStart"]
    program, *arguments = shlex.split(start)
    assert Path(program).name == "palimpsest"
    assert_is_a_command(arguments)


def test_the_composition_has_settings_that_there_are_and_runs_commands() -> None:
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = composed["services"]
    assert services["database"]["image"].startswith("pgvector/pgvector:pg")
    ours = {name: each for name, each in services.items() if name != "database"}
    assert ours.keys() == {"service", "worker"}
    for each in ours.values():
        assert each["environment"].keys() <= settings()
        assert each["depends_on"] == {"database": {"condition": "service_healthy"}}
        assert_is_a_command(each["command"])
    build = services["service"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).samefile(DEPLOY / "Dockerfile")
    (volume,) = composed["volumes"]
    assert services["database"]["volumes"][0].startswith(f"{volume}:")


def test_the_image_has_settings_that_there_are_and_runs_a_command() -> None:
    lines = [line for line in (DEPLOY / "Dockerfile").read_text().splitlines() if line and not line.startswith("#")]
    said = [line.split(maxsplit=1) for line in lines if not line.startswith(" ")]
    assert {word for word, _ in said} <= {
        "FROM", "RUN", "WORKDIR", "COPY", "USER", "ENV", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD",
    }  # fmt: skip
    assert {rest.partition("=")[0] for word, rest in said if word == "ENV"} <= settings()
    told = {word: rest for word, rest in said if word in ("ENTRYPOINT", "CMD")}
    assert json.loads(told["ENTRYPOINT"]) == ["palimpsest"]
    assert_is_a_command(json.loads(told["CMD"]))


@pytest.mark.parametrize("path", sorted(DEPLOY.iterdir()), ids=lambda path: path.name)
def test_an_example_tells_only_commands_that_there_are(path: Path) -> None:
    for told in re.findall(r"run --rm service ([^#\n]+)", path.read_text()):
        commands: Any = typer.main.get_command(app)
        assert told.split()[0] in commands.commands
