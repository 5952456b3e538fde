"""A page that is put back rests on facts again that may be gone: it is stale, and its next refresh takes them out."""

from __future__ import annotations

from tests.support.scripted_pages import PAGE, Page

A, B = "Ada built bridge A.", "Ada built bridge B."


def test_a_page_put_back_on_a_fact_that_is_gone_is_stale_until_a_refresh_takes_it_out(page: Page) -> None:
    page.learns(f"{A}\n\n{B}", document_id="diary")
    page.lists_all()
    both, version = page.content, page.now["version"]
    assert B in both
    page.learns(A, document_id="diary")
    page.refreshes()
    assert (B in page.content, page.now["is_stale"]) == (False, False)

    page.bank.post(f"{PAGE}/revert", {"version": version})
    (listed,) = page.bank.get("/mental-models")["items"]
    assert page.content == both
    assert page.now["stale_reasons"] == listed["stale_reasons"] == ["evidence_changed"]

    assert page.refreshes()["details"]["outcome"] == "content_written"
    assert (page.cited, page.now["is_stale"]) == ([A], False)
    assert B not in page.content
