"""What a mental model answers to a command: events, or a refusal. Pure and total."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from pydantic import ValidationError

from domain.digest import sha256_of
from domain.document import ids_of, parse
from domain.event import Event
from domain.mental_model.commands import (
    ChangeMentalModel,
    ClearContent,
    Command,
    CreateMentalModel,
    DeleteMentalModel,
    RecordRefresh,
    RequireMentalModel,
    RevertContent,
)
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentReverted,
    MentalModelCreated,
    MentalModelDeleted,
    MentalModelRenamed,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
)
from domain.mental_model.origins import held_to
from domain.mental_model.outline import Piece
from domain.mental_model.record import PieceGrounds
from domain.mental_model.state import Absent, MentalModel, State
from domain.refresh.outcome import decide_outcome
from domain.refresh.present import document_of
from domain.refusals import (
    InvalidInput,
    MentalModelAlreadyExists,
    MentalModelNotFound,
    NothingToChange,
    Refusal,
)


def decide(command: Command, state: State) -> Sequence[Event] | Refusal:
    """The events a command causes in a state; none when it is already so."""
    if isinstance(command, CreateMentalModel):
        return _create(command, state)
    if isinstance(state, Absent):
        return MentalModelNotFound(command.bank_id, command.mental_model_id)
    match command:
        case ChangeMentalModel():
            return _change(command, state)
        case RecordRefresh(run=run):
            if command.created_at != state.created_at:
                return MentalModelNotFound(command.bank_id, command.mental_model_id)
            return (decide_outcome(run, state),)
        case RevertContent():
            return _revert(command, state)
        case ClearContent():
            already_clear = not state.content and state.answered_query is None and state.last_refresh_failed_at is None
            return () if already_clear else (ContentCleared(),)
        case RequireMentalModel():
            return ()
        case DeleteMentalModel():
            return (MentalModelDeleted(),)
        case _:
            assert_never(command)


def _create(command: CreateMentalModel, state: State) -> Sequence[Event] | Refusal:
    if isinstance(state, MentalModel):
        return MentalModelAlreadyExists(command.bank_id, command.mental_model_id)
    created = MentalModelCreated(
        bank_id=command.bank_id,
        mental_model_id=command.mental_model_id,
        name=command.name,
        source_query=command.source_query,
        tags=command.tags,
        max_tokens=command.max_tokens,
        trigger=held_to(command.held_to, command.tags, command.trigger),
    )
    return (created, *_begun(command.earlier, command.content))


def _begun(earlier: Sequence[str], content: str | None) -> Iterator[Event]:
    """Text after text; what one keeps of the text before keeps its ids."""
    document = None
    for text in (*earlier, *(() if content is None else (content,))):
        document = parse(text, document)
        yield ContentEdited(text=text, sha256=sha256_of(text), ids=ids_of(document))
    if earlier and content is None:
        yield ContentCleared()


def _change(command: ChangeMentalModel, state: MentalModel) -> Sequence[Event] | Refusal:
    given = (command.name, command.source_query, command.tags, command.max_tokens, command.trigger, command.content)
    if all(field is None for field in given):
        return NothingToChange()
    events: list[Event] = []
    if command.name is not None and command.name != state.name:
        events.append(MentalModelRenamed(name=command.name))
    if command.source_query is not None and command.source_query != state.source_query:
        events.append(SourceQueryChanged(source_query=command.source_query))
    if command.tags is not None and command.tags != state.tags:
        events.append(TagsChanged(tags=command.tags))
    if command.max_tokens is not None and command.max_tokens != state.max_tokens:
        events.append(TokenBudgetChanged(max_tokens=command.max_tokens))
    trigger = state.trigger
    if command.trigger is not None:
        try:
            trigger = state.trigger.changed_by(command.trigger)
        except ValidationError as error:
            first = error.errors()[0]
            return InvalidInput(".".join(["trigger", *(str(part) for part in first["loc"])]), first["msg"])
    trigger = held_to(command.held_to, state.tags if command.tags is None else command.tags, trigger)
    if trigger != state.trigger:
        events.append(TriggerChanged(trigger=trigger))
    if command.content is not None and command.content != state.content:
        events.append(_edit(command.content, state))
    return tuple(events)


def _edit(text: str, state: MentalModel) -> ContentEdited:
    """What the text keeps of the document before keeps its ids."""
    document = parse(text, document_of(state))
    return ContentEdited(text=text, sha256=sha256_of(text), ids=ids_of(document))


def _revert(command: RevertContent, state: MentalModel) -> Sequence[Event]:
    """None when it says that already. The pieces get the ids they had then, and the grounds: an edit may have given a
    piece another text since, under the same id."""
    then = command.then
    if then.content == state.content:
        return ()
    now = {piece.id: piece for piece in state.outline}
    return (
        ContentReverted(
            to_version=command.to_version,
            text=then.content,
            sha256=sha256_of(then.content),
            ids=ids_of(document_of(then)),
            pieces=tuple(_put_back(piece, now.get(piece.id)) for piece in then.outline if piece != now.get(piece.id)),
            evidence=then.evidence,
        ),
    )


def _put_back(then: Piece, now: Piece | None) -> PieceGrounds:
    return PieceGrounds(
        id=then.id,
        facts=then.facts,
        kept=now is not None and now.version == then.version,
        partly=then.partly,
    )
