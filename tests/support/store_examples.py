"""Writes the golden file of every example that has none yet: `python -m tests.support.store_examples`.

A file is what the database stores for one event. Existing files are never touched: they stand for events that were
stored by an earlier version, and those cannot be asked to change.
"""

from __future__ import annotations

import json
from pathlib import Path

from adapters.postgres.event_mapper import to_stored
from domain.event import Context, Event
from tests.support.event_examples import EVENT_EXAMPLES
from tests.support.examples import NOW, OPERATION, STREAMS

GOLDEN = Path(__file__).parent.parent / "stored_events"
CONTEXT = Context("worker", NOW, OPERATION, "operation")


def golden_name(example: str, event: Event) -> str:
    """`topic.schema.json`, or `topic.schema.variant.json`."""
    topic, _, variant = example.partition("/")
    return ".".join(filter(None, (topic, str(event.SCHEMA), variant, "json")))


def main() -> None:
    GOLDEN.mkdir(exist_ok=True)
    for name, event in EVENT_EXAMPLES.items():
        file = GOLDEN / golden_name(name, event)
        if not file.exists():
            stream = next(stream for kind, stream in STREAMS.items() if event.TOPIC.startswith(f"{kind}."))
            stored = to_stored(stream, 1, event, CONTEXT)
            row = {"topic": stored.topic, "state": json.loads(stored.state)}
            file.write_text(json.dumps(row, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
