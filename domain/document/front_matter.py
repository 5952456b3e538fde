"""YAML front matter: not markdown, but common at the top of documents, where CommonMark would see a setext heading."""

import re
from typing import Final

_FENCE: Final = "---"
_LINE = re.compile("([^\r\n]*)(\r\n?|\n|$)")
_KEY = re.compile(r"[^\s:#-][^:]*:(\s|$)")


def front_matter_length(text: str) -> int:
    """How many characters at the start of `text` are front matter, its last line break included; 0 if there is none.

    Front matter is a first line `---`, directly followed by a `key:` line, up to the next `---` or `...` line, with
    nothing between that is not blank, indented, a list item, a comment or a `key:`. So a document that merely begins
    with a rule, or has prose between two rules, has none.
    """
    if not text.startswith(_FENCE):
        return 0
    for number, line in enumerate(_LINE.finditer(text)):
        content = line[1].rstrip(" \t")
        if number > 1 and content in (_FENCE, "..."):
            return line.end()
        if number == 0 and content != _FENCE:
            return 0
        if number == 1 and not _KEY.match(content):
            return 0
        if number > 1 and not _may_be_yaml(content):
            return 0
    return 0


def _may_be_yaml(line: str) -> bool:
    return line == "" or line[0] in " \t-#" or _KEY.match(line) is not None
