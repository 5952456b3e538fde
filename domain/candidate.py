"""What a text that a model offers as a document must not be: nothing, a stand-in, a refusal, or the shell of a reply.

Such a text never replaces a document. Sources: spec of the system of reference, refresh pipeline, section "guards, in
order"; field cases RS-02, RS-04 and RS-10. All checks read only what they must, and would rather let a doubtful text
pass than hold back a real document.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from typing import Any, Final, Literal

from domain.document import Block, BlockKind, Document
from domain.non_answer import is_placeholder, is_refusal

Fault = Literal["blank", "heading_only", "placeholder", "refusal", "envelope"]


def fault_of(text: str, document: Document) -> Fault | None:
    """What is wrong with `text`, of which `document` is the parse; None when it can be a document."""
    if is_blank(text):
        return "blank"
    if is_envelope(text):
        return "envelope"
    if not _shows_anything(document):
        return "heading_only" if _has_heading(document) else "blank"
    if placeholder(text):
        return "placeholder"
    return "refusal" if refusal(text) else None


# --- nothing to see ---------------------------------------------------------------------------------------------------

_INVISIBLE: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that are drawn as nothing: Hangul fillers and the empty Braille cell."""


def is_blank(text: str) -> bool:
    """Nothing a reader would see: whitespace, controls, zero-width characters, and marks on nothing."""
    return all(
        character.isspace() or character in _INVISIBLE or unicodedata.category(character) in ("Cf", "Cc", "Mn")
        for character in text
    )


def _has_heading(document: Document) -> bool:
    return any(section.heading is not None for section in document.sections)


def _shows_anything(document: Document) -> bool:
    return any(_is_seen(block) for section in document.sections for block in section.blocks)


_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_DRAWN_TAG = re.compile(r"<(?:img|svg|video|audio|iframe|embed|object|picture|canvas|input|math)\b", re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>")
_CLOSING_FENCE = re.compile(r"[ \t>]*(?:`{3,}|~{3,})[ \t]*")
_FIRST_LOOK: Final = 2000
"""Characters that nearly always show something; the rest of a long block is read only when they do not."""
_PARTIAL = re.compile(r"<[^<>]*\Z|&#?\w*\Z")
_MARKS: Final[dict[BlockKind, re.Pattern[str]]] = {
    "list": re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))+(?:\[[ xX]\](?:[ \t]+|$))?", re.MULTILINE),
    "quote": re.compile(r"^[ \t>]+", re.MULTILINE),
    "table": re.compile(r"[|:-]"),
}


def _is_seen(block: Block) -> bool:
    if block.kind in ("rule", "reference", "front_matter"):
        return False
    pieces = (block.prefix, *(item.source for item in block.items)) if block.items else (block.source,)
    return any(_shows(piece, block.kind) for piece in pieces)


def _shows(source: str, kind: BlockKind) -> bool:
    content = source.replace("\r\n", "\n").replace("\r", "\n")
    if kind == "fence":
        return not is_blank(_without_fences(content))
    if kind in _MARKS:
        content = _MARKS[kind].sub("", content)
    if kind == "code" or not ("<" in content or "&" in content):
        return not is_blank(content)
    if len(content) > _FIRST_LOOK and _draws(_PARTIAL.sub("", content[:_FIRST_LOOK])):
        return True
    return _draws(content)


def _without_fences(block: str) -> str:
    _, _, content = block.partition("\n")
    before, _, last = content.rpartition("\n")
    return before if _CLOSING_FENCE.fullmatch(last) else content


def _draws(content: str) -> bool:
    without_comments = _COMMENT.sub("", content)
    if _DRAWN_TAG.search(without_comments):
        return True
    return not is_blank(html.unescape(_TAG.sub("", without_comments)))


# --- a stand-in or a refusal ------------------------------------------------------------------------------------------


def placeholder(text: str) -> bool:
    """Whether all of the text, but for headings, stands in for a document: "Generating content...", "TODO", "N/A"."""
    return is_placeholder(text)


def refusal(text: str) -> bool:
    """Whether all of the text, but for headings, says that there is nothing to say: "I cannot find any information"."""
    return is_refusal(text)


# --- the shell of a reply ---------------------------------------------------------------------------------------------

_OPENING_FENCE = re.compile(r"(?:[^\n{}`]{0,80}\n\s*)?(`{3,}|~{3,})[ \t]*\w*[ \t]*\n\s*(?=[{\[])")
"""With a line before it at most: "Here is the answer:"."""
_ANSWER_KEYS: Final = frozenset({"answer", "document", "markdown", "content", "text", "response", "final_answer"})
_REPLY_KEYS: Final = frozenset(
    {"memory_ids", "mental_model_ids", "observation_ids", "directive_compliance", "answer_found", "used", "mentions"}
)
"""The arguments with which a reply is given, beside the answer itself."""
_CALL_KEYS: Final = frozenset({"arguments", "parameters", "input", "tool_input"})
_BROKEN = re.compile(
    r"\{\s*\"(?:answer|answer_found|memory_ids|mental_model_ids|observation_ids|directive_compliance|operations|sections)\""
    r"\s*:"
)


def is_envelope(text: str) -> bool:
    """Whether all of the text is the JSON in which a reply comes (its answer beside ids, operations or sections, or the
    call of a tool), bare or in a code fence, whole or cut off."""
    content = text.strip().lstrip("\ufeff")
    if not content.startswith(("{", "[")):
        content = _without_fence(content.replace("\r\n", "\n"))
    if not content.startswith(("{", "[")):
        return False
    try:
        value = json.loads(content, strict=False)
    except (ValueError, RecursionError):
        return _BROKEN.match(content) is not None
    return _is_reply(value[0] if isinstance(value, list) and value else value)


def _without_fence(text: str) -> str:
    """The JSON in the code fence that the text is; the text itself when it is none, or more than that."""
    opening = _OPENING_FENCE.match(text)
    if opening is None:
        return text
    content = text[opening.end() :]
    end = content.find("\n" + opening[1])
    if end < 0:
        return content
    return content[:end] if content[end:].strip("\n`~ ") == "" else text


def _is_reply(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if value.keys() & _REPLY_KEYS or isinstance(value.get("answer"), str):
        return True
    if "name" in value and value.keys() & _CALL_KEYS:
        return True
    if value.keys() <= _ANSWER_KEYS and any(isinstance(each, str) for each in value.values()):
        return True
    parts = [value.get(name) for name in ("operations", "sections")]
    return any(isinstance(part, list) and all(isinstance(each, dict) for each in part) for part in parts)
