"""What a retain has to read: where its texts belong in their documents, in which chunks, and which of those are known.

Pure: it is made of the request, the configuration of the bank and the documents as they stand.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from application.ports import RetainedChunk, StoredChunk, StoredDocument
from application.retain_asked import AskedItem, asked_item
from domain.bank_config import BankConfig
from domain.chunking import chunks_of
from domain.memory import Chunk
from domain.refusals import DocumentTextNotStored
from domain.retain import (
    BETWEEN,
    Part,
    chunk_ids,
    digest_in,
    items_of,
    leaned_on,
    merged,
    part_item,
    placed,
    replaces,
    texts_of,
)


@dataclass(frozen=True)
class ItemPlan:
    """`chunks` are those of the item; `to_read` those that are read, by their numbers in the document, out of
    `content`."""

    asked: AskedItem
    content: str
    to_read: Sequence[Chunk]


@dataclass(frozen=True)
class DocumentPlan:
    document_id: str
    text: str
    items: Sequence[ItemPlan]
    chunks: Sequence[RetainedChunk]
    parts: Sequence[Part]
    replaces: bool
    resets: bool
    keeps_unplaced: bool
    text_stored: bool


@dataclass
class _Cut:
    """Chunks of a document in the order of its text: the text, with what it is read, the item it is of if it is of this
    request, else whether it is kept."""

    texts: list[str] = field(default_factory=list)
    read_with: list[str] = field(default_factory=list)
    item: list[int | None] = field(default_factory=list)

    def add(self, text: str, digest: str, item: int | None) -> None:
        self.texts.append(text)
        self.read_with.append(digest)
        self.item.append(item)


def plan_of(
    bank_id: str, items: Sequence[AskedItem], stored: StoredDocument | None, asked: int, *, rereads: bool
) -> DocumentPlan | None:
    """The plan for the items of one document; None when a later request has replaced it already. Raises
    DocumentTextNotStored for an append to a document whose text is not kept."""
    document_id = items[0].document_id
    replacing = replaces(each.item for each in items)
    text_wanted = all(each.config.store_document_text for each in items)
    if not replacing and not (text_wanted and (stored is None or stored.text is not None)):
        raise DocumentTextNotStored(document_id)
    place = placed(_parts_of(stored), asked, replacing=replacing)
    if place == "superseded":
        return None
    before, after = _pieces(stored, place.before), _pieces(stored, place.after)
    text_stored = text_wanted or bool(after)  # what was appended since was appended to a text that is stored
    old = stored.chunks if stored and text_stored else ()  # of a text that is not stored none are known
    cut = _cut_of(items, before, after, old)
    request = BETWEEN.join(each.item.content for each in items)
    own = Part(
        asked=asked,
        length=len(request),
        chunks=sum(item is not None for item in cut.item),
        replaces=replacing,
        items=tuple(part_item(each.item, said_now=each.said_now) for each in items),
    )
    chunks = _numbered(bank_id, document_id, cut, old, rereads=rereads, replacing=replacing)
    return DocumentPlan(
        document_id=document_id,
        text=BETWEEN.join([*(piece.text for piece in before), request, *(piece.text for piece in after)]),
        items=_item_plans(items, (before, after), cut, chunks, alone=len(items) if replacing or not rereads else 0),
        chunks=chunks if text_stored else (),
        parts=merged([*place.before, own, *place.after]),
        replaces=replacing,
        resets=replacing and not place.after,
        keeps_unplaced=not replacing,
        text_stored=text_stored,
    )


def plan_anew(
    bank_id: str, document_id: str, place: int, stored: StoredDocument | None, config: BankConfig, *, rereads: bool
) -> DocumentPlan | None:
    """The plan for reading a document again, each of its items with what it was given with; None for one that is gone.
    Raises DocumentTextNotStored."""
    if stored is None:
        return None
    if stored.text is None:
        raise DocumentTextNotStored(document_id)
    cut, asked, parts, alone = _Cut(), list[AskedItem](), list[Part](), 0
    for part, items in zip(_parts_of(stored), items_of(document_id, stored.text, _parts_of(stored)), strict=True):
        first = len(cut.texts)
        for item, said_now in items:
            asked.append(asked_item(place, item, document_id, config, said_now=said_now, rereads=rereads))
            for chunk in _cut(asked[-1], ()):
                cut.add(chunk.text, asked[-1].read_with, len(asked) - 1)
        parts.append(part.model_copy(update={"chunks": len(cut.texts) - first}))
        alone = len(asked) if part.replaces or not rereads else alone
    chunks = _numbered(bank_id, document_id, cut, (), rereads=rereads, replacing=True)
    return DocumentPlan(
        document_id=document_id,
        text=stored.text,
        items=_item_plans(asked, ((), ()), cut, chunks, alone=alone),
        chunks=chunks,
        parts=parts,
        replaces=True,
        resets=False,
        keeps_unplaced=False,
        text_stored=True,
    )


@dataclass(frozen=True)
class _Piece:
    """A part of the document as it stands."""

    text: str
    chunks: Sequence[StoredChunk]


def _parts_of(stored: StoredDocument | None) -> Sequence[Part]:
    """The parts of a document; of one stored before there were parts, all of it is one."""
    if stored is None:
        return ()
    return stored.parts or (Part(asked=0, length=len(stored.text or ""), chunks=len(stored.chunks), replaces=True),)


def _pieces(stored: StoredDocument | None, wanted: Sequence[Part]) -> list[_Piece]:
    if stored is None or not wanted:
        return []
    parts = _parts_of(stored)
    texts = texts_of(stored.text or "", parts)
    pieces: list[_Piece] = []
    start = 0
    for part, text in zip(parts, texts, strict=True):
        if part in wanted:
            pieces.append(_Piece(text, stored.chunks[start : start + part.chunks]))
        start += part.chunks
    return pieces


def _cut_of(
    items: Sequence[AskedItem], before: Sequence[_Piece], after: Sequence[_Piece], old: Sequence[StoredChunk]
) -> _Cut:
    cut = _Cut()
    for piece in before:
        _add_stored(cut, piece)
    for number, each in enumerate(items):
        for chunk in _cut(each, [known.text for known in old if digest_in(known.read_with) == each.read_with]):
            cut.add(chunk.text, each.read_with, number)
    for piece in after:
        _add_stored(cut, piece)
    return cut


def _add_stored(cut: _Cut, piece: _Piece) -> None:
    if piece.chunks:
        for chunk in piece.chunks:
            cut.add(chunk.text, chunk.read_with, None)
    else:
        for new in chunks_of(piece.text):
            cut.add(new.text, "", None)


def _cut(asked: AskedItem, known: Sequence[str]) -> Sequence[Chunk]:
    config = asked.config
    return chunks_of(asked.item.content, config.retain_chunk_size, config.retain_structured_chunk_size, known)


def _numbered(
    bank_id: str, document_id: str, cut: _Cut, old: Sequence[StoredChunk], *, rereads: bool, replacing: bool
) -> list[RetainedChunk]:
    """Chunks of this request are kept that are known by their id and were read with the same. Those of others are, too;
    but what comes after it is read again by a mind that understands it by what stands before."""
    known = {chunk.chunk_id: chunk.read_with for chunk in old}
    own = next((number for number, item in enumerate(cut.item) if item is not None), len(cut.item))
    ids = chunk_ids(bank_id, document_id, cut.texts)
    of_others = {
        str(chunk_id)
        for number, (chunk_id, item) in enumerate(zip(ids, cut.item, strict=True))
        if item is None and (number < own or replacing or not rereads)
    }
    same = {
        str(chunk_id)
        for chunk_id, digest, item in zip(ids, cut.read_with, cut.item, strict=True)
        if item is not None and str(chunk_id) in known and digest_in(known[str(chunk_id)]) == digest
    }
    kept = of_others | _with_all_they_lean_on(same, of_others, known)
    return [
        RetainedChunk(
            chunk_id,
            number,
            text,
            (digest if item is None else known[str(chunk_id)]) if str(chunk_id) in kept else digest_in(digest),
            kept=str(chunk_id) in kept,
        )
        for number, (chunk_id, text, digest, item) in enumerate(
            zip(ids, cut.texts, cut.read_with, cut.item, strict=True)
        )
    ]


def _with_all_they_lean_on(same: Collection[str], others: Collection[str], known: Mapping[str, str]) -> set[str]:
    """The chunks of which all that they lean on are kept as well."""
    kept = set(same)
    while True:
        left = {each for each in kept if all(on in kept or on in others for on in leaned_on(known[each]))}
        if left == kept:
            return kept
        kept = left


def _item_plans(
    items: Sequence[AskedItem],
    beside: tuple[Sequence[_Piece], Sequence[_Piece]],
    cut: _Cut,
    chunks: Sequence[RetainedChunk],
    *,
    alone: int,
) -> list[ItemPlan]:
    """The first `alone` items are understood by themselves. The others are by all that stands before them, those that
    are read alike together, and what comes after is read with the last of them."""
    plans: list[ItemPlan] = []
    before, after = beside
    texts = [piece.text for piece in before]
    to_read = [
        (item, chunk) for item, chunk in zip(cut.item, chunks, strict=True) if not chunk.kept and chunk.text.strip()
    ]
    for numbers in _runs(items, alone=alone):
        own = [items[number].item.content for number in numbers]
        texts.extend(own)
        read: set[int | None] = {*numbers}
        content = BETWEEN.join(own)
        if numbers[0] >= alone:
            content = BETWEEN.join(texts)
            if numbers[-1] == len(items) - 1:
                read.add(None)
                content = BETWEEN.join([content, *(piece.text for piece in after)])
        own_chunks = [Chunk(number=chunk.number, text=chunk.text) for item, chunk in to_read if item in read]
        plans.append(ItemPlan(items[numbers[0]], content, own_chunks))
    return plans


def _runs(items: Sequence[AskedItem], *, alone: int) -> list[list[int]]:
    """Numbers of items that are read at once: each by itself that is understood by itself; of the others those that
    follow each other and were given with the same."""
    runs: list[list[int]] = []
    for number, each in enumerate(items):
        last = items[runs[-1][0]] if runs else each
        alike = last.read_with == each.read_with and last.item.metadata == each.item.metadata
        if number > alone and alike:
            runs[-1].append(number)
        else:
            runs.append([number])
    return runs
