"""Chat transcripts: which lines of a text are spoken by whom, and when.

`Name: text` is also how forms and notes are written ("Status: open"), so a name counts as a speaker only with a reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from adapters.offline.common_words import word_set
from adapters.offline.dates import instant
from adapters.offline.sentences import ends_like_a_sentence, is_cjk
from domain.period import Period

ASSISTANTS = frozenset({"assistant", "ai", "ai assistant"})
_ROLES = ASSISTANTS | {"user", "human"}
_LABELS = word_set(
    "note notes warning caution tip todo example examples status owner date due title summary priority type name role"
    " version author subject topic location time place decision reason result question answer q a problem solution"
    " cause fix impact action actions risk context consequence consequences description details source link url email"
    " phone address from to cc re input output usage default update important tags category id key value step total"
)
_CONVERSATION = re.compile(
    r"\b(?:chat|conversation|transcript|dialog(?:ue)?|messages?|call|meeting|interview|thread|discussion)\b",
    re.IGNORECASE,
)
_FIRST_OR_SECOND_PERSON = re.compile(r"\b(?:I|you|we|my|your|our)\b|[我你您私]")
_LINE = re.compile(
    r"\s*(?:(?P<stamp>\[[^\[\]]{4,40}\]|\([^()]{4,40}\)|\d{4}-\d\d-\d\d[T ]\d\d:\d\d[0-9:.+Z-]*)\s*(?:[-–—]\s+)?)?"
    r"(?P<bold>\*\*)?(?P<name>@?[^\W\d_][^:：\n*\[\]()<>|/\\\"`]{0,39})(?P=bold)?"
    r"(?:：|:(?=\s|\*\*|$))(?:\*\*)?(?P<text>.*)",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Utterance:
    """A line that a speaker begins. `said` is the moment in its stamp, `unread_stamp` a stamp that names no date."""

    speaker: str
    text: str
    said: Period | None
    unread_stamp: str


def utterance(line: str) -> Utterance | None:
    """The line read as `Name: text` or `[stamp] Name: text`, whoever the name is; None when it has not that form."""
    if ":" not in line and "：" not in line:
        return None
    match = _LINE.match(line)
    if match is None or not _is_name(match["name"].strip()):
        return None
    stamp = match["stamp"] or ""
    said = instant(stamp.strip("[]()")) if stamp else None
    return Utterance(match["name"].strip(), match["text"].strip(), said, "" if said else stamp)


def speakers(lines: Iterable[str], known: Sequence[str], context: str | None) -> frozenset[str]:
    """Names (casefolded) that speak in a text: roles such as "Assistant", names the caller gave as entities, names on
    lines with a time stamp, and where lines are mostly whole sentences, several names, one that returns, or one that
    says "I" or "you"."""
    named = frozenset(name.casefold() for name in known)
    spoken = [said for said in map(utterance, lines) if said is not None]
    sure = {it.speaker.casefold() for it in spoken if _is_surely(it, named)}
    others = [it for it in spoken if it.speaker.casefold() not in _LABELS | sure]
    names = Counter(it.speaker.casefold() for it in others)
    if context and _CONVERSATION.search(context):
        return frozenset(sure | names.keys())
    whole_sentences = sum(1 for it in others if ends_like_a_sentence(it.text) or len(it.text.split()) >= 4)
    if whole_sentences * 2 < len(others):
        return frozenset(sure)
    if sure or len(names) > 1 or max(names.values(), default=0) > 1 or any(map(_is_personal, others)):
        return frozenset(sure | names.keys())
    return frozenset()


def _is_personal(said: Utterance) -> bool:
    return bool(_FIRST_OR_SECOND_PERSON.search(said.text))


def _is_surely(said: Utterance, named: frozenset[str]) -> bool:
    name = said.speaker.casefold()
    return name in _ROLES or name in named or bool(said.said or said.unread_stamp)


def _is_name(text: str) -> bool:
    if text.casefold() in _ROLES or text.startswith("@"):
        return True
    words = text.split()
    return 0 < len(words) <= 4 and all(word[0].isupper() or is_cjk(word[0]) for word in words)
