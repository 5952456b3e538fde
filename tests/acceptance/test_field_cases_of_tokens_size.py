"""Reports from the field about sizes: pages that only grow, and texts that break whatever counts or stores them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import httpx
import pytest

from domain.memory import estimated_tokens
from tests.support import scripted_llm as script
from tests.support.rest import assert_refused
from tests.support.scripted_llm import Reply, Request
from tests.support.scripted_pages import PAGE, Page, edit, found_facts, recalls, told_facts, writes

BUDGET, ROUNDS = 300, 24
ITEM = re.compile(r"^\[(i\w+)[^\]]*\] - (.*)$", re.MULTILINE)
LIST = re.compile(r"^\[(b\w+)[^\]]*\]\n\[i", re.MULTILINE)


def told(number: int) -> str:
    """A fact of about forty tokens."""
    return (
        f"On day {number} Ada measured the bridge, noted the wind, the water and the weight of all that had crossed"
        " since the day before, and drew what she saw."
    )


def appends(request: Request) -> Reply:
    """An item for each new fact, at the end of the list."""
    listed = LIST.search(request.text)
    assert listed is not None
    facts = [(name, line.partition("): ")[2]) for name, line in told_facts(request).items()]
    return script.edits(
        *(edit("append_item", block_id=listed[1], text=f"- {text}", facts=(name,)) for name, text in facts)
    )


def removes_oldest_and_newest(request: Request) -> Reply:
    """The oldest items go, and the newest, which must not."""
    listed, items = LIST.search(request.text), ITEM.findall(request.text)
    assert listed is not None
    going = [*items[:3], items[-1]]
    return script.edits(*(edit("remove_item", block_id=listed[1], item_id=item_id, facts=()) for item_id, _ in going))


def writes_the_newest(request: Request) -> Reply:
    """A document of the last five facts."""
    days = {int(text.split()[2]): (name, text) for name, text in found_facts(request).items()}
    newest = [days[day] for day in sorted(days)[-5:]]
    return writes("\n".join(f"- {text} [{name}]" for name, text in newest), used=())


def model(compacts: Callable[[Request], Reply]) -> Callable[[Request], Reply]:
    def answer(request: Request) -> Reply:
        if request.tools == ["recall"]:
            return recalls()
        if "done" in request.tools:
            return writes_the_newest(request)
        if "is longer than its limit" in request.messages[0]["content"]:
            return compacts(request)
        return appends(request)

    return answer


def grown(page: Page) -> list[tuple[int, str]]:
    """Size of the page and mode of the refresh, round by round. What a round tells is on the page after it."""
    rounds = []
    for number in range(1, ROUNDS):
        page.learns(told(number))
        assert page.refreshes()["details"]["outcome"] == "content_written"
        assert told(number) in page.content
        rounds.append((estimated_tokens(page.content), page.record["effective_mode"]))
    return rounds


def test_tk_02_a_page_over_its_budget_is_shortened_and_keeps_what_is_new(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page.llm, "fallback", model(removes_oldest_and_newest))
    page.learns(told(0))
    page.bank.model("page", max_tokens=BUDGET, trigger={"mode": "delta"})
    rounds = grown(page)
    sizes = [size for size, _ in rounds]
    assert max(sizes) <= BUDGET
    assert sizes[-1] > BUDGET / 3, "it is shortened, not emptied"
    assert {mode for _, mode in rounds} == {"delta"}
    asked = [request for request in page.chats if "is longer than its limit" in request.text]
    assert 3 <= len(asked) < ROUNDS
    told_sizes = [line for request in asked for line in request.text.splitlines() if line.startswith("Length:")]
    assert all(f"the limit is {BUDGET}. Come under the limit." in line for line in told_sizes)
    page.learns(told(ROUNDS))
    page.refreshes()
    compacted = [each for each in page.record["delta"]["edits"] if each["edit_pass"] == "compaction"]
    for each in compacted:
        assert each["skipped"] is None or "never loses what is new" in each["skipped"]


def test_tk_02_what_was_just_written_is_never_what_shortens_the_page(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    def removes_newest(request: Request) -> Reply:
        listed, items = LIST.search(request.text), ITEM.findall(request.text)
        assert listed is not None
        return script.edits(edit("remove_item", block_id=listed[1], item_id=items[-1][0], facts=()))

    monkeypatch.setattr(page.llm, "fallback", model(removes_newest))
    page.begins("## Ada\n\n- Ada measures bridges.\n", max_tokens=256)
    for number in range(ROUNDS):
        page.learns(told(number))
        page.refreshes()
        assert told(number) in page.content
        if any("is longer than its limit" in request.text for request in page.chats):
            break
    assert any("never loses what is new" in each for each in page.skipped)
    assert any("over its budget of 256" in each for each in page.record["warnings"])


def test_tk_02_a_page_that_nothing_shortens_is_written_anew(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page.llm, "fallback", model(lambda _request: script.edits()))
    page.learns(told(0))
    page.bank.model("page", max_tokens=BUDGET, trigger={"mode": "delta"})
    rounds = grown(page)
    sizes, modes = [size for size, _ in rounds], [mode for _, mode in rounds]
    assert modes.count("full") >= 2
    one_round = estimated_tokens(f"- {told(ROUNDS)}\n")
    assert max(sizes) <= 1.5 * BUDGET + one_round
    for (before, _), (after, mode) in pairwise(rounds):
        assert (mode == "full") == (before > 1.5 * BUDGET)
        assert mode == "delta" or after <= BUDGET
    events = page.bank.get(f"{PAGE}/events", detail="full")["items"]
    _, anew, *_ = [each["payload"]["record"] for each in events if _written_in_full(each)]
    assert any("had outgrown its budget" in each for each in anew["warnings"])


def test_tk_02_what_a_person_wrote_is_never_written_anew_for_its_length(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays as long as no one shortens it; every refresh says so."""
    monkeypatch.setattr(page.llm, "fallback", model(lambda _request: script.edits()))
    by_hand = "## Ada\n\n" + "".join(f"- {told(day)}\n" for day in range(100, 130))
    page.begins(by_hand, max_tokens=BUDGET)
    assert estimated_tokens(by_hand) > 2 * BUDGET
    grown(page)
    assert page.content.startswith(by_hand)
    assert any(f"over its budget of {BUDGET}" in each for each in page.now["reflect_response"]["warnings"])


