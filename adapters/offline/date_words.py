"""The words by which a language names months and counts days from today: found by the vocabulary of dateparser, read by
dateparser itself.

Its own search is not used: it takes half a second for a sentence, and finds dates in words such as "may" and "on".
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dateparser.date import DateDataParser

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_UNITS = "day|week|month|year"
_COUNTED = re.compile(rf"(?:in )?(?:\d+|\\1) (?:{_UNITS})(?: ago)?")
_COUNT = r"(\d++[.,]?\d*+)"
"""How the vocabulary writes a number."""
_NUMBERS = {
    "en": "two three four five six seven eight nine ten eleven twelve",
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "fr": "deux trois quatre cinq six sept huit neuf dix onze douze",
    "es": "dos tres cuatro cinco seis siete ocho nueve diez once doce",
    "pt": "dois três quatro cinco seis sete oito nove dez onze doze",
    "it": "due tre quattro cinque sei sette otto nove dieci undici dodici",
    "nl": "twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "sv": "två tre fyra fem sex sju åtta nio tio elva tolv",
    "zh": "两 三 四 五 六 七 八 九 十",
    "zh-Hant": "兩 三 四 五 六 七 八 九 十",
}
_ONES = {
    "en": "a an one",
    "de": "einem einer",
    "fr": "un une",
    "es": "un una",
    "pt": "um uma",
    "it": "un una",
    "nl": "een",
}
_LIKE_RELATIVES = {
    "en": "|".join(
        (
            r"(?:last|previous|this|next)\s(?:week|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)",
            r"last\snight|tonight|this\s(?:morning|afternoon|evening)|(?:the\s)?day\s(?:before\syesterday|after\stomorrow)",
        )
    ),
    "it": r"la settimana scorsa|il mese scorso|l['’]anno scorso",
    "zh": "今日|昨日|明日",
}
"""What the vocabulary does not list though it is read, or is meant by other words of the same sense."""
_SAME_SENSE = {"previous": "last", "今日": "今天", "昨日": "昨天", "明日": "明天", "la settimana": "settimana"}
_VARIANTS = {"zh": ("zh", "zh-Hant"), "pt": ("pt",)}


@dataclass(frozen=True)
class DateWords:
    """Of one language: its months by name in small letters, and a pattern for what counts from today."""

    months: Mapping[str, int]
    relative: re.Pattern[str]


@lru_cache(maxsize=64)
def date_words(language: str) -> DateWords:
    """The words of a language, by its code; none of one that is not known."""
    months: dict[str, int] = {}
    phrases: list[str] = []
    spaced = True
    for variant in _VARIANTS.get(language, (language,)):
        info = _vocabulary(variant)
        spaced = spaced and info.get("no_word_spacing") != "True"
        for number, month in enumerate(MONTHS, 1):
            names = (name.lower() for name in (month, *info.get(month, ())) if name != month or variant == "en")
            months |= {name: number for name in names if _is_name(name)}
        phrases += _phrases(info, variant)
    own = _LIKE_RELATIVES.get(language)
    listed = "|".join(sorted(set(phrases), key=len, reverse=True))
    alternatives = "|".join(filter(None, (own, listed))) or r"(?!)"
    # "The last week of May" does not count from today.
    pattern = rf"(?<!\w)(?:{alternatives})(?!\w)(?!\s+of\b)" if spaced else rf"(?:{alternatives})"
    return DateWords(months, re.compile(pattern, re.IGNORECASE))


def _is_name(month: str) -> bool:
    """Not "5月", nor two letters that are a word."""
    return len(month) > (2 if month.isascii() else 1) and not any(char.isdigit() or char.isspace() for char in month)


def _vocabulary(variant: str) -> Mapping[str, Any]:
    try:
        module = importlib.import_module(f"dateparser.data.date_translation_data.{variant}")
    except ImportError:
        return {}
    info: Mapping[str, Any] = module.info
    return info


def _phrases(info: Mapping[str, Any], variant: str) -> Iterator[str]:
    """Patterns of what counts days, weeks, months or years; hours and minutes name no date."""
    words = [*_NUMBERS.get(variant, "").split(), *_ONES.get(variant, "").split()]
    count = rf"(?:\d{{1,4}}{''.join(f'|{word}' for word in words)})"
    for key, phrases in (*info.get("relative-type", {}).items(), *info.get("relative-type-regex", {}).items()):
        if _COUNTED.fullmatch(key):
            for phrase in phrases:
                parts = phrase.split(_COUNT)
                if len(parts) > 1 or sum(map(str.isalpha, phrase)) > 1:
                    yield count.join(_literal(part, regex=len(parts) > 1) for part in parts)


def _literal(part: str, *, regex: bool) -> str:
    """The words of a phrase, with any blank between them."""
    return re.sub(r"(?:\\ | )+", r"\\s+", part if regex else re.escape(part))


@lru_cache(maxsize=4096)
def relative_date(phrase: str, language: str, today: date) -> tuple[date, str] | None:
    """The day that a phrase found by `relative` leads to from today, and how long it names: `day`, `week`, `month` or
    `year`; None for one that cannot be read."""
    text = " ".join(phrase.lower().split())
    for word, same in _SAME_SENSE.items():
        text = text.replace(word, same)
    for variant in _VARIANTS.get(language, (language,)):
        text = _with_digits(text, variant)
    data = _parser(language, today).get_date_data(text)
    if data is None or data.date_obj is None:
        return None
    return data.date_obj.date(), data.period if data.period in ("week", "month", "year") else "day"


def _with_digits(text: str, variant: str) -> str:
    numbers = {word: str(number) for number, word in enumerate(_NUMBERS.get(variant, "").split(), 2)}
    numbers |= dict.fromkeys(_ONES.get(variant, "").split(), "1")
    if variant.startswith("zh"):
        return "".join(numbers.get(letter, letter) for letter in text)
    return " ".join(numbers.get(word, word) for word in text.split())


@lru_cache(maxsize=128)
def _parser(language: str, today: date) -> DateDataParser:
    from dateparser.date import DateDataParser

    settings = {
        "RELATIVE_BASE": datetime.combine(today, time(12)),
        "PREFER_DATES_FROM": "past",
        "RETURN_TIME_AS_PERIOD": True,
        "TIMEZONE": "UTC",
    }
    return DateDataParser(languages=list(_VARIANTS.get(language, (language,))), settings=settings)
