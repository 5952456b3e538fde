"""The fold of read models in an append: one round trip when all is well, one by one when a read model is broken."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import pytest

from adapters.app import Service
from adapters.postgres import projector
from domain.event import Recorded
from domain.mental_model.events import MentalModelCreated
from projections import documents
from projections.projection import Projection, Statement
from projections.registry import PROJECTIONS
from tests.support.services import context, define

SOUND = Statement("SELECT 1", {})


def raises(recorded: Recorded) -> Iterable[Statement]:
    raise ValueError(f"{recorded.stream.name} is not to its liking")


def says_nonsense(_recorded: Recorded) -> Iterable[Statement]:
    return [SOUND, Statement("SELECT nonsense", {}), *[SOUND] * 300]


def broken(project: Any) -> Projection:
    return Projection("broken", 1, "broken", ("bank_id",), "", (MentalModelCreated,), project)


@pytest.mark.parametrize("project", [raises, says_nonsense])
@pytest.mark.parametrize("place", [0, len(PROJECTIONS)])
def test_a_read_model_that_raises_or_says_nonsense_is_set_aside_and_the_others_are_folded(
    service: Service, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, project: Any, place: int
) -> None:
    caplog.set_level(logging.WARNING)
    with service.database.connection() as connection:
        connection.execute("INSERT INTO read_models (name, version) VALUES ('broken', 1)")
    monkeypatch.setattr(projector, "PROJECTIONS", (*PROJECTIONS[:place], broken(project), *PROJECTIONS[place:]))

    for number in range(10):  # past the point where statements are prepared
        define(service, "a", f"ships-{number}")
        service.mental_models.change(context(service), "a", f"ships-{number}", name="Ships")

    assert [each.name for each in service.read_models.states() if each.error] == ["broken"]
    assert caplog.text.count("was set aside") == 1
    assert len(service.reader.ask(documents.ids("a"))) == 10
    assert all(each.same for each in service.read_models.rebuild(check_only=True).comparisons)


def test_a_fold_that_fails_in_each_append_leaves_the_rest_of_the_transaction_standing(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a row to be set aside in, so that it is tried, and fails, each time."""
    monkeypatch.setattr(projector, "PROJECTIONS", (broken(says_nonsense), *PROJECTIONS))
    for number in range(10):
        define(service, "a", f"ships-{number}")
    assert all(each.same for each in service.read_models.rebuild(check_only=True).comparisons)
    assert len(service.reader.ask(documents.ids("a"))) == 10
