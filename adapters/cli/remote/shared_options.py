"""Options that several commands share, declared once: by the signature of the function that makes a value of them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, get_args, get_origin

import typer

Run = TypeVar("Run", bound=Callable[..., None])


@dataclass(frozen=True)
class Shared:
    """Marks a parameter of a command: its value is what `read` makes of options, those of its own signature. A value
    that is a context is closed when the command ends."""

    read: Callable[..., Any]


def command(app: typer.Typer, name: str) -> Callable[[Run], Run]:
    """Registers a function as a command of `app`; parameters marked as Shared become the options they stand for."""

    def register(run: Run) -> Run:
        app.command(name)(with_shared_options(run))
        return run

    return register


def with_shared_options(run: Callable[..., None]) -> Callable[..., None]:
    """The function as typer is to see it: with the shared options in the place of the parameters that they make."""
    parameters: list[inspect.Parameter] = []
    made: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {}
    for parameter in inspect.signature(run, eval_str=True).parameters.values():
        read = _shared(parameter.annotation)
        if read is None:
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
            continue
        options = inspect.signature(read, eval_str=True).parameters.values()
        parameters += [option.replace(kind=option.KEYWORD_ONLY) for option in options]
        made[parameter.name] = (read, tuple(option.name for option in options))

    @functools.wraps(run)
    def called(**values: Any) -> None:
        with ExitStack() as closing:
            for name, (read, options) in made.items():
                value = read(**{option: values.pop(option) for option in options})
                values[name] = closing.enter_context(value) if isinstance(value, AbstractContextManager) else value
            run(**values)

    del called.__wrapped__
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {}
    return called


def _shared(annotation: Any) -> Callable[..., Any] | None:
    """What makes the value of a parameter so annotated; None when it is an option or argument of its own."""
    marks = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    return next((mark.read for mark in marks if isinstance(mark, Shared)), None)
