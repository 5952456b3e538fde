"""What of the contract no comparison of documents tells: operations that are not served, and requests that come to
something else; docs/compatibility.md is made of these tables."""

from __future__ import annotations

BEYOND_SCHEMAS: dict[str, str] = {
    "create_mental_model": "An id is checked: lower-case letters, digits and hyphens; the contract does so in"
    " templates alone.",
    "update_mental_model": "A change of nothing is a 422; in the contract it is a 404. Setting one of the two"
    " automatic triggers drops the other.",
    "list_mental_models": "`tags_match=exact` compares tags as sets, in any order.",
    "clear_mental_model": "What was cleared is in the history.",
    "refresh_mental_model": "Without a language model the offline engine writes the document, where the contract"
    " answers 400; so it is with a dry run and a reflect. Its trigger keeps"
    " `reflect_search_observations_include_entities`, which changes nothing.",
    "update_bank": "Only PUT makes a bank; the contract makes one here too.",
    "get_agent_stats": "Counted at each request, so `refresh` has nothing to do.",
    "clear_bank_memories": "A filter that nobody knows is a 422: without it more would be deleted than was meant.",
    "export_bank_transfer": "Of the whole bank; `document_id` is a 400, and `include_history` is told in"
    " X-Ignored-Parameters.",
    "import_bank_transfer": "Into a bank of its own: `mode=merge` is a 400.",
}
"""Differences that no OpenAPI document tells: what the same request comes to."""

NOT_SERVED: dict[str, tuple[str, str]] = {
    "list_bank_aliases": ("A bank has one id.", "Rename it: PATCH .../banks/{bank_id} with `name`."),
    "create_bank_alias": ("A bank has one id.", "Rename it: PATCH .../banks/{bank_id} with `name`."),
    "set_bank_alias_primary": ("A bank has one id.", "Rename it: PATCH .../banks/{bank_id} with `name`."),
    "delete_bank_alias": ("A bank has one id.", "Rename it: PATCH .../banks/{bank_id} with `name`."),
    "create_webhook": ("Nothing is sent to other services.", "GET .../operations, or /metrics."),
    "list_webhooks": ("Nothing is sent to other services.", "GET .../operations, or /metrics."),
    "update_webhook": ("Nothing is sent to other services.", "GET .../operations, or /metrics."),
    "delete_webhook": ("Nothing is sent to other services.", "GET .../operations, or /metrics."),
    "list_webhook_deliveries": ("Nothing is sent to other services.", "GET .../operations, or /metrics."),
    "list_audit_logs": ("Every change is an event, kept for good.", "GET .../mental-models/{id}/events."),
    "audit_log_stats": ("Every change is an event, kept for good.", "/metrics."),
    "get_audit_log": ("Every change is an event, kept for good.", "GET .../mental-models/{id}/events?detail=full."),
    "list_llm_requests": (
        "What was asked of a model is part of the event it led to.",
        "GET .../mental-models/{id}/events?detail=full, and `keep_trace` of a trigger.",
    ),
    "llm_request_stats": ("Tokens and calls are counted in the events.", "/metrics, by cause and purpose."),
    "get_graph": (
        "Links are followed by recall; a drawing of all of them says little about a bank of any size.",
        "GET .../memories/list?entity_id=, and `scores.graph` of a recall.",
    ),
    "get_entity_graph": (
        "Links are followed by recall; a drawing of all of them says little about a bank of any size.",
        "GET .../entities, and GET .../memories/list?entity_id=.",
    ),
    "preview_prompt": (
        "Prompts are no interface: they change with every release.",
        "POST .../memories/dry-run-extract and POST .../dry-run-refresh show what they come to.",
    ),
    "test_bank_llm": (
        "All banks share the endpoint of the service, which /metrics counts the calls and failures of.",
        "POST .../memories/dry-run-extract asks it once.",
    ),
    "get_document_history": (
        "A source document is kept as it was last retained.",
        "GET .../documents/{id} has the text that was last retained.",
    ),
    "get_bank_attachment": (
        "Images and files inside a content are not kept.",
        "POST .../files/retain reads files of text.",
    ),
    "export_documents": (
        "Documents travel with what rests on them: the archive is of the whole bank.",
        "POST .../transfer/export.",
    ),
    "import_documents": (
        "Documents travel with what rests on them: the archive is of the whole bank.",
        "POST .../transfer/import.",
    ),
}
"""Operations of the contract that this service does not have: why, and what to use instead."""
