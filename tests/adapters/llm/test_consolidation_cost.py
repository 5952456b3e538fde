"""What it costs to work one fact into observations: counted with a real tokenizer, over what is really sent."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from adapters.llm.consolidation import LlmConsolidator
from adapters.llm.consolidation_tool import CONSOLIDATE_TOOL
from adapters.llm.endpoint import Endpoint
from domain.consolidation import ConsolidationRequest, RelatedObservation
from domain.memory import Fact
from tests.adapters.llm.found_facts import ASKED_AT, fact
from tests.adapters.llm.test_editing_cost import prompt_of, tokenizer
from tests.support.scripted_llm import ScriptedLlm, changes

BATCH = 8
MOST_TOKENS_A_FACT = 600
REFERENCE_TOKENS_A_FACT = 2360
MOST_TOKENS_OF_THE_TOOL = 130

SAID = [
    "Marta moved the release of the wallet service from Tuesday to Thursday because the load test was not finished.",
    "The support team in Lisbon answers tickets in Portuguese and Spanish from eight in the morning until six.",
    "Jonas prefers written decisions and asks for a short summary in the channel after every architecture meeting.",
    "The separate rate limit for wallet top-ups went live in March 2024, and 99 percent of them take 0.8 seconds.",
    "Ada is allergic to peanuts, which is why the autumn party was moved from the Thai place to the bakery.",
    "Backups of the ledger are written to two regions every six hours and are restored once a month as a test.",
    "Priya took over the on-call rota from Tom in April and shortened the shifts from a week to four days.",
    "The mobile app dropped support for Android 9 after its share of the active users fell below two percent.",
    "Marta said that the vendor of the card terminals raised its fee to 1.4 percent for all payments above 50 euros.",
    "The design group meets on Wednesdays, keeps its notes in the shared folder, and records no video of meetings.",
]
"""About 25 tokens each."""


def tokens(of: str) -> int:
    return len(tokenizer().encode(of, add_special_tokens=False).ids)


def dated(number: int) -> Fact:
    day = datetime(2024, 3, 1, 9, 30, tzinfo=UTC) + timedelta(days=number)
    text = SAID[number % len(SAID)].replace("Thursday", f"week {number}")
    return fact(number, text, mentioned_at=day, occurred=(day, day) if number % 3 == 0 else (None, None))


def related(number: int, sources: int) -> RelatedObservation:
    """An observation of about 51 tokens, as ten of them are related observations of 512 tokens."""
    text = f"{SAID[number - 1]} {SAID[number % len(SAID)]}"
    observation = fact(100 + number, text, mentioned_at=ASKED_AT, occurred=(ASKED_AT, ASKED_AT))
    return RelatedObservation(
        observation=observation, sources=tuple(dated(200 + 20 * number + each) for each in range(sources))
    )


def prompt_tokens(llm: ScriptedLlm, endpoint: Endpoint, observations: Sequence[RelatedObservation]) -> int:
    facts = tuple(dated(number) for number in range(1, BATCH + 1))
    request = ConsolidationRequest(
        scope=("team",),
        facts=facts,
        related=tuple(observations),
        mission="How the team works, what it decides and why.",
        room=100,
        asked_at=ASKED_AT,
    )
    llm.script(changes())
    LlmConsolidator(endpoint).consolidate(request)
    return tokens(prompt_of(llm.requests[-1]))


def test_a_fact_of_a_batch_costs_a_quarter_of_the_reference_all_in(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    few = prompt_tokens(llm, endpoint, [related(number, sources=3) for number in range(1, 11)])
    many = prompt_tokens(llm, endpoint, [related(number, sources=16) for number in range(1, 11)])

    sys.stdout.write(
        f"prompt tokens a fact: {few / BATCH:.0f}, with all sources that are ever shown {many / BATCH:.0f}\n"
    )
    assert sum(tokens(each) for each in SAID) / len(SAID) >= 24
    assert many / BATCH <= 0.85 * MOST_TOKENS_A_FACT
    assert many / BATCH <= REFERENCE_TOKENS_A_FACT / 4


def test_the_tool_is_small() -> None:
    assert tokens(json.dumps(CONSOLIDATE_TOOL, separators=(",", ":"))) <= MOST_TOKENS_OF_THE_TOOL
