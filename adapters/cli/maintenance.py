"""Rebuild, verify and audit: what operators and auditors ask of the log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from adapters.app import build
from adapters.cli.timeline_table import timeline_table
from adapters.cli.unusable import Unusable
from adapters.database_server import database_server
from adapters.postgres.read_models import Comparison
from adapters.service import Service, opened
from adapters.settings import Settings
from adapters.verification import verify as verify_documents
from domain.refusals import MentalModelNotFound
from projections import timeline
from projections.registry import PROJECTIONS, projection_named

console = Console()


@contextmanager
def running_service(settings: Settings) -> Iterator[Service]:
    """All use cases on the database, without serving them. Raises DatabaseUnavailable."""
    with database_server(settings) as ready, opened(build(settings, ready())) as service:
        yield service


def rebuild(settings: Settings, name: str | None, check: bool) -> int:
    """Exit code: 0, or 1 when a check found differences. Raises Unusable for an unknown read model."""
    chosen = PROJECTIONS
    if name is not None:
        projection = projection_named(name)
        if projection is None:
            raise Unusable(f"there is no read model '{name}'; there are {', '.join(each.name for each in PROJECTIONS)}")
        chosen = (projection,)
    bar = Progress(TextColumn("replaying"), BarColumn(), MofNCompleteColumn(), TextColumn("events"), transient=True)
    with running_service(settings) as service, bar:
        task = bar.add_task("replay", total=None)
        rebuilt = service.read_models.rebuild(
            chosen,
            check_only=check,
            progress=lambda done, last: bar.update(task, completed=done, total=max(done, last)),
        )
    _print_comparisons(rebuilt.comparisons, rebuilt.events, "checked" if check else "rebuilt")
    return 1 if check and not all(each.same for each in rebuilt.comparisons) else 0


def _print_comparisons(comparisons: tuple[Comparison, ...], events: int, verb: str) -> None:
    table = Table("read model", "rows", "missing", "extra", "different", title=f"{verb} from {events} events")
    for each in comparisons:
        table.add_row(each.name, str(each.rows), str(each.missing), str(each.extra), str(each.different))
    console.print(table)
    for each in comparisons:
        for example in each.examples:
            console.print(f"{each.name}: {example}", markup=False)


def verify(settings: Settings) -> int:
    """Exit code: 0 when every document is the fold of its events, else 1."""
    with running_service(settings) as service, console.status("folding the log"):
        verified = verify_documents(service.log, service.reader)
    for each in verified.differences:
        console.print(f"{each.bank_id}/{each.mental_model_id}: {each.where}", markup=False)
    outcome = f"{len(verified.differences)} differences" if verified.differences else "all as recorded"
    console.print(f"{verified.documents} documents, {verified.events} events: {outcome}")
    return 1 if verified.differences else 0


def audit(settings: Settings, bank: str, model: str, at: str | None) -> None:
    """Raises MentalModelNotFound, VersionNotFound, Unusable for an `at` that is neither version nor time."""
    with running_service(settings) as service:
        if at is not None:
            print(service.mental_models.as_of(bank, model, moment(at)).model.content, end="")
            return
        entries = service.reader.ask(timeline.entries(bank, model))
    if not entries:
        raise MentalModelNotFound(bank, model)
    console.print(timeline_table(entries, title=f"{bank}/{model}"))


def moment(text: str) -> int | datetime:
    """A version number or an ISO time (naive is UTC)."""
    if text.isdecimal():
        return int(text)
    try:
        time = datetime.fromisoformat(text)
    except ValueError as error:
        raise Unusable(f"'{text}' is neither a version number nor an ISO time") from error
    return time if time.tzinfo else time.replace(tzinfo=UTC)
