"""Labels that a text names itself: a value of the bank's vocabulary that stands in it as a word."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.offline.sentences import is_cjk
from domain.bank_labels import LabelField, LabelGroup
from domain.fact_labels import Labels, labels_of

_JOINTS = re.compile(r"[\s_-]+")
_LETTER = r"[^\W\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]"
"""A letter or digit of a script that sets spaces between words."""


class NamedLabels:
    """Finds the labels of facts. Only values from a list are found: what else a label may say no rule can tell."""

    def __init__(self, groups: Sequence[LabelGroup]) -> None:
        self._groups = tuple(groups)
        self._patterns = {value: _pattern(value) for group in groups for value in _values(group)}

    def find(self, text: str) -> Labels:
        """Of a label with one value the one that is named first."""
        if not self._patterns:
            return Labels()
        at = {value: match.start() for value, pattern in self._patterns.items() if (match := pattern.search(text))}
        return labels_of(self._groups, {group.key: _given(group, at) for group in self._groups})


def _values(kind: LabelGroup | LabelField) -> list[str]:
    own = [allowed.value for allowed in kind.values] if kind.type in ("value", "multi-values") else []
    return own + [value for field in kind.fields.values() for value in _values(field)]


def _given(kind: LabelGroup | LabelField, at: Mapping[str, int]) -> Any:
    if kind.type == "map":
        return {name: _given(field, at) for name, field in kind.fields.items()}
    if kind.type not in ("value", "multi-values"):
        return None
    return sorted((allowed.value for allowed in kind.values if allowed.value in at), key=at.__getitem__)


def _pattern(value: str) -> re.Pattern[str]:
    """The value as whole words; where its script sets no space, wherever it stands. "in_progress" is found as "in
    progress" too."""
    plain = value.strip()
    words = [re.escape(word) for word in _JOINTS.split(plain)]
    begin = "" if is_cjk(plain[:1]) else rf"(?<!{_LETTER})"
    end = "" if is_cjk(plain[-1:]) else rf"(?!{_LETTER})"
    return re.compile(begin + r"[\s_-]?".join(words) + end, re.IGNORECASE)
