"""What is answered at once counts too, when a model was asked for it: a retain, a recall, and what failed."""

from __future__ import annotations

from datetime import date

from adapters.service import Service
from projections import usage
from tests.support import scripted_llm as script
from tests.support.rest import RestBank
from tests.support.scripted_pages import Page, ScriptedService

LONG_AGO = date(2000, 1, 1)


def spent(service: Service, bank_id: str) -> dict[str, int]:
    """Calls by what caused them."""
    return {each.cause: each.calls for each in service.reader.ask(usage.of_bank(bank_id, LONG_AGO))}


def test_a_retain_and_a_recall_that_ask_an_endpoint_count_for_their_bank_and_its_budget(
    scripted: ScriptedService, page: Page
) -> None:
    bank, service = page.bank, scripted.service
    bank.retain("Ada Lovelace works at Acme.")
    retained = spent(service, bank.bank_id)
    assert list(retained) == ["POST memories"]

    bank.post("/memories/recall", {"query": "Ada"})
    bank.post("/memories/recall", {"query": "Acme"})

    assert spent(service, bank.bank_id) == {**retained, "POST recall": 2}
    rows = service.reader.ask(usage.of_bank(bank.bank_id, LONG_AGO))
    tokens = sum(service.reader.ask(usage.tokens_of_day(bank.bank_id, day)) for day in {each.day for each in rows})
    assert tokens == sum(each.input_tokens for each in rows) > 0


def test_a_retain_that_fails_counts_what_was_asked(scripted: ScriptedService, page: Page) -> None:
    page.llm.script_embeddings(script.server_error())
    answer = page.bank.ask("POST", "/memories", json={"items": [{"content": "Ada Lovelace works at Acme."}]})
    assert answer.status_code in (502, 503)
    assert list(spent(scripted.service, page.bank.bank_id)) == ["POST memories"]


def test_what_asks_no_model_records_nothing(live_service: Service, bank: RestBank) -> None:
    bank.retain("Ada Lovelace works at Acme.")
    bank.post("/memories/recall", {"query": "Ada"})
    assert spent(live_service, bank.bank_id) == {}
    with live_service.database.connection() as connection:
        kinds = connection.execute(
            "SELECT DISTINCT stream FROM event_log WHERE bank_id = %s AND stream NOT IN ('bank', 'operation')",
            (bank.bank_id,),
        ).fetchall()
    assert kinds == []
