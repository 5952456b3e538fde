"""Why a command or a question is refused.

    Refusal
    ├── NotFound
    │   ├── BankNotFound
    │   ├── MentalModelNotFound
    │   ├── DirectiveNotFound
    │   ├── VersionNotFound
    │   ├── FactNotFound
    │   ├── DocumentNotFound
    │   ├── EntityNotFound
    │   ├── ChunkNotFound
    │   ├── ArchiveNotFound
    │   └── OperationNotFound
    ├── Conflict
    │   ├── MentalModelAlreadyExists
    │   ├── OperationIdTaken
    │   ├── OperationEnded
    │   ├── OperationNotWaiting
    │   ├── OperationNotRestartable
    │   ├── AnotherRefreshWaits
    │   ├── OperationStillOpen
    │   ├── FactSetAside
    │   ├── TooManyDirectives
    │   ├── TemplateConflict
    │   ├── DocumentTextNotStored
    │   ├── BankNotEmpty
    │   └── StaleVersion
    ├── Unfit
    │   ├── FactNotCurated
    │   ├── ObservationsSwitchedOff
    │   ├── InvalidSetting
    │   ├── ArchiveRefused
    │   └── InvalidTemplate
    └── Invalid
        ├── NothingToChange
        └── InvalidInput

A refusal is a value that `decide` returns; the command handler raises it. Its text says what was wrong and what to do.
Those of a knowledge base are leaves of this tree too, in domain/knowledge_base/refusals.py, and those of API keys in
domain/api_keys/refusals.py.
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


class DirectiveNotFound(NotFound):
    def __init__(self, bank_id: str, directive_id: str) -> None:
        super().__init__(f"Directive '{directive_id}' not found in bank '{bank_id}'; list its directives for their ids")


class VersionNotFound(NotFound):
    def __init__(self, mental_model_id: str, as_of: str) -> None:
        super().__init__(
            f"Mental model '{mental_model_id}' did not exist as of {as_of}; its events show the versions it has"
        )


class FactNotFound(NotFound):
    def __init__(self, bank_id: str, fact_id: str) -> None:
        super().__init__(
            f"Memory '{fact_id}' not found in bank '{bank_id}': it is not current, and was not set aside; list the"
            " bank's memories for the ids it has"
        )


class DocumentNotFound(NotFound):
    def __init__(self, bank_id: str, document_id: str) -> None:
        super().__init__(f"Document '{document_id}' not found in bank '{bank_id}'; list its documents for their ids")


class EntityNotFound(NotFound):
    def __init__(self, bank_id: str, entity_id: str) -> None:
        super().__init__(f"Entity '{entity_id}' not found in bank '{bank_id}'; list its entities for their ids")


class ChunkNotFound(NotFound):
    def __init__(self, chunk_id: str) -> None:
        super().__init__(f"Chunk '{chunk_id}' not found: its document may have been read again since, or deleted")


class OperationNotFound(NotFound):
    def __init__(self, bank_id: str, operation_id: str) -> None:
        super().__init__(f"Operation '{operation_id}' not found in bank '{bank_id}'; list the bank's operations")


class ArchiveNotFound(NotFound):
    def __init__(self) -> None:
        super().__init__(
            "No such file: its key is not known, or it is no longer kept; an archive is kept for some hours, export the"
            " bank (or send the archive) again"
        )


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


class FactSetAside(Conflict):
    def __init__(self, fact_id: str) -> None:
        super().__init__(f"Memory '{fact_id}' is invalidated; restore it (state: valid) in the same request to edit it")


class TooManyDirectives(Conflict):
    def __init__(self, at_most: int) -> None:
        super().__init__(f"A bank has {at_most} directives at most; delete some that are not needed")


class TemplateConflict(Conflict):
    def __init__(self, bank_id: str) -> None:
        super().__init__(
            f"Bank '{bank_id}' was changed by someone else while the template was imported; nothing was imported:"
            " repeat the request"
        )


class DocumentTextNotStored(Conflict):
    def __init__(self, document_id: str) -> None:
        super().__init__(
            f"The text of document '{document_id}' is not stored (store_document_text is false), so it can neither"
            " be appended to nor read again; retain its whole text with update_mode 'replace'"
        )


class BankNotEmpty(Conflict):
    def __init__(self, bank_id: str) -> None:
        super().__init__(
            f"Bank '{bank_id}' is not empty: a bank is restored under an id that is new, or of a bank in which nothing"
            " happened yet; choose another target_bank_id, or delete that bank first"
        )


class StaleVersion(Conflict):
    """The stream has moved on since the version the command was decided on."""

    def __init__(self, what: str, expected: int | None = None, actual: int | None = None) -> None:
        at = f" (If-Match says {expected}, it is at {actual})" if expected is not None else ""
        super().__init__(f"{what} was changed by someone else meanwhile{at}; read it again and repeat the request")
        self.expected = expected
        self.actual = actual


class Unfit(Refusal):
    """The input has the right shape, and says what cannot be."""


class FactNotCurated(Unfit):
    def __init__(self, fact_id: str) -> None:
        super().__init__(
            f"Memory '{fact_id}' is an observation: it is made of facts; edit or invalidate the facts it rests on"
        )


class ObservationsSwitchedOff(Unfit):
    def __init__(self, bank_id: str) -> None:
        super().__init__(
            f"Bank '{bank_id}' makes no observations: set enable_observations in its config, or on the server"
        )


class InvalidSetting(Unfit):
    """A key or a value of a bank's config."""


class ArchiveRefused(Unfit):
    """`why` says what is wrong with it."""

    def __init__(self, why: str) -> None:
        super().__init__(f"The archive cannot be imported: {why}")


class InvalidTemplate(Unfit):
    """A bank template; the text says where it is wrong."""


class Invalid(Refusal):
    """The input cannot be taken as it is."""


class NothingToChange(Invalid):
    """`fields` are those of which one is needed."""

    def __init__(self, fields: str = "name, source_query, max_tokens, tags, trigger, content") -> None:
        super().__init__(f"The request changes nothing: give at least one of {fields}")


class InvalidInput(Invalid):
    """`field` is the path of the input at fault, for the error's location."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
