"""The settings of a command: the environment, and what its options say instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapters.cli.logs import log_as_set
from adapters.cli.unusable import Unusable

if TYPE_CHECKING:
    from adapters.settings import Settings


def read_settings(host: str | None = None, port: int | None = None) -> Settings:
    """Logs are written as they say from then on. Raises Unusable that names the setting at fault."""
    from pydantic import ValidationError

    from adapters.settings import Settings

    try:
        settings = Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = f"setting {first['loc'][0]}: " if first["loc"] else ""
        got = f" (got {first['input']!r})" if first["loc"] else ""
        raise Unusable(f"{name}{first['msg'].removeprefix('Value error, ')}{got}") from error
    log_as_set(settings)
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    return settings.model_copy(update=given)
