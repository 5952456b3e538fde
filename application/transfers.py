"""What a worker does for a transfer: banks written to archives, and archives made into banks.

An import is validated first, all of it, and then written in one transaction with the end of its operation: a bank is
there as a whole, or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import BinaryIO

from application.attempt_account import AttemptAccount
from application.attempt_ends import AttemptEnds
from application.command_handler import BANK, CommandHandler, Done, Step, bank_stream
from application.current_operation import report
from application.ports import Clock, Embedder, Transaction
from application.ports.transfer import Archives, ArchiveWriter, BankDestination, BankSource, KeptFile, TransferFiles
from application.transfer_arrival import ArchivedBank
from domain.bank import RequireEmptyBank
from domain.event import Recorded
from domain.operation import (
    BankCloneAsked,
    BankExportAsked,
    BankExportDone,
    BankImportAsked,
    BankImportDone,
    CompleteOperation,
    Operation,
)
from domain.refusals import BankNotEmpty, BankNotFound
from domain.transfer import (
    FORMAT,
    SECTIONS,
    VERSION,
    ArchivedEvent,
    Manifest,
    Parts,
    ReadEvent,
    Section,
    Tally,
    digest_of,
    file_name,
)

DOWNLOADS = "/v1/default/files/download/"
REPORTED_EVERY = 200
"""Rows after which a look at the progress is worth it."""


class Transfers:
    """`made_by` names this program and its version in manifests; `written` is told of each bank that came to be."""

    def __init__(
        self,
        handler: CommandHandler,
        source: BankSource,
        destination: BankDestination,
        archives: Archives,
        files: TransferFiles,
        embedder: Embedder,
        clock: Clock,
        read_event: ReadEvent,
        made_by: str,
        written: Callable[[str], object],
    ) -> None:
        self._handler = handler
        self._source = source
        self._destination = destination
        self._archives = archives
        self._files = files
        self._embedder = embedder
        self._clock = clock
        self._read_event = read_event
        self._made_by = made_by
        self._written = written

    def run(self, operation: Operation, account: AttemptAccount, ends: AttemptEnds) -> None:
        """One attempt. Raises Refusal, MindFailed."""
        match operation.work:
            case BankExportAsked() as work:
                self._export(operation, work, account, ends)
            case BankImportAsked() as work:
                with self._archives.file() as file:
                    report("fetching")
                    self._files.fetch(work.storage_key, file)
                    self._import(operation, work, file, account, ends)
            case BankCloneAsked() as work:
                with self._archives.file() as file:
                    self._write_archive(operation.bank_id, Parts(work.include_data, work.include_bank_config), file)
                    self._import(operation, work, file, account, ends)

    # --- to an archive ---

    def _export(self, operation: Operation, work: BankExportAsked, account: AttemptAccount, ends: AttemptEnds) -> None:
        bank_id, operation_id = operation.bank_id, operation.operation_id
        with self._archives.file() as file:
            parts = Parts(work.include_data, work.include_bank_config)
            manifest = self._write_archive(bank_id, parts, file)
            filename = file_name(bank_id, manifest.exported_at)
            kept = self._keep(operation, file, filename, ends)
            done = BankExportDone(
                storage_key=kept.key,
                download_url=DOWNLOADS + kept.key,
                filename=filename,
                byte_size=kept.byte_size,
                sha256=kept.sha256,
                expires_at=kept.expires_at,
                **manifest.counts.model_dump(),
            )
            ends.record(
                operation,
                account,
                lambda _may_wait: CompleteOperation(bank_id, operation_id, done, account.untold()),
                lambda _results: "useless",
            )

    def _keep(self, operation: Operation, file: BinaryIO, filename: str, ends: AttemptEnds) -> KeptFile:
        """Under a key that is told with the end of the operation; without that, nobody knows it and it is pruned."""
        kept: list[KeptFile] = []

        def keep(tx: Transaction, _results: tuple[Done, ...]) -> None:
            kept.append(self._files.put(self._files.new_key(), operation.bank_id, filename, file, tx))

        report("storing")
        self._handler.execute(ends.context(operation.operation_id), within=keep)
        return kept[-1]

    def _write_archive(self, bank_id: str, parts: Parts, file: BinaryIO) -> Manifest:
        """Raises BankNotFound."""
        tally, exported_at = Tally(), self._clock.now()
        with self._archives.writer(file) as archive, self._source.snapshot(bank_id) as bank:
            sections = [
                self._section(archive, name, bank.rows(name) if parts.data else (), tally)
                for name in SECTIONS
                if name != "events"
            ]
            sections.append(self._events_section(archive, parts.of(bank.events()), tally))
            if not tally.counts.events:
                raise BankNotFound(bank_id)
            manifest = Manifest(
                format=FORMAT,
                version=VERSION,
                made_by=self._made_by,
                bank_id=bank_id,
                exported_at=exported_at,
                space=self._destination.space,
                include_data=parts.data,
                include_bank_config=parts.config,
                counts=tally.counts,
                sections=tuple(sections),
                digest=digest_of(sections),
            )
            archive.finish(manifest)
        return manifest

    def _section(self, archive: ArchiveWriter, name: str, rows: Iterable[object], tally: Tally) -> Section:
        def counted() -> Iterator[object]:
            for number, row in enumerate(rows):
                tally.see_row(row)
                if number % REPORTED_EVERY == 0:
                    report(f"exporting {name.replace('_', ' ')}", number)
                yield row

        return archive.section(name, counted())  # type: ignore[arg-type]  # the rows of the section

    def _events_section(self, archive: ArchiveWriter, events: Iterable[Recorded], tally: Tally) -> Section:
        def archived() -> Iterator[ArchivedEvent]:
            for number, recorded in enumerate(events):
                tally.see_event(recorded)
                if number % REPORTED_EVERY == 0:
                    report("exporting events", number)
                yield ArchivedEvent.of(recorded)

        return archive.section("events", archived())

    # --- out of one ---

    def _import(
        self,
        operation: Operation,
        work: BankImportAsked | BankCloneAsked,
        file: BinaryIO,
        account: AttemptAccount,
        ends: AttemptEnds,
    ) -> None:
        target, parts = work.target_bank_id, Parts(work.include_data, work.include_bank_config)
        with ExitStack() as opened:
            spool = opened.enter_context(self._archives.spool())
            reader = self._archives.reader(file)
            bank = ArchivedBank(reader, target, operation.operation_id, parts, self._read_event, spool)
            report("checking")
            bank.check()
            calls = bank.make_vectors(self._embedder, self._destination.space)
            done = BankImportDone(
                source_bank_id=reader.manifest.bank_id,
                target_bank_id=target,
                exported_at=reader.manifest.exported_at,
                digest=reader.manifest.digest,
                calls=tuple(calls),
                **bank.counts.model_dump(),
            )

            def write(tx: Transaction, results: tuple[Done, ...]) -> None:
                if not self._destination.is_empty(target, tx):
                    raise BankNotEmpty(target)
                self._destination.write(target, bank.into(results[0].state), tx)
                if isinstance(work, BankImportAsked):
                    self._files.drop(work.storage_key, tx)
                ends.settle(operation, account, "useless", tx)

            self._handler.execute(
                ends.context(operation.operation_id),
                Step(BANK, bank_stream(target), RequireEmptyBank(target)),
                ends.completed(operation, account, done),
                within=write,
            )
        self._written(target)
