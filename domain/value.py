"""What the domain's data are made of."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """Data without identity: equal when its fields are, never changed, and read only from fields that it knows."""

    model_config = ConfigDict(frozen=True, extra="forbid")
