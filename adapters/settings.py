"""The only reader of the environment: `PALIMPSEST_*`, and the names the system of reference documents as aliases."""

from __future__ import annotations

import ipaddress
import os
from pathlib import Path
from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

import platformdirs
from pydantic import AliasChoices, BeforeValidator, Field, PrivateAttr, SecretStr, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from domain.bank_config import BankConfig
from domain.bank_config_changes import from_environment
from domain.refusals import InvalidSetting


def default_data_dir() -> Path:
    """The user's data folder; for root one of the system: the server drops to a user who cannot enter root's home."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Path("/var/lib/palimpsest")
    return Path(platformdirs.user_data_dir("palimpsest"))


def _names(name: str, *reference: str) -> AliasChoices:
    return AliasChoices(f"PALIMPSEST_{name}", *(f"HINDSIGHT_API_{each}" for each in reference))


def _listed(names: Any) -> Any:
    """Names in one text, with commas."""
    return tuple(each.strip() for each in names.split(",") if each.strip()) if isinstance(names, str) else names


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        return False


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


class Settings(BaseSettings):
    """Every setting with its default. Empty values count as absent."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore", populate_by_name=True)

    host: str = Field(default="127.0.0.1", validation_alias=_names("HOST", "HOST"))
    port: int = Field(default=8888, ge=0, le=65535, validation_alias=_names("PORT", "PORT"))
    data_dir: Path = Field(default_factory=default_data_dir, validation_alias=_names("DATA_DIR"))
    """Where the embedded server keeps its cluster."""
    database_url: str | None = Field(
        default=None,
        validation_alias=AliasChoices("DATABASE_URL", "PALIMPSEST_DATABASE_URL", "HINDSIGHT_API_DATABASE_URL"),
    )
    """An external PostgreSQL instead of the embedded one."""
    postgres_user: str | None = Field(default=None, validation_alias=_names("POSTGRES_USER"))
    """The unprivileged account the embedded server runs as when we are root."""

    log_level: Annotated[Literal["debug", "info", "warning", "error", "critical"], BeforeValidator(_lower)] = Field(
        default="warning", validation_alias=_names("LOG_LEVEL", "LOG_LEVEL")
    )
    log_format: Literal["text", "json"] = Field(default="text", validation_alias=_names("LOG_FORMAT", "LOG_FORMAT"))
    """Lines for people, or one JSON object a line."""
    otel_enabled: bool = Field(default=False, validation_alias=_names("OTEL_ENABLED", "OTEL_TRACES_ENABLED"))
    """Whether traces are sent by OpenTelemetry; where to, the standard OTEL_ variables say."""

    llm_base_url: str | None = Field(default=None, validation_alias=_names("LLM_BASE_URL", "LLM_BASE_URL"))
    llm_api_key: SecretStr | None = Field(default=None, validation_alias=_names("LLM_API_KEY", "LLM_API_KEY"))
    llm_model: str | None = Field(default=None, validation_alias=_names("LLM_MODEL", "LLM_MODEL"))
    llm_timeout_seconds: float = Field(default=120, gt=0, validation_alias=_names("LLM_TIMEOUT", "LLM_TIMEOUT"))

    embeddings_base_url: str | None = Field(default=None, validation_alias=_names("EMBEDDINGS_BASE_URL"))
    embeddings_api_key: SecretStr | None = Field(default=None, validation_alias=_names("EMBEDDINGS_API_KEY"))
    embeddings_model: str | None = Field(default=None, validation_alias=_names("EMBEDDINGS_MODEL"))

    rerank_base_url: str | None = Field(default=None, validation_alias=_names("RERANK_BASE_URL"))
    """An endpoint with the common `POST /rerank`, which has the last word on the order of a recall; None: none has."""
    rerank_api_key: SecretStr | None = Field(default=None, validation_alias=_names("RERANK_API_KEY"))
    rerank_model: str | None = Field(default=None, validation_alias=_names("RERANK_MODEL"))

    console_enabled: bool = Field(default=True, validation_alias=_names("CONSOLE_ENABLED"))
    """Whether the pages for people are served at `/`."""
    max_body_bytes: int = Field(default=16 * 1024 * 1024, gt=0, validation_alias=_names("MAX_BODY_BYTES"))
    """The largest request body taken; a larger one is refused with 413."""
    max_archive_bytes: int = Field(default=512 * 1024 * 1024, gt=0, validation_alias=_names("MAX_ARCHIVE_BYTES"))
    """The largest archive of a bank that is taken; it may unpack to 32 times as much."""
    archive_hours: float = Field(default=24, gt=0, validation_alias=_names("ARCHIVE_HOURS"))
    """How long an archive is kept: one that was exported to be fetched, one that was sent to be imported."""
    requests_per_minute: int | None = Field(default=None, ge=1, validation_alias=_names("REQUESTS_PER_MINUTE"))
    """How many requests a process takes of each API key, or of each address where there are no keys; None: any."""
    history_enabled: bool = Field(
        default=True, validation_alias=_names("ENABLE_MENTAL_MODEL_HISTORY", "ENABLE_MENTAL_MODEL_HISTORY")
    )
    """Whether the history is shown; the log keeps everything."""
    history_max_entries: int = Field(
        default=50, validation_alias=_names("MENTAL_MODEL_HISTORY_MAX_ENTRIES", "MENTAL_MODEL_HISTORY_MAX_ENTRIES")
    )
    """Entries of each kind that the history shows; 0 or less shows all."""
    relevance_check: bool = Field(default=True, validation_alias=_names("RELEVANCE_CHECK"))
    """Whether a delta first asks, without a model, if the new facts have anything to do with the document."""
    refresh_tick_seconds: int = Field(
        default=300,
        ge=0,
        validation_alias=_names("MENTAL_MODEL_REFRESH_TICK_SECONDS", "MENTAL_MODEL_REFRESH_TICK_SECONDS"),
    )
    """How often stale documents that a trigger missed are looked for; cron times are kept to the second. 0: neither."""
    page_vectors_seconds: float = Field(default=5, ge=0, validation_alias=_names("PAGE_VECTORS_SECONDS"))
    """How often the vectors of documents that were written are made; until then they are found by word. 0: never."""
    refresh_wall_seconds: float = Field(
        default=300, ge=0, validation_alias=_names("REFLECT_WALL_TIMEOUT", "REFLECT_WALL_TIMEOUT")
    )
    """How long one refresh may take in all; 0 for no bound."""
    tokens_per_bank_per_day: int | None = Field(default=None, ge=0, validation_alias=_names("TOKENS_PER_BANK_PER_DAY"))
    """Tokens of language models after which automatic refreshes of a bank wait for the next day (UTC); None: never."""
    resume_after_seconds: float | None = Field(default=None, gt=0, validation_alias=_names("RESUME_AFTER_SECONDS"))
    """When a document whose refresh failed is refreshed automatically again, doubling with each failure; None: when a
    person refreshes or edits it."""
    operation_retention_days: int = Field(
        default=0, ge=0, validation_alias=_names("OPERATION_RETENTION_DAYS", "OPERATION_RETENTION_DAYS")
    )
    """How long ended operations are listed; 0: for ever. The log keeps their events."""
    worker_concurrency: int = Field(default=4, ge=1, validation_alias=_names("WORKER_CONCURRENCY", "WORKER_MAX_SLOTS"))
    worker_max_retries: int = Field(
        default=3, ge=0, validation_alias=_names("WORKER_MAX_RETRIES", "WORKER_MAX_RETRIES")
    )
    worker_retry_seconds: float = Field(
        default=60, ge=0, validation_alias=_names("WORKER_RETRY_SECONDS", "WORKER_TASK_RETRY_BACKOFF_SECONDS")
    )

    mcp_enabled: bool = Field(default=True, validation_alias=_names("MCP_ENABLED", "MCP_ENABLED"))
    """Whether /mcp is served. Which tools it has is a key of the config: PALIMPSEST_MCP_ENABLED_TOOLS."""
    mcp_stateless: bool = Field(default=False, validation_alias=_names("MCP_STATELESS", "MCP_STATELESS"))
    """Whether a client of MCP has no session, so that any process can answer each of its requests."""
    mcp_instructions: str | None = Field(default=None, validation_alias=_names("MCP_INSTRUCTIONS", "MCP_INSTRUCTIONS"))
    """Told at the end of the descriptions of the tools that retain and recall."""
    mcp_bank_id: str = Field(
        default="default", validation_alias=AliasChoices("PALIMPSEST_MCP_BANK_ID", "HINDSIGHT_MCP_BANK_ID")
    )
    """The bank of calls of MCP that name none."""
    mcp_allowed_hosts: Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)] = Field(
        default=(), validation_alias=_names("MCP_ALLOWED_HOSTS")
    )
    """Names besides loopback that requests of MCP may be sent to, such as that of a proxy in front."""

    _bank_defaults: BankConfig = PrivateAttr(default_factory=BankConfig)

    @property
    def bank_defaults(self) -> BankConfig:
        """What the environment sets for all banks: every key of a bank's config is a setting too, under its name."""
        return self._bank_defaults

    @model_validator(mode="after")
    def _read_what_is_set_for_all_banks(self) -> Self:
        try:
            self._bank_defaults = from_environment(os.environ)
        except InvalidSetting as error:
            raise ValueError(str(error)) from error
        return self

    @model_validator(mode="after")
    def _an_endpoint_needs_a_model(self) -> Self:
        if self.llm_base_url and not self.llm_model:
            raise ValueError("PALIMPSEST_LLM_BASE_URL is set without PALIMPSEST_LLM_MODEL; name the model to use")
        if self.embeddings_base_url and not self.embeddings_model:
            raise ValueError(
                "PALIMPSEST_EMBEDDINGS_BASE_URL is set without PALIMPSEST_EMBEDDINGS_MODEL; name the model"
            )
        if self.rerank_base_url and not self.rerank_model:
            raise ValueError("PALIMPSEST_RERANK_BASE_URL is set without PALIMPSEST_RERANK_MODEL; name the model to use")
        return self

    @model_validator(mode="after")
    def _an_endpoint_is_a_web_address(self) -> Self:
        endpoints = {"LLM": self.llm_base_url, "EMBEDDINGS": self.embeddings_base_url, "RERANK": self.rerank_base_url}
        for name, url in endpoints.items():
            if url is not None and not _is_web_address(url):
                # Not shown: it may hold credentials.
                raise ValueError(f"PALIMPSEST_{name}_BASE_URL is no address such as http://localhost:11434/v1")
        return self

    @property
    def only_for_this_machine(self) -> bool:
        """Whether the service listens where only this machine reaches it."""
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False

    @property
    def uses_llm(self) -> bool:
        """An endpoint was named; otherwise the engine that needs no model does the work."""
        return self.llm_base_url is not None or self.llm_model is not None
