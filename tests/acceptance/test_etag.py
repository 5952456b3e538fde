"""The version of a mental model on the wire: ETag, If-Match, If-None-Match."""

from __future__ import annotations

import pytest

from tests.support.rest import RestBank, assert_refused

MODEL = "/mental-models/ada"


@pytest.fixture
def tag(bank: RestBank) -> str:
    bank.retain("Ada Lovelace works at Acme.")
    bank.model("ada")
    return str(bank.ask("GET", MODEL).headers["etag"])


def test_the_etag_is_the_version_of_the_stream(bank: RestBank, tag: str) -> None:
    assert tag == '"2"'
    assert bank.get(MODEL)["version"] == 2
    assert bank.ask("GET", MODEL, params={"detail": "metadata"}).headers["etag"] == tag


def test_a_change_answers_with_the_new_etag(bank: RestBank, tag: str) -> None:
    changed = bank.ask("PATCH", MODEL, json={"name": "Ada L."}, headers={"If-Match": tag})
    assert (changed.status_code, changed.headers["etag"]) == (200, '"3"')


def test_a_change_that_changes_nothing_keeps_the_etag(bank: RestBank, tag: str) -> None:
    changed = bank.ask("PATCH", MODEL, json={"name": "ada"})
    assert (changed.status_code, changed.headers["etag"]) == (200, tag)


def test_a_change_made_on_an_old_version_is_refused(bank: RestBank, tag: str) -> None:
    bank.patch(MODEL, {"name": "first"})
    late = bank.ask("PATCH", MODEL, json={"name": "second"}, headers={"If-Match": tag})
    assert_refused(late, 412, 'If-Match is "2"', 'version "3"', "read it again")
    assert bank.get(MODEL)["name"] == "first"


@pytest.mark.parametrize("header", ["*", '"2"', "2", '"1", "2"'])
def test_if_match_takes_any_form_that_names_the_version(bank: RestBank, tag: str, header: str) -> None:
    assert tag == '"2"'
    assert bank.ask("PATCH", MODEL, json={"name": "Ada L."}, headers={"If-Match": header}).status_code == 200


@pytest.mark.parametrize("header", ['W/"2"', '"22"', "nonsense", '"1"'])
def test_if_match_refuses_what_does_not_name_the_version(bank: RestBank, tag: str, header: str) -> None:
    assert tag == '"2"'
    assert_refused(bank.ask("PATCH", MODEL, json={"name": "Ada L."}, headers={"If-Match": header}), 412)


def test_if_match_on_a_missing_model_is_not_found(bank: RestBank, tag: str) -> None:
    missing = bank.ask("PATCH", "/mental-models/none", json={"name": "x"}, headers={"If-Match": tag})
    assert_refused(missing, 404, "'none' not found")


def test_what_the_caller_has_is_not_sent_again(bank: RestBank, tag: str) -> None:
    for header in (tag, f"W/{tag}", f'"1", {tag}', "*"):
        same = bank.ask("GET", MODEL, headers={"If-None-Match": header})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    assert bank.ask("GET", MODEL, headers={"If-None-Match": '"1"'}).status_code == 200


def test_a_document_that_turned_stale_is_sent_again_though_its_version_is_the_same(bank: RestBank, tag: str) -> None:
    bank.retain("Ada Lovelace moved to Paris.")
    stale = bank.ask("GET", MODEL, headers={"If-None-Match": tag})
    assert (stale.status_code, stale.headers["etag"]) == (200, tag)
    assert stale.json()["stale_reasons"] == ["new_memories"]
