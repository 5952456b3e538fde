"""What memory costs at 20,000 facts: `python -m tests.benchmarks.bench_memory` prints its rows.

Set PALIMPSEST_TEST_DATABASE_URL to a server that may be given a database; otherwise it starts one of its own.
"""

from __future__ import annotations

import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import LiteralString

import numpy as np
import psycopg
from psycopg.conninfo import make_conninfo

from adapters.clock import RandomIdentities
from adapters.postgres.database import Database
from adapters.postgres.embedded import EmbeddedPostgres
from adapters.postgres.memory_store import PostgresMemoryStore
from adapters.postgres.migrations import migrate
from adapters.postgres.vectors import Vector
from application.ports import EmbeddedFact, RetainedItem
from domain.memory import ExtractedFact, RecallQuery, RetainItem, UnreadQuery, Window
from domain.mental_model.record import Citation
from domain.scope import Scope
from tests.support.memories import documents_of

FACTS = 20_000
DIMENSIONS = 256
LIMIT = 300
QUERIES = 60
CITED = 1_000
GONE = 10
NEW = 5
MODEL = "bench"
BANK = "bench"

Row = tuple[str, float, str]
"""What was measured, the figure, its unit."""


class Language:
    """Sentences over a few topics, words as unevenly frequent as in speech, and the meaning of a sentence as the sum of
    the meanings of its words, weighted by rarity."""

    def __init__(self, topics: int = 40, seed: int = 7) -> None:
        self._random = random.Random(seed)
        numbers = np.random.default_rng(seed)
        syllables = [first + vowel for first in "bdfghklmnprstvz" for vowel in "aeiou"]
        words = sorted({"".join(self._random.choices(syllables, k=self._random.randint(2, 4))) for _ in range(12_000)})
        self._random.shuffle(words)
        self._vocabulary = words
        self._frequency = 1 / np.arange(1, len(words) + 1)
        self._meaning = (
            numbers.standard_normal((len(words), DIMENSIONS)) * np.log2(np.arange(2, len(words) + 2))[:, None]
        )
        self._topics = [self._random.sample(range(200, len(words)), 150) for _ in range(topics)]
        self._common = np.cumsum(self._frequency) / self._frequency.sum()

    def sentence(self, words: int) -> tuple[str, list[float]]:
        topic = self._random.choice(self._topics)
        about = self._random.choices(topic, weights=[1 / (rank + 2) for rank in range(len(topic))], k=words // 2)
        other = [int(np.searchsorted(self._common, self._random.random())) for _ in range(words - len(about))]
        chosen = about + other
        meaning = self._meaning[chosen].sum(axis=0)
        return " ".join(self._vocabulary[word] for word in chosen), list(map(float, meaning / np.linalg.norm(meaning)))


def rows() -> list[Row]:
    """Loads a bank, adds requests of 10 facts with an extractor that takes no time, and recalls."""
    with fresh_database() as conninfo, Database(conninfo) as database:
        store = PostgresMemoryStore(database, RandomIdentities(), embedding_model=MODEL, dimensions=lambda: DIMENSIONS)
        language = Language()
        loading = _facts_per_second(store, database, language, requests=FACTS // 200, facts=200)
        retaining = _facts_per_second(store, database, language, requests=100, facts=10)
        questions = [language.sentence(8) for _ in range(QUERIES)]
        return [
            (f"load {FACTS} facts, 200 a request", loading, "facts/s"),
            (f"retain 10 facts a request, {FACTS} in the bank", retaining, "facts/s"),
            *_recalls(store, database, questions),
            *_deltas(store, database, language),
        ]


def _recalls(store: PostgresMemoryStore, database: Database, questions: Sequence[tuple[str, list[float]]]) -> list[Row]:
    position = store.position(BANK)

    def recall(number: int, **filters: object) -> None:
        text, vector = questions[number % len(questions)]
        query = RecallQuery.model_validate({"bank_id": BANK, "text": text, "limit": LIMIT, **filters})
        store.recall(query, vector)

    timed: dict[str, Callable[[int], object]] = {
        "recall": recall,
        "recall of one tag in 20": lambda n: recall(n, scope=Scope(tags=("t3",), tags_match="any_strict")),
        "recall in a window of 500 positions": lambda n: recall(n, window=Window(after=position - 500, upto=position)),
        "recall as of 1,000 positions ago": lambda n: recall(n, window=Window(upto=position - 1000)),
        "baseline: exact scan of the vectors alone": lambda n: _plain_scan(database, questions[n % len(questions)][1]),
    }
    return [(f"{name} at {FACTS} facts, limit {LIMIT}, p50", figure, "ms") for name, figure in _p50(timed).items()]


def _deltas(store: PostgresMemoryStore, database: Database, language: Language) -> list[Row]:
    """What a delta asks of the memory. Each figure is also given as a ratio to reading the same rows by their keys."""
    gone = _document(language, 0, GONE)
    _write(store, database, gone)
    with database.connection() as connection:
        kept = connection.execute(
            "SELECT fact_id, version, from_position AS position, fact_type FROM fact_versions"
            " WHERE bank_id = %s AND to_position IS NULL ORDER BY document_id = %s DESC, fact_id LIMIT %s",
            (BANK, gone.document_id, CITED),
        ).fetchall()
    _write(store, database, replace(gone, facts=()))
    _write(store, database, _document(language, 0, NEW))
    cited, now = [Citation.model_validate(row) for row in kept], store.position(BANK)
    query = UnreadQuery(bank_id=BANK, scope=Scope(tags=("all",), tags_match="any_strict"), after=now - NEW, upto=now)
    narrowed = query.model_copy(update={"covered_scope": Scope(tags=("all", "t3"), tags_match="any_strict")})
    assert len(store.unread(query)) == NEW
    assert sum(standing.now is None for standing in store.standings(BANK, cited, now)) == GONE
    positions, ids = list(range(now - NEW + 1, now + 1)), [citation.fact_id for citation in cited]
    figures = _p50(
        {
            "unread": lambda _: store.unread(query),
            "unread, scope narrowed": lambda _: store.unread(narrowed),
            "new rows": lambda _: _rows_by_key(database, "from_position = ANY(%s)", positions, NEW),
            "standings": lambda _: store.standings(BANK, cited, now),
            "cited rows": lambda _: _rows_by_key(database, "fact_id = ANY(%s)", ids, CITED),
        }
    )
    unread, standings = f"unread, {NEW} new at {FACTS} facts", f"standings of {CITED} cited, {GONE} gone"
    return [
        (f"{unread}, p50", figures["unread"], "ms"),
        (f"{unread} / those rows by position", figures["unread"] / figures["new rows"], "ratio"),
        (f"{unread}, scope narrowed, p50", figures["unread, scope narrowed"], "ms"),
        (f"{standings}, at {FACTS} facts, p50", figures["standings"], "ms"),
        (f"{standings} / those rows by id", figures["standings"] / figures["cited rows"], "ratio"),
    ]


def _rows_by_key(database: Database, key: LiteralString, values: Sequence[object], count: int) -> None:
    with database.connection() as connection:
        found = connection.execute(
            "SELECT * FROM fact_versions WHERE bank_id = %s AND " + key, (BANK, values)
        ).fetchall()
    assert len(found) == count


def _p50(timed: Mapping[str, Callable[[int], object]]) -> dict[str, float]:
    """Milliseconds by name. All in turn, so that a busy machine slows each of them."""
    taken: dict[str, list[float]] = {name: [] for name in timed}
    for number in range(QUERIES + 5):
        for name, run in timed.items():
            began = time.perf_counter()
            run(number)
            if number >= 5:
                taken[name].append((time.perf_counter() - began) * 1000)
    return {name: statistics.median(times) for name, times in taken.items()}


def _plain_scan(database: Database, vector: Sequence[float]) -> None:
    with database.connection() as connection:
        found = connection.execute(
            "SELECT from_position, embedding <=> %(vector)b::vector::halfvec AS distance FROM fact_vectors"
            " WHERE bank_id = %(bank_id)s AND to_position IS NULL ORDER BY distance LIMIT %(limit)s",
            {"vector": Vector(vector), "bank_id": BANK, "limit": LIMIT},
        ).fetchall()
    assert len(found) == LIMIT


def _facts_per_second(
    store: PostgresMemoryStore, database: Database, language: Language, *, requests: int, facts: int
) -> float:
    prepared = [_document(language, number, facts) for number in range(requests)]
    began = time.perf_counter()
    for retained in prepared:
        _write(store, database, retained)
    return requests * facts / (time.perf_counter() - began)


def _write(store: PostgresMemoryStore, database: Database, retained: RetainedItem) -> None:
    with database.begin() as tx:
        store.write(BANK, documents_of(retained), datetime.now(UTC), tx)


def _document(language: Language, number: int, facts: int) -> RetainedItem:
    document_id = str(RandomIdentities().new())
    sentences = [language.sentence(8 + (number + each) % 11) for each in range(facts)]
    text = "\n".join(sentence for sentence, _ in sentences)
    item = RetainItem(content=text, document_id=document_id, tags=(f"t{number % 20}", "all"))
    return RetainedItem(
        item, document_id, [EmbeddedFact(ExtractedFact(text=said), vector) for said, vector in sentences]
    )


@contextmanager
def fresh_database() -> Iterator[str]:
    name = f"bench_{os.getpid()}"
    with _server() as server:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE template0")
        try:
            conninfo = make_conninfo(server, dbname=name)
            migrate(conninfo)
            yield conninfo
        finally:
            with psycopg.connect(server, autocommit=True) as connection:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def _server() -> Iterator[str]:
    named = os.environ.get("PALIMPSEST_TEST_DATABASE_URL")
    if named:
        yield named
        return
    with tempfile.TemporaryDirectory(prefix="palimpsest-bench-") as folder:
        Path(folder).chmod(0o755)
        with EmbeddedPostgres(Path(folder) / "data") as embedded:
            yield embedded.start()


if __name__ == "__main__":
    for name, figure, unit in rows():
        print(f"{name:<70} {figure:>10.1f} {unit}")
