"""A page edited hundreds of times by editors that err in every way that is known of, and one that does not.

Untouched blocks stay as they are, and every fact is in the text, judged irrelevant, pending, or still to be read. The
seed of a failing run is in its name: it replays.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Literal

import pytest

from adapters.offline.editor import OfflineDocumentEditor
from domain.document import (
    AddSection,
    AppendBlock,
    AppendItem,
    Block,
    Document,
    InsertBlock,
    Operation,
    RemoveBlock,
    RenameSection,
    ReplaceBlock,
    ReplaceItem,
    ReplaceSectionBlocks,
    identified,
    ids_of,
)
from domain.editing import EditRequest, Proposal, ProposedEdit, RefusedEdit
from domain.event import Event
from domain.memory import estimated_tokens
from domain.mental_model.commands import ChangeMentalModel, RecordRefresh, RevertContent
from domain.mental_model.decider import decide
from domain.mental_model.events import ContentPreservedNoNewFacts, ContentUnchanged, ContentWritten
from domain.mental_model.record import RefreshRecord
from domain.mental_model.state import Absent, MentalModel, State, evolve
from domain.mental_model.trigger import Trigger
from domain.refusals import Refusal
from tests.support.examples import BANK, MODEL, call, created, recorded
from tests.support.scripted_minds import RECALL, ScriptedEditor, answer_from_all, unusable
from tests.support.world import World

PAGE = """Preamble before any heading.

# 概要 Overview

一行目の文章です。
続きの行。

Setext part
-----------

1. first
   - nested
     - deeper

   second paragraph of the item
2. second

## Limits

| Tier | Cap
|---|---|
| free | 10 |
| team |

```bash
# no heading

echo "$&" \\1
```

<details>
<summary>More</summary>

hidden *text*

</details>

## Log

- begun

## Status

