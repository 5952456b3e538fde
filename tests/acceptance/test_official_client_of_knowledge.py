"""The official client's methods of the knowledge base."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hindsight_client_api.exceptions import ApiException, NotFoundException

from tests.support.client_bank import ClientBank, client_bank


@pytest.fixture
def of_client(address: str) -> Iterator[ClientBank]:
    with client_bank(address) as bank:
        yield bank


def test_the_official_client_works_on_folders_and_pages(of_client: ClientBank) -> None:
    client, bank = of_client.client, of_client.id
    assert client.get_knowledge_base_tree(bank).roots == []
    client.retain(bank, "Ada Lovelace works at Acme.", tags=["ada"])
    team = client.create_knowledge_folder(bank, "Team")
    inner = client.create_knowledge_folder(bank, "Inner", parent_id=team.id)
    assert (inner.kind, inner.parent_id) == ("folder", team.id)
    made = client.create_knowledge_page(
        bank,
        "Ada",
        "Who is Ada?",
        parent_id=inner.id,
        tags=["ada"],
        max_tokens=512,
        trigger={"fact_types": ["world"], "mode": "delta"},
    )
    of_client.settled()
    page = client.get_knowledge_page(bank, made.page_id)
    assert (page.name, page.type, page.description) == ("Ada", "knowledge-page", "Who is Ada?")
    assert "Acme" in str(page.body)
    assert page.markdown.startswith('---\nid: "kp-')

    (root,) = client.get_knowledge_base_tree(bank, tags=["ada"], tags_match="all_strict").roots
    node = root.children[0].children[0]
    assert (node.id, node.mental_model_id, node.is_stale) == (made.page_id, made.mental_model_id, False)
    assert node.trigger is not None
    assert node.trigger.fact_types == ["world"]
    assert client.get_knowledge_base_tree(bank, tag_groups=[{"tags": ["none"]}]).roots == []

    found = client.search_knowledge_base(bank, "Acme", limit=5, tags=["ada"])
    assert (found.total, found.results[0].id, 0 < found.results[0].score <= 1) == (1, made.page_id, True)

    renamed = client.update_knowledge_node(bank, made.page_id, name="Ada L.", trigger={"mode": "full"})
    assert (renamed.name, renamed.parent_id) == ("Ada L.", inner.id)
    assert client.update_knowledge_node(bank, made.page_id, parent_id=None).parent_id is None
    asked = client.update_knowledge_node(bank, made.page_id, source_query="Where?", tags=[], max_tokens=300)
    assert (asked.description, asked.tags) == ("Where?", [])
    of_client.settled()

    files = {file.path: file.content for file in client.export_knowledge_base(bank).files}
    assert {"index.md", "ada-l.md", "team/index.md", "team/inner/index.md"} <= files.keys()

    client.delete_knowledge_node(bank, team.id)
    client.delete_knowledge_node(bank, made.page_id)
    assert client.get_knowledge_base_tree(bank).roots == []
    assert client.list_mental_models(bank).items == []


def test_the_official_client_is_told_what_is_refused(of_client: ClientBank) -> None:
    client, bank = of_client.client, of_client.id
    team = client.create_knowledge_folder(bank, "Team")
    client.create_knowledge_page(bank, "Ada", "Who?")
    with pytest.raises(ApiException) as taken:
        client.create_knowledge_page(bank, "ADA", "Who?")
    assert taken.value.status == 409
    with pytest.raises(ApiException) as itself:
        client.update_knowledge_node(bank, team.id, parent_id=team.id)
    assert itself.value.status == 400
    with pytest.raises(NotFoundException):
        client.get_knowledge_page(bank, "kp-none")
