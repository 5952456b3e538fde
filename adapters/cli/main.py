"""The command line: serve, demo, demo-conversation, worker, rebuild, audit, verify, version.

Exit codes: 0 done, 1 a check found something, 2 it could not be done (one line on standard error says why).
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.logs import log_to_standard_error
from adapters.cli.unusable import Unusable

if TYPE_CHECKING:
    from adapters.cli.serving import Demo
    from adapters.demo.conversations import Conversation
    from adapters.settings import Settings

app = typer.Typer(
    help="Living markdown documents over an agent's memory, kept as event streams.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

Port = Annotated[
    int | None, typer.Option(help="Port to listen on, 0 for any; PALIMPSEST_PORT, else 8888.", min=0, max=65535)
]
Host = Annotated[str | None, typer.Option(help="Address to listen on; PALIMPSEST_HOST, else 127.0.0.1.")]


@app.command()
def serve(
    port: Port = None,
    host: Host = None,
    demo: Annotated[bool, typer.Option("--demo", help="Load the demo bank and show it, then keep serving.")] = False,
    no_worker: Annotated[bool, typer.Option("--no-worker", help="Do not run background work here.")] = False,
) -> None:
    """Run the service: REST API and, unless --no-worker, the background worker."""
    from adapters.cli.serving import serve as run

    run(_settings(host, port), demo=_demo() if demo else None, run_worker=not no_worker, stay=True)


@app.command()
def demo(port: Port = None) -> None:
    """Load the demo bank, show two documents, a new fact, what it changed and why; then stop."""
    from adapters.cli.serving import serve as run

    run(_settings(None, port if port is not None else 0), demo=_demo(), run_worker=True, stay=False)


@app.command()
def demo_conversation(
    path: Annotated[
        Path | None,
        typer.Argument(
            help='JSON: LoCoMo, or a list of {"speaker", "text", "timestamp"}; locomo-dev.json of the folder CORPUS_DIR'
            " names, else of ../shared/data, when left out."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--conversation", help="Which conversation of the file; else the first.")
    ] = None,
    port: Port = None,
) -> None:
    """Retain a conversation, make observations, documents and answers of it without a language model; then stop."""
    from adapters.cli.serving import serve as run
    from adapters.demo.show_conversation import show_conversation

    conversation = _conversation(path, name)
    settings = _settings(None, port if port is not None else 0)
    run(
        settings.model_copy(update={"llm_base_url": None, "llm_model": None}),
        demo=lambda address, stays: show_conversation(address, conversation, stays=stays),
        run_worker=True,
        stay=False,
    )


@app.command()
def worker(
    concurrency: Annotated[int | None, typer.Option(help="Operations at the same time.", min=1)] = None,
) -> None:
    """Run background work only, beside any number of services on the same database."""
    from adapters.cli.serving import work

    settings = _settings(None, None)
    work(settings.model_copy(update={"worker_concurrency": concurrency}) if concurrency else settings)


@app.command()
def rebuild(
    name: Annotated[str | None, typer.Argument(help="One read model; all when left out.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Report differences and change nothing.")] = False,
) -> None:
    """Rebuild read models from the log, beside the live ones; the service may run."""
    from adapters.cli.maintenance import rebuild as run

    raise typer.Exit(run(_settings(None, None), name, check))


@app.command()
def verify() -> None:
    """Check that every document served is the fold of its events."""
    from adapters.cli.maintenance import verify as run

    raise typer.Exit(run(_settings(None, None)))


@app.command()
def audit(
    bank: Annotated[str, typer.Argument(help="Bank id.")],
    model: Annotated[str, typer.Argument(help="Mental model id.")],
    at: Annotated[
        str | None, typer.Option(help="A version number or an ISO time: print the document as it was.")
    ] = None,
) -> None:
    """Show everything that ever happened to a mental model, or its document as it was."""
    from adapters.cli.maintenance import audit as run

    run(_settings(None, None), bank, model, at)


@app.command()
def version() -> None:
    """Print the version."""
    from adapters.version import own_version

    print(f"palimpsest {own_version()}")


def _demo() -> Demo:
    from adapters.demo.show import show

    return lambda address, stays: show(address, stays=stays)


def _conversation(path: Path | None, name: str | None) -> Conversation:
    from adapters.demo.conversations import UnreadableConversation, corpus, read_conversations

    try:
        found = read_conversations(path or corpus())
    except UnreadableConversation as error:
        raise Unusable(str(error)) from error
    chosen = next((each for each in found if name in (None, each.name)), None)
    if chosen is None:
        raise Unusable(f"no conversation is named {name}; there are {', '.join(each.name for each in found)}")
    return chosen


def _settings(host: str | None, port: int | None) -> Settings:
    from pydantic import ValidationError

    from adapters.settings import Settings

    try:
        settings = Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = f"setting {first['loc'][0]}: " if first["loc"] else ""
        got = f" (got {first['input']!r})" if first["loc"] else ""
        raise Unusable(f"{name}{first['msg'].removeprefix('Value error, ')}{got}") from error
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    return settings.model_copy(update=given)


def main() -> None:
    """Entry point of the console script: what cannot be done is one line and exit code 2."""
    log_to_standard_error()
    try:
        app()
    except KeyboardInterrupt:  # before the command began; later typer turns it into the same exit code
        raise SystemExit(130) from None
    except Exception as error:
        line = _one_line(error)
        if line is None:
            raise
        print(f"palimpsest: {line}", file=sys.stderr)
        raise SystemExit(2) from None


def _one_line(error: Exception) -> str | None:
    import psycopg

    from adapters.postgres.event_mapper import UnreadableEvent
    from adapters.postgres.unavailable import DatabaseUnavailable
    from application.ports import MindFailed
    from domain.refusals import Refusal

    if isinstance(error, (Unusable, DatabaseUnavailable, Refusal, MindFailed)):
        return str(error)
    if isinstance(error, UnreadableEvent):
        return f"{error}; a newer Palimpsest may have written it"
    if isinstance(error, psycopg.OperationalError):  # also of the pool
        return f"the database went away: {' '.join(str(error).split())}; run the command again when it is back"
    return None
