"""A mental model whose refresh failed for good says, alone and in the list, that it no longer refreshes itself."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support import scripted_llm as script
from tests.support.scripted_pages import PAGE, Page, edit


def paused(page: Page) -> bool:
    """What all ways to look at it tell."""
    (listed,) = page.bank.get("/mental-models")["items"]
    told = {
        each["is_paused"]
        for each in (
            listed,
            page.now,
            page.bank.get(PAGE, detail="metadata"),
            page.bank.get(PAGE, as_of=str(page.now["version"])),
        )
    }
    assert len(told) == 1
    return told.pop()


def succeeds(page: Page) -> None:
    appended = edit("append_block", section_id="ada", text="Ada works at Acme.")
    assert page.refreshes(script.edits(appended))["status"] == "completed"


def is_edited_by_hand(page: Page) -> None:
    page.says("# Ada\n\nShe works at Acme.\n")


def is_cleared(page: Page) -> None:
    page.bank.post(f"{PAGE}/clear")


@pytest.mark.parametrize("resumes", [succeeds, is_edited_by_hand, is_cleared])
def test_a_refresh_that_failed_for_good_pauses_until_one_succeeds_or_a_person_steps_in(
    page: Page, resumes: Callable[[Page], None]
) -> None:
    page.begins("# Ada\n")
    assert paused(page) is False
    page.learns("Ada works at Acme.")
    assert page.refreshes(script.unauthorized())["status"] == "failed"
    assert paused(page) is True
    resumes(page)
    assert paused(page) is False


def test_a_failure_that_may_go_away_by_itself_does_not_pause(page: Page) -> None:
    page.begins("# Ada\n")
    page.learns("Ada works at Acme.")
    assert page.refreshes(script.server_error())["status"] == "failed"
    assert paused(page) is False
