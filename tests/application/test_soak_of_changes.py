"""A page whose facts come and go, whose scope changes, and which people edit and put back, also while it is refreshed.

After every refresh that ended well: what is known in the scope is in the text, pending, or was taken out by a person;
what is not known any more is not in the text; and every fact that a piece rests on is cited.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

import pytest

from application.mental_models import stood
from domain.document import AddSection, AppendItem, Document, Item, Operation, RemoveItem, ReplaceItem, ids_of
from domain.editing import EditRequest, Proposal, ProposedEdit
from domain.event import Event
from domain.memory import Fact, RetainItem
from domain.mental_model.commands import ChangeMentalModel, RecordRefresh, RevertContent
from domain.mental_model.events import ContentPreservedNoNewFacts, ContentUnchanged, ContentWritten
from domain.mental_model.record import RefreshRecord
from domain.refresh.present import document_of
from domain.refresh.retraction import OUT_OF_SCOPE
from domain.scope import admits
from tests.application.test_soak import Soak
from tests.support.examples import BANK, MODEL, recorded
from tests.support.scripted_minds import ScriptedEditor, unusable

TAGS = [("a",), ("a",), ("a", "b"), ("b",)]
SCOPES = [("a",), ("b",), ("a", "b"), ()]
FACT = re.compile(r"F\d+\.")


def items(document: Document) -> Iterator[tuple[str, Item]]:
    for section in document.sections:
        for block in section.blocks:
            for item in block.items:
                yield block.id, item


def told_in(text: str) -> set[str]:
    return set(FACT.findall(text))


class ChangingEditor(ScriptedEditor):
    """Adds every fact as an item or to one, sometimes in the wrong place; takes back exactly what it is asked to."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self.chance = chance

    def propose(self, request: EditRequest) -> Proposal:
        if self.chance.random() < 0.1:
            raise unusable(transient=True)
        edits = self._take_back(request) if request.task == "retraction" else self._work_in(request)
        return Proposal(tuple(edits), raw="{...}")

    def _take_back(self, request: EditRequest) -> Iterator[ProposedEdit]:
        for block_id, item in items(request.document):
            gone = [each for each in request.retracted if each.text in told_in(item.source)]
            left = " ".join(sorted(told_in(item.source) - {each.text for each in gone}))
            operation: Operation = RemoveItem(block_id=block_id, item_id=item.id)
            if left:
                operation = ReplaceItem(block_id=block_id, item_id=item.id, text=left)
            if gone:
                yield ProposedEdit(operation, tuple(each.fact_id for each in gone))

    def _work_in(self, request: EditRequest) -> Iterator[ProposedEdit]:
        there = list(items(request.document))
        self.chance.shuffle(there)
        lists = [block_id for block_id, _ in there]
        for new in request.facts:
            text = new.fact.text
            if text in told_in(request.document.render()):
                continue
            operation: Operation = AddSection(heading="More", blocks=(f"- {text}",))
            if self.chance.random() < 0.15:
                operation = AppendItem(block_id="b999", text=text)
            elif there and self.chance.random() < 0.2:
                block_id, item = there.pop()
                operation = ReplaceItem(block_id=block_id, item_id=item.id, text=f"{item.source[2:].strip()} {text}")
            elif lists:
                operation = AppendItem(block_id=lists[0], text=text)
            yield ProposedEdit(operation, (new.fact.id,))


