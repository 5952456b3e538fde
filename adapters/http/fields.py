"""The rules of single input fields, as types for request models and parameters.

Lengths count characters. Texts that are looked up by word or meaning (`source_query`, a recall's `query`) share one
limit in estimated tokens, so that a question that a mental model may ask can also be recalled by hand.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Path, Query
from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from adapters.http.times import to_utc
from adapters.http.unstorable import find_unstorable
from domain.bank import values as bank_values
from domain.candidate import is_blank
from domain.memory import QUERY_TOKENS, estimated_tokens

BANK_ID_LENGTH = bank_values.BANK_ID_LENGTH
MENTAL_MODEL_ID_LENGTH = 128
MENTAL_MODEL_ID = re.compile(r"[a-z0-9][a-z0-9-]*")
DOCUMENT_ID_LENGTH = 512
DOCUMENT_ID_BYTES = 1536
"""In UTF-8. With the id of its bank it is a key, and an index of PostgreSQL takes 2,704 bytes at most."""
NAME_LENGTH = 500
MISSION_LENGTH = 20_000
DOCUMENT_LENGTH = 100_000
"""Several times what the largest budget of tokens lets a refresh write."""
CONTEXT_LENGTH = 10_000
TAG_LENGTH = 256
TAGS_AT_MOST = 100
ENTITIES_AT_MOST = 100
ENTITY_LENGTH = 256
METADATA_KEYS_AT_MOST = 100
METADATA_KEY_LENGTH = 256
FIRST_YEAR, LAST_YEAR = 1000, 9998
"""Years outside are placeholders of programs ("0001-01-01", "9999-12-31"), not times when something was said."""

MOST_TOKENS = 1_000_000
LAST_OFFSET = 2**31 - 1


def _invalid(kind: str, message: str) -> PydanticCustomError:
    return PydanticCustomError(kind, "{message}", {"message": message})


def _bank_id(value: str) -> str:
    if not bank_values.is_bank_id(value):
        raise _invalid(
            "bank_id",
            f"a bank id is printable text of at most {BANK_ID_LENGTH} characters without '/' and without blanks at its"
            " ends; '.' and '..' are none",
        )
    if "\N{REPLACEMENT CHARACTER}" in value:
        raise _invalid("bank_id", "a bank id in a URL is UTF-8, percent-encoded")
    return value


def _mental_model_id(value: str) -> str:
    if not MENTAL_MODEL_ID.fullmatch(value):
        raise _invalid(
            "mental_model_id",
            "an id is made of lower-case letters a-z, digits and hyphens, and begins with a letter or a digit",
        )
    return value


def not_blank(value: str) -> str:
    """The text itself. Raises PydanticCustomError for one that shows nothing."""
    if is_blank(value):
        raise _invalid("blank", "must not be blank")
    return value


def _shows_something(value: str) -> str:
    if is_blank(value):
        raise _invalid("blank", "must not be blank: to empty the document, clear it (POST .../clear)")
    return value


def _short_query(value: str) -> str:
    tokens = estimated_tokens(value)
    if tokens > QUERY_TOKENS:
        raise _invalid("too_long", f"has about {tokens} tokens; the limit is {QUERY_TOKENS}")
    return value


def _has_a_word(value: str) -> str:
    if not re.search(r"\w", value):
        raise _invalid("no_word", "needs at least one letter or digit to look for")
    return value


def _short_key(value: str) -> str:
    size = len(value.encode())
    if size > DOCUMENT_ID_BYTES:
        raise _invalid("too_long", f"has {size} bytes in UTF-8; the limit is {DOCUMENT_ID_BYTES}")
    return value


def _once_each(values: list[str]) -> list[str]:
    return list(dict.fromkeys(values))


def _tags_in_json(value: Any) -> Any:
    """Some clients send the list as a string of JSON, in which may stand what a body is refused for."""
    if not isinstance(value, str):
        return value
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        return value
    if found := find_unstorable(read, ("tags",)):
        raise _invalid("unstorable", found.problem)
    return read


def _text_of_blocks(value: Any) -> Any:
    """Content as one text; blocks of text are joined by line breaks."""
    if not isinstance(value, list):
        return value
    texts: list[str] = []
    for number, block in enumerate(value):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind in ("image", "file"):
            raise _invalid(
                "unsupported_block", f"block {number}: {kind} blocks are not supported yet; send its text instead"
            )
        if kind != "text" or not isinstance(block.get("text"), str):
            raise _invalid("content_block", f'block {number}: a block is {{"type": "text", "text": "..."}}')
        texts.append(block["text"])
    return "\n".join(texts)


def moment(value: Any) -> Any:
    """ISO 8601 to a time in UTC. None and "unset" stay."""
    if value is None or value == "unset":
        return value
    if not isinstance(value, str):
        raise _invalid("timestamp", 'a time is a string in ISO 8601 ("2024-01-15T10:30:00Z"), null, or "unset"')
    try:
        read = to_utc(value)
    except ValueError as error:
        raise _invalid(
            "timestamp", 'not a time in ISO 8601 ("2024-01-15T10:30:00Z"); null is now, "unset" is no time'
        ) from error
    if not FIRST_YEAR <= read.year <= LAST_YEAR:
        raise _invalid("timestamp", f'the year {read.year} looks like a placeholder; use "unset" for no time')
    return read


def uuid_or_none(text: str) -> UUID | None:
    """An id that is no UUID is no id of anything."""
    try:
        return UUID(text)
    except ValueError:
        return None


def _metadata(value: Any) -> Any:
    """Values become strings: numbers and booleans as JSON writes them. Keys that are null are dropped."""
    if not isinstance(value, dict):
        return value
    told: dict[str, str] = {}
    for key, given in value.items():
        if isinstance(given, dict | list):
            raise _invalid("metadata_value", f"the value of '{key}' must be a string, a number or a boolean")
        if len(key) > METADATA_KEY_LENGTH:
            raise _invalid("metadata_key", f"a key has {METADATA_KEY_LENGTH} characters at most")
        if given is not None:
            told[key] = given if isinstance(given, str) else json.dumps(given)
    return told


BankId = Annotated[
    str,
    Path(max_length=BANK_ID_LENGTH, description="Any printable text without '/', percent-encoded."),
    AfterValidator(_bank_id),
]
OtherBankId = Annotated[str, StringConstraints(max_length=BANK_ID_LENGTH), AfterValidator(_bank_id)]
"""Of another bank than the one in the path."""
NewMentalModelId = Annotated[
    str, StringConstraints(max_length=MENTAL_MODEL_ID_LENGTH), AfterValidator(_mental_model_id)
]
Name = Annotated[str, StringConstraints(max_length=NAME_LENGTH), AfterValidator(not_blank)]
Mission = Annotated[str, StringConstraints(max_length=MISSION_LENGTH)]
DocumentText = Annotated[str, StringConstraints(max_length=DOCUMENT_LENGTH), AfterValidator(_shows_something)]
SourceQuery = Annotated[str, AfterValidator(not_blank), AfterValidator(_short_query)]
RecallText = Annotated[str, AfterValidator(not_blank), AfterValidator(_short_query), AfterValidator(_has_a_word)]
TokenBudget = Annotated[int, Field(ge=256, le=8192)]
Tag = Annotated[str, StringConstraints(max_length=TAG_LENGTH), AfterValidator(not_blank)]
Tags = Annotated[list[Tag], Field(max_length=TAGS_AT_MOST), AfterValidator(_once_each)]
TagsOrJson = Annotated[Tags, BeforeValidator(_tags_in_json)]
Content = Annotated[
    str,
    BeforeValidator(_text_of_blocks),
    AfterValidator(not_blank),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"type": {"const": "text"}, "text": {"type": "string"}},
                        "required": ["type", "text"],
                    },
                },
            ]
        }
    ),
]
Timestamp = Annotated[
    datetime | Literal["unset"] | None,
    BeforeValidator(moment),
    WithJsonSchema({"anyOf": [{"type": "string", "format": "date-time"}, {"const": "unset"}, {"type": "null"}]}),
]
Metadata = Annotated[
    dict[str, str],
    BeforeValidator(_metadata),
    Field(max_length=METADATA_KEYS_AT_MOST),
    WithJsonSchema({"type": "object", "additionalProperties": {"type": ["string", "number", "boolean", "null"]}}),
]
DocumentId = Annotated[
    str, StringConstraints(max_length=DOCUMENT_ID_LENGTH), AfterValidator(not_blank), AfterValidator(_short_key)
]
Entity = Annotated[str, StringConstraints(max_length=ENTITY_LENGTH), AfterValidator(not_blank)]

TagFilter = Annotated[list[str] | None, Query(max_length=TAGS_AT_MOST)]
Offset = Annotated[int, Query(ge=0, le=LAST_OFFSET)]
AnyLimit = Annotated[int, Query(ge=0, le=LAST_OFFSET)]
"""A limit that the contract does not bound; what PostgreSQL counts is the only bound left."""
