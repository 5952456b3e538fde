"""The endpoints of consolidation: asking for it, trying again what failed, and trying strategies out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import Response

from adapters.http import errors
from adapters.http.backend import Api
from adapters.http.fields import BankId, Tag
from adapters.http.requests import Body, example
from adapters.http.responses import Problem, respond
from adapters.http.wire_route import WireRoute
from adapters.postgres import memory_consolidation_reads
from domain.bank_config import BankConfig, ConsolidationStrategy, ScopePattern
from domain.bank_config_changes import changes_of
from domain.consolidation import claims, counts, is_claimed
from domain.refusals import InvalidSetting

NO_SUCH_BANK = {"model": Problem, "description": "No such bank"}
SCOPES_SCANNED = 10_000
MOST_SCOPES = 100

router = APIRouter(
    prefix="/v1/default/banks/{bank_id}",
    tags=["Consolidation"],
    route_class=WireRoute,
    responses={404: NO_SUCH_BANK},
)


class ConsolidationRequest(Body):
    """`observation_scopes` are sets of tags: only facts that have all tags of one of them are consolidated. Without
    any, all that wait are."""

    model_config = example(observation_scopes=[["handbook"]])

    observation_scopes: (
        Annotated[list[Annotated[list[Tag], Field(max_length=100)]], Field(max_length=MOST_SCOPES)] | None
    ) = None


class ConsolidationResponse(BaseModel):
    operation_id: str
    deduplicated: bool = Field(description="Whether a consolidation that waits already took this request in.")


class RecoverConsolidationResponse(BaseModel):
    retried_count: int


class ConsolidationStrategiesPreviewRequest(Body):
    model_config = example(strategies=[{"scopes": [{"tags": ["topic:*"]}], "max_observations_per_scope": 9}])

    strategies: Annotated[list[dict[str, Any]], Field(max_length=100)]
    sample_limit: Annotated[int, Field(ge=0, le=50)] = 5


class StrategyScopePreview(BaseModel):
    tags: list[str]
    count: int
    handled_by: int | None


class StrategyRulePreview(BaseModel):
    match_count: int
    taken_count: int = Field(description="Of those, how many an earlier strategy has.")
    observation_count: int
    samples: list[StrategyScopePreview]


class StrategyPreview(BaseModel):
    active: bool
    claimed_count: int
    rules: list[StrategyRulePreview]


class DefaultScopesPreview(BaseModel):
    match_count: int
    observation_count: int
    samples: list[StrategyScopePreview]


class ConsolidationStrategiesPreview(BaseModel):
    strategies: list[StrategyPreview]
    default: DefaultScopesPreview
    scopes_scanned: int
    complete: bool


@router.post(
    "/consolidate",
    response_model=ConsolidationResponse,
    responses={400: {"model": Problem, "description": "The bank makes no observations"}},
)
async def trigger_consolidation(api: Api, bank_id: BankId, body: ConsolidationRequest | None = None) -> Response:
    """Asks for the facts that wait to be made into observations, in the background."""
    await api.require_bank(bank_id)
    wanted = body.observation_scopes if body else None
    scopes = None if not wanted else tuple(tuple(sorted(set(scope))) for scope in wanted)
    asked = await api.command(
        api.service.consolidation_requests.consolidate, api.by_user("POST consolidate"), bank_id, scopes
    )
    return respond(ConsolidationResponse(operation_id=str(asked.operation_id), deduplicated=asked.deduplicated))


@router.post("/consolidation/recover", response_model=RecoverConsolidationResponse)
async def recover_consolidation(api: Api, bank_id: BankId) -> Response:
    """Has the facts wait again that were set aside because they failed. Nothing is deleted."""
    count = await api.command(api.service.observations.recover, api.by_user("POST recover"), bank_id)
    return respond(RecoverConsolidationResponse(retried_count=count))


@router.post(
    "/consolidation-strategies/preview",
    response_model=ConsolidationStrategiesPreview,
    responses={400: {"model": Problem, "description": "A value that is not accepted"}},
)
async def preview_consolidation_strategies(
    api: Api, bank_id: BankId, body: ConsolidationStrategiesPreviewRequest
) -> Response:
    """Which scopes each strategy of a draft would have, by the rules of consolidation. Nothing is saved."""
    strategies = _strategies(body.strategies)
    scopes, total = await api.ask(memory_consolidation_reads.scopes_page(bank_id, SCOPES_SCANNED, 0))
    if not scopes:
        await api.require_bank(bank_id)
    preview = _Preview(strategies, scopes, body.sample_limit)
    return respond(
        ConsolidationStrategiesPreview(
            strategies=[preview.of(number) for number in range(len(strategies))],
            default=preview.default(),
            scopes_scanned=len(scopes),
            complete=len(scopes) == total,
        ),
        keep_nulls=True,
    )


def _strategies(given: Sequence[dict[str, Any]]) -> tuple[ConsolidationStrategy, ...]:
    try:
        changes = changes_of({"consolidation_strategies": list(given)})
    except InvalidSetting as error:
        raise errors.unprocessable(("body", "strategies"), str(error)) from error
    return BankConfig().changed_by(changes).consolidation_strategies or ()


class _Preview:
    def __init__(
        self,
        strategies: Sequence[ConsolidationStrategy],
        scopes: Sequence[tuple[list[str], int]],
        samples: int,
    ) -> None:
        self._strategies = strategies
        self._samples = samples
        self._scopes = [
            StrategyScopePreview(tags=tags, count=count, handled_by=self._handled_by(tags)) for tags, count in scopes
        ]

    def of(self, number: int) -> StrategyPreview:
        strategy = self._strategies[number]
        return StrategyPreview(
            active=counts(strategy),
            claimed_count=sum(scope.handled_by == number for scope in self._scopes),
            rules=[self._rule(rule, number) for rule in strategy.scopes],
        )

    def default(self) -> DefaultScopesPreview:
        found = [scope for scope in self._scopes if scope.handled_by is None]
        return DefaultScopesPreview(
            match_count=len(found),
            observation_count=sum(scope.count for scope in found),
            samples=found[: self._samples],
        )

    def _rule(self, rule: ScopePattern, number: int) -> StrategyRulePreview:
        found = [scope for scope in self._scopes if is_claimed(rule, scope.tags)]
        return StrategyRulePreview(
            match_count=len(found),
            taken_count=sum(scope.handled_by is not None and scope.handled_by < number for scope in found),
            observation_count=sum(scope.count for scope in found),
            samples=found[: self._samples],
        )

    def _handled_by(self, tags: Sequence[str]) -> int | None:
        return next(
            (n for n, strategy in enumerate(self._strategies) if counts(strategy) and claims(strategy, tags)), None
        )
