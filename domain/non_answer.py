"""Texts that answer nothing: stand-ins for a document, and replies that say there is nothing to say.

A text is one only as a whole. Its headings are ignored; every sentence of the rest, or every part of a sentence between
"but", ";" and the like, must itself say so or be a courtesy. So a document that mentions what is not known, beside what
is, is never one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from domain.document import parse
from domain.refusal_phrases import LONG_FORMS, is_courtesy, refuses, without_opening

LONGEST: Final = 400
"""Characters of prose; a longer text is taken to say something."""
MOST_SENTENCES: Final = 3
_LONGEST_TEXT: Final = 1500
"""With headings and blank lines; a longer text is not looked at."""

_PROSE: Final = frozenset({"paragraph", "quote", "list"})
_STANDS_FOR_NOTHING: Final = frozenset({"rule", "reference", "front_matter"})


def is_placeholder(text: str) -> bool:
    """Whether all of the text, but for headings, is one of the known stand-ins for a document."""
    prose = _prose_of(text)
    lines = [line for block in prose for line in block.split("\n")]
    return bool(lines) and (
        all(_PLACEHOLDER.fullmatch(_bare(line)) for line in lines)
        or _PLACEHOLDER.fullmatch(_bare(" ".join(lines))) is not None
    )


def is_refusal(text: str) -> bool:
    """Whether all of the text, but for headings, is a refusal or says that nothing is known.

    English, and the commonest forms in Chinese, German, French and Spanish. In doubt it is none.
    """
    prose = _prose_of(text)
    if not prose or sum(map(len, prose)) > LONGEST:
        return False
    sentences = [sentence for block in prose for sentence in _sentences(block)]
    if len(sentences) > MOST_SENTENCES:
        return False
    clauses = [clause for sentence in sentences for clause in _clauses(sentence)]
    refused = [refuses(clause) and not _GOES_ON.search(clause) for clause in clauses]
    return any(refused) and all(
        refusing or is_courtesy(clause) for refusing, clause in zip(refused, clauses, strict=True)
    )


def _prose_of(text: str) -> list[str]:
    """The paragraphs and items of a short text, without marks; none when it is long or holds a table, code or HTML."""
    stripped = text.strip()
    if len(stripped) > _LONGEST_TEXT:
        return []
    blocks = [block for section in parse(_COMMENT.sub("", stripped)).sections for block in section.blocks]
    told = [block for block in blocks if block.kind not in _STANDS_FOR_NOTHING]
    if any(block.kind not in _PROSE for block in told):
        return []
    sources = [source for block in told for source in ([item.source for item in block.items] or [block.source])]
    return [prose for source in sources if (prose := _plain(source))]


_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_LINE_MARKS = re.compile(r"^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:\[[ xX]\][ \t]+)?", re.MULTILINE)
_EMPHASIS = re.compile(r"[*_`~]+")
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufe0e\ufe0f\ufeff]")
_QUOTES: Final = str.maketrans(dict.fromkeys("’‘ʼ‛´‚", "'") | dict.fromkeys("“”„«»", '"'))


def _plain(markdown: str) -> str:
    """Lower case, straight quotes, no emphasis, no marks of quotes and lists; lines stay lines."""
    text = unicodedata.normalize("NFKC", markdown.replace("\r\n", "\n").replace("\r", "\n").translate(_QUOTES))
    text = _EMPHASIS.sub("", _LINE_MARKS.sub("", _INVISIBLE.sub("", text)))
    return "\n".join(" ".join(line.split()) for line in text.lower().split("\n")).strip()


# --- placeholders -----------------------------------------------------------------------------------------------------

_CONTENT = "(?:content|answer|text|document|markdown|summary|body|response|page|description|details|memories|facts)"
_STAND_INS: Final = (
    r"n ?/ ?a|na|none|null|nil|undefined|unknown|empty|\?+|x{3,}|todo|to do|fixme|wip|work in progress|coming soon|"
    r"under construction|please wait",
    r"to be (?:determined|announced|confirmed|completed|written|added|filled in|done|provided)|tb[dac]",
    rf"(?:generating|loading|creating|writing|updating|processing|preparing|refreshing)(?: (?:the )?{_CONTENT})?",
    r"no (?:content|answer|text|document|markdown|summary|body|response|page|description|data|output)(?: (?:yet|"
    r"so far|provided|available|given|generated|returned|found|here))*",
    rf"{_CONTENT} (?:is )?not (?:available|provided|generated|found)(?: yet)?",
    r"not (?:available|provided|applicable|specified|answered|generated)(?: yet)?",
    rf"(?:(?:the|your|my|some|insert|add|enter|write|put|fill in|replace(?: this)? with)(?: the| your|"
    rf" some)? )?{_CONTENT}(?: {_CONTENT})?(?: (?:goes|comes|will be|to be written|will appear|will go|"
    rf"to go))?(?: here| below)?",
    rf"(?:this is (?:a |the )?)?placeholder(?: {_CONTENT})?",
    r"lorem ipsum\b.*",
    "暂无|暂无内容|无|無|待定|待补充|生成中|正在生成(?:内容)?|keine angabe|aucun|ninguno|sin contenido",
    "",  # dots and brackets alone
)
_PLACEHOLDER = re.compile(f"(?:(?:{_CONTENT}|todo): ?)?(?:{'|'.join(_STAND_INS)})", re.DOTALL)


def _bare(line: str) -> str:
    """Without what encloses and ends it: brackets, quotes, dots."""
    return line.strip(" \n.…。!,;:\"'()[]{}<>【】（）「」#|")


# --- refusals ---------------------------------------------------------------------------------------------------------

_ABBREVIATION = re.compile(r"\b(dr|mr|mrs|ms|prof|st|inc|ltd|co|vs|etc|e\.g|i\.e|z\.b|no|p\.s|[a-z])\.(?=[ ,])")
_SENTENCE_END = re.compile(r"[.!?…]+(?=[\"')\]]*(?:\s|$))|[。！？]+|\n{2,}")
_SAYS = r"(?:is|are|was|were|has|have|had|will|owns?|leads?|lives?|works?|moved|started)\b"
_CLAUSE_END = re.compile(
    rf"\s*(?:[;；]|\s[–—-]\s|—|[,，]? ?\b(?:but|however|though|although|aber|jedoch|doch|mais|cependant|pero|"
    rf"sin embargo)\b|,? (?:so|and|und|et|y|donc|daher) (?=(?:i|we|there|please|found|it|he|she|they|ich|es|bitte|je|"
    rf"il|veuillez|por favor)\b)|(?:,| and) (?=(?:[\w'-]+ ){{1,4}}{_SAYS})|"
    rf"[,，]?(?:但是?|不过|所以|因此|(?=请|請|如果|如有))|"
    rf"[,，](?=[\u4e00-\u9fff]))\s*"
)
_GOES_ON = re.compile(
    r": \S|\b(?:because|since|whereas|while|except|until|which|whose|according|despite|only|instead|other than|"
    r"apart from|beyond|besides|aside from|unless|weil|obwohl|während|außer|laut|bis auf|parce|puisque|tandis|sauf|"
    r"selon|porque|aunque|mientras|excepto|salvo|según)\b|因为|由于|除了"
)


def _sentences(prose: str) -> Iterator[str]:
    for sentence in _SENTENCE_END.split(_ABBREVIATION.sub(r"\1", prose)):
        if told := _bare(" ".join(sentence.split())):
            yield told


def _clauses(sentence: str) -> Iterator[str]:
    """Its parts, each without what models begin with; of a mere "I am sorry" an empty one is left."""
    for short, long in LONG_FORMS:
        sentence = short.sub(long, sentence)
    for clause in _CLAUSE_END.split(without_opening(sentence)):
        yield _bare(without_opening(clause))
