"""Conditions on the version of a mental model: If-Match and If-None-Match."""

from __future__ import annotations

from typing import Annotated

from fastapi import Header
from starlette.exceptions import HTTPException

from adapters.http import etag
from adapters.http.backend import Backend
from adapters.http.responses import Problem

IfMatch = Annotated[str | None, Header(description="Change it only while it is at this version (an ETag); else 412.")]
IfNoneMatch = Annotated[str | None, Header(description="Answer 304 when it is still at this version (an ETag).")]
MOVED_ON = {"model": Problem, "description": "It is no longer at the version of If-Match"}


async def expected_version(api: Backend, bank_id: str, mental_model_id: str, if_match: str | None) -> int | None:
    """The version that a change must find, given If-Match; None when any will do. Raises a 412 when it has moved on."""
    if if_match is None:
        return None
    now = await api.command(api.service.mental_models.load, bank_id, mental_model_id)
    if not etag.allows(if_match, now.version):
        raise HTTPException(
            412,
            f"If-Match is {if_match}, but mental model '{mental_model_id}' is at version {etag.of(now.version)};"
            " read it again and repeat the change",
        )
    return None if if_match.strip() == "*" else now.version
