"""markdown-it-py as we use it: CommonMark and GFM tables, bounded in depth and in work.

Its rules decide every boundary. What is added here only bounds what hostile text can cost; text within the bounds is
read exactly as the library reads it.
"""

import re
from collections.abc import Callable
from typing import Any, Final, Literal

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, blockquote, fence, heading, hr, html_block, list_block, reference, table
from markdown_it.token import Token

DEEPEST_CONTAINER: Final = 20
"""Token level from which `>` and list markers open nothing more and are read as text: 20 quotes or 10 lists inside
each other. The library's own limit (maxNesting) would give the rest of the document to the innermost container."""

MOST_CELLS: Final = 100_000
"""Table cells of one document after which further tables are read as paragraphs. Short rows are filled up with empty
cells, so 2 kB of text can ask for 65,000 of them: the only construct that costs out of proportion to its length."""

_DELIMITER_ROW_STARTS: Final = ("|", "-", ":")
_OUTLINE_LEVEL: Final = 2
_BELOW_TOP_LEVEL: Final = frozenset({"inline", "list_item_open", "tr_open"})  # a title, an item, a row (at level 2)
_LINE_BREAK = re.compile("\r\n?")
_UNREADABLE = re.compile("[\0\ud800-\udfff]")
_Rule = Callable[[StateBlock, int, int, bool], bool]


def outline(text: str) -> list[Token]:
    """The tokens that open or are a top-level construct of `text`, a list item or a table row, with their line maps.

    `inline` tokens come with them, not parsed: the one after a heading holds its title.

    A line ends at `\\n`, `\\r\\n` or `\\r`, as in CommonMark, and nowhere else.
    """
    state = _OutlineState(_readable(text), _OUTLINING, {}, [])
    _OUTLINING.block.tokenize(state, 0, state.lineMax)
    return state.tokens


def contents(text: str) -> list[Token]:
    """All block tokens of `text`; those of type `inline` and `html_block` have parsed inline tokens as children."""
    references: dict[str, Any] = {}
    tokens = _READING.parse(_readable(text), references)
    for token in tokens:
        if token.type in ("inline", "html_block") and token.content:
            token.children = _READING.inline.parse(token.content, _READING, references, [])
    return tokens


class _OutlineState(StateBlock):
    """Keeps the tokens of the outline; all others, the most, are written where nobody reads."""

    def __init__(self, src: str, md: MarkdownIt, env: dict[str, Any], tokens: list[Token]) -> None:
        super().__init__(src, md, env, tokens)
        self._unread = Token("unread", "", 0)

    def push(self, ttype: str, tag: str, nesting: Literal[-1, 0, 1]) -> Token:
        level = self.level
        self.level = level + nesting
        if nesting < 0 or level > _OUTLINE_LEVEL or (level > 0 and ttype not in _BELOW_TOP_LEVEL):
            return self._unread
        token = Token(ttype, tag, nesting, level=level, block=True)
        self.tokens.append(token)
        return token


def _readable(text: str) -> str:
    """What the parser is given: the same lines, all ended by `\\n`, and U+FFFD for NUL and for lone surrogates.

    CommonMark asks for the first two; the library's handling of URLs cannot encode lone surrogates.
    """
    return _UNREADABLE.sub("\ufffd", _LINE_BREAK.sub("\n", text))


def _container(opens: _Rule) -> _Rule:
    """`opens`, but only above the deepest level."""

    def rule(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
        return state.level < DEEPEST_CONTAINER and opens(state, start_line, end_line, silent)

    return rule


def _affordable_table(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
    delimiter_line = start_line + 1
    start = state.bMarks[delimiter_line] + state.tShift[delimiter_line]
    if state.src[start : start + 1] not in _DELIMITER_ROW_STARTS:  # true of nearly all lines, and cheap to see
        return False
    cells = state.env.get("cells", 0)
    if cells > MOST_CELLS or not table(state, start_line, end_line, silent):
        return False
    if not silent:
        columns = state.src.count("|", start, state.eMarks[delimiter_line]) + 1
        state.env["cells"] = cells + columns * (state.line - start_line)
    return True


def _by_first_character(rules: dict[str, _Rule]) -> _Rule:
    """One rule in place of several, each of which takes only lines that begin with one of its characters.

    The library asks every rule of every line, and most lines are prose that none of these takes.
    """
    candidates = {
        character: [rule for characters, rule in rules.items() if character in characters]
        for character in "".join(rules)
    }

    def rule(state: StateBlock, start_line: int, end_line: int, silent: bool) -> bool:
        start = state.bMarks[start_line] + state.tShift[start_line]
        for candidate in candidates.get(state.src[start : start + 1], ()):
            if candidate(state, start_line, end_line, silent):
                return True
        return False

    return rule


def _parser(**options: bool) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": DEEPEST_CONTAINER + 5, **options})
    parser.core.ruler.enableOnly(["block"])  # _readable has normalised the text; inline markdown is parsed on demand
    parser.inline.ruler.enable("strikethrough")
    parser.inline.ruler2.enable("strikethrough")
    rules = parser.block.ruler
    rules.enableOnly(["table", "code", "lheading", "paragraph"])
    rules.at("table", _affordable_table, {"alt": ["paragraph", "reference"]})
    leaves = {"`~": fence, "*-_": hr, "<": html_block, "#": heading}
    containers = {">": blockquote, "*+-0123456789": list_block}
    opening = {**leaves, "[": reference, **{characters: _container(rule) for characters, rule in containers.items()}}
    rules.before("lheading", "opening", _by_first_character(opening))
    # After "paragraph", which takes every line, a rule is asked only for the ends of the constructs named in `alt`.
    # At the deepest level too a marker ends a paragraph: it may begin the next item of an outer list.
    ends_prose = _by_first_character({**leaves, **containers})
    rules.push("ends_prose", ends_prose, {"alt": ["paragraph", "reference", "blockquote"]})
    ends_item = _by_first_character({"`~": fence, ">": blockquote, "*-_": hr})
    rules.push("ends_item", ends_item, {"alt": ["list"]})
    for ruler in (parser.block.ruler, parser.inline.ruler, parser.inline.ruler2):
        ruler.getRules("")  # compiled now: the first parse may be two at once, in threads
    return parser


_OUTLINING: Final = _parser()
_READING: Final = _parser(tasklists=True)
