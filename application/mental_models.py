"""Use cases of a mental model: define, change, revert, clear, delete, and read as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from application.command_handler import (
    KNOWLEDGE_BASE,
    MENTAL_MODEL,
    CommandHandler,
    Done,
    Step,
    knowledge_base_stream,
    mental_model_stream,
    open_bank,
)
from application.ports import EventLog, Identities
from application.refresh_requests import ask_refresh
from domain.candidate import is_blank
from domain.event import Context, Recorded
from domain.knowledge_base import DeletePageOf, RenamePageOf
from domain.mental_model.commands import (
    ChangeMentalModel,
    ClearContent,
    CreateMentalModel,
    DeleteMentalModel,
    RevertContent,
)
from domain.mental_model.state import Absent, MentalModel, State, evolve
from domain.mental_model.trigger import Trigger
from domain.refusals import InvalidInput, MentalModelNotFound, VersionNotFound
from domain.scope import TagGroup

EMPTY_THEN = "the document was empty at version {version}: to empty it, clear it (POST .../clear)"


@dataclass(frozen=True)
class Created:
    mental_model_id: str
    operation_id: UUID


@dataclass(frozen=True)
class AsOf:
    """A mental model as it stood at a version of its stream."""

    model: MentalModel
    version: int


class MentalModels:
    def __init__(self, handler: CommandHandler, log: EventLog, identities: Identities) -> None:
        self._handler = handler
        self._log = log
        self._identities = identities

    def create(
        self,
        context: Context,
        bank_id: str,
        *,
        mental_model_id: str | None,
        name: str,
        source_query: str,
        tags: tuple[str, ...],
        max_tokens: int,
        trigger: Trigger,
        content: str | None = None,
        held_to: tuple[TagGroup, ...] = (),
    ) -> Created:
        """Opens the bank if need be, defines the model, with `content` as its document, and asks for its first refresh,
        all or nothing. It reads nothing but what the groups admit that the caller is `held_to`.

        Raises MentalModelAlreadyExists."""
        chosen = mental_model_id if mental_model_id is not None else f"mm-{self._identities.new().hex}"
        operation_id = self._identities.new()
        self._handler.execute(
            context,
            open_bank(bank_id),
            Step(
                MENTAL_MODEL,
                mental_model_stream(bank_id, chosen),
                CreateMentalModel(
                    bank_id, chosen, name, source_query, tags, max_tokens, trigger, content, held_to=held_to
                ),
            ),
            ask_refresh(bank_id, chosen, operation_id, None),
        )
        return Created(chosen, operation_id)

    def change(
        self,
        context: Context,
        bank_id: str,
        mental_model_id: str,
        *,
        expected: int | None = None,
        name: str | None = None,
        source_query: str | None = None,
        tags: tuple[str, ...] | None = None,
        max_tokens: int | None = None,
        trigger: Mapping[str, Any] | None = None,
        content: str | None = None,
        held_to: tuple[TagGroup, ...] = (),
    ) -> Done:
        """`content` is the document, written by hand; `held_to` as in `create`. A page of the knowledge base is renamed
        with its mental model.

        Raises MentalModelNotFound, NothingToChange, InvalidInput, StaleVersion (with `expected`), PageNameTaken."""
        command = ChangeMentalModel(
            bank_id, mental_model_id, name, source_query, tags, max_tokens, trigger, content, held_to
        )
        stream = mental_model_stream(bank_id, mental_model_id)
        steps = [Step(MENTAL_MODEL, stream, command, expected)]
        if name is not None:
            rename = RenamePageOf(bank_id, mental_model_id, name)
            steps.append(Step(KNOWLEDGE_BASE, knowledge_base_stream(bank_id), rename, shared=True))
        return self._handler.execute(context, *steps)[0]

    def revert(
        self, context: Context, bank_id: str, mental_model_id: str, to_version: int, *, expected: int | None = None
    ) -> Done:
        """Puts the document back to what it said at a version, and to what it rested on then; nothing else changes.

        Raises MentalModelNotFound, VersionNotFound, InvalidInput when the document was empty then, StaleVersion (with
        `expected`)."""
        self.load(bank_id, mental_model_id)
        then = self.as_of(bank_id, mental_model_id, to_version).model
        if is_blank(then.content):
            raise InvalidInput("version", EMPTY_THEN.format(version=to_version))
        command = RevertContent(bank_id, mental_model_id, to_version, then)
        stream = mental_model_stream(bank_id, mental_model_id)
        return self._handler.execute(context, Step(MENTAL_MODEL, stream, command, expected))[0]

    def clear(self, context: Context, bank_id: str, mental_model_id: str) -> None:
        """Empties the document; what it said stays in the log and in the history."""
        command = ClearContent(bank_id, mental_model_id)
        self._handler.execute(context, Step(MENTAL_MODEL, mental_model_stream(bank_id, mental_model_id), command))

    def delete(self, context: Context, bank_id: str, mental_model_id: str) -> None:
        """With the page of the knowledge base that it is, if it is one. Raises MentalModelNotFound."""
        command = DeleteMentalModel(bank_id, mental_model_id)
        page = DeletePageOf(bank_id, mental_model_id)
        self._handler.execute(
            context,
            Step(MENTAL_MODEL, mental_model_stream(bank_id, mental_model_id), command),
            Step(KNOWLEDGE_BASE, knowledge_base_stream(bank_id), page, shared=True),
        )

    def load(self, bank_id: str, mental_model_id: str) -> AsOf:
        """As it stands now. Raises MentalModelNotFound."""
        loaded = self._log.load(MENTAL_MODEL, mental_model_stream(bank_id, mental_model_id))
        if isinstance(loaded.state, Absent):
            raise MentalModelNotFound(bank_id, mental_model_id)
        return AsOf(loaded.state, loaded.version)

    def as_of(self, bank_id: str, mental_model_id: str, moment: int | datetime) -> AsOf:
        """As it stood at a version of its stream, or at a time. Raises MentalModelNotFound when it never existed,
        VersionNotFound when it did not exist then."""
        return stood(mental_model_id, self.events(bank_id, mental_model_id), moment)

    def events(self, bank_id: str, mental_model_id: str) -> list[Recorded]:
        """Everything that ever happened to it, deleted or not. Raises MentalModelNotFound when nothing did."""
        events = list(self._log.events(mental_model_stream(bank_id, mental_model_id)))
        if not events:
            raise MentalModelNotFound(bank_id, mental_model_id)
        return events


def stood(mental_model_id: str, events: Sequence[Recorded], moment: int | datetime) -> AsOf:
    """A mental model as all its events tell it at a version or a time. Raises VersionNotFound."""
    state: State = Absent()
    version = 0
    for recorded in events:
        if (recorded.version if isinstance(moment, int) else recorded.occurred_at) > moment:  # type: ignore[operator]  # both sides are of one kind
            break
        state = evolve(state, recorded)
        version = recorded.version
    unknown_version = isinstance(moment, int) and moment > events[-1].version
    if isinstance(state, Absent) or unknown_version:
        as_of = f"version {moment}" if isinstance(moment, int) else moment.isoformat()
        raise VersionNotFound(mental_model_id, as_of)
    return AsOf(state, version)