| what | value |
|---|---|
| state | open |
"""
ROUNDS = 300


class ErringEditor(ScriptedEditor):
    """Works each fact into the page, or errs: with a share `errs` of its replies, never thrice in a row."""

    def __init__(self, seed: int, errs: float) -> None:
        super().__init__()
        self.chance = random.Random(seed)
        self.errs = errs
        self.failed_in_a_row = 0

    def propose(self, request: EditRequest) -> Proposal:
        if request.task == "compaction":
            return _reply(*_oldest(request))
        right = [ProposedEdit(_work_in(request, number), (new.fact.id,)) for number, new in enumerate(request.facts)]
        if self.chance.random() >= self.errs or self.failed_in_a_row == 2:
            self.failed_in_a_row = 0
            return _reply(*right)
        err = self.chance.choice(ERRORS)
        self.failed_in_a_row += 1
        return err(request, right, self.chance)


def _reply(*edits: ProposedEdit, refused: tuple[RefusedEdit, ...] = ()) -> Proposal:
    return Proposal(edits, refused, raw="{...}", calls=(call("delta_edit"),))


def _section(document: Document, title: str) -> tuple[str, tuple[Block, ...]]:
    return next(
        (each.id, each.blocks) for each in document.sections if each.heading is not None and each.heading.title == title
    )


def _oldest(request: EditRequest) -> list[ProposedEdit]:
    """Says the list and the table anew without the first half of what is in them."""
    edits = []
    for title in ("Log", "Status"):
        section, (block,) = _section(request.document, title)
        kept = block.prefix + "\n".join(item.source for item in block.items[len(block.items) // 2 :])
        edits.append(ProposedEdit(ReplaceBlock(section_id=section, block_id=block.id, text=kept)))
    return edits


def _work_in(request: EditRequest, number: int) -> Operation:
    text = request.facts[number].fact.text
    _, (log,) = _section(request.document, "Log")
    _, (status,) = _section(request.document, "Status")
    if len(text) % 3 == 0:
        return AppendItem(block_id=status.id, text=f"| {text} | yes |")
    return AppendItem(block_id=log.id, text=text)


Err = Callable[[EditRequest, list[ProposedEdit], random.Random], Proposal]


def _wrong(operation: Callable[[EditRequest], Operation]) -> Err:
    """The right edits, but for the first, in whose place stands a wrong one."""

    def err(request: EditRequest, right: list[ProposedEdit], _chance: random.Random) -> Proposal:
        return _reply(*(ProposedEdit(operation(request), each.facts) for each in right[:1]), *right[1:])

    return err


def _log_id(request: EditRequest) -> str:
    return _section(request.document, "Log")[0]


def _log_block(request: EditRequest) -> str:
    return _section(request.document, "Log")[1][0].id


def _all_in_one_page(request: EditRequest, _right: list[ProposedEdit], _chance: random.Random) -> Proposal:
    return _reply(refused=(RefusedEdit(request.document.render()[:600], "a document, not a list of operations"),))


def _beside_a_bad_one(_request: EditRequest, right: list[ProposedEdit], _chance: random.Random) -> Proposal:
    return _reply(*right, refused=(RefusedEdit('{"op":"move_block"}', "op: unknown"),))


def _breaks(_request: EditRequest, _right: list[ProposedEdit], chance: random.Random) -> Proposal:
    raise unusable(transient=chance.random() < 0.5)


ERRORS: list[Err] = [
    _all_in_one_page,
    _beside_a_bad_one,
    _breaks,
    lambda _request, _right, _chance: _reply(),
    _wrong(lambda request: AppendBlock(section_id=_log_block(request), text="wrong namespace")),
    _wrong(lambda _request: AppendItem(block_id="b00000000", text="no such block")),
    _wrong(lambda request: ReplaceBlock(section_id="status", block_id=_log_block(request), text="- other section")),
    _wrong(lambda request: AppendBlock(section_id=_log_id(request), text=" \n")),
    _wrong(lambda request: AppendBlock(section_id=_log_id(request), text="## Limits\n\nstolen heading")),
    _wrong(lambda request: AppendItem(block_id=_log_block(request), text="```\nnever closed")),
    _wrong(lambda request: AppendItem(block_id=_log_block(request), text="- * doubled marker")),
    _wrong(lambda request: AppendItem(block_id=_log_block(request), text="")),
    _wrong(lambda request: InsertBlock(section_id=_log_id(request), after_block_id="limits", text="nowhere")),
    _wrong(lambda _request: RenameSection(section_id="log-2", new_heading="Gone")),
    _wrong(lambda _request: AddSection(heading="", blocks=("no heading",))),
    _wrong(lambda request: RemoveBlock(section_id=_log_id(request), block_id="limits")),
    _wrong(lambda request: ReplaceItem(block_id=_log_block(request), item_id="i00000000", text="nobody")),
    _wrong(lambda _request: ReplaceSectionBlocks(section_id="no-such", blocks=("lost",))),
]


class Soak:
    """A mental model alone with its memory: one fact is retained and one refresh made, round after round."""

    def __init__(self, editor: ScriptedEditor | OfflineDocumentEditor, max_tokens: int = 100_000) -> None:
        self.world = World()
        self.world.deltas._editor = editor
        self.events: list[Event] = []
        self.state: State = Absent()
        self.take(created(trigger=Trigger(mode="delta"), max_tokens=max_tokens))
        self.do(ChangeMentalModel(BANK, MODEL, content=PAGE))

    @property
    def model(self) -> MentalModel:
        assert isinstance(self.state, MentalModel)
        return self.state

    def do(self, command: ChangeMentalModel | RecordRefresh | RevertContent) -> None:
        decided = decide(command, self.state)
        assert not isinstance(decided, Refusal)
        for event in decided:
            self.take(event)

    def take(self, event: Event) -> None:
        self.events.append(event)
        self.state = evolve(self.state, recorded(event, len(self.events)))

    def refresh(self, override: Literal["full"] | None = None) -> Event:
        """Asks and records; returns what came of it."""
        run = self.world.executor.execute(self.model, override)
        self.do(RecordRefresh(BANK, MODEL, self.model.created_at, run))
        return self.events[-1]

    def records(self) -> list[RefreshRecord]:
        """Of the refreshes that ended well."""
        ended = ContentWritten | ContentUnchanged | ContentPreservedNoNewFacts
        return [event.record for event in self.events if isinstance(event, ended)]


def untouched(text: str) -> list[str]:
    """The bytes of everything before the section that is edited, and its heading."""
    return text.partition("## Log")[0].splitlines(keepends=True)


def accounted(soak: Soak) -> None:
    """Every fact up to the covered position is in the text (some piece rests on it), irrelevant, or pending."""
    settled: dict[int, str] = {}
    for record in soak.records():
        assert record.delta is not None
        settled.update({each.position: each.verdict for each in record.delta.readings})
    model = soak.model
    assert set(settled) == set(range(1, model.covered + 1))
    assert {position for position, verdict in settled.items() if verdict == "pending"} == set(model.pending)
    grounds = {fact_id for piece in model.outline for fact_id in piece.facts}
    integrated = {soak.world.fact(position).id for position, verdict in settled.items() if verdict == "integrated"}
    assert integrated == grounds
    assert {each.fact_id for each in model.evidence} == grounds


@pytest.mark.parametrize("seed", range(3))
def test_hundreds_of_edits_by_an_erring_editor_lose_nothing(seed: int) -> None:
    soak = Soak(ErringEditor(seed, errs=0.5))
    outcomes: set[str] = set()
    for number in range(ROUNDS):
        soak.world.knows(f"Fact {number} of seed {seed}{'!' * (number % 4)}")
        before = soak.model
        event = soak.refresh()
        after = soak.model
        outcomes.add(event.TOPIC)
        assert untouched(after.content) == untouched(PAGE)
        ids = tuple(piece.id for piece in after.outline)
        assert ids_of(identified(after.content, ids)) == ids
        if not isinstance(event, ContentWritten):
            assert after.content == before.content
        if "refresh_failed" in event.TOPIC:
            assert (after.covered, after.pending, after.evidence) == (before.covered, before.pending, before.evidence)
    accounted(soak)
    assert outcomes == {
        "mental_model.content_written",
        "mental_model.content_unchanged",
        "mental_model.refresh_failed_delta_not_applied",
    }


def test_when_the_editor_stops_erring_nothing_is_left_pending() -> None:
    editor = ErringEditor(9, errs=0.6)
    soak = Soak(editor)
    for number in range(60):
        soak.world.knows(f"Fact {number} of many")
        soak.refresh()
    editor.errs = 0.0
    soak.world.knows("The last fact")
    soak.refresh()
    accounted(soak)
    assert (soak.model.pending, soak.model.covered) == ((), 61)


def test_hundreds_of_edits_without_a_model_keep_every_fact() -> None:
    soak = Soak(OfflineDocumentEditor())
    for number in range(ROUNDS):
        soak.world.knows(f"Fact {number} is that day {number} was dry.")
        soak.refresh()
        assert untouched(soak.model.content) == untouched(PAGE)
    accounted(soak)
    assert all(f"Fact {number} is that day {number} was dry." in soak.model.content for number in range(ROUNDS))


@pytest.mark.parametrize("offline", [False, True], ids=["erring", "without a model"])
def test_tk_02_a_page_with_a_budget_does_not_grow_without_bound(offline: bool) -> None:
    soak = Soak(OfflineDocumentEditor() if offline else ErringEditor(5, errs=0.3), max_tokens=600)
    largest = 0
    for number in range(200):
        soak.world.knows(f"Fact {number} is about a rather long and winding matter of no great import at all.")
        event = soak.refresh()
        largest = max(largest, estimated_tokens(soak.model.content))
        assert untouched(soak.model.content) == untouched(PAGE)
        if isinstance(event, ContentWritten):
            assert soak.model.evidence[-1].fact_id in {fact for piece in soak.model.outline for fact in piece.facts}
    assert largest < 900
    assert estimated_tokens(soak.model.content) <= 700


def test_what_was_edited_so_often_is_written_anew_when_asked() -> None:
    soak = Soak(ErringEditor(1, errs=0.0))
    soak.world.knows("One fact", "Another fact")
    soak.refresh()
    soak.world.policy.script = [RECALL, answer_from_all]
    soak.refresh("full")
    assert sorted(soak.model.content.splitlines()) == ["- Another fact", "- One fact"]
