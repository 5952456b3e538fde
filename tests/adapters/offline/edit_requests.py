"""Requests to the editor as the tests of this folder make them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from uuid import UUID

from adapters.offline.editor import OfflineDocumentEditor
from domain.document import Document, Item, Operation, parse
from domain.editing import EditRequest, Grounds, NewFact, ProposedEdit, RetractedFact, Task
from domain.memory import Fact, estimated_tokens
from tests.adapters.offline.facts_of import SAID


def request(
    markdown: str,
    facts: Iterable[Fact | NewFact] = (),
    *,
    task: Task = "edit",
    name: str = "Tea",
    max_tokens: int = 2048,
    retracted: Sequence[RetractedFact] = (),
    grounds: Iterable[tuple[str, Grounds]] = (),
    shown: Collection[str] | None = None,
    last_part: bool = True,
) -> EditRequest:
    return EditRequest(
        task=task,
        name=name,
        source_query="Who drinks tea?",
        document=parse(markdown),
        max_tokens=max_tokens,
        document_tokens=estimated_tokens(markdown),
        asked_at=SAID,
        facts=tuple(fact if isinstance(fact, NewFact) else NewFact(fact) for fact in facts),
        retracted=tuple(retracted),
        grounds=tuple(grounds),
        shown=None if shown is None else frozenset(shown),
        last_part=last_part,
    )


def proposed(asked: EditRequest) -> tuple[ProposedEdit, ...]:
    """The edits proposed; nothing refused, nothing paid."""
    proposal = OfflineDocumentEditor().propose(asked)
    assert (proposal.refused, proposal.calls) == ((), ())
    return proposal.edits


def operations(markdown: str, *facts: Fact | NewFact) -> list[Operation]:
    """What is proposed for new facts; every edit rests on one fact, and no fact on two."""
    edits = proposed(request(markdown, facts))
    named = [fact_id for edit in edits for fact_id in edit.facts]
    assert all(len(edit.facts) == 1 for edit in edits)
    assert len(named) == len(set(named))
    return [edit.operation for edit in edits]


def items(document: Document) -> list[Item]:
    """All items of lists and rows of tables."""
    return [item for section in document.sections for block in section.blocks for item in block.items]


def item_id(markdown: str, source: str) -> str:
    return next(item.id for item in items(parse(markdown)) if item.source == source)


def block_id(markdown: str, beginning: str) -> str:
    """Of the block that begins so."""
    blocks = [block for section in parse(markdown).sections for block in section.blocks]
    return next(block.id for block in blocks if block.source.startswith(beginning))


def uuids(*numbers: int) -> tuple[UUID, ...]:
    return tuple(UUID(int=number) for number in numbers)
