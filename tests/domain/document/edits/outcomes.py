"""Applying operations in tests: ids by the text they are born from, and what became of a document."""

from domain.document import Applied, AppliedOperation, Document, Operation, SkippedOperation, apply, parse
from domain.document.ids import fingerprint


def b(source: str) -> str:
    """The id of the block with this text at birth."""
    return fingerprint("b", source)


def i(source: str) -> str:
    """The id of the item with this text at birth."""
    return fingerprint("i", source)


def edited(text: str, *operations: Operation) -> str:
    """The text after the operations, all of which must be applied."""
    applied = apply(parse(text), operations)
    assert [result for result in applied.results if isinstance(result, SkippedOperation)] == []
    return applied.document.render()


def done(text: str | Document, *operations: Operation) -> AppliedOperation:
    """What the last of the operations did; it must be applied."""
    result = apply(parse(text) if isinstance(text, str) else text, operations).results[-1]
    assert isinstance(result, AppliedOperation), result
    return result


def skipped(text: str, *operations: Operation) -> tuple[str, bool]:
    """Why the last of the operations was skipped, and whether for a bad reference; alone, it leaves all bytes alone."""
    document = parse(text)
    applied = apply(document, operations)
    result = applied.results[-1]
    assert isinstance(result, SkippedOperation), result
    assert result.operation == operations[-1]
    if len(operations) == 1:
        assert applied.document == document
    return result.reason, result.bad_reference


def reasons(applied: Applied) -> list[str | None]:
    """The reason of each result, None where the operation was applied."""
    return [result.reason if isinstance(result, SkippedOperation) else None for result in applied.results]
