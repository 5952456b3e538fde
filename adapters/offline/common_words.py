"""English words that a capital does not make a name: they begin sentences, name days and months, or title people."""

from __future__ import annotations


def word_set(listed: str, separator: str | None = None) -> frozenset[str]:
    """The words of a list written as one text."""
    return frozenset(listed.split(separator))


_FUNCTION_WORDS = """
a about above according across after again against all almost along already also although always am among an and
another any anybody anyone anything are around as at away back be because been before behind being below besides
between both but by can cannot could did do does doing done down during each either else enough etc even ever every
everybody everyone everything except few finally first for from further had has have having he hence her here hers
herself him himself his how however i if in indeed instead into is it its itself just last later least less let like
many may maybe me meanwhile might mine more most much must my myself neither never nevertheless next no nobody none
nor not nothing now of off often on once one only onto or other others otherwise our ours out over own perhaps please
quite rather same second see several shall she should since so some somebody someone something sometimes soon still
such than that the their theirs them then there therefore these they third this those though through thus to together
too toward towards under unless until up upon us usually very was we well were what whatever when whenever where
whereas wherever whether which while who whoever whole whom whose why will with within without would yes yet you your
yours yourself
"""
_SENTENCE_OPENERS = """
actually add ask avoid bring call change check clearly click come consider create currently delete don't ensure fix
follow get give go good great hello help hey hi keep look make note ok okay open put read remember remove run sadly
say send set show sorry start stop suddenly take tell thank thanks think today tomorrow tonight try update use using
wait want watch welcome wow write yeah yep yesterday
"""
_CALENDAR = """
monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun january february march april may
june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec am pm utc gmt
"""
_TITLES = "mr mrs ms mx dr prof sir madam lord lady ceo cto cfo coo cio vp svp evp"
_SHOUTED = "todo fixme note nb fyi asap tbd wip faq eta imo btw aka lol omg"

NO_NAMES = word_set(f"{_FUNCTION_WORDS} {_SENTENCE_OPENERS} {_CALENDAR} {_TITLES} {_SHOUTED}")
"""Words (casefolded) that begin and end no name."""

NAMING_LABELS = word_set(
    "owner author name lead manager company client customer project team assignee contact product service city country"
    " location reviewer maintainer organisation organization vendor supplier employer user speaker person place"
)
"""Last words of labels whose value is a name: "Project owner: Alice"."""

NAME_JOINTS = word_set(
    " |-| & | of | of the | de | de la | de los | van | van der | van den | van de | von | von der | der | da | dos "
    "| di | du | del | della | la | le | bin | ibn | al ",
    "|",
)
"""What may stand between two capitalised words of one name."""
