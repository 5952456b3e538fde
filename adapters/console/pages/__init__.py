"""The pages of the console, one subject a module."""

from __future__ import annotations

from adapters.console.pages import (
    banks,
    document,
    events,
    history,
    knowledge,
    memory,
    mental_models,
    not_found,
    operations,
    overview,
    recall,
    sources,
    trigger,
)

MODULES = (
    banks,
    overview,
    mental_models,
    document,
    history,
    events,
    trigger,
    operations,
    memory,
    recall,
    sources,
    knowledge,
    not_found,
)


def register() -> None:
    """Serves all of them in the process's application of the framework."""
    for module in MODULES:
        module.register()
