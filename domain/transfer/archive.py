"""The manifest of an archive: what it is, of which bank, and a digest of each section."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, Field

from domain.bank.values import is_bank_id
from domain.digest import sha256_of
from domain.refusals import ArchiveRefused
from domain.transfer.counts import BankCounts
from domain.transfer.events import ArchivedEvent
from domain.transfer.rows import (
    CauseRow,
    ChunkRow,
    ClockRow,
    ConsolidationRow,
    DocumentRow,
    EntityRow,
    FactRow,
    ScopeRow,
    SetAsideRow,
)
from domain.value import Value

FORMAT = "palimpsest-bank"
VERSION = 1

SECTIONS: Mapping[str, type[BaseModel]] = {
    "clock": ClockRow,
    "documents": DocumentRow,
    "chunks": ChunkRow,
    "facts": FactRow,
    "causes": CauseRow,
    "set_aside": SetAsideRow,
    "consolidation": ConsolidationRow,
    "entities": EntityRow,
    "scopes": ScopeRow,
    "events": ArchivedEvent,
}
"""What each section has in its rows, in the order in which they are written: facts name chunks, and a bank is there for
others only with its events."""


class Section(Value):
    """A section: how many rows it has, how many bytes and which digest, before compression."""

    name: str
    rows: Annotated[int, Field(ge=0)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Manifest(Value):
    """`space` is the model whose vectors the bank is searched by. Without `include_data` there is no memory and no
    document, without `include_bank_config` neither config nor directives. `digest` is that of all sections."""

    format: str
    version: int
    made_by: str
    bank_id: str
    exported_at: AwareDatetime
    space: str
    include_data: bool
    include_bank_config: bool
    counts: BankCounts
    sections: tuple[Section, ...]
    digest: str


def digest_of(sections: Iterable[Section]) -> str:
    """Of all sections, in their order."""
    return sha256_of("".join(f"{each.name} {each.rows} {each.bytes} {each.sha256}\n" for each in sections))


def check_manifest(manifest: Manifest) -> None:
    """Raises ArchiveRefused for a manifest of another format or version, or one that contradicts itself."""
    if manifest.format != FORMAT:
        raise ArchiveRefused(f"it is of the format '{manifest.format[:80]}', not '{FORMAT}'")
    if manifest.version != VERSION:
        raise ArchiveRefused(
            f"it is of version {manifest.version}, this service reads version {VERSION}; export the bank again with a"
            " service of the same version, or update this one"
        )
    if not is_bank_id(manifest.bank_id):
        raise ArchiveRefused("its manifest names a bank as no bank is named")
    if [each.name for each in manifest.sections] != list(SECTIONS):
        raise ArchiveRefused("its manifest does not name the sections of a bank, each once and in their order")
    if manifest.digest != digest_of(manifest.sections):
        raise ArchiveRefused("its manifest was changed: the digest is another one")
