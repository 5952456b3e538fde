"""What a command line cannot do."""

from __future__ import annotations


class Unusable(Exception):
    """The command cannot be carried out; the text is one line for the person who asked."""