def _written_in_full(event: Any) -> bool:
    return (event["payload"].get("record") or {}).get("effective_mode") == "full"


SPECIAL = "Ada writes <|endoftext|>, <|im_start|>system and [INST] in her notes."


def test_tk_08_special_tokens_are_text(page: Page) -> None:
    page.learns(SPECIAL)
    found = page.bank.post("/memories/recall", {"query": "<|endoftext|> notes"})["results"]
    assert [each["text"] for each in found] == [SPECIAL]
    page.lists_all(name="<|endoftext|>", source_query="What does Ada write? <|endoftext|>")
    assert page.now["name"] == "<|endoftext|>"
    assert page.content == f"## Ada\n\n- {SPECIAL}\n"
    page.is_edited(edit("append_block", section_id="ada", text="<|endoftext|>"))
    assert page.content == f"## Ada\n\n- {SPECIAL}\n\n<|endoftext|>\n"
    page.says(f"{SPECIAL}\n")
    assert page.content == f"{SPECIAL}\n"


BAD = {"NUL": "\\u0000", "half a surrogate pair": "\\ud83d tail", "the other half": "tail \\udc00"}
PLACES: dict[str, tuple[str, str, str, str]] = {
    "retain": ("POST", "/memories", '{"items": [{"content": "Ada %s"}]}', "content"),
    "recall": ("POST", "/memories/recall", '{"query": "Ada %s"}', "query"),
    "create": ("POST", "/mental-models", '{"name": "Ada %s", "source_query": "Who?"}', "name"),
    "ask": ("POST", "/mental-models", '{"name": "Ada", "source_query": "Who? %s"}', "source_query"),
    "write": ("PATCH", PAGE, '{"content": "Ada %s"}', "content"),
    "tag": ("PATCH", PAGE, '{"tags": ["Ada %s"]}', "tags"),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("place", PLACES)
def test_tk_08_what_no_database_holds_is_refused(page: Page, place: str, bad: str) -> None:
    page.begins("A page.\n")
    method, path, body, field = PLACES[place]
    answer: httpx.Response = page.bank.ask(
        method, path, content=(body % BAD[bad]).encode(), headers={"Content-Type": "application/json"}
    )
    assert_refused(answer, 422, field)
    assert page.content == "A page.\n"


@pytest.mark.parametrize("bad", BAD)
def test_tk_08_what_a_model_writes_is_made_fit_to_be_kept(page: Page, bad: str) -> None:
    text = json.loads(f'"{BAD[bad]}"')
    page.begins("## Ada\n\nA page.\n")
    page.is_edited(edit("append_block", section_id="ada", text=f"Ada {text} <|endoftext|>"))
    added = page.content.removeprefix("## Ada\n\nA page.\n\n")
    assert added.startswith("Ada ")
    assert added.endswith(" <|endoftext|>\n")
    assert not re.search("[\x00\ud800-\udfff]", added)
    page.refreshes(recalls(), writes(f"Anew {text}."), mode="full")
    assert page.content.startswith("## Ada\n\nAnew ")
