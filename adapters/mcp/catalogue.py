"""All tools, which of them are there where, and their table in the documentation."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic.fields import FieldInfo

from adapters.mcp import banks, curation, document_versions, knowledge, memory, mental_models, operations
from adapters.mcp.tool import Tool
from adapters.settings import Settings

logger = logging.getLogger(__name__)

SUBJECTS = {
    "Mental models": mental_models.TOOLS,
    "Versions of a mental model": document_versions.TOOLS,
    "Knowledge base": knowledge.TOOLS,
    "Memory": memory.TOOLS,
    "Single memories and documents": curation.TOOLS,
    "Operations": operations.TOOLS,
    "Banks, directives, tags": banks.TOOLS,
}
ALL: Mapping[str, Tool] = {tool.name: tool for tools in SUBJECTS.values() for tool in tools.all}
INSTRUCTED = ("retain", "sync_retain", "recall")
"""The tools that the operator's instructions are told with (spec of the system of reference, MCP_INSTRUCTIONS)."""


@dataclass(frozen=True)
class Offered:
    """Which tools a connection has: all, or those that are `enabled`; for a `single` bank none that is beyond it."""

    single: bool
    enabled: frozenset[str] | None = None
    instructions: str | None = None

    @classmethod
    def by(cls, settings: Settings, *, single: bool) -> Offered:
        """As the environment says."""
        names = settings.bank_defaults.mcp_enabled_tools
        return cls(single, None if names is None else frozenset(names), settings.mcp_instructions)

    def tools(self) -> dict[str, Tool]:
        return {name: tool for name, tool in ALL.items() if self._has(tool)}

    def narrowed(self, enabled: Iterable[str] | None) -> Offered:
        """Without what is not enabled here either: a bank can take tools away, not bring any back."""
        if enabled is None:
            return self
        both = frozenset(enabled) if self.enabled is None else self.enabled & frozenset(enabled)
        return Offered(self.single, both, self.instructions)

    def description(self, tool: Tool) -> str:
        instructed = self.instructions and tool.name in INSTRUCTED
        return f"{tool.description}\n\n{self.instructions}" if instructed else tool.description

    def _has(self, tool: Tool) -> bool:
        return not (self.single and tool.beyond) and (self.enabled is None or tool.name in self.enabled)


def warn_of_unknown(settings: Settings) -> None:
    """Logs the names that are enabled and are no tool's: a slip there takes a tool away without a word."""
    if unknown := sorted(set(settings.bank_defaults.mcp_enabled_tools or ()) - set(ALL)):
        logger.warning(
            "PALIMPSEST_MCP_ENABLED_TOOLS names what is no tool: %s; docs/mcp.md lists all", ", ".join(unknown)
        )


def table() -> str:
    """The tools in markdown, a table for each subject."""
    parts = []
    for subject, tools in SUBJECTS.items():
        rows = "\n".join(_row(tool) for tool in tools.all)
        parts.append(f"### {subject}\n\n| tool | arguments | what |\n| --- | --- | --- |\n{rows}\n")
    return "\n".join(parts)


def _row(tool: Tool) -> str:
    arguments = ", ".join(_argument(name, each) for name, each in tool.arguments.model_fields.items()) or "-"
    first = tool.description.split(". ")[0].rstrip(".")
    marks = [
        mark
        for mark, holds in (
            ("reads", tool.effect.reads),
            ("destroys", tool.effect.destroys),
            ("all banks only", tool.beyond),
        )
        if holds
    ]
    told = f"{first} ({', '.join(marks)})" if marks else first
    return f"| `{tool.name}` | {arguments} | {told} |".replace("\n", " ")


def _argument(name: str, argument: FieldInfo) -> str:
    if argument.is_required():
        return f"**{name}**"
    default = argument.default
    return name if default is None else f"{name} = {default if isinstance(default, str) else json.dumps(default)}"
