"""Why a command or a question is refused.

    Refusal
    ├── NotFound
    │   ├── BankNotFound
    │   ├── MentalModelNotFound
    │   ├── VersionNotFound
    │   └── OperationNotFound
    ├── Conflict
    │   ├── MentalModelAlreadyExists
    │   ├── OperationIdTaken
    │   ├── OperationEnded
    │   ├── OperationNotWaiting
    │   ├── OperationNotRestartable
    │   ├── AnotherRefreshWaits
    │   ├── OperationStillOpen
    │   └── StaleVersion
    └── Invalid
        ├── NothingToChange
        └── InvalidInput

A refusal is a value that `decide` returns; the command handler raises it. Its text says what was wrong and what to do.
"""

from __future__ import annotations


class Refusal(Exception):
    """The command was understood and refused; nothing was recorded."""


class NotFound(Refusal):
    """What the command names does not exist."""


class BankNotFound(NotFound):
    def __init__(self, bank_id: str) -> None:
        super().__init__(
            f"Bank '{bank_id}' not found; a bank is created by its first write (retain, PUT, or a mental model)"
        )
        self.bank_id = bank_id


class MentalModelNotFound(NotFound):
    def __init__(self, bank_id: str, mental_model_id: str) -> None:
        super().__init__(
            f"Mental model '{mental_model_id}' not found in bank '{bank_id}'; list its mental models for the ids it has"
        )


class VersionNotFound(NotFound):
    def __init__(self, mental_model_id: str, as_of: str) -> None:
        super().__init__(
            f"Mental model '{mental_model_id}' did not exist as of {as_of}; its events show the versions it has"
        )


class OperationNotFound(NotFound):
    def __init__(self, bank_id: str, operation_id: str) -> None:
        super().__init__(f"Operation '{operation_id}' not found in bank '{bank_id}'; list the bank's operations")


class Conflict(Refusal):
    """The command contradicts what is already recorded."""


class MentalModelAlreadyExists(Conflict):
    def __init__(self, bank_id: str, mental_model_id: str) -> None:
        super().__init__(
            f"Mental model '{mental_model_id}' already exists in bank '{bank_id}'; choose another id, or PATCH that one"
        )


class OperationIdTaken(Conflict):
    def __init__(self, operation_id: str) -> None:
        super().__init__(f"Operation id '{operation_id}' is already used by another request; choose a new one")


class OperationEnded(Conflict):
    def __init__(self, operation_id: str) -> None:
        super().__init__(f"Operation '{operation_id}' has ended; ask for a new one")


class OperationNotWaiting(Conflict):
    def __init__(self, operation_id: str) -> None:
        super().__init__(f"Operation '{operation_id}' does not wait any more; ask for a new one")


class OperationNotRestartable(Conflict):
    def __init__(self, operation_id: str, status: str) -> None:
        todo = "cancel it first, or wait for its end" if status == "processing" else "ask for a new one"
        super().__init__(
            f"Operation '{operation_id}' is {status}: only a failed, cancelled or waiting one can be retried; {todo}"
        )


class AnotherRefreshWaits(Conflict):
    def __init__(self, operation_id: str, other: str) -> None:
        super().__init__(
            f"Operation '{operation_id}' is not retried: operation '{other}' refreshes the same mental model and waits:"
            " it will read all there is"
        )


class OperationStillOpen(Conflict):
    def __init__(self, operation_id: str, status: str) -> None:
        super().__init__(
            f"Operation '{operation_id}' is {status}: only one that has ended can be deleted; cancel it first"
        )


class StaleVersion(Conflict):
    """The stream has moved on since the version the command was decided on."""

    def __init__(self, what: str, expected: int | None = None, actual: int | None = None) -> None:
        at = f" (If-Match says {expected}, it is at {actual})" if expected is not None else ""
        super().__init__(f"{what} was changed by someone else meanwhile{at}; read it again and repeat the request")
        self.expected = expected
        self.actual = actual


class Invalid(Refusal):
    """The input cannot be taken as it is."""


class NothingToChange(Invalid):
    def __init__(self) -> None:
        super().__init__(
            "The request changes nothing: give at least one of name, source_query, max_tokens, tags, trigger, content"
        )


class InvalidInput(Invalid):
    """`field` is the path of the input at fault, for the error's location."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
