"""Asking for a bank to be exported, imported or cloned; it is done in the background."""

from __future__ import annotations

from typing import BinaryIO
from uuid import UUID

from application.command_handler import (
    BANK,
    OPERATION,
    CommandHandler,
    Done,
    Step,
    Within,
    bank_stream,
    operation_stream,
)
from application.command_handler import require_bank as require
from application.ports import EventLog, Identities, Transaction
from application.ports.transfer import Archives, BankDestination, TransferFiles
from domain.bank import Bank
from domain.event import Context
from domain.operation import BankCloneAsked, BankExportAsked, BankImportAsked, RequestOperation, Work
from domain.refusals import ArchiveRefused, BankNotEmpty, BankNotFound, InvalidInput
from domain.transfer import Parts


class TransferRequests:
    def __init__(
        self,
        handler: CommandHandler,
        log: EventLog,
        identities: Identities,
        destination: BankDestination,
        archives: Archives,
        files: TransferFiles,
    ) -> None:
        self._handler = handler
        self._log = log
        self._identities = identities
        self._destination = destination
        self._archives = archives
        self._files = files

    def export(self, context: Context, bank_id: str, parts: Parts) -> UUID:
        """Raises BankNotFound, InvalidInput."""
        _require_any(parts)
        work = BankExportAsked(include_data=parts.data, include_bank_config=parts.config)
        return self._ask(context, bank_id, work)

    def clone(self, context: Context, bank_id: str, target: str, parts: Parts) -> UUID:
        """Raises BankNotFound, BankNotEmpty for the target, InvalidInput."""
        _require_any(parts)
        self._require_bank(bank_id)
        self._require_free(target)
        work = BankCloneAsked(target_bank_id=target, include_data=parts.data, include_bank_config=parts.config)
        return self._ask(context, bank_id, work)

    def import_archive(
        self, context: Context, bank_id: str, target: str | None, file: BinaryIO, byte_size: int, parts: Parts
    ) -> UUID:
        """The operation is one of the bank, the target (that of the manifest, if none is given) need not be there.
        Whatever can be seen at a glance is refused here, the rest when it is done.

        Raises BankNotFound, ArchiveRefused, BankNotEmpty, InvalidInput."""
        _require_any(parts)
        self._require_bank(bank_id)
        manifest = self._archives.reader(file).manifest
        if not parts.within(Parts(manifest.include_data, manifest.include_bank_config)).any:
            raise ArchiveRefused("it has none of the parts that were asked for (include_data, include_bank_config)")
        chosen = target or manifest.bank_id
        self._require_free(chosen)
        key = self._files.new_key()

        def keep(tx: Transaction, _results: tuple[Done, ...]) -> None:
            self._files.put(key, bank_id, "import.zip", file, tx)

        work = BankImportAsked(
            target_bank_id=chosen,
            storage_key=key,
            byte_size=byte_size,
            include_data=parts.data,
            include_bank_config=parts.config,
        )
        return self._ask(context, bank_id, work, keep)

    def _ask(self, context: Context, bank_id: str, work: Work, within: Within | None = None) -> UUID:
        operation_id = self._identities.new()

        def request(bank: Done) -> RequestOperation:
            return RequestOperation(bank_id, operation_id, work, bank.state.created_at)

        step = Step(OPERATION, operation_stream(bank_id, operation_id), request)
        self._handler.execute(context, require(bank_id), step, within=within)
        return operation_id

    def _require_bank(self, bank_id: str) -> None:
        if not isinstance(self._log.load(BANK, bank_stream(bank_id)).state, Bank):
            raise BankNotFound(bank_id)

    def _require_free(self, bank_id: str) -> None:
        """Looked at once more when it is written."""
        if not self._destination.is_empty(bank_id):
            raise BankNotEmpty(bank_id)


def _require_any(parts: Parts) -> None:
    if not parts.any:
        raise InvalidInput("include_data", "nothing is left: set include_data or include_bank_config")
