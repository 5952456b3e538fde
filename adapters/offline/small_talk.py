"""What people say to each other that tells nothing: greetings, thanks, praise, "how was it?". English only."""

from __future__ import annotations

import re
from collections.abc import Iterable

from adapters.offline.common_words import word_set
from domain.terms import terms

SHORTEST_PET_NAME = 3
"""Letters that a short form has in common with a name: "Mel" for "Melanie"."""

_GREETING = """
hey hi hello hiya howdy bye goodbye morning evening welcome thank thanks thx please sorry cheers congrats
congratulations luck wow whoa woah woohoo yay yum mmm aww aw oh ah ha haha hah lol omg phew ugh okay ok alright yes yeah
yep yup nope nah no not hmm huh um uh gotcha course definitely absolutely totally exactly true right sure indeed really
truly gosh goodness god
"""
_PRAISE = """
great good nice cool awesome amazing fantastic wonderful beautiful gorgeous stunning incredible excellent perfect lovely
sweet cute adorable neat rad epic impressive inspiring inspirational powerful delicious fun funny hilarious huge super
interesting interested fascinating exciting excited thrilled stoked pumped happy glad proud pleased jealous touching
heartwarming relaxing refreshing satisfying rewarding fulfilling tough hard sad bummer rough brave strong lucky special
priceless best better favorite favourite pretty real blast hit killing rock rocks rocking love loved loving like liked
enjoy enjoyed appreciate admire agree deserve impressed amazed awe kind kindness courage guts passion meaningful
important
"""
_VAGUE = """
thing things matter matters mean means lot lots much many stuff something anything everything nothing someone anyone
everyone way kind sort type bit part point idea worth time times moment day days week lately recently latest now then
today soon later again always ever never still yet well far long little big back up down here there around way just
only even maybe perhaps possibly probably guess bet wonder doubt problem worry worries new news main fave highlight
example be being been am is are was were do does did doing done have has had having get got getting gonna gotta wanna
go goes going went gone come came coming keep keeping kept stay look looks looking looked see sees seeing saw seen
seem seems sound sounds sounding feel feels feeling felt hear hearing heard talk talking talked tell telling told say
saying said share sharing shared chat chatting catch spill beans know knows knew think thinks thinking thought believe
understand understood imagine hope hoping wish take takes taking took make makes making made give giving gave let lets
put try happen happens happening happened check support supporting encourage motivate inspire inspired forward wait
help helped care caring check remember forget mind meant tip pick picked stand stands start started got ask asked can
could will would shall should might must may need want wanted did lemme experience view pic pics picture pictures
photo photos shot capture captured vibe vibes word words story effort work who what when where why how which it its
that this these those them they you your yours me my mine we us our ours one ones he she him her his hers their all
both else so too also very if but and or for with about from since until than ll ve re s d m t ya kinda sorta y'all u
though without yourself myself themselves themself together
"""

_POLITE = frozenset(terms(" ".join(word_set(f"{_GREETING} {_PRAISE}"))))
_SAY_NOTHING = _POLITE | frozenset(terms(" ".join(word_set(_VAGUE))))
_BEFORE_A_NAME = word_set(_GREETING) | {"and", "so", "well", "dear", "you"}


def is_small_talk(sentence: str, speakers: Iterable[str] = ()) -> bool:
    """Whether a sentence greets, thanks, praises, exclaims or asks, and no word of it tells anything.

    The names of those who speak to each other, and what is short for them, only address. Numbers tell, and so do words
    of other languages."""
    said = terms(sentence)
    addressed = [name for speaker in speakers for name in terms(speaker)]
    left = [word for word in said if not _addresses(word, addressed)]
    if not all(word in _SAY_NOTHING for word in left):
        return False
    exclaims = sentence.rstrip().endswith("!") or is_question(sentence)
    return (exclaims and bool(left or not said)) or not _POLITE.isdisjoint(left)


def is_question(text: str) -> bool:
    return text.rstrip(" \"'”’)*_").endswith(("?", "？", "؟"))


def telling_terms(text: str) -> frozenset[str]:
    """The words of a text that tell something, as `terms` gives them."""
    return frozenset(terms(text)) - _SAY_NOTHING


def is_only_addressed(name: str, sentence: str) -> bool:
    """Whether a name stands in a sentence only where somebody is spoken to: "Hey Ada, it rains", "It rains, Ada!"."""
    found = list(re.finditer(rf"(?<!\w){re.escape(name)}(?!\w|['’]\w)", sentence))
    return bool(found) and all(_is_address(sentence[: match.start()], sentence[match.end() :]) for match in found)


def _is_address(before: str, after: str) -> bool:
    if after.strip() and after.lstrip()[0] not in ",!?.…-–—":
        return False
    opening = before.rstrip()
    if not opening:
        return after.lstrip().startswith((",", "!", "?"))
    return opening[-1] == "," or opening.split()[-1].strip("\"'“‘(").casefold() in _BEFORE_A_NAME


def _addresses(word: str, names: Iterable[str]) -> bool:
    return any(word == name or (len(word) >= SHORTEST_PET_NAME and name.startswith(word)) for name in names)
