"""Conversations given as JSON, in lines that a reader understands: who speaks, when, and what is said."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

_SPEAKERS = ("name", "speaker", "author", "sender", "from", "user", "role")
_ASSISTANTS = frozenset({"assistant", "ai", "model", "bot"})
_TEXTS = ("content", "text", "message")
_TIMES = ("timestamp", "created_at", "time", "date", "ts")
_NOISE = frozenset({"id", "uuid", "message_id", "type", "role", "index"})
_GAP = re.compile(r"[\s,\[\]]*")
_EDGE = " \t\r\n,[]"
_UNREADABLE = re.compile(r"[\[\]():*<>|/\\\"`：\n]+")
_BRACKETS = re.compile(r"[\[\]]+")
_BETWEEN = "\n\n"
_MOST_TRIES = 20
"""Places tried at most for the first turn in a part that begins in the middle of one."""


class Turn(NamedTuple):
    """What one speaks in a conversation; `said_at` is as it was written, empty when that is not told. `begin` and `end`
    are where it stands in the JSON."""

    speaker: str
    said_at: str
    text: str
    begin: int
    end: int

    def line(self) -> str:
        """`[when] Who: what`."""
        stamp = f"[{_BRACKETS.sub(' ', self.said_at)}] " if self.said_at else ""
        name = " ".join(_UNREADABLE.sub(" ", self.speaker).split()) or "Someone"
        return f"{stamp}{name[:1].upper()}{name[1:]}: {self.text}"


@dataclass(frozen=True)
class Transcript:
    """A conversation as a reader understands it. `places` are where each of its parts begins here and in the JSON."""

    text: str
    places: tuple[tuple[int, int], ...]

    def origin(self, offset: int) -> int:
        """Where in the JSON stands what is at this offset: the begin of its turn."""
        return self.places[max(0, bisect_right(self.places, (offset, math.inf)) - 1)][1]


def readable(text: str) -> str:
    """A JSON list or lines of `{"role" or "name", "content", "timestamp"}` as `[when] Who: what`, also a part of one
    that begins or ends inside a turn; any other text as it is."""
    written = transcript(text)
    return written.text if written else text


def transcript(text: str) -> Transcript | None:
    """The same with the places of its parts; None for what is no conversation in JSON."""
    turns = turns_in(text)
    if not turns:
        return None
    parts = [(0, text[: turns[0].begin].strip(_EDGE))]
    parts += [(turn.begin, turn.line()) for turn in turns]
    parts += [(turns[-1].end, text[turns[-1].end :].strip(_EDGE))]
    parts = [(begin, part) for begin, part in parts if any(map(str.isalnum, part))]
    places, offset = [], 0
    for begin, part in parts:
        places.append((offset, begin))
        offset += len(part) + len(_BETWEEN)
    return Transcript(_BETWEEN.join(part for _, part in parts), tuple(places))


def turns_in(text: str) -> list[Turn]:
    """The turns of a conversation in JSON, in order; none where the text is anything else."""
    if '"' not in text or "{" not in text:
        return []
    decoder = json.JSONDecoder(strict=False)
    turns: list[Turn] = []
    at, tries = text.find("{"), 0
    while at >= 0 and tries < _MOST_TRIES:
        value, end = _decoded(decoder, text, at)
        turn = _turn(value, at, end)
        if turn is None:
            tries += 1
            at = -1 if turns else text.find("{", at + 1)
        else:
            turns.append(turn)
            gap = _GAP.match(text, end)
            following = gap.end() if gap else end
            at = following if text.startswith("{", following) else -1
    return turns


def _decoded(decoder: json.JSONDecoder, text: str, at: int) -> tuple[Any, int]:
    try:
        return decoder.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None, at


def _turn(value: Any, begin: int, end: int) -> Turn | None:
    """None for what is no turn. What it tells beside who, when and what is put behind its text."""
    if not isinstance(value, Mapping):
        return None
    role = _line(value.get("role"))
    speaker_key = "role" if role.casefold() in _ASSISTANTS else _first_with_text(value, _SPEAKERS)
    text_key = next((key for key in _TEXTS if _text(value.get(key))), "")
    if not speaker_key or not text_key:
        return None
    time_key = _first_with_text(value, _TIMES)
    told = {speaker_key, text_key, time_key, *_NOISE}
    known = {"", role.casefold(), _line(value[speaker_key]).casefold()}
    others = {key: _line(each) for key, each in value.items() if key not in told}
    more = [f"{key}: {line}" for key, line in others.items() if line.casefold() not in known]
    text = _text(value[text_key]) + (f" ({'; '.join(more)})" if more else "")
    return Turn(_line(value[speaker_key]), _moment(value.get(time_key)), text, begin, end)


def _first_with_text(value: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    return next((key for key in keys if _line(value.get(key))), "")


def _moment(given: Any) -> str:
    """A time as it is written; of a number of seconds or milliseconds since 1970 the time it means."""
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        seconds = given / 1000 if abs(given) > 1e11 else given
        if 1e8 < seconds < 1e11:
            return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
    return _line(given)


def _line(given: Any) -> str:
    if isinstance(given, bool) or not isinstance(given, (str, int, float)):
        return ""
    return " ".join(str(given).split())


def _text(content: Any) -> str:
    """The words of a message: text, or the text blocks of a list of blocks."""
    if isinstance(content, list):
        return "\n".join(filter(None, (_text(each.get("text")) for each in content if isinstance(each, Mapping))))
    return content.strip() if isinstance(content, str) else ""
