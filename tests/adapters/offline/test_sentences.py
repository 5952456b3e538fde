from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.offline.sentences import LONGEST_SENTENCE, split_long, split_sentences
from tests.adapters.offline.facts_of import unhurried

PROSE = st.text(alphabet=st.sampled_from("aB1 .!?…,;:\"'”»()[]*_`。！？…我éЯ\u0301\U0001f600"), max_size=300)


@pytest.mark.parametrize(
    ("prose", "sentences"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. Smith met Mrs. Jones. They talked.", ["Dr. Smith met Mrs. Jones.", "They talked."]),
        ("The U.S. team won. It was fun.", ["The U.S. team won.", "It was fun."]),
        ("She lives in the U.S. She likes it.", ["She lives in the U.S.", "She likes it."]),
        ("Acme Inc. Board members left. The rest stayed.", ["Acme Inc. Board members left.", "The rest stayed."]),
        ("He joined Acme Inc. The office is new.", ["He joined Acme Inc.", "The office is new."]),
        ("J. K. Rowling wrote it. I read it.", ["J. K. Rowling wrote it.", "I read it."]),
        ("Use tools, e.g. Git, i.e. what you know. Then go.", ["Use tools, e.g. Git, i.e. what you know.", "Then go."]),
        (
            "He went to the store. (See p. 5.) It was closed.",
            ["He went to the store.", "(See p. 5.)", "It was closed."],
        ),
        ("See Fig. 3 and No. 5. The end.", ["See Fig. 3 and No. 5.", "The end."]),
        ("I said no. Then I left.", ["I said no.", "Then I left."]),
        ("Version v1.2.3 is out. It fixes 3.5 bugs.", ["Version v1.2.3 is out.", "It fixes 3.5 bugs."]),
        (
            "Read https://a.example/b.c?d=e. Then edit main.py.",
            ["Read https://a.example/b.c?d=e.", "Then edit main.py."],
        ),
        ("Call `run. Now` first. Then stop.", ["Call `run. Now` first.", "Then stop."]),
        ("It stops. `serve` goes on.", ["It stops.", "`serve` goes on."]),
        ("Wait... what? Yes... No.", ["Wait... what?", "Yes...", "No."]),
        ('"Really?" he asked. "Yes." She left.', ['"Really?" he asked.', '"Yes."', "She left."]),
        ("(It works.) **It works very well.** Fine.", ["(It works.)", "**It works very well.**", "Fine."]),
        ("**Decision.** We keep events. **Status.** Done.", ["**Decision.** We keep events.", "**Status.** Done."]),
        ("At 5 p.m. Alice left. At 6 p.m. we left too.", ["At 5 p.m. Alice left.", "At 6 p.m. we left too."]),
        ("1. First do this. 2. Then that.", ["1. First do this.", "2. Then that."]),
        ("我们发布了。真的吗？是的！好", ["我们发布了。", "真的吗？", "是的！", "好"]),
        ("他说：「好。」然后走了。", ["他说：「好。」", "然后走了。"]),
        ("真的?是的!好", ["真的?", "是的!", "好"]),
        ("价格是３．５元。", ["价格是３．５元。"]),
        ("यह पहला है। यह दूसरा है।", ["यह पहला है।", "यह दूसरा है।"]),
        ("هل هذا صحيح؟ نعم", ["هل هذا صحيح؟", "نعم"]),
        ("no capital. here it goes on", ["no capital. here it goes on"]),
        ("", []),
        ("   ", []),
        ("...", ["..."]),
    ],
)
def test_prose_is_split_where_its_sentences_end(prose: str, sentences: list[str]) -> None:
    assert split_sentences(prose) == sentences


@pytest.mark.parametrize(
    ("language", "prose", "sentences"),
    [
        (
            "de",
            "Das ist z.B. gut. Er kam am 3. Mai. Dr. Müller war da.",
            ["Das ist z.B. gut.", "Er kam am 3. Mai.", "Dr. Müller war da."],
        ),
        ("fr", "M. Dupont est arrivé. C'est p. ex. bien.", ["M. Dupont est arrivé.", "C'est p. ex. bien."]),
        ("es", "El Sr. Gómez llegó. ¿Qué tal? ¡Bien!", ["El Sr. Gómez llegó.", "¿Qué tal?", "¡Bien!"]),
        ("it", "Il Sig. Rossi è qui. Va bene.", ["Il Sig. Rossi è qui.", "Va bene."]),
        ("pl", "Np. to jest dobre. Dr. Kowalski przyszedł.", ["Np. to jest dobre.", "Dr. Kowalski przyszedł."]),
        ("ru", "Он жил в г. Москве. Потом уехал.", ["Он жил в г. Москве.", "Потом уехал."]),
        ("hi", "डॉ. शर्मा आए। यह दूसरा है।", ["डॉ. शर्मा आए।", "यह दूसरा है।"]),
        ("ar", "هل هذا صحيح؟ نعم. هذا صحيح.", ["هل هذا صحيح؟", "نعم.", "هذا صحيح."]),
        ("ja", "今日は晴れ。「行こう。」と言った。", ["今日は晴れ。", "「行こう。」", "と言った。"]),
        ("xx", "No language. None.", ["No language.", "None."]),
    ],
)
def test_sentences_end_where_those_of_their_language_do(language: str, prose: str, sentences: list[str]) -> None:
    assert split_sentences(prose, language) == sentences


def test_a_sentence_across_the_windows_of_a_long_text_stays_one() -> None:
    sentence = "It is a sentence with some words in it, and no. 5 of them."
    assert split_sentences(" ".join([sentence] * 1000)) == [sentence] * 1000


@unhurried
@given(PROSE)
def test_no_character_but_space_is_lost_between_sentences(prose: str) -> None:
    assert "".join("".join(split_sentences(prose)).split()) == "".join(prose.split())


@unhurried
@given(st.text(alphabet=st.sampled_from("ab ,;: —、，\u0301\u200d\U0001f469"), min_size=0, max_size=400))
def test_pieces_of_a_long_sentence_are_short_and_lose_nothing(sentence: str) -> None:
    pieces = split_long(sentence, longest=40)
    assert all(0 < len(piece) <= 40 for piece in pieces)
    assert "".join("".join(pieces).split()) == "".join(sentence.split())


def test_a_long_sentence_is_cut_after_its_clauses() -> None:
    clause = "this clause has some words in it and it takes about eighty characters of the text, "
    pieces = split_long(clause * 30)
    assert len(pieces) == 3
    assert all(piece.endswith("text,") for piece in pieces)


def test_a_long_sentence_without_clauses_is_cut_between_words() -> None:
    pieces = split_long("word " * 500)
    assert max(map(len, pieces)) <= LONGEST_SENTENCE
    assert set(re.findall(r"\w+", " ".join(pieces))) == {"word"}


def test_a_word_longer_than_a_sentence_may_be_is_not_cut_inside_a_composed_character() -> None:
    family = "\U0001f469\u200d\U0001f467"
    for piece in split_long(family * 700):
        assert not piece.startswith("\u200d")
        assert not piece.endswith("\u200d")
