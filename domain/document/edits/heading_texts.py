"""The headings that operations bring."""

import re

from domain.document.cuts import cut
from domain.document.edits.unfit import Unfit
from domain.document.model import Heading

_LINE_BREAKS = re.compile("[\r\n]+")
_LAST_LINE = re.compile("(?:\r\n|\r|\n)[^\r\n]*$")


def title_of_text(text: str) -> str:
    """A heading as it was asked for, on one line and without the marks before it. Raises Unfit if that is blank."""
    title = _LINE_BREAKS.sub(" ", text).strip().lstrip("# \t").strip()
    if not title:
        raise Unfit("heading is empty")
    return title


def new_heading(title: str, level: int, gap: str) -> Heading:
    """The heading of a title. Raises Unfit if it cannot be one."""
    heading = _heading("#" * level + " " + title, gap)
    if heading is None or not heading.title:
        raise Unfit("heading is empty")
    return heading


def renamed_heading(heading: Heading, title: str) -> Heading:
    """The heading with another title and the same level, underlined as it was if such a title can be. Raises Unfit."""
    underline = _LAST_LINE.search(heading.source) if heading.kind == "setext" else None
    underlined = _heading(title + underline[0], heading.gap) if underline is not None else None
    if underlined is not None and underlined.kind == "setext" and underlined.level == heading.level:
        return underlined
    return new_heading(title, heading.level, heading.gap)


def _heading(source: str, gap: str) -> Heading | None:
    """What a source is, if it is one heading and nothing else."""
    leading, sections = cut(source + gap, begins_document=False)
    if leading or len(sections) != 1 or sections[0].blocks:
        return None
    heading = sections[0].heading
    return heading if heading is not None and (heading.source, heading.gap) == (source, gap) else None
