"""Use cases of directives: add, change, remove. They are read with their bank: `Banks.directives`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from application.command_handler import BANK, CommandHandler, Step, bank_stream
from application.ports import Identities
from domain.bank import AddDirective, ChangeDirective, RemoveDirective
from domain.directives import Directive
from domain.event import Context


class Directives:
    def __init__(self, handler: CommandHandler, identities: Identities) -> None:
        self._handler = handler
        self._identities = identities

    def add(self, context: Context, bank_id: str, name: str, content: str, further: Mapping[str, Any]) -> UUID:
        """Opens the bank if need be; `further` are fields that are not as by default. Raises TooManyDirectives."""
        fields = {**further, "directive_id": self._identities.new(), "name": name, "content": content}
        directive = Directive.model_validate(fields)
        self._execute(context, AddDirective(bank_id, directive))
        return directive.directive_id

    def change(self, context: Context, bank_id: str, directive_id: UUID, changes: Mapping[str, Any]) -> None:
        """`changes` are fields of the directive. Raises BankNotFound, DirectiveNotFound."""
        self._execute(context, ChangeDirective(bank_id, directive_id, changes))

    def remove(self, context: Context, bank_id: str, directive_id: UUID) -> None:
        """Raises BankNotFound, DirectiveNotFound."""
        self._execute(context, RemoveDirective(bank_id, directive_id))

    def _execute(self, context: Context, command: AddDirective | ChangeDirective | RemoveDirective) -> None:
        self._handler.execute(context, Step(BANK, bank_stream(command.bank_id), command))
