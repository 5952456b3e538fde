"""The document a model delivers with `done`, as markdown. Accepted shapes: spec of the system of reference, "Building
from the agent's done.document". What does not fit is refused with all its errors at once, never guessed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from adapters.llm.aliases import Cited, Uncited
from adapters.llm.replies import json_in
from domain.candidate import is_blank

_USUAL_LEVEL = 2
_ENVELOPE = {"answer_found", "memory_ids", "directive_compliance"}
"""Keys that only the envelope of a reply has; a block with them is a reply that ended up in the document."""


class DocumentRefused(Exception):
    """The document is of no accepted shape; `errors` has one line for each field at fault."""

    def __init__(self, *errors: str) -> None:
        super().__init__("; ".join(errors))
        self.errors = list(errors)


@dataclass
class Delivered:
    """A document as it grows: its markdown, and what is cited where in it."""

    markdown: str = ""
    cited: list[Cited] = field(default_factory=list)

    def add(self, part: Uncited) -> None:
        """A heading line or block; the citations of an empty one speak for what stands before it."""
        if is_blank(part.text):
            self.cited += [Cited(len(self.markdown), name) for _, name in part.cited]
            return
        if self.markdown:
            self.markdown += "\n\n"
        self.cited += [Cited(len(self.markdown) + offset, name) for offset, name in part.cited]
        self.markdown += part.text


def markdown_of(document: object, clean: Callable[[str], Uncited]) -> Delivered:
    """The document as markdown, "" for an empty one. `clean` takes the citations out of each heading and block.

    Raises DocumentRefused.
    """
    errors: list[str] = []
    delivered = Delivered()
    for index, section in enumerate(_sections(document)):
        for part in _section(section, f"sections[{index}]", clean, errors):
            delivered.add(part)
    if errors:
        raise DocumentRefused(*errors)
    if delivered.markdown:
        delivered.markdown += "\n"
    return delivered


def _sections(document: object) -> list[Any]:
    """The sections of a document given as an object, a list of them, one bare section, or any of these as JSON text."""
    value = _decoded(document) if isinstance(document, str) else document
    if value is None or value in ("", {}):
        return []
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        raise DocumentRefused(f"document: must be an object with `sections`, not {_kind(value)}")
    if "sections" not in value:
        if isinstance(value.get("blocks"), list):
            return [value]
        raise DocumentRefused("document: must have a list `sections`")
    sections = value["sections"]
    if sections is not None and not isinstance(sections, list):
        raise DocumentRefused(f"sections: must be a list, not {_kind(sections)}")
    return sections or []


def _decoded(text: str) -> object:
    """JSON text decoded, also when it was encoded twice; other text stays text."""
    value: object = text
    for _ in range(2):
        if not isinstance(value, str):
            break
        decoded = _unquoted(value) if value.strip().startswith('"') else json_in(value)
        value = value if decoded is None else decoded
    return value


def _unquoted(text: str) -> object:
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return text


def _section(section: object, path: str, clean: Callable[[str], Uncited], errors: list[str]) -> list[Uncited]:
    """Heading line and blocks of a section; errors are added to `errors`."""
    if not isinstance(section, dict):
        errors.append(f"{path}: must be an object with heading, level and blocks, not {_kind(section)}")
        return []
    heading, blocks = section.get("heading"), section.get("blocks")
    if heading is not None and not isinstance(heading, str):
        errors.append(f"{path}.heading: must be text, not {_kind(heading)}")
        heading = None
    if blocks is not None and not isinstance(blocks, list):
        errors.append(f"{path}.blocks: must be a list of texts, not {_kind(blocks)}")
        blocks = None
    parts = [_heading_line(clean(heading or ""), section.get("level"))]
    for index, block in enumerate(blocks or []):
        if error := _block_error(block):
            errors.append(f"{path}.blocks[{index}]: {error}")
        else:
            parts.append(_without_blank_edges(clean(block)))
    return parts


def _heading_line(heading: Uncited, level: object) -> Uncited:
    """The heading on one line; what is cited in it stands at its end."""
    title = " ".join(part.strip() for part in heading.text.lstrip("# \t").splitlines()).strip()
    depth = min(max(level, 1), 6) if isinstance(level, int) and not isinstance(level, bool) else _USUAL_LEVEL
    line = "" if is_blank(title) else f"{'#' * depth} {title}"
    return Uncited(line, tuple(Cited(len(line), name) for _, name in heading.cited))


def _block_error(block: object) -> str | None:
    if not isinstance(block, str):
        return f"must be text, not {_kind(block)}"
    envelope = json_in(block) if block.lstrip().startswith("{") else None
    if isinstance(envelope, dict) and _ENVELOPE & envelope.keys():
        return "must be markdown, not the JSON of a reply"
    return None


def _without_blank_edges(block: Uncited) -> Uncited:
    lines = block.text.split("\n")
    dropped = 0
    while lines and not lines[0].strip():
        dropped += len(lines.pop(0)) + 1
    while lines and not lines[-1].strip():
        del lines[-1]
    text = "\n".join(lines)
    return Uncited(text, tuple(Cited(min(max(at - dropped, 0), len(text)), name) for at, name in block.cited))


def _kind(value: object) -> str:
    names = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return names.get(type(value), "null")
