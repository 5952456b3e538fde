"""The relevance check: what is near by its words, by its vector or for want of one, and what is set aside."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adapters.embeddings.static import StaticEmbedder
from application.ports import EmbeddedFact, Embedder, Embeddings, RetainedItem
from application.relevance import MOST_TEXTS, PART, Relevance, RelevanceCheck, page_of
from domain.document import parse
from domain.memory import ExtractedFact, Fact, RetainItem
from tests.support.examples import BANK, NOW, call, fact
from tests.support.in_memory import InMemoryMemoryStore, InMemoryTransactions
from tests.support.memories import documents_of
from tests.support.scripted_minds import CountingEmbedder, unusable

NAME = "Team kitchen"
QUESTION = "What do we eat for lunch?"
PAGE = """# Lunch

- Alice brings soup in the winter.
- Bob bakes bread with rye.
- Alice grows tomatoes for salads.
- Alice and Carol share a pot of noodles.

## Orders

The caterer answers at orders@noodles.example about invoice 4711, release v1.2 of the menu.
"""


class Bank:
    """Facts and their vectors in memory, and a check of them. All texts of the page have the vector (1, 0)."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self.embedder = CountingEmbedder()
        self.memory = InMemoryMemoryStore()
        self.relevance = RelevanceCheck(self.memory, embedder or self.embedder, threshold=0.5)

    def learns(self, text: str, similarity: float | None = 0.0, entities: Sequence[str] = ()) -> Fact:
        """A fact so near to everything on the page; None for one whose vector is of another model."""
        vector = [1.0, 0.0, 0.0] if similarity is None else [similarity, (1 - similarity**2) ** 0.5]
        return self.retains(text, vector, entities)

    def retains(self, text: str, vector: Sequence[float], entities: Sequence[str] = ()) -> Fact:
        embedded = EmbeddedFact(ExtractedFact(text=text, entities=tuple(entities)), vector)
        item = RetainItem(content=text, document_id=f"document-{len(self.memory.rows)}")
        with InMemoryTransactions().begin() as tx:
            self.memory.write(BANK, documents_of(RetainedItem(item, item.document_id or "", [embedded])), NOW, tx)
        return self.memory.rows[-1].fact

    def check(self, *facts: Fact, page: str = PAGE, name: str = NAME, question: str = QUESTION) -> Relevance:
        return self.relevance.check(BANK, name, question, parse(page), facts)


def test_a_fact_far_from_the_page_is_set_aside_and_the_embedding_is_paid_for() -> None:
    bank = Bank()
    told = bank.check(bank.learns("The printer is out of toner.", 0.25))

    assert not told.near
    assert told.nearest == pytest.approx(0.25)
    assert told.calls == (call("embed", len(bank.embedder.texts[0]), 0),)


def test_a_fact_near_to_the_page_is_read() -> None:
    bank = Bank()
    assert bank.check(bank.learns("Pasta is cooked in salted water.", 0.55)).near


def test_one_near_fact_among_many_is_enough() -> None:
    bank = Bank()
    far = [bank.learns(f"Printer {number} is out of toner.") for number in range(5)]

    assert not bank.check(*far).near
    assert bank.check(*far, bank.learns("Pasta is cooked in salted water.", 0.55)).near


def test_without_new_facts_nothing_is_near_and_nothing_is_asked() -> None:
    bank = Bank()
    assert bank.check() == Relevance(near=False)
    assert bank.embedder.texts == []


def test_a_fact_without_a_comparable_vector_is_read() -> None:
    bank = Bank()
    far = bank.learns("The printer is out of toner.")

    told = bank.check(far, bank.learns("The scanner is slow.", None))

    assert told.near
    assert told.nearest == pytest.approx(0.0)
    assert bank.check(bank.learns("The mouse is lost.", None)).nearest is None


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("A lunch was skipped.", ()),  # the question
        ("The kitchens are painted.", ()),  # the name, in another form
        ("The orders were signed.", ()),  # a heading
        ("The baker moved to Brno.", ("Bob",)),  # a name on the page
        ("On Monday Bob moved to Brno.", ()),  # the same, from a reader of facts that finds no names
        ("The mother of Carol Novak called.", ("Carol Novak",)),  # part of a name
        ("The tax office wants to see 4711.", ("Tax office",)),
        ("A bug was found in v1.2.", ("QA",)),
        ("Mail to orders@noodles.example bounces.", ("Postmaster",)),
    ],
)
def test_a_fact_that_shares_a_telling_word_is_read_whatever_its_vector_and_nothing_is_embedded(
    text: str, entities: tuple[str, ...]
) -> None:
    bank = Bank()
    assert bank.check(bank.learns(text, -1.0, entities)) == Relevance(near=True)
    assert bank.embedder.texts == []


@pytest.mark.parametrize(
    ("text", "entities"),
    [
        ("What do we do for the user in the first week of May?", ("User",)),
        ("It was in the winter.", ("QA",)),  # a word of the page that is no name
        ("In 2024 there were 12.", ("QA",)),
    ],
)
def test_words_that_everything_has_and_words_of_the_body_make_no_fact_near(
    text: str, entities: tuple[str, ...]
) -> None:
    bank = Bank()
    page = f"{PAGE}\nThe user was asked in the first week of May 2024, 12 times.\n"
    assert not bank.check(bank.learns(text, 0.4, entities), page=page, question="What does the user eat?").near


