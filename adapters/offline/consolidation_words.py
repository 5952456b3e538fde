"""Words by which the consolidator knows that a statement is about what can only be one way at a time."""

from __future__ import annotations

from typing import Final

from adapters.offline.common_words import word_set

LIGHT: Final = word_set(
    "a an the also really very just quite actually basically simply truly definitely that now currently still presently"
)
"""Words without which a statement says the same."""

NEGATIONS: Final = word_set(
    "not no never cannot nicht kein keine keinen nie pas jamais nunca não não non mai niet geen не нет никогда"
    " 不 没 沒 未 無 无 안 않 없 لا ليس"
)
CONTRACTED: Final = {"can't": ("can", "not"), "won't": ("will", "not"), "cannot": ("can", "not")}
AUXILIARIES: Final = word_set("do does longer anymore more")
"""What comes and goes with a negation: "does not like", "no longer likes"."""

HEDGES: Final = word_set(
    "but if unless until except only or without than before rather hardly almost maybe perhaps might may could would"
    " should formerly former ex used once want wants plan plans hope hopes said says think thinks believes to"
    " aber oder wenn bis falls außer mais ou si sauf pero o salvo ma 但 但是 如果 除非 もし но если или"
)
"""Words after which a statement need not hold as it stands."""

CONNECTORS: Final = word_set(
    "with and because which who where when while since as in on at by for from after so including during via through"
    " mit und weil avec et parce con y porque e perché und"
)
"""English words (and a few others) with which a complete statement goes on."""
CLAUSE_SIGNS: Final = frozenset(",;()–—、，；（）")

PRONOUNS: Final = word_set(
    "i you he she it they we this that these those his her its their my our your who there here one someone"
    " ich du er sie es wir ihr je tu il elle on nous vous ils yo tú él ella lo io lui lei"
    " 我 你 他 她 它 彼 彼女 私 これ"
)
"""Words that name another thing in every text."""

# Phrases as they follow what they are about: the attribute, the language, the phrases.
_PHRASES = (
    ("residence", "en", "lives in|live in|lives at|resides in|is based in|moved to|relocated to|has moved to"),
    ("residence", "de", "wohnt in|lebt in|zog nach|wohnt jetzt in"),
    ("residence", "fr", "habite à|vit à|habite en|habite dans"),
    ("residence", "es", "vive en|reside en|se mudó a"),
    ("residence", "it", "vive a|abita a|risiede a"),
    ("residence", "pt", "mora em|vive em"),
    ("residence", "nl", "woont in"),
    ("residence", "ru", "живёт в|живет в"),
    ("residence", "zh", "住在|居住在|搬到了|搬到|现居"),
    ("employment", "en", "works at|works for|work at|work for|is employed by|is employed at"),
    ("employment", "de", "arbeitet bei|arbeitet für"),
    ("employment", "fr", "travaille chez|travaille pour"),
    ("employment", "es", "trabaja en|trabaja para"),
    ("employment", "it", "lavora per|lavora da"),
    ("employment", "ru", "работает в"),
    ("employment", "zh", "就职于|任职于"),
    ("place", "en", "is located in|is situated in|is headquartered in"),
    ("place", "de", "befindet sich in|liegt in"),
    ("place", "zh", "位于|位於"),
    ("superior", "en", "reports to|is led by|is managed by|is owned by|is maintained by"),
    ("spouse", "en", "is married to|is engaged to"),
)  # fmt: skip
PHRASES: Final = tuple(
    (attribute, language, phrase) for attribute, language, phrases in _PHRASES for phrase in phrases.split("|")
)

_COPULAS = {
    "en": ":|is|was moved to|was changed to|has been moved to|has been changed to|moved to|changed to|is set to",
    "de": "ist|lautet|wurde verschoben auf|wurde geändert auf",
    "fr": "est|passe à",
    "es": "es|está",
    "it": "è",
    "pt": "é",
    "zh": "是|为|改为|改到",
    "ja": "は",
}
COPULAS: Final = tuple((language, phrase) for language, phrases in _COPULAS.items() for phrase in phrases.split("|"))

ATTRIBUTES: Final = word_set(
    "deadline status owner lead leader manager boss ceo cto cfo director address email e-mail phone capital price cost"
    " budget version size age height weight location headquarters language currency timezone limit default maximum"
    " minimum name nickname surname title employer salary rate priority due assignee maintainer supervisor birthday"
    " birthplace nationality favourite favorite username password port host url endpoint branch region population"
    " frist status preis adresse version hauptstadt budget chef chefin leiter leiterin termin alter gehalt name"
    " délai prix adresse statut version budget directeur directrice âge plazo precio dirección estado versión edad"
    " jefe jefa scadenza prezzo indirizzo stato versione età prazo preço endereço"
    " 截止 状态 負責人 负责人 价格 地址 版本 预算 首都 年龄 职位 締め切り 状態 担当者 価格 住所 バージョン"
)
"""Nouns for what a thing has one of at a time."""

STATES: Final = tuple(
    word_set(each)
    for each in (
        "enabled disabled",
        "open closed",
        "active inactive paused suspended",
        "online offline",
        "single married divorced widowed engaged",
        "alive dead deceased",
        "employed unemployed retired",
        "available unavailable",
        "pending approved rejected",
        "planned started ongoing finished completed cancelled canceled done",
        "public private",
        "aktiv inaktiv pausiert",
        "verheiratet ledig geschieden verwitwet",
        "ouvert fermé",
        "abierto cerrado",
        "启用 禁用",
        "开放 关闭",
    )
)
"""States that exclude each other."""

COUNTED: Final = word_set(
    "is are has have cost take weigh measure earn need require support allow contain employ own hold last pay"
    " ist hat kostet dauert wiegt est coûte tiene cuesta pesa ha costa tem custa heeft 有 是 は"
)
"""Verbs of states (as they are compared) before a number."""
_COUNT = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
NUMBER_WORDS: Final = {word: str(number) for number, word in enumerate(_COUNT, start=2)}

SINCE: Final = {
    "en": ("since {}", "before"),
    "de": ("seit {}", "vorher"),
    "fr": ("depuis {}", "avant"),
    "es": ("desde {}", "antes"),
    "it": ("dal {}", "prima"),
    "pt": ("desde {}", "antes"),
    "nl": ("sinds {}", "voorheen"),
    "ru": ("с {}", "ранее"),
    "zh": ("自 {}", "此前"),
    "ja": ("{} から", "以前"),
}
"""By language: how the day is written since which something holds, and what stands before what held earlier."""
