"""What the documents list is what there is: settings, read models, decisions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import AliasChoices

from adapters.settings import Settings
from domain.bank_config import BankConfig
from projections.registry import PROJECTIONS

DOCS = Path(__file__).parent.parent / "docs"


def first_columns(document: str, heading: str) -> Iterator[str]:
    """The first column of the table under a heading, without its head."""
    return (row.split("|")[1].strip() for row in table(document, heading))


def table(document: str, heading: str) -> list[str]:
    """The rows of the table under a heading, without its head."""
    section = (DOCS / document).read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return [line for line in section.splitlines() if line.startswith("|")][2:]


def names_in(text: str, prefix: str) -> set[str]:
    """Names in backticks; one that begins with an underscore has the prefix of those before it."""
    return {prefix + name if name.startswith("_") else name for name in re.findall(r"`([A-Z_]+)`", text)}


def names_of_settings() -> dict[str, tuple[str, ...]]:
    """Every name that is accepted for each setting, the one to use first."""
    found = {}
    for field, info in Settings.model_fields.items():
        assert isinstance(info.validation_alias, AliasChoices), f"setting {field} has no name of its own"
        found[field] = tuple(str(choice) for choice in info.validation_alias.choices)
    return found


def test_every_setting_is_in_the_operating_guide_and_no_other() -> None:
    documented: set[str] = set()
    also: set[str] = set()
    for column in first_columns("operating.md", "Settings"):
        names, _, others = column.partition(" (")
        documented |= names_in(names, "PALIMPSEST")
        also |= names_in(others, "HINDSIGHT_API")
    settings = names_of_settings().values()
    assert documented == {names[0] for names in settings}
    assert also <= {other for names in settings for other in names[1:]}


def test_every_key_of_a_banks_config_is_in_its_guide_with_its_default() -> None:
    told = {}
    for row in table("configuration.md", "Keys"):
        key, default, does = (cell.strip() for cell in row.split("|")[1:4])
        told[key.strip("`")] = json.loads(default.strip("`"))
        assert does
    assert told == BankConfig().wire()


def test_every_read_model_is_in_the_architecture_and_no_other() -> None:
    listed = [column.strip("`") for column in first_columns("architecture.md", "Read models")]
    assert sorted(listed) == sorted(projection.name for projection in PROJECTIONS)


def test_decisions_are_numbered_without_gaps_and_have_every_part() -> None:
    decisions = sorted((DOCS / "adr").glob("*.md"))
    for number, path in enumerate(decisions, start=1):
        text = path.read_text(encoding="utf-8")
        assert path.name.startswith(f"{number:04}-")
        assert text.startswith(f"# {number}. ")
        parts = re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE)
        assert parts == ["Context", "Decision", "Consequences", "Status"], path.name
    named = {
        int(n) for path in DOCS.rglob("*.md") for n in re.findall(r"\bADR (\d+)", path.read_text(encoding="utf-8"))
    }
    assert named <= set(range(1, len(decisions) + 1))
