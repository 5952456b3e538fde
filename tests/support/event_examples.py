"""One example of every event, with every field filled: what golden files, round trips and read models are tested on.

Keyed by topic; an event whose payload has alternatives has a further example, keyed `topic/variant`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from domain.api_keys import KeyCreated, KeyRevoked
from domain.bank import (
    BankConfigured,
    BankDeleted,
    BankOpened,
    BankRenamed,
    DirectiveAdded,
    DirectiveChanged,
    DirectiveRemoved,
    Disposition,
    DispositionChanged,
    Missions,
    MissionsChanged,
)
from domain.bank_config import BankSettings
from domain.bank_config_changes import changes_of
from domain.digest import sha256_of
from domain.directives import Directive
from domain.document import (
    AddSection,
    AppendBlock,
    AppendItem,
    InsertBlock,
    InsertItem,
    MoveSection,
    Operation,
    RemoveBlock,
    RemoveItem,
    RemoveSection,
    RenameSection,
    ReplaceBlock,
    ReplaceItem,
    ReplaceSectionBlocks,
)
from domain.event import Event
from domain.knowledge_base import (
    FolderCreated,
    KnowledgeBaseDeleted,
    NodeMoved,
    NodeRenamed,
    NodeReordered,
    NodesDeleted,
    PageCreated,
)
from domain.mental_model.events import (
    ContentCleared,
    ContentEdited,
    ContentPreservedNoNewFacts,
    ContentReverted,
    ContentUnchanged,
    ContentWritten,
    MentalModelCreated,
    MentalModelDeleted,
    MentalModelRenamed,
    RefreshFailedDeltaNotApplied,
    RefreshFailedEmptyCandidate,
    RefreshFailedError,
    RefreshFailedStructuredOutput,
    SourceQueryChanged,
    TagsChanged,
    TokenBudgetChanged,
    TriggerChanged,
)
from domain.mental_model.record import (
    Citation,
    DeltaRecord,
    DirectiveKept,
    Edit,
    Evidence,
    FactCount,
    FactReading,
    PageEvidence,
    PieceGrounds,
    RefreshRecord,
    RefreshWindow,
    Relink,
    ResolvedScope,
    RetractionRecord,
    ToolCallRecord,
)
from domain.mental_model.trigger import Trigger
from domain.operation import (
    BankCloneAsked,
    BankExportAsked,
    BankExportDone,
    BankImportAsked,
    BankImportDone,
    BatchPart,
    BatchRetainAsked,
    ConsolidationAsked,
    ConsolidationDone,
    FailedItem,
    OperationCancelled,
    OperationCompleted,
    OperationFailed,
    OperationFolded,
    OperationParked,
    OperationRemoved,
    OperationRequested,
    OperationRestarted,
    OperationRetryScheduled,
    OperationSpent,
    OperationStarted,
    RefreshAsked,
    RefreshDone,
    RetainAsked,
    RetainDone,
    RetainFailed,
)
from domain.request import ModelsAsked
from domain.scope import Scope, TagAnd, TagLeaf, TagNot, TagOr
from domain.usage import ModelCall
from tests.support.examples import BANK, MODEL, NOW, OPERATION, QUESTION, fact_id

FOLDER = "kf-0000000000000000000000000000000a"
PAGE = "kp-0000000000000000000000000000000b"
GROUPS = (
    TagAnd(all_of=(TagLeaf(tags=("prague", "bridges"), match="all_strict"), TagNot(none_of=TagLeaf(tags=("draft",))))),
    TagOr(any_of=(TagLeaf(tags=("stone",)), TagLeaf(tags=(), match="exact"))),
)
TRIGGER = Trigger(
    mode="delta",
    budget="high",
    refresh_after_consolidation=False,
    refresh_cron="0 6 * * 1",
    full_refresh_cron="0 3 1 * *",
    min_refresh_interval_seconds=1800,
    fact_types=("world", "observation"),
    exclude_mental_models=True,
    exclude_mental_model_ids=("old-town",),
    tags_match="any_strict",
    tag_groups=GROUPS,
    include_chunks=True,
    recall_max_tokens=4096,
    recall_chunks_max_tokens=1024,
    reflect_search_observations_max_tokens=5000,
    reflect_search_observations_include_entities=False,
    response_schema={"type": "object", "properties": {"finished": {"type": "integer"}}, "required": ["finished"]},
    keep_trace=True,
)
CALLS = (
    ModelCall(
        purpose="reflect_1",
        model="scripted-model",
        input_tokens=1200,
        output_tokens=340,
        cached_tokens=600,
        thoughts_tokens=50,
        duration_ms=830,
    ),
)
TEXT = "# Karlův most\r\n\n- Finished in 1402.\u2028\n"
OPERATIONS: tuple[Operation, ...] = (
    AppendBlock(section_id="karluv-most", text="It has 30 statues."),
    InsertBlock(section_id="karluv-most", after_block_id="p-1", text="Sandstone."),
    ReplaceBlock(section_id="karluv-most", block_id="p-1", text="Finished in 1402."),
    RemoveBlock(section_id="karluv-most", block_id="p-2"),
    AddSection(heading="Towers", level=3, blocks=("Three towers.",), after_section_id="karluv-most", new_id="towers"),
    RemoveSection(section_id="legends"),
    ReplaceSectionBlocks(section_id="towers", blocks=("Two towers.",)),
    RenameSection(section_id="towers", new_heading="Bridge towers"),
    MoveSection(section_id="towers", after_section_id="karluv-most"),
    AppendItem(block_id="list-1", text="The Old Town tower."),
    InsertItem(block_id="list-1", after_item_id="item-1", text="The Lesser Town towers."),
    ReplaceItem(block_id="list-1", item_id="item-1", text="The tower of 1380."),
    RemoveItem(block_id="list-1", item_id="item-2"),
)
DELTA = DeltaRecord(
    baseline_sha256=sha256_of("- Begun in 1357.\n"),
    skipped_reason="no_relevant_facts",
    edits=(
        *(Edit(edit_pass="edit", operation=operation, facts=(fact_id(1),)) for operation in OPERATIONS),
        Edit(
            edit_pass="compaction",
            operation=AddSection(heading="Mosty"),
            facts=(fact_id(1),),
            before="",
            after="## Mosty\n",
            wrote=("mosty",),
            removed=("legends",),
            assigned_id="mosty",
            merged_into_block_id="list-1",
        ),
        Edit(edit_pass="blame", raw='{"op":"paint"}', skipped="unknown operation paint"),
    ),
    readings=(FactReading(fact_id=fact_id(1), version=2, position=6, verdict="integrated"),),
    replies=('{"operations":[]}',),
    document_tokens=31,
    document_budget=2048,
)
RETRACTION = RetractionRecord(
    fact_ids=(fact_id(2),),
    fact_texts=("The bridge is of wood.",),
    applied=True,
    deferred_reason="3 fact(s) are still pending consolidation",
    broken=(fact_id(3),),
    relinked=(Relink(before=fact_id(4), after=Citation(fact_id=fact_id(5), version=1, position=7, fact_type="world")),),
)
RECORD = RefreshRecord(
    requested_mode="delta",
    effective_mode="delta",
    mode_fallback_reason="source_query_changed",
    source_query=QUESTION,
    scope=ResolvedScope(
        scope=Scope(tags=("prague",), tags_match="all_strict", tag_groups=GROUPS, fact_types=("world",)),
        exclude_mental_models=True,
        exclude_mental_model_ids=("charles-bridge", "old-town"),
    ),
    window=RefreshWindow(
        after=3,
        upto=7,
        created_after=datetime(2026, 3, 1, 8, 0, tzinfo=UTC),
        created_before=datetime(2026, 3, 2, 9, 30, tzinfo=UTC),
        watermark=datetime(2026, 3, 2, 9, 29, 30, 123456, tzinfo=UTC),
    ),
    reflect_skipped="no_sources_in_scope",
    retrieved=(FactCount(fact_type="world", count=2),),
    evidence=(
        Evidence(
            fact_id=fact_id(1),
            version=2,
            position=6,
            fact_type="world",
            text="Petr Parléř built the bridge from 1357 on.",
            context="city guide",
        ),
    ),
    tool_calls=(
        ToolCallRecord(
            tool="recall",
            reason="dates of the works",
            query="Charles Bridge built",
            max_tokens=2048,
            result_count=2,
            duration_ms=9,
            iteration=1,
        ),
        ToolCallRecord(
            tool="expand",
            reason="who built it",
            query="",
            max_tokens=6000,
            result_count=0,
            duration_ms=0,
            iteration=2,
            ids=(str(fact_id(1)),),
            problem="search first",
        ),
    ),
    pages=(PageEvidence(mental_model_id="prague", name="Prague", version=3, text="# Prague\n"),),
    directives=(
        DirectiveKept(
            directive_id=UUID("aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"),
            name="Cite",
            content="Name the source of every date.",
        ),
    ),
    candidate="# Karlův most\n\n- Finished in 1402.",
    raw_reply='{"markdown":"# Karlův most\\n\\n- Finished in 1402."}',
    warnings=("retrieval found 2 facts but the answer used none of them",),
    calls=CALLS,
    duration_ms=912,
    engine="scripted-model",
    parser_version=1,
    delta=DELTA,
    retraction=RETRACTION,
    pending=(5, 7),
    unread=1,
    structured_output={"finished": 1402, "towers": ["Old Town", None], "of": {"stone": True}},
    structured_schema_sha256=sha256_of("{}"),
    keep_trace=True,
)
REFRESH_ASKED = RefreshAsked(mental_model_id=MODEL, mode="full", automatic=True)
CONSOLIDATION_ASKED = ConsolidationAsked(observation_scopes=(("river",), ("bridge", "river")), automatic=True)
CONSOLIDATION_DONE = ConsolidationDone(facts=7, created=2, updated=3, deleted=1, failed=1, calls=CALLS)
RETAIN_ASKED = RetainAsked(items_count=2, items_sha256=sha256_of("items"), document_id="guide")
BATCH_ASKED = BatchRetainAsked(
    items_count=3,
    items_sha256=sha256_of("items"),
    parts=(
        BatchPart(operation_id=UUID("bbbbbbbb-2222-4333-8444-555555555501"), items=(0, 2)),
        BatchPart(operation_id=UUID("bbbbbbbb-2222-4333-8444-555555555502"), items=(1,)),
    ),
)
RETAIN_FAILED = RetainFailed(
    facts=4, failed_items=(FailedItem(index=1, document_id="guide", reason="the endpoint refused the text"),)
)
IMPORT_ASKED = BankImportAsked(
    target_bank_id="brno", storage_key="a-key", byte_size=12345, include_data=False, include_bank_config=False
)
TRANSFERRED: Mapping[str, Any] = {
    "documents": 2,
    "chunks": 5,
    "facts": 30,
    "observations": 7,
    "fact_versions": 44,
    "entities": 12,
    "mental_models": 3,
    "history": 9,
    "directives": 1,
    "events": 25,
}
EXPORT_ASKED = BankExportAsked(include_data=True, include_bank_config=False)
CLONE_ASKED = BankCloneAsked(target_bank_id="brno", include_data=False, include_bank_config=True)
EXPORTED = BankExportDone(
    **TRANSFERRED,
    storage_key="a-key",
    download_url="/v1/default/files/download/a-key",
    filename="prague-20260302T093000Z.zip",
    byte_size=12345,
    sha256=sha256_of("archive"),
    expires_at=datetime(2026, 3, 3, 9, 30, tzinfo=UTC),
)
IMPORTED = BankImportDone(
    **TRANSFERRED,
    source_bank_id=BANK,
    target_bank_id="brno",
    exported_at=NOW,
    digest=sha256_of("sections"),
    calls=CALLS,
)
REFRESH_DONE = RefreshDone(outcome="content_written", failure_reason="no_answer", content_length=38)

EVERY_SETTING: Mapping[str, Any] = {
    "retain_custom_instructions": "Keep every date.",
    "retain_extraction_mode": "custom",
    "retain_chunk_size": 1500,
    "retain_structured_chunk_size": 4000,
    "retain_chunk_batch_size": 0,
    "retain_default_strategy": "mail",
    "retain_strategies": {
        "mail": {
            "retain_mission": "Keep who wrote.",
            "retain_custom_instructions": "Keep numbers.",
            "retain_extraction_mode": "verbatim",
            "retain_chunk_size": 500,
            "retain_structured_chunk_size": 900,
            "retain_chunk_batch_size": 2,
            "retain_max_attachments_per_chunk": 1,
            "entity_labels": [],
            "entities_allow_free_form": False,
            "store_document_text": False,
            "default_observation_scopes": "shared",
        }
    },
    "retain_max_attachments_per_chunk": 2,
    "entity_labels": [
        {
            "key": "bridge",
            "description": "Which bridge it is about.",
            "type": "map",
            "optional": False,
            "tag": True,
            "values": [{"value": "stone", "description": "Built of stone."}],
            "fields": {"river": {"type": "value", "description": "", "values": [{"value": "Vltava"}], "fields": {}}},
        }
    ],
    "entities_allow_free_form": False,
    "store_document_text": False,
    "enable_observations": False,
    "enable_auto_consolidation": False,
    "max_observations_per_scope": 50,
    "observation_scope_limits": [{"scope": ["run_*"], "limit": 1}],
    "consolidation_strategies": [
        {
            "scopes": [{"tags": ["bridge:*"], "tags_match": "exact"}],
            "observations_mission": "Note what was rebuilt.",
            "max_observations_per_scope": 20,
            "consolidation_source_facts_max_tokens": 2000,
            "consolidation_source_facts_max_tokens_per_observation": 100,
        }
    ],
    "default_observation_scopes": [["bridge:*"]],
    "consolidation_llm_batch_size": 4,
    "consolidation_llm_parallelism": 2,
    "consolidation_max_memories_per_round": 40,
    "consolidation_source_facts_max_tokens": -1,
    "consolidation_source_facts_max_tokens_per_observation": 128,
    "consolidation_use_decision_model": False,
    "reflect_source_facts_max_tokens": 1000,
    "reflect_default_options": {
        "reflect_search_observations_max_tokens": 3000,
        "reflect_search_observations_include_entities": False,
    },
    "reflect_use_decision_model": False,
    "mental_model_refresh_use_decision_model": False,
    "mental_model_delta_use_decision_model": False,
    "mental_model_min_refresh_interval_seconds": 600,
    "knowledge_page_default_trigger": {"refresh_cron": "0 * * * *"},
    "recall_include_chunks": False,
    "recall_prefer_observations": True,
    "recall_max_tokens": 1024,
    "recall_chunks_max_tokens": 0,
    "recall_budget_function": "adaptive",
    "recall_budget_fixed_low": 50,
    "recall_budget_fixed_mid": 150,
    "recall_budget_fixed_high": 500,
    "recall_budget_adaptive_low": 0.05,
    "recall_budget_adaptive_mid": 0.1,
    "recall_budget_adaptive_high": 0.5,
    "recall_budget_min": 10,
    "recall_budget_max": 900,
    "enable_text_search": False,
    "enable_temporal_retrieval": False,
    "enable_graph_retrieval": False,
    "enable_reranking": False,
    "mcp_enabled_tools": ["recall"],
    "audit_log_enabled": True,
    "llm_gemini_safety_settings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
    "memory_defense": {"enabled": True, "rules": [{"on": "sensitive_data", "action": "redact"}]},
}
"""Every key of a bank's config, missions and traits aside, with a value that is not its default."""
DIRECTIVE = Directive(
    directive_id=UUID("aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"),
    name="Cite",
    content="Name the source of every date.",
    priority=10,
    tags=("bridges",),
)

