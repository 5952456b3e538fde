"""All that transfers of banks are made of, over the stores of a service."""

from __future__ import annotations

from collections.abc import Callable

from adapters.postgres.event_mapper import to_event
from adapters.postgres.transfer_destination import PostgresBankDestination
from adapters.postgres.transfer_files import PostgresTransferFiles
from adapters.postgres.transfer_source import PostgresBankSource
from adapters.settings import Settings
from adapters.stores import Stores
from adapters.transfer_archives import ZipArchives
from adapters.version import own_version
from application.command_handler import CommandHandler
from application.ports import Clock, Embedder, Identities
from application.transfer_requests import TransferRequests
from application.transfers import Transfers


class BankTransfers:
    """`requests` asks for them, `work` does them, `files` keeps archives. `written` is told of each bank that came to
    be."""

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        handler: CommandHandler,
        identities: Identities,
        embedder: Embedder,
        clock: Clock,
        written: Callable[[str], object],
    ) -> None:
        destination = PostgresBankDestination(stores.database, stores.log, lambda: stores.memory.space)
        archives = ZipArchives(settings.max_archive_bytes)
        self.files = PostgresTransferFiles(stores.database, clock.now, settings.archive_hours)
        self.requests = TransferRequests(handler, stores.log, identities, destination, archives, self.files)
        self.work = Transfers(
            handler,
            PostgresBankSource(stores.database),
            destination,
            archives,
            self.files,
            embedder,
            clock,
            to_event,
            f"palimpsest {own_version()}",
            written,
        )
