"""The texts of the demo: the project's own documentation."""

from __future__ import annotations

from importlib.metadata import distribution
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def own_documentation() -> dict[str, str]:
    """Name and text of README and docs; of an installed package without its docs, the README in its metadata."""
    files = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
    found = {
        file.relative_to(PROJECT).as_posix(): file.read_text(encoding="utf-8")
        for file in files
        if file.exists() and file.name != "event-catalogue.md"
    }
    if found:
        return found
    _, _, readme = (distribution("palimpsest").read_text("METADATA") or "").partition("\n\n")
    return {"README.md": readme}
