"""The command line: what runs a service or looks after its database, and groups of commands that talk to a server.

Exit codes: 0 done, 1 a check found something or an operation that was waited for failed, 2 it could not be done (one
line on standard error says why), 130 interrupted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adapters.cli.lazy_group import add_group
from adapters.cli.logs import log_to_standard_error
from adapters.cli.read_settings import read_settings
from adapters.cli.unusable import Unusable

if TYPE_CHECKING:
    from adapters.cli.serving import Demo
    from adapters.demo.conversations import Conversation

app = typer.Typer(
    help="Living markdown documents over an agent's memory, kept as event streams.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

GROUPS = {
    "mental-model": "Documents that answer a standing question: read, write, refresh, explain.",
    "page": "The knowledge base: folders with pages that keep themselves current.",
    "memory": "Fill memory, ask it, correct it.",
    "document": "The texts that memory was made of.",
    "bank": "Banks, their config and templates.",
    "directive": "Rules that answers and documents keep to.",
    "operation": "Work in the background: list, follow, cancel, retry.",
    "tag": "Tags of memories and mental models.",
    "profile": "Servers by name, with key and bank.",
}
add_group(app, "keys", "API keys: make, list, revoke; on the database, where the service runs.", "adapters.cli.keys")
for _name, _told in GROUPS.items():
    add_group(app, _name, _told, f"adapters.cli.remote.{_name.replace('-', '_')}")

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

    run(read_settings(host, port), demo=_demo() if demo else None, run_worker=not no_worker, stay=True)


@app.command()
def demo(port: Port = None) -> None:
    """Load the demo bank, show two documents, a new fact, what it changed and why; then stop."""
    from adapters.cli.serving import serve as run

    run(read_settings(None, port if port is not None else 0), demo=_demo(), run_worker=True, stay=False)


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
    settings = read_settings(None, port if port is not None else 0)
    run(
        settings.model_copy(update={"llm_base_url": None, "llm_model": None}),
        demo=lambda address, stays: show_conversation(address, conversation, stays=stays),
        run_worker=True,
        stay=False,
    )


@app.command()
def worker(
    concurrency: Annotated[int | None, typer.Option(help="Operations at the same time.", min=1)] = None,
    metrics_port: Annotated[
        int | None, typer.Option(help="Serve /metrics and /health here, 0 for any; else nowhere.", min=0, max=65535)
    ] = None,
    metrics_host: Annotated[
        str, typer.Option(help="Address for that; it names no bank and no document.")
    ] = "127.0.0.1",
) -> None:
    """Run background work only, beside any number of services on the same database."""
    from adapters.cli.serving import work

    settings = read_settings()
    if concurrency:
        settings = settings.model_copy(update={"worker_concurrency": concurrency})
    work(settings, metrics_host=metrics_host, metrics_port=metrics_port)


@app.command()
def rebuild(
    name: Annotated[str | None, typer.Argument(help="One read model; all when left out.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Report differences and change nothing.")] = False,
) -> None:
    """Rebuild read models from the log, beside the live ones; the service may run."""
    from adapters.cli.maintenance import rebuild as run

    raise typer.Exit(run(read_settings(), name, check))


@app.command()
def verify() -> None:
    """Check that every document served is the fold of its events."""
    from adapters.cli.maintenance import verify as run

    raise typer.Exit(run(read_settings()))


@app.command()
def backup(file: Annotated[Path, typer.Argument(help="The file to write; it must not be there yet.")]) -> None:
    """Back up everything into one file, while services and workers run."""
    from adapters.cli.backup import backup as run

    run(read_settings(), file)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file that `palimpsest backup` wrote.")],
    replace: Annotated[bool, typer.Option("--replace", help="Delete all that is in the database first.")] = False,
) -> None:
    """Put a backup into a database that nobody uses; it is checked before, and compared after."""
    from adapters.cli.backup import restore as run

    run(read_settings(), file, replace=replace)


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

    run(read_settings(), bank, model, at)


@app.command()
def mcp(
    server: Annotated[
        str, typer.Option(envvar="PALIMPSEST_SERVER", help="Address of the service whose tools are given.")
    ] = "http://127.0.0.1:8888",
    key: Annotated[
        str | None, typer.Option(envvar="PALIMPSEST_API_KEY", help="Its API key, where it asks for one.")
    ] = None,
    bank: Annotated[
        str | None, typer.Option(help="This bank alone; else any, PALIMPSEST_MCP_BANK_ID where a call names none.")
    ] = None,
) -> None:
    """Serve MCP on standard input and output, for clients that start their tools themselves."""
    from adapters.cli.remote.connection import checked_server
    from adapters.mcp.stdio import serve_stdio

    serve_stdio(read_settings(), checked_server(server), key, bank)


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
    if isinstance(error, Unusable):
        return str(error)
    import psycopg

    from adapters.postgres.event_mapper import UnreadableEvent
    from adapters.postgres.unavailable import DatabaseUnavailable
    from adapters.tracing import TracingUnavailable
    from application.ports import MindFailed
    from domain.refusals import Refusal

    if isinstance(error, (DatabaseUnavailable, Refusal, MindFailed, TracingUnavailable)):
        return str(error)
    if isinstance(error, UnreadableEvent):
        return f"{error}; a newer Palimpsest may have written it"
    if isinstance(error, psycopg.OperationalError):  # also of the pool
        return f"the database went away: {' '.join(str(error).split())}; run the command again when it is back"
    return None
