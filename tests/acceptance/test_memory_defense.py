"""Secrets in what a bank is given to remember, over REST."""

from __future__ import annotations

import json

from tests.support.rest import RestBank, assert_refused

KEY = "sk_test_ABCDEF0123456789abcdef"
ITEM = {"content": f"凭证为{KEY}。 Ada lives in Rome.", "document_id": "one", "context": KEY, "metadata": {"key": KEY}}


def defend(bank: RestBank, action: str, *, enabled: bool = True) -> None:
    policy = {"enabled": enabled, "rules": [{"on": "sensitive_data", "action": action}]}
    bank.patch("/config", {"updates": {"memory_defense": policy}})


def everything(bank: RestBank) -> str:
    """All that the bank tells about its document and facts."""
    told = [bank.get("/documents/one"), bank.get("/documents/one/chunks"), bank.get("/memories/list")]
    return json.dumps([*told, bank.post("/memories/recall", {"query": "凭证 Ada"})], ensure_ascii=False)


def test_nothing_is_redacted_until_a_bank_says_so(bank: RestBank) -> None:
    defend(bank, "redact", enabled=False)

    bank.post("/memories", {"items": [ITEM]})

    assert f"凭证为{KEY}。" in everything(bank)


def test_a_bank_that_blocks_takes_only_the_items_without_secrets(bank: RestBank) -> None:
    defend(bank, "block")

    bank.post("/memories", {"items": [ITEM, {"content": "Bob lives in Oslo.", "document_id": "two"}]})

    assert [each["id"] for each in bank.get("/documents")["items"]] == ["two"]
    for later in (False, True):
        refused = bank.ask("POST", "/memories", json={"items": [ITEM], "async": later})
        assert_refused(refused, 422, "memory_defense", "stripe_secret")
        assert KEY not in refused.text
