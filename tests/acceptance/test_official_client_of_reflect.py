"""The official client asks a bank a question."""

from __future__ import annotations

from uuid import uuid4

from hindsight_client import Hindsight


def test_an_answer_with_its_facts_and_without(hindsight: Hindsight) -> None:
    bank = f"bank-{uuid4().hex[:12]}"
    hindsight.retain(bank, "Ada drinks green tea.", tags=["user:ada"])
    answer = hindsight.reflect(
        bank, "What does Ada drink?", tags=["user:ada"], tags_match="any_strict", include_facts=True
    )
    assert "green tea" in answer.text
    assert answer.based_on is not None
    assert [fact.text for fact in answer.based_on.memories] == ["Ada drinks green tea."]
    none = hindsight.reflect(bank, "What does Ada drink?", tags=["user:eve"], tags_match="any_strict")
    assert (none.text, none.based_on) == ("", None)
