"""A language model that answers at once and always well: for the demo, and to measure what is not the model."""

from __future__ import annotations

from itertools import count

from tests.support.scripted_llm import Reply, Request, Usage, tool_call

USAGE = Usage(prompt=100, completion=20)

_numbers = count(1)


def instant(request: Request) -> Reply:
    """One fact for a text, one recall for a question, then a document that is new each time and rests on one fact."""
    number = next(_numbers)
    if "record_facts" in request.tools:
        fact = {"what": f"Palimpsest was told text {number}", "fact_type": "world", "entities": ["Palimpsest"]}
        return tool_call("record_facts", {"facts": [fact]}, usage=USAGE)
    if "done" not in request.tools:
        return tool_call("recall", {"reason": "first", "query": "Palimpsest", "max_tokens": 2048}, usage=USAGE)
    document = {"sections": [{"heading": "Palimpsest", "level": 2, "blocks": [f"Answer {number}."]}]}
    return tool_call("done", {"document": document, "answer_found": True, "memory_ids": ["f1"]}, usage=USAGE)
