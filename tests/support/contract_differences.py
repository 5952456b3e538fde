"""Every deliberate difference from the wire contract, with its reason; docs/compatibility.md is made of these tables.

A pattern is `operation: place: aspect`, as in contract_comparison.Found; `*` stands for anything. Each difference
that there is belongs to exactly one pattern, and each pattern to at least one difference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["takes less", "tells less", "ours only"]


@dataclass(frozen=True)
class Deliberate:
    """Why something differs. `general` is one for all routes, and is told once instead of at each."""

    kind: Kind
    reason: str
    patterns: tuple[str, ...]
    general: bool = False

    def covers(self, key: str) -> bool:
        return any(matches(pattern, key) for pattern in self.patterns)


def matches(pattern: str, key: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), key) is not None


GENERAL: tuple[Deliberate, ...] = (
    Deliberate(
        "takes less",
        "Texts, lists and numbers have upper bounds, far above what is of use, so that nothing can be stored that"
        " could not be read again. The contract has hardly any.",
        ("*: *: maxLength", "*: *: maxItems", "*: *: *items maxLength", "*: *: items maxItems", "*: *: maximum"),
        general=True,
    ),
    Deliberate(
        "takes less",
        "An amount that would mean nothing is refused: negative ones, where -1 does not stand for no bound, and"
        " numbers beyond those of the database.",
        ("*: request *: minimum",),
        general=True,
    ),
    Deliberate(
        "takes less",
        "The contract names the values in words and takes any text; a value that is none of them is refused here,"
        " where it would silently filter everything or nothing.",
        (
            "*: query type: values",
            "*: query state: values",
            "*: query status: values",
            "*: query consolidation_state: values",
            "*: query period: values",
            "*: query time_field: values",
            "update_memory: request fact_type: values",
            "update_memory: request state: values",
            "recall_memories: request types: items values",
            "import_bank_transfer: query mode: values",
            "import_bank_transfer: query document_conflict: values",
        ),
        general=True,
    ),
    Deliberate(
        "takes less",
        "An empty list is refused where it would mean either everything or nothing.",
        ("*trigger.fact_types: minItems", "*tag_groups[].and: minItems", "*tag_groups[].or: minItems"),
        general=True,
    ),
    Deliberate(
        "tells less",
        "Images and files inside a content are not kept, so there are no attachments to tell.",
        ("*attachments: missing",),
        general=True,
    ),
    Deliberate(
        "ours only",
        "`version` (its ETag, and a moment for `as_of`), `is_paused`, and why it is stale.",
        (
            "*_mental_model*: response *version: ours",
            "*_mental_model*: response *is_paused: ours",
            "*_mental_model*: response *stale_reasons: ours",
        ),
        general=True,
    ),
)

SPECIFIC: tuple[Deliberate, ...] = (
    Deliberate(
        "takes less",
        "Content is text, or blocks of text: image and file blocks are refused with a 422 that says so.",
        (
            "*: request *content[].type: values",
            "*: request *content[].source: missing",
            "*: request *content[].filename: missing",
        ),
    ),
    Deliberate(
        "takes less",
        "A name has no kind here: `type` is named in X-Ignored-Parameters. Kinds are what entity labels are for.",
        ("retain_memories: request items[].entities[].type: missing",),
    ),
    Deliberate(
        "takes less",
        "At least one item: a retain of nothing is a mistake.",
        ("retain_memories: request items: minItems",),
    ),
    Deliberate(
        "takes less",
        "Whose view and in which language facts are written is what the missions say; both names are told in"
        " X-Ignored-Parameters.",
        (
            "dry_run_extract_memories: request agent_name: missing",
            "dry_run_extract_memories: request llm_output_language: missing",
        ),
    ),
    Deliberate(
        "takes less",
        "The text of an observation names whom it is about; the option, which would repeat the names, is told in"
        " X-Ignored-Parameters.",
        ("reflect: request reflect_search_observations_include_entities: missing",),
    ),
    Deliberate(
        "takes less",
        "Retired by the contract too: the answer is 410 and what to use instead, whatever is sent.",
        (
            "get_bank_profile: response *: missing",
            "update_bank_disposition: *: missing",
            "add_bank_background: *: missing",
        ),
    ),
    Deliberate(
        "tells less",
        "`background` is the retired name of the mission, and null in the contract.",
        ("create_or_update_bank: response background: missing", "update_bank: response background: missing"),
    ),
    Deliberate(
        "tells less",
        "Banks have one id and no aliases, so there is none to show.",
        ("list_banks: response banks[].display_alias: missing",),
    ),
    Deliberate(
        "tells less",
        "An export shares its schema with the import, which takes null as if it were absent; an export never holds"
        " one.",
        (
            "export_bank_template: response mental_models[].tags: types",
            "export_bank_template: response mental_models[].max_tokens: types",
            "export_bank_template: response mental_models[].trigger: types",
            "export_bank_template: response directives[].priority: types",
            "export_bank_template: response directives[].is_active: types",
            "export_bank_template: response directives[].tags: types",
        ),
    ),
    Deliberate(
        "takes less",
        "The default is named where the contract says it in words: memories that are valid; documents by their last"
        " write.",
        ("list_memories: query state: default", "list_documents: query time_field: default"),
    ),
    Deliberate(
        "ours only",
        "`content` is a document by hand, or to begin with.",
        ("create_mental_model: request content: ours", "update_mental_model: request content: ours"),
    ),
    Deliberate(
        "ours only",
        "`as_of` reads it as it was; If-Match and If-None-Match make a change, or an answer, depend on its version.",
        (
            "get_mental_model: query as_of: ours",
            "get_mental_model: header if-none-match: ours",
            "update_mental_model: header if-match: ours",
        ),
    ),
    Deliberate(
        "ours only",
        "Folders and pages have an order of their own, `sort_order`; a stale one says why.",
        (
            "*_knowledge_*: request sort_order: ours",
            "*_knowledge_*: response *sort_order: ours",
            "*_knowledge_*: response *stale_reasons: ours",
        ),
    ),
    Deliberate(
        "ours only",
        "If-None-Match saves sending what has not changed.",
        ("get_knowledge_base_tree: header if-none-match: ours", "get_knowledge_page: header if-none-match: ours"),
    ),
    Deliberate(
        "ours only",
        "The words that were found in a snippet, and whether the meaning was searched too.",
        (
            "search_knowledge_base: response results[].highlights: ours",
            "search_knowledge_base: response by_meaning: ours",
        ),
    ),
    Deliberate(
        "ours only",
        "`history=false` leaves the logs of the pages out.",
        ("export_knowledge_base: query history: ours",),
    ),
    Deliberate(
        "ours only",
        "`folded` tells that a refresh that waited already took the request in.",
        ("refresh_mental_model: response folded: ours",),
    ),
    Deliberate(
        "ours only",
        "Pages that begin `after` an operation neither repeat nor miss any; `park_reason` tells why one has to wait.",
        (
            "list_operations: query after: ours",
            "list_operations: response operations[].park_reason: ours",
            "get_operation_status: response park_reason: ours",
        ),
    ),
    Deliberate(
        "ours only",
        "Which other ways a fact was found by.",
        ("recall_memories: response *scores.graph: ours", "recall_memories: response *scores.temporal: ours"),
    ),
    Deliberate(
        "ours only",
        "Whether there is an answer, why not, and what is doubtful about it: no text has to be guessed from.",
        (
            "reflect: response answer_found: ours",
            "reflect: response no_answer_reason: ours",
            "reflect: response warnings: ours",
        ),
    ),
    Deliberate(
        "ours only",
        "A listed memory has all that a single one has: its type, when it was taken in, its version and its scopes.",
        (
            "list_memories: response items[].type: ours",
            "list_memories: response items[].created_at: ours",
            "list_memories: response items[].version: ours",
            "list_memories: response items[].observation_scopes: ours",
        ),
    ),
    Deliberate(
        "ours only",
        "Labels that are tags too.",
        ("dry_run_extract_memories: response facts[].tags: ours",),
    ),
    Deliberate(
        "ours only",
        "The memories with some tags can be deleted alone.",
        ("clear_bank_memories: query tags: ours", "clear_bank_memories: query tags_match: ours"),
    ),
    Deliberate(
        "ours only",
        "How many memories changed.",
        ("update_document: response memory_units_updated: ours",),
    ),
    Deliberate(
        "ours only",
        "The other missions that the request may set.",
        ("*_bank: response retain_mission: ours", "*_bank: response observations_mission: ours"),
    ),
    Deliberate(
        "ours only",
        "The version of this service beside that of the contract.",
        ("get_version: response palimpsest_version: ours",),
    ),
)

DELIBERATE = GENERAL + SPECIFIC
