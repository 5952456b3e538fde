"""What operations on items change. All raise Unfit when they cannot be done."""

from dataclasses import replace

from domain.document.edits.draft import Draft
from domain.document.edits.gaps import text_of
from domain.document.edits.item_texts import items_of_text
from domain.document.edits.itemized import rebuilt, with_items, words_of
from domain.document.edits.operations import AppendItem, InsertItem, RemoveItem, ReplaceItem
from domain.document.edits.references import BlockPlace, item_named, itemized_named, require_text
from domain.document.edits.splicing import Splice


def append_item(draft: Draft, operation: AppendItem) -> Splice:
    """The items of the text behind the last of the block."""
    place = itemized_named(draft, operation.block_id)
    require_text(operation.text, "item")
    return items_inserted(draft, place, len(place.block.items), operation.text)


def insert_item(draft: Draft, operation: InsertItem) -> Splice:
    """The items of the text behind the anchor, or first in the block."""
    place = itemized_named(draft, operation.block_id)
    require_text(operation.text, "item")
    anchor = operation.after_item_id
    at = 0 if anchor is None else item_named(draft, place.block, anchor, "after_item_id") + 1
    return items_inserted(draft, place, at, operation.text)


def items_inserted(draft: Draft, place: BlockPlace, at: int, text: str) -> Splice:
    """The items of a text among those of a list or table."""
    sources = items_of_text(text, place.block, at, draft.line_break)
    block = with_items(place.block, at, sources, draft.ids, draft.line_break)
    return Splice(place.at, place.at + 1, [block], texts=("", text_of(block.items[at : at + len(sources)])))


def replace_item(draft: Draft, operation: ReplaceItem) -> Splice:
    """The items of the text in the place of the item; the first keeps its id, and its bytes if its words stay."""
    block, place = itemized_named(draft, operation.block_id)
    require_text(operation.text, "item")
    at = item_named(draft, block, operation.item_id)
    item = block.items[at]
    first, *others = items_of_text(operation.text, block, at, draft.line_break, instead=True)
    if words_of(block, first) != words_of(block, item.source):
        item = replace(item, source=first)
    changed = rebuilt(block, [*block.items[:at], item, *block.items[at + 1 :]])
    if others:
        changed = with_items(changed, at + 1, others, draft.ids, draft.line_break)
    after = text_of(changed.items[at : at + 1 + len(others)])
    return Splice(place, place + 1, [changed], texts=(block.items[at].source, after))


def remove_item(draft: Draft, operation: RemoveItem) -> Splice:
    """Nothing in the place of the item; with the last item, nothing in the place of the block."""
    block, place = itemized_named(draft, operation.block_id)
    at = item_named(draft, block, operation.item_id)
    if len(block.items) == 1:
        return Splice(place, place + 1)
    rest = rebuilt(block, [*block.items[:at], *block.items[at + 1 :]])
    return Splice(place, place + 1, [rest], texts=(block.items[at].source, ""))
