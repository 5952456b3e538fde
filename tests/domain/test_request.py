"""A request that had models asked: what it cost is told once, and nothing when it cost nothing."""

from __future__ import annotations

from domain.request import ModelsAsked, Request, TellModelsAsked, decide, evolve
from tests.support.examples import call, recorded

CALLS = (call("embed"),)
TELL = TellModelsAsked("recall", CALLS)
TOLD = ModelsAsked(request="recall", calls=CALLS)


def test_what_a_request_cost_is_told() -> None:
    assert decide(TELL, Request()) == (TOLD,)


def test_a_request_that_asked_no_model_tells_nothing() -> None:
    assert decide(TellModelsAsked("recall", ()), Request()) == ()


def test_it_is_told_once() -> None:
    assert decide(TELL, evolve(Request(), recorded(TOLD))) == ()
