"""Use cases of API keys: make one, revoke one. They are looked up in their read model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from application.command_handler import API_KEY, CommandHandler, Step, api_key_stream
from application.ports import Identities
from domain.api_keys import CreateKey, RevokeKey
from domain.api_keys.token import KEY_ID_LENGTH, digest_of, token_of
from domain.event import Context


@dataclass(frozen=True)
class NewKey:
    """`token` is what its holder sends; it is nowhere kept, and told this once."""

    key_id: str
    token: str


class ApiKeys:
    """`secret` makes one of 32 random bytes or more, as letters, digits, '-' and '_'."""

    def __init__(self, handler: CommandHandler, identities: Identities, secret: Callable[[], str]) -> None:
        self._handler = handler
        self._identities = identities
        self._secret = secret

    def create(
        self,
        context: Context,
        *,
        name: str = "",
        banks: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        read_only: bool = False,
        expires_at: datetime | None = None,
    ) -> NewKey:
        """None for banks and tags: the key is held to none. Raises InvalidInput."""
        key_id = self._identities.new().hex[-KEY_ID_LENGTH:]
        token = token_of(key_id, self._secret())
        command = CreateKey(
            key_id=key_id,
            name=name,
            banks=None if banks is None else tuple(banks),
            tags=None if tags is None else tuple(tags),
            read_only=read_only,
            digest=digest_of(token),
            now=context.now,
            expires_at=expires_at,
        )
        self._handler.execute(context, Step(API_KEY, api_key_stream(key_id), command))
        return NewKey(key_id, token)

    def revoke(self, context: Context, key_id: str) -> bool:
        """False when it was revoked before. Raises KeyNotFound."""
        done = self._handler.execute(context, Step(API_KEY, api_key_stream(key_id), RevokeKey(key_id)))
        return bool(done[0].events)
