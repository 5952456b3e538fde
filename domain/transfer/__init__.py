"""A bank on its way: what an archive of it holds, and how it becomes a bank of its own again.

An archive is a manifest and sections of rows. Its events are those of the bank's present life, in the order of the log;
its memory is that of the same moment.
"""

from domain.transfer.archive import FORMAT, SECTIONS, VERSION, Manifest, Section, check_manifest, digest_of
from domain.transfer.counts import BankCounts, Tally, file_name
from domain.transfer.events import ArchivedEvent, ReadEvent, StreamsRead, is_carried
from domain.transfer.parts import Parts
from domain.transfer.renaming import Renaming
from domain.transfer.rows import (
    CauseRow,
    ChunkRow,
    ClockRow,
    ConsolidationRow,
    DocumentRow,
    EntityRow,
    FactRow,
    MemoryRow,
    ScopeRow,
    SetAsideRow,
)

__all__ = [
    "FORMAT",
    "SECTIONS",
    "VERSION",
    "ArchivedEvent",
    "BankCounts",
    "CauseRow",
    "ChunkRow",
    "ClockRow",
    "ConsolidationRow",
    "DocumentRow",
    "EntityRow",
    "FactRow",
    "Manifest",
    "MemoryRow",
    "Parts",
    "ReadEvent",
    "Renaming",
    "ScopeRow",
    "Section",
    "SetAsideRow",
    "StreamsRead",
    "Tally",
    "check_manifest",
    "digest_of",
    "file_name",
    "is_carried",
]
