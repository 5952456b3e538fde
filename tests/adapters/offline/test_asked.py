"""What a question asks for, what a fact tells, and which of what is said a page has use for."""

from __future__ import annotations

from dataclasses import replace

from adapters.offline.asked import asked_by, is_about, most_telling_first, shares_of_words, told_by, worth_adding
from domain.editing import NewFact
from tests.adapters.offline.edit_requests import proposed, request
from tests.adapters.offline.facts_of import SAID, stored

CAMP = stored(1, "Ann: I took the kids camping in the mountains.", names=["Ann"])
PRAISE = stored(2, "Ann: You painted that lake so well.", names=["Ann"])
ASKED = stored(3, "Ann: Which lake did you paint?", names=["Ann"])
OTHER = stored(4, "Ben: I painted a lake with my brother in Norway.", names=["Ben", "Norway"])
DATED = stored(5, "Ann: I swam.", names=["Ann"], occurred=SAID)


def test_a_question_without_words_of_its_own_is_general() -> None:
    assert asked_by("What is known about Ann?").is_general
    assert asked_by("What is known about Ann?").named == ("Ann",)
    assert asked_by("What happened, in order?").is_general
    assert asked_by("What happened, in order?").in_order
    assert not asked_by("How does the team communicate?").is_general
    assert not asked_by("What does Ann paint?").is_general


def test_a_fact_is_about_a_name_in_it_or_what_is_long_for_it() -> None:
    melanie = stored(1, "Melanie: I ran.", names=["Melanie"])
    assert is_about(melanie, asked_by("What does Mel do?").names)
    assert not is_about(OTHER, asked_by("What is known about Ann?").names)
    assert not is_about(stored(1, "Ben: Ann, it rains.", names=["Ben"]), asked_by("What does Ann do?").names)
    assert is_about(stored(1, "They met Ann."), asked_by("What does Ann do?").names)


def test_what_is_asked_tells_nothing_and_what_is_said_of_the_other_half() -> None:
    assert told_by(ASKED) == 0
    assert told_by(stored(1, "Which lake did they paint?")) > 0
    assert 0 < told_by(PRAISE) < told_by(stored(2, "Ann: I painted that lake so well.", names=["Ann"]))
    assert told_by(stored(1, "It is.")) == 1


def test_what_tells_most_comes_first_and_in_order_what_has_a_date() -> None:
    assert most_telling_first([PRAISE, CAMP]) == [CAMP, PRAISE]
    assert most_telling_first([CAMP, PRAISE, DATED], dated=True)[0] == DATED


def test_a_rare_word_is_a_larger_share_of_what_was_asked() -> None:
    words = asked_by("Who painted the lake in Norway?").words | {"norway"}
    praise, other, camp = shares_of_words([PRAISE, OTHER, CAMP], words)
    assert other == 1.0
    assert 0 < praise < 1 - 1 / 3  # two of the three words, but not the rarest
    assert camp == 0


def test_a_page_about_one_has_use_for_what_that_one_tells() -> None:
    plain = stored(9, "It rains in Oslo.")
    new = [NewFact(fact) for fact in (CAMP, ASKED, OTHER, plain)]
    corrected = NewFact(stored(8, "Ben: No.", names=["Ben"]), was="Ben: Yes.")
    kept = worth_adding(asked_by("What is known about Ann?"), [*new, corrected], 1000)
    assert [each.fact for each in kept] == [CAMP, plain, corrected.fact]
    kept = worth_adding(asked_by("Who painted what?"), new, 1000)
    assert [each.fact for each in kept] == [CAMP, OTHER, plain]


def test_of_more_than_there_is_room_for_the_most_telling_stay() -> None:
    new = [NewFact(fact) for fact in (PRAISE, CAMP)]
    assert [each.fact for each in worth_adding(asked_by("What is known about Ann?"), new, 13)] == [CAMP]


def test_the_editor_leaves_out_what_others_said_of_other_things() -> None:
    asked = replace(request("# Ann\n", [CAMP, ASKED, OTHER]), source_query="What is known about Ann?")
    assert [edit.facts for edit in proposed(asked)] == [(CAMP.id,)]


def test_the_editor_fills_half_of_a_page_at_most_with_what_was_said_last() -> None:
    told = [stored(n, f"Ann: I took the kids camping in mountain number {n}.", names=["Ann"]) for n in range(1, 9)]
    asked = replace(request("# Ann\n", told, max_tokens=60), source_query="What is known about Ann?")
    assert len(proposed(asked)) == 2
