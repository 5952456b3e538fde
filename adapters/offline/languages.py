"""Which language a text is in, as far as its sentences and dates need it: by its script, else by its little words."""

from __future__ import annotations

import re
from collections import Counter

from adapters.offline.common_words import word_set

ENGLISH = "en"
_LOOKED_AT = 20_000
"""Characters of a text that tell its language."""
_WORDS = re.compile(r"[^\W\d_]+")

_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u3400-\u9fff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("fa", re.compile(r"[پچژگ]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("uk", re.compile(r"[іїєґІЇЄҐ]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
)
_LEAST_OF_SCRIPT = 0.2
"""Share of letters from which on a script tells the language; below it, it is a name or a quotation."""

_LITTLE_WORDS = {
    "en": "the and of to in is was it for that with as on at by from this not are we were have has had be they you i"
    " what when who how why which did does happened last next week ago yesterday today my our their his her she he",
    "de": "der die das und ist war nicht ein eine einen mit von zu den dem im wir sie er es auf für hat haben am vor"
    " sich gestern heute letzte letzten woche ich wurde auch",
    "fr": "le la les et est une des du dans pour pas nous vous il elle avec sur que qui au ce cette hier a été sont en"
    " semaine dernière je",
    "es": "el la los las y es una un de del en que por para con no se su al lo fue hoy ayer semana pasada qué hace nos"
    " está yo",
    "pt": "o os as e é uma um de do da em que por para com não se seu ao foi hoje ontem semana passada nós está na no"
    " eu",
    "it": "il lo la gli e è una un di del della in che per con non si al ieri oggi settimana scorsa sono abbiamo ha"
    " nel",
    "nl": "de het een en is van in op te dat niet met voor zijn was we wij ik gisteren vandaag vorige ze er",
    "pl": "i w na z do się nie jest to że był była o po za wczoraj dzisiaj tygodniu my od przez",
    "sv": "och det att en ett som är på för av med inte den var vi igår idag förra veckan jag till har",
    "tr": "ve bir bu için ile de da ne çok dün bugün geçen hafta biz var yok olarak gibi",
}
_WORDS_OF = {language: word_set(words) for language, words in _LITTLE_WORDS.items()}
LATIN = tuple(_WORDS_OF)


def language_of(text: str) -> str:
    """The code of the language (ISO 639-1); English where nothing tells another."""
    looked_at = text[:_LOOKED_AT]
    if not looked_at.isascii():
        letters = sum(map(str.isalpha, looked_at))
        for language, script in _SCRIPTS:
            # Of Han letters among kana, and of letters that only one language has, a few are enough.
            enough = 0.02 if language in ("ja", "fa", "uk") else _LEAST_OF_SCRIPT
            if len(script.findall(looked_at)) > letters * enough:
                return language
    counted = Counter(word.lower() for word in _WORDS.findall(looked_at))
    scores = {language: sum(counted[word] for word in words) for language, words in _WORDS_OF.items()}
    best = max(scores, key=scores.__getitem__)
    return best if scores[best] > scores[ENGLISH] else ENGLISH
