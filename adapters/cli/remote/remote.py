"""A server as a command sees it: what is asked of it, and how its answer is shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from adapters.cli.remote import profiles
from adapters.cli.remote.completion import complete_bank, complete_profile
from adapters.cli.remote.connection import Connection, connection
from adapters.cli.remote.profiles import Profile
from adapters.cli.remote.shared_options import Shared
from adapters.cli.unusable import Unusable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from adapters.api_client import Api

PANEL = "Connection and output"


class Remote:
    """Paths that are asked for begin below the bank. Raises Unusable with the words of the API."""

    def __init__(self, to: Connection, *, as_json: bool) -> None:
        self._to = to
        self.as_json = as_json

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if "_api" in vars(self):
            self._api.close()

    @property
    def bank(self) -> str:
        """Raises Unusable when none was named."""
        if self._to.bank is None:
            raise Unusable("which bank? Name it with --bank, PALIMPSEST_BANK or `palimpsest profile set`")
        return self._to.bank

    def ask(
        self,
        method: str,
        *parts: str,
        params: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """The JSON of the answer about something in the bank."""
        from adapters.api_client import bank_path

        return self.ask_server(method, bank_path(self.bank, *parts), params=params, body=body, headers=headers)

    def ask_server(self, method: str, path: str, **options: Any) -> Any:
        """The JSON of the answer, by the whole path."""
        from adapters.api_client import ApiFailure
        from adapters.cli.remote.output import visible

        try:
            told = self._api.ask(method, path, **options)
        except ApiFailure as error:
            raise Refused(" ".join(visible(str(error)).split()), error.status) from error
        if not isinstance(told, (dict, list)):
            raise Unusable(f"{self._to.server} does not answer in JSON; is it the address of a Palimpsest service?")
        return told

    def show(self, told: Any, render: Callable[[Any], Iterable[RenderableType]]) -> None:
        """The answer on standard output: as JSON when that was asked for, else as `render` has it."""
        from adapters.cli.remote.output import visible

        if self.as_json:
            self.print_json(told)
            return
        try:
            for part in render(visible(told)):
                self.console.print(part)
        except (LookupError, TypeError, AttributeError) as error:
            whose = f"{self._to.server} answers otherwise than is known here; is its version another?"
            raise Unusable(f"{whose} --json shows what it answers ({error!r})") from error

    def show_document(
        self, told: Any, content: str | None, *, raw: bool, render: Callable[[Any], Iterable[RenderableType]]
    ) -> None:
        """The answer, or with `raw` the text of its document, to the byte."""
        from adapters.cli.remote.output import write_raw

        if raw:
            write_raw(content or "")
        else:
            self.show(told, render)

    def print_json(self, told: Any) -> None:
        from adapters.cli.remote.output import as_json, write_raw

        write_raw(as_json(told) + "\n")

    def say(self, told: Any, sentence: str) -> None:
        """The answer as JSON when that was asked for, else one sentence."""
        from adapters.cli.remote.output import visible

        self.show(told, lambda _: [visible(sentence)])

    def busy(self, what: str) -> AbstractContextManager[Any]:
        """Shows on a terminal that the server works on something."""
        return self.errors.status(what) if self.errors.is_terminal else nullcontext()

    @cached_property
    def console(self) -> Console:
        from adapters.cli.remote.output import console

        return console()

    @cached_property
    def errors(self) -> Console:
        from adapters.cli.remote.output import console

        return console(errors=True)

    @cached_property
    def _api(self) -> Api:
        from adapters.api_client import Api

        return Api(self._to.server, self._to.key)


class Refused(Unusable):
    """The server refused, or nothing answered (`status` 0)."""

    def __init__(self, sentence: str, status: int) -> None:
        super().__init__(sentence)
        self.status = status


def remote(
    bank: Annotated[
        str | None,
        typer.Option(
            "--bank",
            "-b",
            metavar="ID",
            help="PALIMPSEST_BANK, else the profile's.",
            rich_help_panel=PANEL,
            autocompletion=complete_bank,
        ),
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="PALIMPSEST_SERVER, else the profile's, else http://127.0.0.1:8888.",
            rich_help_panel=PANEL,
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="PALIMPSEST_API_KEY, else the profile's.", rich_help_panel=PANEL),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="PALIMPSEST_PROFILE, else the one in use.",
            rich_help_panel=PANEL,
            autocompletion=complete_profile,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the JSON of the API, and nothing else.", rich_help_panel=PANEL)
    ] = False,
) -> Remote:
    """The server that options, environment and profile come to."""
    to = connection(Profile(server, key, bank), profile, os.environ, profiles.read(profiles.place()))
    return Remote(to, as_json=as_json)


Server = Annotated[Remote, Shared(remote)]
Limit = Annotated[int | None, typer.Option(min=0, help="At most so many.")]
Offset = Annotated[int | None, typer.Option(min=0, help="Beginning after so many.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Tags = Annotated[
    list[str] | None,
    typer.Option("--tags", metavar="A,B", help="Tags; may be repeated. A JSON list when a tag has a comma."),
]