EVENT_EXAMPLES: Mapping[str, Event] = {
    "mental_model.created": MentalModelCreated(
        bank_id=BANK,
        mental_model_id=MODEL,
        name="Charles Bridge",
        source_query=QUESTION,
        tags=("prague", "bridges"),
        max_tokens=2048,
        trigger=TRIGGER,
    ),
    "mental_model.renamed": MentalModelRenamed(name="Karlův most"),
    "mental_model.source_query_changed": SourceQueryChanged(source_query="Who built the Charles Bridge, and when?"),
    "mental_model.tags_changed": TagsChanged(tags=("prague", "bridges")),
    "mental_model.token_budget_changed": TokenBudgetChanged(max_tokens=4096),
    "mental_model.trigger_changed": TriggerChanged(trigger=TRIGGER),
    "mental_model.content_written": ContentWritten(
        text=TEXT,
        sha256=sha256_of(TEXT),
        ids=("karluv-most", "list-1", "item-1"),
        pieces=(PieceGrounds(id="item-1", facts=(fact_id(1),), kept=True),),
        record=RECORD,
    ),
    "mental_model.content_unchanged": ContentUnchanged(record=RECORD),
    "mental_model.content_preserved_no_new_facts": ContentPreservedNoNewFacts(record=RECORD),
    "mental_model.refresh_failed_empty_candidate": RefreshFailedEmptyCandidate(record=RECORD),
    "mental_model.refresh_failed_error": RefreshFailedError(
        failure_reason="retrieval_failed", error_message="recall failed: timeout", transient=True, record=RECORD
    ),
    "mental_model.refresh_failed_delta_not_applied": RefreshFailedDeltaNotApplied(
        failure_reason="delta_ops_all_skipped", error_message="unknown section 'b123'", transient=False, record=RECORD
    ),
    "mental_model.refresh_failed_structured_output": RefreshFailedStructuredOutput(
        error_message="the endpoint answered 500", transient=True, record=RECORD
    ),
    "mental_model.content_edited": ContentEdited(text=TEXT, sha256=sha256_of(TEXT), ids=("karluv-most", "list-1")),
    "mental_model.content_reverted": ContentReverted(
        to_version=2,
        text=TEXT,
        sha256=sha256_of(TEXT),
        ids=("karluv-most", "list-1"),
        pieces=(PieceGrounds(id="list-1", facts=(fact_id(1),), kept=False),),
        evidence=(Citation(fact_id=fact_id(1), version=2, position=6, fact_type="world"),),
    ),
    "mental_model.content_cleared": ContentCleared(),
    "mental_model.deleted": MentalModelDeleted(),
    "api_key.created": KeyCreated(
        key_id="0123456789ab",
        name="Guides",
        banks=(BANK, "brno"),
        tags=("bridges",),
        read_only=True,
        digest="ab" * 32,
        expires_at=datetime(2027, 1, 1, tzinfo=UTC),
    ),
    "api_key.revoked": KeyRevoked(),
    "bank.opened": BankOpened(bank_id=BANK, name="Prague"),
    "bank.renamed": BankRenamed(name="Praha"),
    "bank.missions_changed": MissionsChanged(
        missions=Missions(reflect="Answer as a city guide.", retain="Keep dates.", observations="Note what changes.")
    ),
    "bank.disposition_changed": DispositionChanged(disposition=Disposition(skepticism=5, literalism=2, empathy=1)),
    "bank.disposition_changed/partly": DispositionChanged(disposition=Disposition(skepticism=5, empathy=3)),
    "bank.configured": BankConfigured(overrides=BankSettings().changed_by(changes_of(EVERY_SETTING))),
    "bank.directive_added": DirectiveAdded(directive=DIRECTIVE),
    "bank.directive_changed": DirectiveChanged(
        directive=DIRECTIVE.model_copy(update={"is_active": False, "tags": (), "priority": -1})
    ),
    "bank.directive_removed": DirectiveRemoved(directive_id=DIRECTIVE.directive_id),
    "bank.deleted": BankDeleted(),
    "knowledge_base.folder_created": FolderCreated(folder_id=FOLDER, name="Bridges", parent_id=None, sort_order=0),
    "knowledge_base.page_created": PageCreated(
        page_id=PAGE, mental_model_id=MODEL, name="Charles Bridge", parent_id=FOLDER, sort_order=2
    ),
    "knowledge_base.node_renamed": NodeRenamed(node_id=FOLDER, name="Bridges of Prague"),
    "knowledge_base.node_moved": NodeMoved(node_id=PAGE, parent_id=None),
    "knowledge_base.node_moved/into_a_folder": NodeMoved(node_id=PAGE, parent_id=FOLDER),
    "knowledge_base.node_reordered": NodeReordered(node_id=PAGE, sort_order=-1),
    "knowledge_base.nodes_deleted": NodesDeleted(node_ids=(FOLDER, PAGE)),
    "knowledge_base.deleted": KnowledgeBaseDeleted(),
    "operation.requested": OperationRequested(bank_id=BANK, operation_id=OPERATION, work=REFRESH_ASKED, bank_since=NOW),
    "operation.requested/retain": OperationRequested(
        bank_id=BANK, operation_id=OPERATION, work=RETAIN_ASKED, bank_since=NOW
    ),
    "operation.requested/batch_retain": OperationRequested(
        bank_id=BANK, operation_id=OPERATION, work=BATCH_ASKED, bank_since=NOW
    ),
    "operation.requested/consolidation": OperationRequested(
        bank_id=BANK, operation_id=OPERATION, work=CONSOLIDATION_ASKED, bank_since=NOW
    ),
    "operation.folded/consolidation": OperationFolded(work=CONSOLIDATION_ASKED, released=True),
    "operation.parked/consolidation": OperationParked(
        work=CONSOLIDATION_ASKED, reason="token_budget", until=datetime(2026, 3, 3, tzinfo=UTC), calls=CALLS
    ),
    "operation.restarted/consolidation": OperationRestarted(work=CONSOLIDATION_ASKED),
    "operation.retry_scheduled/consolidation": OperationRetryScheduled(
        work=CONSOLIDATION_ASKED,
        error_message="the endpoint answered 429",
        retry_count=1,
        next_retry_at=datetime(2026, 3, 2, 9, 31, tzinfo=UTC),
        result=CONSOLIDATION_DONE,
        calls=CALLS,
    ),
    "operation.failed/consolidation": OperationFailed(
        error_message="the endpoint answered 401", result=CONSOLIDATION_DONE, calls=CALLS
    ),
    "operation.completed/consolidation": OperationCompleted(result=CONSOLIDATION_DONE),
    "operation.folded/batch_retain": OperationFolded(work=BATCH_ASKED, released=True),
    "operation.parked/batch_retain": OperationParked(
        work=BATCH_ASKED, reason="quota", until=datetime(2026, 3, 3, tzinfo=UTC), calls=CALLS
    ),
    "operation.restarted/batch_retain": OperationRestarted(work=BATCH_ASKED),
    "operation.retry_scheduled/batch_retain": OperationRetryScheduled(
        work=BATCH_ASKED,
        error_message="the endpoint answered 429",
        retry_count=1,
        next_retry_at=datetime(2026, 3, 2, 9, 31, tzinfo=UTC),
        result=RETAIN_FAILED,
        calls=CALLS,
    ),
    "operation.completed/retain_failed": OperationCompleted(result=RETAIN_FAILED),
    **{
        f"{event.TOPIC}/{work.type}": event(work=work, **given)
        for event, given in (
            (OperationRequested, {"bank_id": BANK, "operation_id": OPERATION, "bank_since": NOW}),
            (OperationFolded, {"released": True}),
            (OperationParked, {"reason": "quota", "until": NOW, "calls": CALLS}),
            (OperationRestarted, {}),
            (
                OperationRetryScheduled,
                {"error_message": "429", "retry_count": 1, "next_retry_at": NOW, "result": EXPORTED, "calls": CALLS},
            ),
        )
        for work in (EXPORT_ASKED, IMPORT_ASKED, CLONE_ASKED)
    },
    "operation.retry_scheduled/bank_imported": OperationRetryScheduled(
        work=IMPORT_ASKED, error_message="429", retry_count=1, next_retry_at=NOW, result=IMPORTED, calls=CALLS
    ),
    "operation.failed/bank_export": OperationFailed(error_message="no such bank", result=EXPORTED, calls=CALLS),
    "operation.failed/bank_import": OperationFailed(error_message="no such bank", result=IMPORTED, calls=CALLS),
    "operation.completed/bank_export": OperationCompleted(result=EXPORTED),
    "operation.completed/bank_import": OperationCompleted(result=IMPORTED),
    "operation.started": OperationStarted(attempt=1),
    "operation.retry_scheduled": OperationRetryScheduled(
        work=REFRESH_ASKED,
        error_message="the endpoint answered 429",
        retry_count=1,
        next_retry_at=datetime(2026, 3, 2, 9, 31, tzinfo=UTC),
        result=REFRESH_DONE,
    ),
    "operation.retry_scheduled/retain": OperationRetryScheduled(
        work=RETAIN_ASKED,
        error_message="the endpoint answered 429",
        retry_count=1,
        next_retry_at=datetime(2026, 3, 2, 9, 31, tzinfo=UTC),
        result=RetainDone(facts=0, calls=CALLS),
        calls=CALLS,
    ),
    "operation.retry_scheduled/retain_failed": OperationRetryScheduled(
        work=RETAIN_ASKED,
        error_message="1 of 2 items could not be retained",
        retry_count=1,
        next_retry_at=datetime(2026, 3, 2, 9, 31, tzinfo=UTC),
        result=RETAIN_FAILED,
        calls=CALLS,
    ),
    "operation.failed/retain_failed": OperationFailed(
        error_message="1 of 2 items could not be retained", result=RETAIN_FAILED, calls=CALLS
    ),
    "operation.folded": OperationFolded(work=REFRESH_ASKED, released=True),
    "operation.folded/retain": OperationFolded(work=RETAIN_ASKED, released=False),
    "operation.parked": OperationParked(
        work=REFRESH_ASKED, reason="min_interval", until=datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
    ),
    "operation.parked/retain": OperationParked(
        work=RETAIN_ASKED, reason="quota", until=datetime(2026, 3, 2, 10, 0, tzinfo=UTC), calls=CALLS
    ),
    "operation.restarted": OperationRestarted(work=REFRESH_ASKED),
    "operation.restarted/retain": OperationRestarted(work=RETAIN_ASKED),
    "operation.cancelled": OperationCancelled(),
    "operation.removed": OperationRemoved(),
    "operation.completed": OperationCompleted(result=REFRESH_DONE),
    "operation.completed/retain": OperationCompleted(result=RetainDone(facts=5, calls=CALLS)),
    "operation.spent": OperationSpent(mental_model_id=MODEL, calls=CALLS),
    "request.models_asked": ModelsAsked(request="retain", calls=CALLS),
    "operation.failed": OperationFailed(error_message="the key was refused (401)", result=REFRESH_DONE),
    "operation.failed/retain": OperationFailed(
        error_message="the key was refused (401)", result=RetainDone(facts=0, calls=CALLS), calls=CALLS
    ),
}
