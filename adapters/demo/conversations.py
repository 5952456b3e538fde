"""Conversations in files: those of LoCoMo, and any list of turns in JSON, as sessions with their dates."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from domain.conversation import Turn, turns_in

SILENCE = timedelta(hours=6)
"""After which the next turn begins another session."""
_LOCOMO_DATE = "%I:%M %p on %d %B, %Y"


class UnreadableConversation(Exception):
    """A file that has no conversation; the text is one line that says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class Session:
    """What was said at one time. `turns` are `{"speaker", "text", "timestamp"?}`, to be retained as JSON."""

    name: str
    said_at: datetime | None
    turns: tuple[dict[str, str], ...]


@dataclass(frozen=True, slots=True)
class Question:
    """`expected` is the answer that people gave; None for a question about what was never said."""

    text: str
    expected: str | None


@dataclass(frozen=True, slots=True)
class Conversation:
    name: str
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...] = ()

    @property
    def speakers(self) -> tuple[str, ...]:
        """Those who speak, in the order they began to."""
        return tuple(dict.fromkeys(turn["speaker"] for session in self.sessions for turn in session.turns))


def corpus() -> Path:
    """Where the conversations are that nobody named a file for."""
    folder = os.environ.get("CORPUS_DIR") or Path(__file__).parents[3] / "shared" / "data"
    return Path(folder) / "locomo-dev.json"


def read_conversations(path: Path) -> tuple[Conversation, ...]:
    """All conversations of a file, at least one. Raises UnreadableConversation."""
    try:
        given = path.read_text(encoding="utf-8")
        value = json.loads(given)
    except FileNotFoundError as error:
        raise UnreadableConversation(f"there is no file {path}; name one, or its folder with CORPUS_DIR") from error
    except OSError as error:
        raise UnreadableConversation(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableConversation(f"{path} is not JSON in UTF-8") from error
    found = tuple(_all(path.stem, given, value))
    if not found:
        raise UnreadableConversation(
            f'{path} has no conversation: neither a list of {{"speaker", "text", "timestamp"}} nor of LoCoMo\'s samples'
        )
    return found


def _all(name: str, given: str, value: Any) -> Iterator[Conversation]:
    samples = value if isinstance(value, list) else [value]
    of_locomo = [
        each for each in samples if isinstance(each, Mapping) and isinstance(each.get("conversation"), Mapping)
    ]
    for number, sample in enumerate(of_locomo, start=1):
        sessions = tuple(_locomo_sessions(sample["conversation"]))
        if sessions:
            yield Conversation(
                str(sample.get("sample_id") or f"{name}-{number}"), sessions, tuple(_questions(sample.get("qa")))
            )
    if not of_locomo and (turns := turns_in(given)):
        yield Conversation(name, tuple(_sessions(turns)))


# --- LoCoMo -----------------------------------------------------------------------------------------------------------


def _locomo_sessions(conversation: Mapping[str, Any]) -> Iterator[Session]:
    numbers = sorted(int(key[8:]) for key in conversation if key.startswith("session_") and key[8:].isdigit())
    for number in numbers:
        turns = tuple(filter(None, map(_locomo_turn, _list(conversation[f"session_{number}"]))))
        if turns:
            said_at = _locomo_moment(conversation.get(f"session_{number}_date_time"))
            yield Session(f"session-{number:02}", said_at, turns)


def _locomo_turn(turn: Any) -> dict[str, str] | None:
    """What is said; what a machine saw in the photos that are shown with it was said by nobody."""
    if not isinstance(turn, Mapping) or not turn.get("speaker") or not str(turn.get("text") or "").strip():
        return None
    return {"speaker": str(turn["speaker"]), "text": str(turn["text"])}


def _locomo_moment(written: Any) -> datetime | None:
    try:
        return datetime.strptime(str(written).strip(), _LOCOMO_DATE).replace(tzinfo=UTC)
    except ValueError:
        return None


def _questions(given: Any) -> Iterator[Question]:
    for each in _list(given):
        if isinstance(each, Mapping) and str(each.get("question") or "").strip():
            expected = each.get("answer")
            yield Question(str(each["question"]), None if expected is None else str(expected))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


# --- turns ------------------------------------------------------------------------------------------------------------


def _sessions(turns: Iterable[Turn]) -> Iterator[Session]:
    """Turns without a time belong to those before them."""
    session: list[Turn] = []
    number, last = 1, None
    for turn in turns:
        said_at = _moment(turn.said_at)
        if session and said_at and last and abs(said_at - last) > SILENCE:
            yield _session(number, session)
            number, session = number + 1, []
        session.append(turn)
        last = said_at or last
    yield _session(number, session)


def _session(number: int, turns: list[Turn]) -> Session:
    first = next(filter(None, (_moment(turn.said_at) for turn in turns)), None)
    told = ({"speaker": turn.speaker, "text": turn.text, "timestamp": turn.said_at} for turn in turns)
    return Session(f"session-{number:02}", first, tuple({key: it for key, it in turn.items() if it} for turn in told))


def _moment(written: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
