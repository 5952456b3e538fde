"""What it costs to work one fact into a page: counted with a real tokenizer, over what is really sent."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

from tokenizers import Tokenizer

from adapters.llm.editor import LlmDocumentEditor
from adapters.llm.endpoint import Endpoint
from domain.document import parse
from domain.editing import NewFact
from tests.adapters.llm.edit_requests import edit_request
from tests.adapters.llm.found_facts import fact
from tests.support.scripted_llm import Request, ScriptedLlm, tool_call

PAGE = (Path(__file__).parent / "page_of_1500_tokens.md").read_text(encoding="utf-8")
PAGE_TOKENS = 1500
MOST_TOKENS = 3000


def tokenizer() -> Tokenizer:
    """The tokenizer that the package of the static embeddings carries: 32,000 tokens, few for the digits of ids."""
    package = find_spec("wordllama")
    assert package is not None
    assert package.origin is not None
    file = Path(package.origin).parent / "tokenizers" / "l2_supercat_tokenizer_config.json"
    read = Tokenizer.from_file(str(file))
    read.no_truncation()
    return read


def prompt_of(request: Request) -> str:
    """All that a model is billed for: the messages, and the tools as JSON, as they were sent."""
    return request.text + json.dumps(request.body["tools"], separators=(",", ":"))


def test_one_fact_on_a_page_of_1500_tokens_costs_one_call_of_at_most_3000(llm: ScriptedLlm, endpoint: Endpoint) -> None:
    when = (datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 3, 4, tzinfo=UTC))
    text = (
        "The separate rate limit for wallet top-ups went live in March 2024, and 99 percent of them take 0.8 seconds."
    )
    new = NewFact(fact(1, text, occurred=when, mentioned_at=datetime(2024, 4, 2, tzinfo=UTC)))
    llm.script(tool_call("edit_document", {"operations": []}))

    proposal = LlmDocumentEditor(endpoint).propose(edit_request(PAGE, facts=(new,), document_tokens=PAGE_TOKENS))

    def tokens(of: str) -> int:
        return len(tokenizer().encode(of, add_special_tokens=False).ids)

    blocks = [block for section in parse(PAGE).sections for block in section.blocks]
    assert {"list", "table", "paragraph"} <= {block.kind for block in blocks}
    assert sum(len(block.items) for block in blocks) >= 25
    assert tokens(PAGE) >= PAGE_TOKENS
    assert len(proposal.calls) == len(llm.requests) == 1
    assert tokens(prompt_of(llm.requests[0])) <= MOST_TOKENS
