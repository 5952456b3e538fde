"""When something happened, as a text says it: the first date in it, as a span of UTC time.

Explicit dates need nothing else; words such as "yesterday" need the moment the text was said. No clock is read here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime

from adapters.offline.calendar_spans import day, days, month, week, year
from adapters.offline.date_words import date_words, relative_date
from adapters.offline.languages import ENGLISH, language_of
from adapters.offline.written_dates import Mention, nearest_dates, written_dates
from domain.period import Period


def first_period(text: str, said_at: datetime | None, language: str | None = None) -> Period | None:
    """The first date in a text, extended to a range when another one follows with "to", "until" and the like.

    `said_at` is what "yesterday" or "two weeks ago" count from; with None such words give no date. `language` is the
    code of the text's language (None: found out); English is always understood."""
    return next(_periods(text, said_at, language), None)


def periods_in(text: str, said_at: datetime | None, language: str | None = None) -> list[Period]:
    """All dates in a text in its order, as `first_period` reads them; none is read as a part of another."""
    return list(_periods(text, said_at, language))


def with_dates(text: str, said_at: datetime | None) -> str:
    """The text with the date behind every word that is understood only by when it was said: `yesterday (2024-05-14)`.
    A text that names a date already stays as it is."""
    languages = _languages(text, None)
    if said_at is None or next(written_dates(text, languages), None) is not None:
        return text
    parts: list[str] = []
    done = 0
    for mention in _relative_mentions(text, said_at.astimezone(UTC).date(), languages):
        parts.append(f"{text[done : mention.end]} ({_in_words(mention.period)})")
        done = mention.end
    return "".join((*parts, text[done:]))


def _periods(text: str, said_at: datetime | None, language: str | None) -> Iterator[Period]:
    languages = _languages(text, language)
    explicit = list(written_dates(text, languages))
    relative = _relative_mentions(text, said_at.astimezone(UTC).date(), languages) if said_at is not None else ()
    read_to = 0
    for mention in sorted((*explicit, *relative), key=lambda it: (it.begin, -it.end)):
        if mention.begin >= read_to:
            whole = _extended(text, mention, explicit)
            yield whole.period
            read_to = whole.end


def _languages(text: str, language: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys((language or language_of(text), ENGLISH)))


def _in_words(period: Period) -> str:
    first, last = period.start.date().isoformat(), period.end.date().isoformat()
    return first if first == last else f"{first} to {last}"


def instant(text: str) -> Period | None:
    """The period that a text names when it is a date and nothing else, as in the stamp of a chat line."""
    stripped = text.strip()
    for mention in written_dates(stripped, (ENGLISH,)):
        if mention.begin == 0 and mention.end == len(stripped):
            return mention.period
    return None


_TO = re.compile(r"\s*(?:[-–—~〜～至到]|to|until|till|through)\s*|\s+(?P<pair>and)\s+", re.IGNORECASE)


def _extended(text: str, first: Mention, explicit: list[Mention]) -> Mention:
    """The mention with the date after it that it reaches to."""
    joint = _TO.match(text, first.end)
    if joint is None or (joint["pair"] and not text[: first.begin].rstrip().lower().endswith("between")):
        return first
    ends = [it for it in explicit if it.begin == joint.end() and it.period.end > first.period.start]
    if not ends:
        return first
    last = max(ends, key=lambda it: it.period.end)
    return Mention(first.begin, last.end, Period(first.period.start, last.period.end))


# --- dates relative to when it was said -------------------------------------------------------------------------------

_SPANS: dict[str, Callable[[date], Period]] = {
    "day": day,
    "week": week,
    "month": lambda on: month(on.year, on.month),
    "year": lambda on: year(on.year),
}
_LATEST = re.compile(
    r"\b(?:last|past|previous)\s(?P<count>\d{1,3}|two|three|four|five|six|seven|eight|nine|ten)\s"
    r"(?P<unit>day|week|month|year)s\b",
    re.IGNORECASE,
)


def _relative_mentions(text: str, today: date, languages: Sequence[str]) -> Iterator[Mention]:
    """Dates that count from today, in order; none overlaps another."""
    found = [mention for language in languages for mention in _counted(text, today, language)]
    found += [*_latest(text, today), *nearest_dates(text, today, languages)]
    end = 0
    for mention in sorted(found, key=lambda it: (it.begin, -it.end)):
        if mention.begin >= end:
            yield mention
            end = mention.end


def _counted(text: str, today: date, language: str) -> Iterator[Mention]:
    for match in date_words(language).relative.finditer(text):
        with suppress(ValueError, OverflowError):  # before year 1 or after year 9999
            if (read := relative_date(match[0], language, today)) is not None:
                yield Mention(match.start(), match.end(), _SPANS[read[1]](read[0]))


def _latest(text: str, today: date) -> Iterator[Mention]:
    """ "The last three days": up to today."""
    for match in _LATEST.finditer(text):
        begin = relative_date(f"{match['count']} {match['unit']}s ago", ENGLISH, today)
        if begin is not None:
            yield Mention(match.start(), match.end(), days(begin[0], today))
