"""What the use cases need of the outside, one Protocol each; adapters implement them, one composition root joins."""

from application.ports.log import Clock, EventLog, Identities, Loaded, StreamAppend, Transaction, Transactions
from application.ports.memory import EmbeddedFact, MemoryStore, MemoryWrite, RetainedItem, RetainInbox
from application.ports.minds import (
    DocumentEditor,
    Embedder,
    Embeddings,
    Extraction,
    FactExtractor,
    MindFailed,
    ReflectPolicy,
    Structured,
    StructuredExtractor,
)
from application.ports.replies import KeptReplies, KeptReply

__all__ = [
    "Clock",
    "DocumentEditor",
    "EmbeddedFact",
    "Embedder",
    "Embeddings",
    "EventLog",
    "Extraction",
    "FactExtractor",
    "Identities",
    "KeptReplies",
    "KeptReply",
    "Loaded",
    "MemoryStore",
    "MemoryWrite",
    "MindFailed",
    "ReflectPolicy",
    "RetainInbox",
    "RetainedItem",
    "StreamAppend",
    "Structured",
    "StructuredExtractor",
    "Transaction",
    "Transactions",
]
