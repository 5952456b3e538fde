"""Reflection: from a question over a memory to an answer with its evidence."""

from application.reflection.amounts import Amounts
from application.reflection.answers import Answered, Asked, Reflections
from application.reflection.conclusion import NONE_USED, RETRIEVAL_EMPTY, UNKNOWN_CITED, Reflection, kept
from application.reflection.loop import ITERATIONS, Reflector
from application.reflection.readable import Desk, Readable
from application.reflection.toolbox import Toolbox

__all__ = [
    "ITERATIONS",
    "NONE_USED",
    "RETRIEVAL_EMPTY",
    "UNKNOWN_CITED",
    "Amounts",
    "Answered",
    "Asked",
    "Desk",
    "Readable",
    "Reflection",
    "Reflections",
    "Reflector",
    "Toolbox",
    "kept",
]
