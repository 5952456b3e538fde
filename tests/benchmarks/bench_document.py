"""What the lossless document costs: `python -m tests.benchmarks.bench_document` prints its rows."""

import statistics
import time
from collections.abc import Callable
from itertools import count

from markdown_it import MarkdownIt

from domain.document import (
    AddSection,
    AppendBlock,
    AppendItem,
    Document,
    Operation,
    RemoveItem,
    ReplaceBlock,
    apply,
    parse,
    plain_text,
)

SIZE_BYTES = 100_000
RUNS = 20
OPERATIONS = 20

Row = tuple[str, float, str]
"""What was measured, the figure, its unit."""

PART = """\
## Rollout {n}

The service is deployed *blue-green*; see [the runbook](https://example.org/runbook/{n}) and `make release`.
It was changed on 2026-03-{n} because the former way lost requests while the queue was restarted.

- ask the owner first: 田中さん, since 2025
  - only on weekdays
  - never twice a day
- then announce it in the channel, with the number of the change and the expected duration

| Tier | Limit | Note |
| --- | ---: | --- |
| free {n} | 10 | ten requests a minute, counted per address |
| team | 50 | fifty, counted per key |
| corp | 500 | 企業向け |

```python
def release(version: str) -> None:
    # blank lines inside belong to the fence

    deploy(version)
```

概要: このシステムは文書を自動的に更新します。変更はすべて記録され、あとから説明できます。

> A note from the last incident
> that goes on here.

1. stop the worker

2. release {n}

"""


def rows() -> list[Row]:
    """Medians of 20 runs, each run of ours beside one of the parser's alone, so that a busy machine slows both."""
    text = realistic_markdown()
    document = parse(text)
    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    operations = operations_on(document)
    unreadable = [AppendBlock(section_id=section.id, text="    code") for section in document.sections]
    bare, reading, round_trip, rewrite, words, edit, refuse = medians_ms(
        lambda: parser.parse(text),
        lambda: parse(text),
        lambda: parse(text).render(),
        lambda: parse(text, previous=document),
        lambda: plain_text(document),
        lambda: apply(document, operations),
        lambda: apply(document, unreadable),
    )
    return [
        ("document: parse + render, 100 kB", round_trip, "ms"),
        ("document: the same / markdown-it's block parse alone", round_trip / bare, "ratio"),
        ("document: parse with ids of a previous version, 100 kB", rewrite, "ms"),
        ("document: plain text, 100 kB", words, "ms"),
        (f"document: apply {OPERATIONS} operations, 100 kB", edit, "ms"),
        ("document: the same / parse of the same text", edit / reading, "ratio"),
        (f"document: skip {len(unreadable)} operations that would be read differently, 100 kB", refuse, "ms"),
    ]


def realistic_markdown() -> str:
    """100 kB (UTF-8) of headings, prose, lists, tables, fences, quotes and CJK."""
    text = ""
    for number in count():
        if len(text.encode()) >= SIZE_BYTES:
            return text
        text += PART.format(n=number)
    raise AssertionError("count() does not end")


def operations_on(document: Document) -> list[Operation]:
    """Operations of five kinds in turns, each on another section."""
    operations: list[Operation] = []
    for number, section in enumerate(document.sections[:OPERATIONS]):
        prose, bullets, table = section.blocks[:3]
        operations.append(
            [
                AppendBlock(section_id=section.id, text="A new paragraph."),
                AppendItem(block_id=bullets.id, text="a new item"),
                ReplaceBlock(section_id=section.id, block_id=prose.id, text="Other prose, with `code`."),
                AddSection(heading=f"New {number}", blocks=("Prose.", "- item"), after_section_id=section.id),
                RemoveItem(block_id=table.id, item_id=table.items[0].id),
            ][number % 5]
        )
    return operations


def medians_ms(*actions: Callable[[], object]) -> list[float]:
    """The median time of each action in milliseconds, the actions taken in turns."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(RUNS):
        for action, spent in zip(actions, times, strict=True):
            start = time.perf_counter()
            action()
            spent.append((time.perf_counter() - start) * 1000)
    return [statistics.median(spent) for spent in times]


if __name__ == "__main__":
    for name, figure, unit in rows():
        print(f"| {name} | {figure:.2f} {unit} |")