def test_a_name_that_most_lines_of_the_page_have_does_not_tell() -> None:
    bank = Bank()
    page = "- Alice eats soup.\n- Alice eats bread.\n- Alice eats figs.\n- Bob eats dates.\n"

    def is_near(text: str, similarity: float) -> bool:
        entities = (text.split()[0],)
        return bank.check(bank.learns(text, similarity, entities), page=page, name="", question="Alice?").near

    assert not is_near("Alice bought a bicycle.", 0.45)
    assert is_near("Alice bought a boat.", 0.55)
    assert is_near("Bob bought a boat.", 0.0)


def test_on_a_page_of_few_lines_every_name_tells() -> None:
    bank = Bank()
    page = "- Alice eats soup.\n- Alice eats bread.\n- Alice eats figs.\n"
    assert bank.check(bank.learns("Alice bought a bicycle.", 0.0, ["Alice"]), page=page, question="Who?").near


def test_a_page_that_cannot_be_embedded_is_read_and_what_was_paid_is_told() -> None:
    bank = Bank()
    bank.embedder.broken = unusable()
    told = bank.check(bank.learns("The printer is out of toner."))

    assert told == Relevance(near=True, calls=(call("failed", 7, 1),))


def test_a_similarity_that_is_no_number_is_no_reason_to_set_a_fact_aside() -> None:
    class Undirected(InMemoryMemoryStore):
        def nearness(
            self, bank_id: str, positions: Sequence[int], vectors: Sequence[Sequence[float]]
        ) -> dict[int, float]:
            del bank_id, vectors
            return dict.fromkeys(positions, float("nan"))

    check = RelevanceCheck(Undirected(), CountingEmbedder())
    assert check.check(BANK, NAME, QUESTION, parse(PAGE), [fact(text="The printer is out of toner.")]).near


def test_only_facts_of_the_bank_are_compared() -> None:
    bank = Bank()
    elsewhere = bank.learns("The printer is out of toner.", 0.1)
    assert bank.relevance.check("another", NAME, QUESTION, parse(PAGE), [elsewhere]).near


# --- what is embedded -------------------------------------------------------------------------------------------------


def test_the_question_and_each_section_are_compared_as_plain_text() -> None:
    assert page_of(NAME, QUESTION, parse(PAGE)).texts == (
        "Team kitchen\nWhat do we eat for lunch?",
        "Lunch\nAlice brings soup in the winter.\nBob bakes bread with rye.\nAlice grows tomatoes for salads.\n"
        "Alice and Carol share a pot of noodles.",
        "Orders\nThe caterer answers at orders@noodles.example about invoice 4711, release v1.2 of the menu.",
    )


def test_an_empty_page_is_compared_by_its_question() -> None:
    assert page_of("", QUESTION, parse("")).texts == (QUESTION,)


def test_a_long_section_is_compared_in_parts() -> None:
    words = " ".join(f"word{number}" for number in range(500))
    parts = page_of(NAME, QUESTION, parse(f"# Words\n\n{words}\n")).texts[1:]

    assert len(parts) > 4
    assert all(len(part) <= PART for part in parts)
    assert " ".join(parts).split() == ["Words", *words.split()]


@given(
    sections=st.lists(st.integers(1, 400), min_size=1, max_size=120),
    letters=st.sampled_from(["apple ", "字", "x"]),
)
@example(sections=[1] * 120, letters="x")
@example(sections=[4000] * 10, letters="字")
@settings(max_examples=30, deadline=None)
def test_however_long_a_page_few_texts_are_embedded_and_no_letter_is_left_out(
    sections: list[int], letters: str
) -> None:
    markdown = "".join(f"# Part {number}\n\n{letters * length}\n\n" for number, length in enumerate(sections))
    texts = page_of("", "Everything?", parse(markdown)).texts

    assert len(texts) <= MOST_TEXTS
    assert "".join("".join(texts[1:]).split()) == "".join(
        f"Part{number}{letters.strip() * length}" for number, length in enumerate(sections)
    )


# --- with a real model ------------------------------------------------------------------------------------------------

DIETS = """# Diets

- Maria is allergic to peanuts and carries an adrenaline pen.
- Tom eats no meat, but sometimes fish.

# Kitchen rules

Labels with all ingredients are put on every dish that is brought in.
"""


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("Sesame and hazelnuts make her itch.", True),
        ("Vegetarian dishes are cooked on Thursdays.", True),
        ("Maria moved to the third floor.", True),
        ("The quarterly revenue report is due in October.", False),
        ("The database was upgraded to the newest release.", False),
        ("The parking garage closes at eight.", False),
    ],
)
def test_with_the_static_embeddings_and_the_default_threshold(text: str, near: bool) -> None:
    embedder: Embedder = StaticEmbedder()
    embedded: Embeddings = embedder.embed([text])
    bank = Bank()
    new = bank.retains(text, embedded.vectors[0])
    question = "Which allergies and diets do people here have?"

    told = RelevanceCheck(bank.memory, embedder).check(BANK, "Diets", question, parse(DIETS), [new])

    assert told.near is near, told
    assert told.calls == ()
