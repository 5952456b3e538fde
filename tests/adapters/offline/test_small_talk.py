"""What people say to each other without telling anything is no fact; whom they only speak to is no name in it."""

from __future__ import annotations

import pytest

from adapters.offline.small_talk import is_only_addressed, is_question, is_small_talk
from tests.adapters.offline.facts_of import extracted, texts


@pytest.mark.parametrize(
    "sentence",
    [
        "Hey Mel!",
        "Good to see you!",
        "How have you been?",
        "Wow, Melanie, that's amazing!",
        "Thanks, Caroline, your support means a lot!",
        "What was the best part?",
        "Keep it up!",
    ],
)
def test_small_talk_tells_nothing(sentence: str) -> None:
    assert is_small_talk(sentence, ["Melanie", "Caroline"])


@pytest.mark.parametrize(
    "sentence",
    [
        "I adopted a dog.",
        "Great, I moved to Oslo!",
        "Thanks, it was 17 degrees!",
        "What pet do you have?",
        "It went well yesterday.",
        "Where is Bruno?",
        "I need it for work.",
        "谢谢你！",
    ],
)
def test_what_tells_something_is_none(sentence: str) -> None:
    assert not is_small_talk(sentence, ["Melanie", "Caroline"])


def test_a_conversation_keeps_what_it_tells() -> None:
    talk = "Ann: Hey Ben! How are you?\nBen: Great, thanks! I adopted a dog.\nAnn: Wow!\nBen: Her name is Luna."
    assert texts(talk) == ["Ben: I adopted a dog.", "Ben: Her name is Luna."]


def test_what_one_alone_says_is_all_kept() -> None:
    assert texts("Assistant: Hello there!\n\nAssistant: Great!", context="chat") == [
        "Assistant: Hello there!",
        "Assistant: Great!",
    ]


def test_whom_one_only_speaks_to_is_no_name_of_what_is_said() -> None:
    talk = "Ann: Hey Ben, I moved to Oslo.\nBen: I saw Ann in Oslo.\nAnn: It rains in Oslo, Ben!"
    assert [fact.entities for fact in extracted(talk)] == [("Ann", "Oslo"), ("Ben", "Ann", "Oslo"), ("Ann", "Oslo")]


@pytest.mark.parametrize(
    ("sentence", "addressed"),
    [
        ("Hey Ada, it rains.", True),
        ("It rains, Ada!", True),
        ("Ada, it rains.", True),
        ("I met Ada, and it rained.", False),
        ("Ada's dog barks, Ada!", True),
        ("Hey Ada, Ada lives here.", False),
        ("Ada lives here.", False),
        ("It rains.", False),
    ],
)
def test_who_is_only_addressed(sentence: str, addressed: bool) -> None:
    assert is_only_addressed("Ada", sentence) is addressed


def test_a_question_ends_like_one() -> None:
    assert all(map(is_question, ("Who?", 'Did she say "who?"', "谁？")))
    assert not is_question("Who knows.")
