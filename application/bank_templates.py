"""Bank templates: a bank's config, mental models and directives, taken out of one bank and put into another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from application.banks import Banks
from application.command_handler import (
    ATTEMPTS,
    BANK,
    KNOWLEDGE_BASE,
    MENTAL_MODEL,
    OPERATION,
    CommandHandler,
    Done,
    Step,
    bank_stream,
    knowledge_base_stream,
    mental_model_stream,
    operation_stream,
)
from application.ports import EventLog, Identities, Transaction
from application.refresh_requests import InFlight, ask_refresh
from domain.bank import ApplyTemplate, BankState, DirectiveAdded, DirectiveChanged
from domain.bank.events import BankConfigured, DispositionChanged, MissionsChanged
from domain.bank_config_changes import check_rules
from domain.bank_template import BankTemplate, MentalModelTemplate
from domain.directives import Directive, Rule, by_told_name
from domain.event import Context, Event
from domain.knowledge_base import KnowledgeBase
from domain.mental_model.commands import ChangeMentalModel, CreateMentalModel
from domain.mental_model.state import MentalModel
from domain.operation import FoldRequest
from domain.refusals import (
    InvalidTemplate,
    MentalModelAlreadyExists,
    MentalModelNotFound,
    OperationEnded,
    OperationNotFound,
    OperationNotWaiting,
    Refusal,
    StaleVersion,
    TemplateConflict,
)


@dataclass(frozen=True)
class Imported:
    """What an import changed, or would change: mental models by id, directives by name; and the refreshes it asked
    for."""

    config_applied: bool
    mental_models_created: tuple[str, ...]
    mental_models_updated: tuple[str, ...]
    directives_created: tuple[str, ...]
    directives_updated: tuple[str, ...]
    operation_ids: tuple[UUID, ...] = ()


@dataclass(frozen=True)
class _Plan:
    """The steps that carry a template into a bank as it stands, and what they come to. `alone` are the mental models
    of which no refresh may wait when the plan is carried out."""

    steps: tuple[Step, ...]
    imported: Imported
    alone: tuple[str, ...]


class _Moved(Exception):
    """A refresh was asked for while the plan was made."""


MOVED = (
    _Moved,
    StaleVersion,
    MentalModelAlreadyExists,
    MentalModelNotFound,
    OperationNotWaiting,
    OperationEnded,
    OperationNotFound,
)
"""The bank is no longer as the plan found it."""


class BankTemplates:
    """`mental_models_of` gives the ids of a bank's mental models, `in_flight` the refreshes of one that wait or run, as
    a transaction sees them."""

    def __init__(
        self,
        handler: CommandHandler,
        log: EventLog,
        identities: Identities,
        banks: Banks,
        mental_models_of: Callable[[str, Transaction | None], Sequence[str]],
        in_flight: Callable[[str, str, Transaction | None], Sequence[InFlight]],
    ) -> None:
        self._handler = handler
        self._log = log
        self._identities = identities
        self._banks = banks
        self._mental_models_of = mental_models_of
        self._in_flight = in_flight

    def export(self, bank_id: str) -> BankTemplate:
        """What the bank has of its own, pages of the knowledge base aside: they would come back as mental models
        without a place. Raises BankNotFound."""
        bank = self._banks.bank(bank_id)
        own = set(self._mental_models_of(bank_id, None)) - self._pages(bank_id)
        models = (self._model(bank_id, each) for each in sorted(own))
        rules = (
            Rule.model_validate({**each.model_dump(exclude={"directive_id"}), "name": name})
            for name, each in by_told_name(bank.directives).items()
        )
        return BankTemplate(
            bank.config.set_values(),
            tuple(_template_of(state) for state, _version in models if state is not None),
            tuple(rules),
        )

    def import_(self, context: Context, bank_id: str, template: BankTemplate, *, dry_run: bool = False) -> Imported:
        """Creates the bank if need be, and makes it as the template says; what the template does not name stays. What
        is created or updated is refreshed; what is the same already is left alone. All or nothing; with `dry_run`
        nothing, but the refusals are the same.

        Raises InvalidTemplate, InvalidSetting, TooManyDirectives, TemplateConflict."""
        template.check()
        for _ in range(ATTEMPTS):
            plan = self._plan(bank_id, template)
            if dry_run:
                return replace(plan.imported, operation_ids=())
            try:
                return self._carry_out(context, bank_id, plan)
            except MOVED:
                continue
        raise TemplateConflict(bank_id)

    # --- the plan ---

    def _plan(self, bank_id: str, template: BankTemplate) -> _Plan:
        loaded = self._log.load(BANK, bank_stream(bank_id))
        state: BankState = loaded.state
        check_rules(self._banks.resolved(state, template.config), template.config)
        apply = ApplyTemplate(bank_id, template.config, tuple(self._directive(each) for each in template.directives))
        events = _accepted(BANK.decide(apply, state))
        changes: list[Step] = [Step(BANK, bank_stream(bank_id), apply, loaded.version)]
        created: list[str] = []
        updated: list[str] = []
        if pages := self._pages(bank_id) & {each.mental_model_id for each in template.mental_models}:
            raise InvalidTemplate(f"mental_models: {min(pages)} is a page of the knowledge base; change the page")
        for model in template.mental_models:
            step, new = self._step_of(bank_id, model)
            if step is not None:
                changes.append(step)
                (created if new else updated).append(model.mental_model_id)
        waiting = {each: found for each in updated if (found := self._waiting(bank_id, each, None)) is not None}
        asked = {each: waiting.get(each) or self._identities.new() for each in (*created, *updated)}
        refreshes = (
            _fold(bank_id, operation_id) if each in waiting else ask_refresh(bank_id, each, operation_id, None)
            for each, operation_id in asked.items()
        )
        imported = _told(events, created, updated, tuple(asked.values()))
        return _Plan((*changes, *refreshes), imported, tuple(each for each in updated if each not in waiting))

    def _pages(self, bank_id: str) -> set[str]:
        """The mental models that are pages of the knowledge base."""
        tree: KnowledgeBase = self._log.load(KNOWLEDGE_BASE, knowledge_base_stream(bank_id)).state
        return {node.mental_model_id for node in tree.nodes.values() if node.mental_model_id is not None}

    def _directive(self, rule: Rule) -> Directive:
        return Directive.model_validate({**rule.model_dump(), "directive_id": self._identities.new()})

    def _step_of(self, bank_id: str, template: MentalModelTemplate) -> tuple[Step | None, bool]:
        """What makes the mental model as the template says, none when it is so already; and whether it is new."""
        mental_model_id = template.mental_model_id
        stream = mental_model_stream(bank_id, mental_model_id)
        state, version = self._model(bank_id, mental_model_id)
        fields = (template.name, template.source_query, template.tags, template.max_tokens)
        if state is None:
            create = CreateMentalModel(bank_id, mental_model_id, *fields, template.trigger)
            return Step(MENTAL_MODEL, stream, create, version), True
        trigger = template.trigger.model_dump(mode="json", by_alias=True)
        change = ChangeMentalModel(bank_id, mental_model_id, *fields, trigger)
        if not _accepted(MENTAL_MODEL.decide(change, state)):
            return None, False
        return Step(MENTAL_MODEL, stream, change, version), False

    def _model(self, bank_id: str, mental_model_id: str) -> tuple[MentalModel | None, int]:
        loaded = self._log.load(MENTAL_MODEL, mental_model_stream(bank_id, mental_model_id))
        return loaded.state if isinstance(loaded.state, MentalModel) else None, loaded.version

    def _waiting(self, bank_id: str, mental_model_id: str, tx: Transaction | None) -> UUID | None:
        """The refresh of a mental model that has not begun."""
        under_way = self._in_flight(bank_id, mental_model_id, tx)
        return next((UUID(each.operation_id) for each in under_way if each.status == "pending"), None)

    # --- carried out ---

    def _carry_out(self, context: Context, bank_id: str, plan: _Plan) -> Imported:
        def none_waits(tx: Transaction, _results: tuple[Done, ...]) -> None:
            if any(self._waiting(bank_id, each, tx) for each in plan.alone):
                raise _Moved

        self._handler.execute(context, *plan.steps, within=none_waits)
        return plan.imported


def _told(
    events: Sequence[Event], created: Sequence[str], updated: Sequence[str], operation_ids: tuple[UUID, ...]
) -> Imported:
    return Imported(
        any(isinstance(each, MissionsChanged | DispositionChanged | BankConfigured) for each in events),
        tuple(created),
        tuple(updated),
        tuple(each.directive.name for each in events if isinstance(each, DirectiveAdded)),
        tuple(each.directive.name for each in events if isinstance(each, DirectiveChanged)),
        operation_ids,
    )


def _fold(bank_id: str, operation_id: UUID) -> Step:
    return Step(OPERATION, operation_stream(bank_id, operation_id), FoldRequest(bank_id, operation_id, False, None))


def _accepted(decided: Sequence[Event] | Refusal) -> Sequence[Event]:
    if isinstance(decided, Refusal):
        raise decided
    return decided


def _template_of(model: MentalModel) -> MentalModelTemplate:
    return MentalModelTemplate(
        mental_model_id=model.mental_model_id,
        name=model.name,
        source_query=model.source_query,
        tags=model.tags,
        max_tokens=model.max_tokens,
        trigger=model.trigger,
    )
