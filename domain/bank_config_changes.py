"""Changes of a bank's config as they are asked for: keys and values from outside become keys and values of a config.

A key is written as in the config (`retain_chunk_size`) or as an environment variable, with or without a prefix
(`RETAIN_CHUNK_SIZE`, `HINDSIGHT_API_RETAIN_CHUNK_SIZE`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from domain.bank_config import BankConfig
from domain.refusals import InvalidSetting
from domain.storable import storable

PREFIXES = ("PALIMPSEST_", "HINDSIGHT_API_")
"""Of environment variables, the one that counts first."""
SHOWN = 100
"""Characters of a wrong value that a refusal tells."""


def changes_of(updates: Mapping[str, Any]) -> dict[str, Any]:
    """Valid values by key; None for a key whose value is to be taken away. Raises InvalidSetting that names what is
    wrong with the first key or value that is."""
    changes: dict[str, Any] = {}
    for name, value in updates.items():
        key = _key_of(name)
        if key in changes:
            raise InvalidSetting(f"'{key}' is given twice, by two of its names; give it once")
        changes[key] = None if value is None else _value_of(key, value, as_text=name != key and isinstance(value, str))
    return changes


def from_environment(environment: Mapping[str, str]) -> BankConfig:
    """What variables of the environment set; empty ones count as absent. Raises InvalidSetting that names the
    variable."""
    values: dict[str, Any] = {}
    for key in BankConfig.model_fields:
        names = (prefix + key.upper() for prefix in PREFIXES)
        name = next((name for name in names if environment.get(name)), None)
        if name is not None:
            values[key] = _value_of(key, storable(environment[name]), as_text=True, name=name)
    return BankConfig().changed_by(values)


def check_rules(config: BankConfig, changed: Collection[str]) -> None:
    """The rules that span keys, those that changed among them, for a config as it would be. Raises InvalidSetting."""
    strategy = config.retain_default_strategy
    if strategy is not None and strategy not in (config.retain_strategies or {}):
        there = ", ".join(config.retain_strategies or ()) or "none"
        _unless_unchanged(
            changed,
            ("retain_default_strategy", "retain_strategies"),
            f"there is no strategy '{strategy}' in retain_strategies; it has: {there}",
        )
    if config.recall_budget_min > config.recall_budget_max:
        _unless_unchanged(
            changed,
            ("recall_budget_min", "recall_budget_max"),
            f"the least, {config.recall_budget_min}, is more than the most, {config.recall_budget_max}; give both",
        )


def _unless_unchanged(changed: Collection[str], keys: Sequence[str], problem: str) -> None:
    if any(key in changed for key in keys):
        raise InvalidSetting(f"{' and '.join(keys)}: {problem}")


def _key_of(name: str) -> str:
    if name in BankConfig.model_fields:
        return name
    bare = next((name[len(prefix) :] for prefix in PREFIXES if name.startswith(prefix)), name)
    key = bare.lower()
    if bare == bare.upper() and key in BankConfig.model_fields:
        return key
    close = get_close_matches(key, BankConfig.model_fields, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    raise InvalidSetting(
        f"'{name[:SHOWN]}' cannot be configured of a bank; {hint}GET the bank's config for all its keys"
    )


def _value_of(key: str, value: Any, *, as_text: bool, name: str | None = None) -> Any:
    """The value as the config holds it. One `as_text` is of the environment: a number in digits, JSON for what is
    structured."""
    try:
        return _validated(key, value, as_text)
    except (ValidationError, ValueError, RecursionError) as error:
        told = _what_is_wrong(error)
        raise InvalidSetting(f"{name or key}: {_shown(value)} is not accepted: {told}") from error


def _validated(key: str, value: Any, as_text: bool) -> Any:
    if not as_text:
        # strictly, and as JSON: a "5" is no number there, and a list may stand for a tuple
        return getattr(_validate_json(json.dumps({key: value}), strict=True), key)
    try:
        return getattr(BankConfig.model_validate({key: value}), key)
    except ValidationError:
        if not value.lstrip().startswith(("{", "[")):
            raise
        return getattr(_validate_json(f"{{{json.dumps(key)}: {value}}}", strict=False), key)


def _validate_json(text: str, *, strict: bool) -> BankConfig:
    return BankConfig.model_validate_json(text, strict=strict)


def _what_is_wrong(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
    problems = error.errors(include_url=False, include_input=False)
    inside = [(".".join(map(str, each["loc"][1:])), each["msg"].removeprefix("Value error, ")) for each in problems]
    return "; ".join(dict.fromkeys(f"{at}: {told}" if at else told for at, told in inside[:5]))


def _shown(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "the value"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
