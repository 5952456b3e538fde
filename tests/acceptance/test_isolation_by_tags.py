"""No memory, observation, page, chunk or directive of another's tag is seen: random tags and filters, real storage."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from adapters.app import build
from adapters.engines import Minds
from adapters.offline.editor import OfflineDocumentEditor
from adapters.offline.reflect import OfflineReflectPolicy
from adapters.service import Service, opened
from adapters.settings import Settings
from application.ports import Extraction, RetainSteering
from domain.memory import Chunk, ExtractedFact, RetainItem
from domain.mental_model.trigger import Trigger
from domain.scope import Scope, TagGroup, admits, refresh_scope
from tests.support.live_server import live_server
from tests.support.rest import RestBank
from tests.support.services import run_pending

OBSERVED = "Observed: "
TAGS = ("user:ada", "user:eve", "work", "home")
MARK = re.compile(r"zq[a-z]{6}qz")
MODES = ("any", "all", "any_strict", "all_strict", "exact")


class Sentences:
    """FactExtractor: an item is one fact, an observation when it says so."""

    rereads = True

    def extract(
        self, item: RetainItem, *, steering: RetainSteering, now: datetime, chunks: Sequence[Chunk] | None = None
    ) -> Extraction:
        del steering, now
        observed = item.content.startswith(OBSERVED)
        number = chunks[0].number if chunks else None
        return Extraction(
            [ExtractedFact(text=item.content, fact_type="observation" if observed else "world", chunk=number)]
        )


@pytest.fixture(scope="module")
def served(shared_conninfo: str) -> Iterator[tuple[Service, httpx.Client]]:
    minds = Minds(Sentences(), OfflineReflectPolicy(), OfflineDocumentEditor())
    with (
        opened(build(Settings(_env_file=None), shared_conninfo, minds=minds)) as service,
        live_server(service, run_worker=False) as address,
        httpx.Client(base_url=address, timeout=30) as client,
    ):
        yield service, client


def marked(number: int) -> str:
    """A word that no other text has."""
    letters = "".join(chr(ord("a") + (number // 26**place) % 26) for place in range(6))
    return f"zq{letters}qz"


tag_sets = st.lists(st.sampled_from(TAGS), max_size=3, unique=True)
some_tags = st.lists(st.sampled_from(TAGS), min_size=1, max_size=2, unique=True)
leaves = st.builds(lambda tags, match: {"tags": tags, "match": match}, some_tags, st.sampled_from(MODES))
nested = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=2).map(lambda each: {"and": each}),
        st.lists(inner, min_size=1, max_size=2).map(lambda each: {"or": each}),
        inner.map(lambda each: {"not": each}),
    ),
    max_leaves=4,
)
flat = st.builds(lambda tags, match: {"tags": tags, "tags_match": match}, some_tags, st.sampled_from(MODES))
groups = st.lists(nested, min_size=1, max_size=2)
filters = st.one_of(flat, groups.map(lambda each: {"tag_groups": each}))
triggers = st.one_of(
    st.just({}),
    st.sampled_from(MODES).map(lambda each: {"tags_match": each}),
    groups.map(lambda each: {"tag_groups": each}),
)
_GROUPS = TypeAdapter(tuple[TagGroup, ...])


def scope_of(asked: dict[str, Any]) -> Scope:
    if "tag_groups" in asked:
        return Scope(tag_groups=_GROUPS.validate_python(asked["tag_groups"]))
    return Scope(tags=tuple(asked["tags"]), tags_match=asked["tags_match"])


def read_by(tags: list[str], trigger: dict[str, Any]) -> Scope:
    """What a page reads."""
    told = Trigger.model_validate(trigger)
    return refresh_scope(tuple(tags), told.tags_match, told.tag_groups, None)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    facts=st.lists(st.tuples(tag_sets, st.booleans()), min_size=2, max_size=7),
    pages=st.lists(st.tuples(tag_sets, triggers), max_size=3),
    directives=st.lists(some_tags, max_size=2),
    asked=filters,
)
def test_nothing_of_anothers_tags_is_ever_told(
    served: tuple[Service, httpx.Client],
    facts: list[tuple[list[str], bool]],
    pages: list[tuple[list[str], dict[str, Any]]],
    directives: list[list[str]],
    asked: dict[str, Any],
) -> None:
    service, client = served
    bank = RestBank(client, f"bank-{uuid4().hex[:12]}")
    tags_of: dict[str, list[str]] = {}

    def text(tags: list[str], opening: str) -> str:
        mark = marked(len(tags_of) + 1)
        tags_of[mark] = tags
        return f"{opening}The bridge over the river is {mark}."

    names = [marked(len(facts) + number + 1) for number in range(len(pages))]
    for number, (tags, observed) in enumerate(facts):
        bank.retain(text(tags, OBSERVED if observed else ""), tags=tags, document_id=f"doc-{number}")
    for number, (tags, trigger) in enumerate(pages):
        bank.post(
            "/mental-models",
            {
                "id": f"page-{number}",
                "name": text(tags, ""),
                "source_query": "What is the bridge?",
                "tags": tags,
                "trigger": trigger,
            },
        )
    for tags in directives:
        bank.post("/directives", {"name": text(tags, ""), "content": text(tags, ""), "tags": tags})
    run_pending(service, bank.bank_id)
    service.page_vectors.catch_up(bank.bank_id)

    scope = scope_of(asked)
    allowed = {mark for mark, tags in tags_of.items() if admits(scope, tags, "world")}
    told = {
        "recall": bank.post(
            "/memories/recall", {"query": "the bridge over the river", "include": {"chunks": {}}, **asked}
        ),
        "reflect": bank.post(
            "/reflect",
            {
                "query": "What is the bridge over the river?",
                "budget": "high",
                "include": {"facts": {}, "tool_calls": {}},
                **asked,
            },
        ),
    }
    for where, answer in told.items():
        assert set(MARK.findall(json.dumps(answer))) <= allowed, where
    if any(admits(scope, tags, "world") for tags, _ in facts):
        assert MARK.search(told["reflect"]["text"]), "what may be told is told"
    for number, (tags, trigger) in enumerate(pages):
        read = read_by(tags, trigger)
        own = {mark for mark, had in tags_of.items() if admits(read, had, "world")} | {names[number]}
        preview = bank.post(f"/mental-models/page-{number}/dry-run-refresh")
        for page in (bank.get(f"/mental-models/page-{number}"), preview):
            assert set(MARK.findall(json.dumps(page))) <= own, (tags, trigger)


def test_ts_05_nested_groups_hold_in_every_search(served: tuple[Service, httpx.Client]) -> None:
    """TS-05: what of Alice's is of work or of home and not archived, in each call of a reflect and of a refresh."""
    service, client = served
    bank = RestBank(client, f"bank-{uuid4().hex[:12]}")
    groups = [
        {"and": [{"tags": ["user:alice"]}, {"or": [{"tags": ["work"]}, {"tags": ["home"]}]}]},
        {"not": {"tags": ["archived"]}},
    ]
    texts = {
        "Alice runs the bridge project.": ["user:alice", "work"],
        "Observed: Alice paints the bridge at home.": ["user:alice", "home"],
        "Alice closed the bridge.": ["user:alice", "work", "archived"],
        "Bob sold the bridge.": ["user:bob", "work"],
        "Alice dreams of a bridge.": ["user:alice"],
        "Someone burned the bridge.": [],
    }
    for number, (text, tags) in enumerate(texts.items()):
        bank.retain(text, tags=tags, document_id=f"doc-{number}")
    allowed, hidden = list(texts)[:2], list(texts)[2:]
    bank.post(
        "/mental-models", {"id": "bobs", "name": "Bridge of Bob", "source_query": "Bridge?", "tags": ["user:bob"]}
    )
    bank.post(
        "/mental-models",
        {"id": "page", "name": "Bridge", "source_query": "What about the bridge?", "trigger": {"tag_groups": groups}},
    )
    run_pending(service, bank.bank_id)
    answer = bank.post(
        "/reflect",
        {
            "query": "What about the bridge?",
            "tag_groups": groups,
            "include": {"facts": {}, "tool_calls": {}},
            "budget": "high",
        },
    )
    assert [call["tool"] for call in answer["trace"]["tool_calls"]] == ["search_observations", "recall"]
    preview = bank.post("/mental-models/page/dry-run-refresh")
    assert [call["tool"] for call in preview["trace"]["tool_calls"]] == ["search_observations", "recall"]
    for told in (answer, preview, bank.get("/mental-models/page")):
        written = json.dumps(told)
        assert all(text in written for text in allowed)
        assert not any(text in written or "of Bob" in written for text in hidden)
