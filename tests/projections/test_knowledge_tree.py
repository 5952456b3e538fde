"""The read model of folders and pages, in the database: one query for a tree, and the same rows when rebuilt."""

from __future__ import annotations

from dataclasses import replace

from adapters.service import Service
from application.knowledge_base import PageOptions
from application.knowledge_base_import import FolderFile, PageFile
from domain.knowledge_base import MoveTo
from projections import knowledge_tree
from projections.knowledge_tree import NodeRow
from projections.staleness import Staleness
from tests.support.services import context, retain, run_pending

BANK = "ada"


def tree(service: Service) -> tuple[dict[str, NodeRow], dict[str, Staleness]]:
    rows, stale = service.reader.ask(knowledge_tree.tree(BANK, observations=False))
    return {row.name: row for row in rows}, stale


def test_a_tree_of_any_history_is_the_same_when_it_is_rebuilt(service: Service) -> None:
    bases, by = service.knowledge_bases, context(service)
    team = bases.create_folder(by, BANK, name="Team")
    gone = bases.create_folder(by, BANK, name="Gone", parent_id=team)
    every = PageOptions("Where does Ada work?", trigger={"fact_types": None})
    made = bases.create_page(by, BANK, name="Ada", options=every, parent_id=gone)
    bases.create_page(by, BANK, name="Lost", options=every, parent_id=gone)
    bases.change(by, BANK, made.page_id, name="Ada L.", move=MoveTo(team), sort_order=4)
    bases.delete(by, BANK, gone)
    bases.create_page(by, BANK, name="Unanswered", options=PageOptions("xyz?", trigger={"fact_types": None}))
    retain(service, BANK, "Ada works at Acme.")
    run_pending(service, BANK)
    pages = [PageFile("x/p.md", "x", "P", "Now.", earlier=("Before.",)), PageFile("q.md", "", "Q", "Text.")]
    service.knowledge_base_imports.import_(by, BANK, [FolderFile("x", "", "Team")], pages)
    bases.create_folder(by, "other", name="Other")
    service.banks.delete(by, "other")

    rows, stale = tree(service)
    assert set(rows) == {"Team", "Ada L.", "Unanswered", "P", "Q"}
    ada = rows["Ada L."]
    assert (ada.parent_id, ada.sort_order, ada.mental_model_id) == (team, 4, made.mental_model_id)
    assert rows["P"].parent_id == team, "a folder is known again by its name"
    assert set(stale) == {row.mental_model_id for row in rows.values() if row.mental_model_id}
    assert not stale[made.mental_model_id].reasons
    assert {name for name, row in rows.items() if row.last_refresh_failed_at} == {"Unanswered"}
    retain(service, BANK, "Ada moved.")
    assert tree(service)[1][made.mental_model_id].reasons == ("new_memories",)
    rebuilt = service.read_models.rebuild()
    assert [each for each in rebuilt.comparisons if each.missing or each.extra or each.different] == []
    assert tree(service)[0] == rows


def test_rows_are_alike_however_they_are_asked_for(service: Service) -> None:
    made = service.knowledge_bases.create_page(
        context(service), BANK, name="P", options=PageOptions("?", ("a",), 300, {"keep_trace": True})
    )
    rows, _ = tree(service)
    (listed,) = service.reader.ask(knowledge_tree.every(BANK, contents=True))
    one = service.reader.ask(knowledge_tree.node(BANK, made.page_id))
    assert one is not None
    assert listed == one
    assert one.content == ""
    assert rows["P"] == replace(one, content=None)
    assert service.reader.ask(knowledge_tree.node("other", made.page_id)) is None


def test_what_pages_said_before_is_told_oldest_first_and_so_many_at_most(service: Service) -> None:
    texts = tuple(f"Text {number}." for number in range(5))
    pages = [PageFile(f"{name}.md", "", name, "Now.", earlier=texts) for name in ("one", "two")]
    service.knowledge_base_imports.import_(context(service), BANK, [], pages)
    for at_most, expected in ((100, texts), (2, texts[3:])):
        told = service.reader.ask(knowledge_tree.earlier_texts(BANK, at_most))
        assert [tuple(text for _, text in before) for before in told.values()] == [expected, expected]
