"""The tools that a reflecting model is offered, as functions of what is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from domain.directives import Directive, by_told_name
from domain.memory import estimated_tokens
from domain.reflection import LEAST_TOKENS, MOST_TOKENS, ReflectQuestion, ToolName

_REASON = {"type": "string", "description": "Why this is needed, in one sentence."}
_QUERY = {"type": "string", "description": "What to look for, in words that the facts may use."}


def tools_for(question: ReflectQuestion, names: Sequence[str]) -> list[dict[str, Any]]:
    """The tools with these names, `done` among them."""
    return [done_tool(question) if name == "done" else _tool(name, question) for name in names]


def _tool(name: str, question: ReflectQuestion) -> dict[str, Any]:
    described, properties, required = _TOOLS[name]  # type: ignore[index]
    told = {"reason": _REASON, **properties, "max_tokens": _amount(question.usual_tokens(name))}
    parameters = {"type": "object", "properties": told, "required": ["reason", *required]}
    return {"type": "function", "function": {"name": name, "description": described, "parameters": parameters}}


def _amount(usual: int) -> dict[str, Any]:
    return {
        "type": "integer",
        "description": f"How much text to read at most, {LEAST_TOKENS} to {MOST_TOKENS}; {usual} when left out.",
    }


_IDS = {"type": "array", "items": {"type": "string"}}
_TOOLS: Mapping[ToolName, tuple[str, Mapping[str, Any], Sequence[str]]] = {
    "search_mental_models": (
        "Search the mental models: pages that are kept up to date, each on one question. Gives the best one whole, of "
        "the others how they begin.",
        {"query": _QUERY},
        ["query"],
    ),
    "read_mental_models": (
        "Read mental models whole, as many as there is room for.",
        {"mental_model_ids": {**_IDS, "description": "Ids of the mental models (m1, m2 ...)."}},
        ["mental_model_ids"],
    ),
    "search_observations": (
        "Search the observations: what many facts come to. Gives them as JSON lines, best first.",
        {"query": _QUERY},
        ["query"],
    ),
    "recall": (
        "Search the memory for facts by meaning and by words. Gives facts as JSON lines, best first.",
        {"query": _QUERY},
        ["query"],
    ),
    "expand": (
        "Read the text that facts were read from, where a fact alone says too little.",
        {
            "memory_ids": {**_IDS, "description": "Ids of the facts (f1, f2 ...)."},
            "depth": {
                "type": "string",
                "enum": ["chunk", "document"],
                "description": "The part around the fact, or all of the document.",
            },
        },
        ["memory_ids", "depth"],
    ),
}


_ANSWER_FOUND = {
    "type": "boolean",
    "description": "false when nothing that was found answers the question; `{body}` is then {instead}.",
}
_DOCUMENT = {
    "type": "object",
    "properties": {
        "sections": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "heading": {"type": "string", "description": "Without #; empty for an introduction."},
                    "level": {"type": "integer", "description": "1 to 6; 2 for a section, 3 inside it."},
                    "blocks": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["heading", "level", "blocks"],
            },
        }
    },
    "required": ["sections"],
}
_ANSWER = {"type": "string", "description": "The answer in markdown."}
_COMPLIANCE_TOKENS = 400


def done_tool(question: ReflectQuestion) -> dict[str, Any]:
    """The finishing step. It is the document or the answer, with what it rests on; it is not asked for again."""
    document = question.kind == "document"
    body = "document" if document else "answer"
    instead = "one without sections" if document else "one sentence that says what is not known"
    found = {**_ANSWER_FOUND, "description": _ANSWER_FOUND["description"].format(body=body, instead=instead)}
    properties: dict[str, Any] = {
        "answer_found": found,
        body: _DOCUMENT if document else _ANSWER,
        "memory_ids": {**_IDS, "description": f"Ids of the facts the {body} rests on, as the searches gave them."},
    }
    if "search_mental_models" in question.tools:
        told = f"Ids of the mental models the {body} rests on beside them."
        properties["mental_model_ids"] = {**_IDS, "description": told}
    if question.persona.directives:
        properties["directive_compliance"] = _compliance(question.persona.directives)
    required = ["answer_found", body, "memory_ids"]
    return {
        "type": "function",
        "function": {
            "name": "done",
            "description": f"Deliver the {body}, or say that the memory holds no answer.",
            "parameters": {"type": "object", "properties": properties, "required": required},
        },
    }


def _compliance(directives: Sequence[Directive]) -> dict[str, Any]:
    """A place to check each directive in, before all else is taken as done."""
    names = ", ".join(by_told_name(directives))
    which = names if estimated_tokens(names) <= _COMPLIANCE_TOKENS else "each of them"
    return {"type": "string", "description": f"In a few words, how the directives are kept to: {which}."}
