"""The console's own files, served by the service itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "static"


@dataclass(frozen=True)
class Asset:
    file: Path
    media_type: str


ASSETS_BY_NAME = {
    name: Asset(FOLDER / name, media_type)
    for name, media_type in (
        ("theme.css", "text/css"),
        ("console.css", "text/css"),
        ("document.css", "text/css"),
        ("page.js", "text/javascript"),
        ("icon.svg", "image/svg+xml"),
    )
}
