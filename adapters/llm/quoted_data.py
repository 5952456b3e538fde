"""Data that stand in a prompt, so that nothing in them can end them or pass for what surrounds them."""

from __future__ import annotations


def single_line(text: str) -> str:
    """The text with every run of space, line ends included, as one blank."""
    return " ".join(text.split())


def delimited(name: str, text: str) -> str:
    """The text between tags that do not occur in it, so that nothing in it can end it."""
    tag, number = name, 1
    while f"{tag}>" in text.lower():
        number += 1
        tag = f"{name}_{number}"
    return f"<{tag}>\n{text}\n</{tag}>"
