"""The version of this program."""

from __future__ import annotations

from importlib import metadata


def own_version() -> str:
    """The version installed; of a source tree that is not installed, "0"."""
    try:
        return metadata.version("palimpsest")
    except metadata.PackageNotFoundError:
        return "0"