class Changes:
    """What may happen to the page between two refreshes, and during one."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.soak = Soak(ChangingEditor(self.chance))
        self.soak.do(ChangeMentalModel(BANK, MODEL, tags=("a",), content="# Log\n\n- begun\n"))
        self.known: list[str] = []
        self.learned = 0
        self.taken_out: set[str] = set()
        """By a person."""

    def learn(self) -> None:
        self.learned += 1
        self.known.append(f"F{self.learned}.")
        self._retain(self.known[-1], self.known[-1], self.chance.choice(TAGS))

    def forget(self) -> None:
        if self.known:
            self._retain(self.known.pop(self.chance.randrange(len(self.known))), "")

    def change_scope(self) -> None:
        self.soak.do(ChangeMentalModel(BANK, MODEL, tags=self.chance.choice(SCOPES)))

    def write_by_hand(self) -> None:
        lines = self.soak.model.content.splitlines(keepends=True)
        places = [place for place, line in enumerate(lines) if line.startswith("- ")]
        if places and self.chance.random() < 0.5:
            self.taken_out |= told_in(lines.pop(self.chance.choice(places)))
        else:
            lines.append(f"\nBy hand {self.chance.randrange(1000)}\n")
        if text := "".join(lines).strip():
            self.soak.do(ChangeMentalModel(BANK, MODEL, content=f"{text}\n"))

    def revert(self) -> None:
        events = [recorded(event, version) for version, event in enumerate(self.soak.events, start=1)]
        at = stood(MODEL, events, self.chance.choice([each.version for each in events if _is_text(each.event)]))
        if at.model.content.strip():
            self.soak.do(RevertContent(BANK, MODEL, at.version, at.model))
            everything = {f"F{number}." for number in range(1, self.learned + 1)}
            self.taken_out |= everything - told_in(at.model.content)

    def some(self, often: float) -> None:
        usual: list[Callable[[], None]] = [self.learn] * 4 + [self.forget] * 2 + [self.write_by_hand]
        while self.chance.random() < often:
            rare = self.chance.choice([self.change_scope, self.revert])
            (rare if self.chance.random() < 0.1 else self.chance.choice(usual))()

    def refresh(self) -> tuple[Event, bool]:
        """What came of a refresh, and whether the text was still the same when that was decided."""
        model = self.soak.model
        run = self.soak.world.executor.execute(model)
        self.some(0.25)
        same = self.soak.model.content == model.content
        self.soak.do(RecordRefresh(BANK, MODEL, model.created_at, run))
        return self.soak.events[-1], same

    def _retain(self, document: str, text: str, tags: tuple[str, ...] = ()) -> None:
        world = self.soak.world
        world.memories.retain(world.context, BANK, [RetainItem(content=text, document_id=document, tags=tags)])


def _is_text(event: Event) -> bool:
    return event.TOPIC.startswith("mental_model.content_")


def in_scope(changes: Changes, record: RefreshRecord) -> list[Fact]:
    """What was known in the scope of a refresh when it began."""
    current = changes.soak.world.memory._current_at(BANK, record.window.upto)
    return [fact for fact in current if admits(record.scope.scope, fact.tags, fact.fact_type)]


def is_accounted_for(changes: Changes, record: RefreshRecord, same_text: bool) -> None:
    model = changes.soak.model
    known = in_scope(changes, record)
    pending = {fact.text for fact in known if fact.position in model.pending}
    texts = {fact.text for fact in known}
    assert texts <= told_in(model.content) | pending | changes.taken_out
    not_taken_back = (
        record.retraction is not None and bool(record.retraction.fact_ids) and not record.retraction.applied
    )
    if same_text and not not_taken_back and OUT_OF_SCOPE not in record.warnings:
        assert told_in(model.content) <= texts
    assert {fact_id for piece in model.outline for fact_id in piece.facts} <= {each.fact_id for each in model.evidence}
    assert tuple(piece.id for piece in model.outline) == ids_of(document_of(model))


@pytest.mark.parametrize("seed", range(20))
def test_whatever_happens_to_a_page_its_facts_are_accounted_for(seed: int) -> None:
    changes = Changes(seed)
    ended = 0
    for _ in range(40):
        changes.some(0.6)
        event, same_text = changes.refresh()
        if isinstance(event, ContentWritten | ContentUnchanged | ContentPreservedNoNewFacts):
            is_accounted_for(changes, event.record, same_text)
            ended += 1
    assert ended > 20
