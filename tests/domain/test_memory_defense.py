from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from domain.memory import RetainItem
from domain.memory_defense import Action, DefensePolicy, defense_of, screened, screened_items, secrets_of
from domain.refusals import InvalidInput

KEY = "sk_test_ABCDEF0123456789abcdef"
MARK = "[REDACTED:stripe_secret]"


def rules(*actions: str, on: str = "sensitive_data", enabled: bool = True) -> dict[str, Any]:
    return {"enabled": enabled, "rules": [{"on": on, "action": action} for action in actions]}


@pytest.mark.parametrize(
    ("policy", "action"),
    [
        (None, None),
        ({}, None),
        (rules(), None),
        (rules("redact"), "redact"),
        (rules("redact", "block"), "block"),
        (rules("redact", enabled=False), None),
        (rules("block", on="prompt_injection"), None),
        ({"rules": [{"deny": "passwords"}]}, None),
        ({"enabled": True, "rules": [{"deny": "passwords"}]}, "redact"),
    ],
)
def test_the_policy_of_a_bank_is_off_until_it_is_set(policy: dict[str, Any] | None, action: Action | None) -> None:
    assert defense_of(policy) == action


def test_everything_of_an_item_that_is_stored_or_shown_to_a_model_is_redacted() -> None:
    item = RetainItem(
        content=f"凭证为{KEY}", context=f"log {KEY}", metadata=(("key", KEY), ("a", "b")), entities=(KEY, "Ann")
    )

    safe = screened(item, "redact")

    assert safe == RetainItem(
        content=f"凭证为{MARK}", context=f"log {MARK}", metadata=(("key", MARK), ("a", "b")), entities=(MARK, "Ann")
    )
    assert secrets_of(item) == ("stripe_secret",)
    assert KEY not in repr(safe)


def test_blocking_drops_an_item_with_a_secret_and_lets_others_pass() -> None:
    clean = RetainItem(content="Nothing here.")
    assert screened(clean, "block") is clean
    assert screened(RetainItem(content=KEY), "block") is None
    assert screened(RetainItem(content=KEY), None) == RetainItem(content=KEY)


def test_blocked_items_are_left_out_and_a_request_of_nothing_else_is_refused_with_the_kinds_only() -> None:
    clean = RetainItem(content="Nothing here.")
    assert screened_items([RetainItem(content=KEY), clean], rules("block")) == {1: clean}
    assert screened_items([RetainItem(content=KEY), clean], None) == {0: RetainItem(content=KEY), 1: clean}
    assert screened_items([], rules("block")) == {}
    with pytest.raises(InvalidInput, match="stripe_secret") as refused:
        screened_items([RetainItem(content=KEY)], rules("block"))
    assert KEY not in str(refused.value)


@pytest.mark.parametrize(
    "policy",
    [
        {"enabled": "perhaps"},
        {"enabled": True, "rules": [{"on": " ", "action": "redact"}]},
        {"enabled": True, "rules": [{"on": "sensitive_data", "action": "delete"}]},
        {"enabled": True, "rules": "all"},
    ],
)
def test_a_policy_that_means_nothing_is_no_policy(policy: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        DefensePolicy.model_validate(policy)


def test_rules_of_other_detectors_are_kept_as_they_are() -> None:
    policy = {"enabled": True, "rules": [{"on": "toxicity", "action": "block", "level": 3}], "note": "x"}
    assert DefensePolicy.model_validate(policy).model_dump(mode="json") == policy
    assert defense_of(policy) is None
