"""What a caller has to be allowed for each route, and the one place where it is looked at.

Every route has its line in POLICIES, by the name of its function. A route without one is refused to every key that is
held to anything: what was forgotten is shut, not open.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Scope

from domain.api_keys import Forbidden, Principal
from domain.refusals import BankNotFound

PRINCIPAL = "palimpsest.principal"
"""Where in an ASGI scope it stands who asks; `adapters.http.key_gate` puts it there."""
NO_KEY = "This service asks for an API key: send Authorization: Bearer <key>. `palimpsest keys create` makes one"
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="palimpsest"'}

Does = Literal["reads", "writes"]


@dataclass(frozen=True, slots=True)
class Policy:
    """What writes is refused to keys that only read. `narrows`: the route keeps to the tags of a key itself; else it is
    refused to one that has tags. `finds_bank`: it has no bank in its path, and lets nobody see another's all the same.
    `whole_service`: it is of all banks, and refused to keys that are held to banks or tags."""

    does: Does
    narrows: bool = False
    finds_bank: bool = False
    whole_service: bool = False


_READ = Policy("reads", narrows=True)
_READ_ALL = Policy("reads")
_WRITE = Policy("writes", narrows=True)
_WRITE_ALL = Policy("writes")
_SERVICE = Policy("reads", whole_service=True)
_SERVICE_WRITE = Policy("writes", whole_service=True)
_NOTHING = Policy("reads", narrows=True, finds_bank=True)
"""Says the same to everybody."""

POLICIES: dict[str, Policy] = {
    # mental models
    "list_mental_models": _READ,
    "create_mental_model": _WRITE,
    "get_mental_model": _READ,
    "update_mental_model": _WRITE,
    "delete_mental_model": _WRITE,
    "clear_mental_model": _WRITE,
    "refresh_mental_model": _WRITE,
    "get_mental_model_history": _READ,
    "list_mental_model_events": _READ,
    "dry_run_refresh_mental_model": _READ,
    "get_mental_model_version": _READ,
    "diff_mental_model": _READ,
    "blame_mental_model": _READ,
    "revert_mental_model": _WRITE,
    # the knowledge base: its folders have no tags, and are everybody's or nobody's
    "get_knowledge_base_tree": _READ,
    "create_knowledge_folder": _WRITE_ALL,
    "create_knowledge_page": _WRITE_ALL,
    "get_knowledge_page": _READ,
    "search_knowledge_base": _READ,
    "update_knowledge_node": _WRITE_ALL,
    "delete_knowledge_node": _WRITE_ALL,
    "export_knowledge_base": _READ_ALL,
    "import_knowledge_base": _WRITE_ALL,
    # memory
    "retain_memories": _WRITE,
    "dry_run_extract_memories": _READ_ALL,
    "file_retain": _WRITE,
    "recall_memories": _READ,
    "reflect": _READ,
    "list_memories": _READ,
    "get_memory": _READ,
    "update_memory": _WRITE,
    "delete_memory": _WRITE,
    "clear_bank_memories": _WRITE_ALL,
    "list_documents": _READ,
    "list_document_chunks": _READ,
    "reprocess_document": _WRITE,
    "get_document": _READ,
    "update_document": _WRITE,
    "delete_document": _WRITE,
    "get_chunk": Policy("reads", narrows=True, finds_bank=True),
    "list_entities": _READ,
    "get_entity": _READ,
    "regenerate_entity_observations": _NOTHING,
    "list_tags": _READ,
    # observations
    "trigger_consolidation": _WRITE_ALL,
    "recover_consolidation": _WRITE_ALL,
    "preview_consolidation_strategies": _READ_ALL,
    "list_observation_scopes": _READ_ALL,
    "clear_observations": _WRITE_ALL,
    "clear_memory_observations": _WRITE_ALL,
    "get_observation_history": _READ,
    # banks
    "list_banks": Policy("reads", narrows=True, finds_bank=True),
    "create_or_update_bank": _WRITE_ALL,
    "update_bank": _WRITE_ALL,
    "delete_bank": _WRITE_ALL,
    "get_agent_stats": _READ_ALL,
    "get_memories_timeseries": _READ_ALL,
    "get_bank_config": _READ_ALL,
    "update_bank_config": _WRITE_ALL,
    "reset_bank_config": _WRITE_ALL,
    "get_bank_profile": _NOTHING,
    "update_bank_disposition": _NOTHING,
    "add_bank_background": _NOTHING,
    "import_bank_template": _WRITE_ALL,
    "export_bank_template": _READ_ALL,
    "get_bank_template_schema": _NOTHING,
    "list_directives": _READ_ALL,
    "create_directive": _WRITE_ALL,
    "get_directive": _READ_ALL,
    "update_directive": _WRITE_ALL,
    "delete_directive": _WRITE_ALL,
    # a transfer may make any other bank
    "export_bank_transfer": _WRITE_ALL,
    "clone_bank": _SERVICE_WRITE,
    "import_bank_transfer": _SERVICE_WRITE,
    "export_documents_sync_removed": _NOTHING,
    "download_file": _SERVICE,
    # operations
    "list_operations": _READ,
    "get_operation_status": _READ,
    "cancel_operation": _WRITE,
    "retry_operation": _WRITE,
    "delete_operation": _WRITE,
    # the service
    "health": _NOTHING,
    "get_readiness": _NOTHING,
    "get_liveness": _NOTHING,
    "get_version": _NOTHING,
    "get_metrics": _SERVICE,
}


def principal_of(scope: Scope) -> Principal:
    """Who asks. Raises a 401 when the request came in past the gate."""
    principal: Principal | None = scope.get(PRINCIPAL)
    if principal is None:
        raise HTTPException(401, NO_KEY, CHALLENGE)
    return principal


def require(name: str, request: Request) -> None:
    """Raises BankNotFound for a bank that the caller is not to know of, Forbidden for what it may not do."""
    principal = principal_of(request.scope)
    if principal.is_unrestricted and not principal.read_only:
        return
    policy = POLICIES.get(name, _SERVICE_WRITE)
    bank_id = request.path_params.get("bank_id")
    if bank_id is not None and not principal.may_enter(bank_id):
        raise BankNotFound(bank_id)
    if policy.whole_service and not principal.is_unrestricted:
        raise Forbidden("This is of the whole service; it needs an API key that is held to no banks and no tags")
    if bank_id is None and not policy.finds_bank and principal.banks is not None:
        raise Forbidden("This is of no single bank; it needs an API key that is held to no banks")
    if policy.does == "writes" and principal.read_only:
        raise Forbidden("This API key only reads; nothing was changed")
    if principal.tags is not None and not policy.narrows:
        raise Forbidden(
            f"This API key sees what has the tags {', '.join(principal.tags)}; this is of all that is in the bank"
        )
