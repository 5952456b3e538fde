"""Servers that a user has given names to, with key and bank, in one file that only the user can read."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from adapters.cli.unusable import Unusable


@dataclass(frozen=True)
class Profile:
    """What commands use when nothing else is said; None is not set."""

    server: str | None = None
    key: str | None = field(default=None, repr=False)
    bank: str | None = None


@dataclass(frozen=True)
class Profiles:
    """All of them by name, and the one that counts when none is named."""

    named: Mapping[str, Profile] = field(default_factory=dict)
    current: str | None = None

    def __getitem__(self, name: str) -> Profile:
        if name not in self.named:
            known = (
                f"there are {', '.join(sorted(self.named))}" if self.named else "make it with `palimpsest profile set`"
            )
            raise Unusable(f"there is no profile '{name}'; {known}")
        return self.named[name]

    def used(self) -> Profile:
        """The current one; one that sets nothing when there is none."""
        return self.named.get(self.current or "", Profile())

    def with_profile(self, name: str, profile: Profile) -> Profiles:
        """With this one in the place of the one of its name. The first is the current one."""
        return Profiles({**self.named, name: profile}, self.current or name)

    def using(self, name: str) -> Profiles:
        self[name]
        return replace(self, current=name)

    def without(self, name: str) -> Profiles:
        self[name]
        rest = {each: profile for each, profile in self.named.items() if each != name}
        return Profiles(rest, None if self.current == name else self.current)


def place() -> Path:
    """The file, which may not be there: `profiles.json` in the user's folder for settings of programs."""
    from platformdirs import user_config_path

    return user_config_path("palimpsest", appauthor=False) / "profiles.json"


def read(path: Path) -> Profiles:
    """Raises Unusable for a file that cannot be read."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
        named = {str(name): _profile(each) for name, each in told["profiles"].items()}
        return Profiles(named, told.get("current"))
    except FileNotFoundError:
        return Profiles()
    except OSError as error:
        raise Unusable(f"the profiles in {path} cannot be read: {error.strerror}") from error
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise Unusable(f"{path} is not a file of profiles; remove it and set them anew") from error


def write(path: Path, profiles: Profiles) -> None:
    """All or nothing, and for the user's eyes only from the first byte on. Raises Unusable."""
    told = {"current": profiles.current, "profiles": {name: _told(each) for name, each in profiles.named.items()}}
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, draft = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # mode 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(told, file, indent=2, ensure_ascii=False)
            os.replace(draft, path)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise Unusable(f"the profiles cannot be written to {path}: {error.strerror}") from error


def _profile(told: Any) -> Profile:
    known = {name: told[name] for name in ("server", "key", "bank") if told.get(name) is not None}
    if not all(isinstance(value, str) for value in known.values()):
        raise TypeError("the values of a profile are texts")
    return Profile(**known)


def _told(profile: Profile) -> dict[str, str]:
    return {name: value for name, value in asdict(profile).items() if value is not None}
