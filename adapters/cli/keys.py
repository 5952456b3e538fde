"""API keys, on the database: whoever may run this here may make keys."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True)


@app.command()
def create(
    name: Annotated[str, typer.Option(help="What it is for, for people.")] = "",
    bank: Annotated[list[str] | None, typer.Option(help="A bank it is for; repeat for more. Else all banks.")] = None,
    tags: Annotated[
        str | None, typer.Option(help="Tags it is held to, with commas: it sees and writes nothing else. Else all.")
    ] = None,
    read_only: Annotated[bool, typer.Option("--read-only", help="It changes nothing.")] = False,
    expires_in_days: Annotated[int | None, typer.Option(help="When it ends by itself.", min=1, max=36_500)] = None,
) -> None:
    """Make a key. It is shown this once: only a digest of it is kept."""
    from adapters.cli.maintenance import running_service
    from adapters.cli.read_settings import read_settings
    from domain.event import Context

    with running_service(read_settings()) as service:
        now = service.clock.now()
        made = service.api_keys.create(
            Context("user", now, cause="palimpsest keys create"),
            name=name,
            banks=bank or None,
            tags=None if tags is None else [tag.strip() for tag in tags.split(",") if tag.strip()],
            read_only=read_only,
            expires_at=None if expires_in_days is None else now + timedelta(days=expires_in_days),
        )
    typer.echo("The key, shown this once (send it as Authorization: Bearer ...):", err=True)
    typer.echo(made.token)


@app.command("list")
def list_keys(
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for programs.")] = False,
) -> None:
    """Show all keys: what each is held to, and when it was last used."""
    from adapters.cli.key_table import key_table, keys_as_json
    from adapters.cli.maintenance import console, running_service
    from adapters.cli.read_settings import read_settings
    from projections import api_keys

    with running_service(read_settings()) as service:
        keys = service.reader.ask(api_keys.every())
    if as_json:
        typer.echo(keys_as_json(keys))
    elif keys:
        console.print(key_table(keys, datetime.now(UTC)))
    else:
        console.print("There are no keys: the service is open, on this machine only.")


@app.command()
def revoke(key_id: Annotated[str, typer.Argument(help="The id, as `keys list` shows it.")]) -> None:
    """End a key: within a second or so it opens nothing, in any process."""
    from adapters.cli.maintenance import running_service
    from adapters.cli.read_settings import read_settings
    from domain.event import Context

    with running_service(read_settings()) as service:
        ended = service.api_keys.revoke(Context("user", service.clock.now(), cause="palimpsest keys revoke"), key_id)
    typer.echo(f"key {key_id} is revoked" if ended else f"key {key_id} was revoked before")
