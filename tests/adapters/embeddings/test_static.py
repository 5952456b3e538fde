from __future__ import annotations

import importlib.util
import json
import logging
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.embeddings.static import DIMENSIONS, LONGEST_TEXT, StaticEmbedder
from application.ports import MindFailed

ROOT = Path(__file__).parents[3]
EMBEDDER = StaticEmbedder()


def vector(text: str) -> np.ndarray:
    return np.array(EMBEDDER.embed([text]).vectors[0])


def output_of(program: str) -> str:
    """What a Python process of its own prints."""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_vectors_have_the_size_and_the_name_of_the_model() -> None:
    assert EMBEDDER.model == "wordllama-l2-supercat-256"
    assert EMBEDDER.dimensions == DIMENSIONS == len(EMBEDDER.embed(["tea"]).vectors[0]) == 256


def test_embedding_costs_nothing() -> None:
    assert EMBEDDER.embed(["tea"]).calls == ()


def test_no_texts_have_no_vectors() -> None:
    assert list(EMBEDDER.embed([]).vectors) == []


def test_texts_about_the_same_are_nearer_than_others() -> None:
    question = vector("Who drinks coffee in the morning?")
    assert question @ vector("Bob has a cup of coffee at breakfast.") > 0.3
    assert question @ vector("The database stores events in order.") < 0.2


@pytest.mark.parametrize(
    "text", ["", " ", "\x00", "\ud800", "a\udfffb", "<s></s>", "<|endoftext|>", "😀", "我们", "x" * 100_000, "\n\n"]
)
def test_every_text_has_a_vector_of_length_one(text: str) -> None:
    assert np.linalg.norm(vector(text)) == pytest.approx(1, abs=1e-5)


@settings(deadline=None)
@given(st.lists(st.text(alphabet=st.characters(), max_size=40), max_size=5))
def test_a_vector_depends_on_nothing_but_its_text(texts: list[str]) -> None:
    together = EMBEDDER.embed(texts).vectors
    assert together == [EMBEDDER.embed([text]).vectors[0] for text in texts]
    assert all(abs(sum(number * number for number in each) - 1) < 1e-5 for each in together)


def test_the_vector_of_no_tokens_is_near_no_text() -> None:
    for text in ("tea", "Who drinks coffee?", "我们", "PostgreSQL stores the events.", "!!!"):
        assert abs(vector("") @ vector(text)) < 0.3


def test_only_the_beginning_of_a_very_long_text_counts() -> None:
    beginning = ("tea and cake " * LONGEST_TEXT)[:LONGEST_TEXT]
    assert EMBEDDER.embed([beginning + "database"]).vectors == EMBEDDER.embed([beginning]).vectors


def test_importing_the_module_and_making_an_embedder_loads_nothing() -> None:
    heavy = output_of(
        "import sys; from adapters.embeddings.static import StaticEmbedder; print(StaticEmbedder().dimensions);"
        " print([name for name in ('wordllama', 'numpy', 'tokenizers', 'safetensors') if name in sys.modules])"
    )
    assert heavy.splitlines() == ["256", "[]"]


def test_loading_imports_no_http_client_and_leaves_logging_alone() -> None:
    state = output_of(
        "import logging, sys; from adapters.embeddings.static import StaticEmbedder; StaticEmbedder().embed(['tea']);"
        " print([name for name in ('wordllama', 'requests', 'torch') if name in sys.modules], logging.root.handlers)"
    )
    assert state == "[] []\n"


def test_vectors_are_those_of_the_package_itself() -> None:
    texts = ["tea", "Who drinks coffee?", "我们使用外币汇率换算服务", "def f(): return 1"]
    program = (
        "import json, pathlib, wordllama;"
        "model = wordllama.WordLlama.load(cache_dir=pathlib.Path(wordllama.__file__).parent, disable_download=True);"
        f"print(json.dumps(model.embed({texts!r}, norm=True).tolist()))"
    )
    theirs = np.array(json.loads(output_of(program)))
    assert np.allclose(theirs, np.array(EMBEDDER.embed(texts).vectors), atol=1e-5)


def test_warming_up_loads_in_the_background() -> None:
    embedder = StaticEmbedder()
    thread = embedder.warm_up()
    assert embedder.embed(["tea"]).vectors == EMBEDDER.embed(["tea"]).vectors
    thread.join(timeout=30)
    assert not thread.is_alive()


def test_many_threads_that_come_first_at_once_get_the_same_vectors() -> None:
    embedder, together = StaticEmbedder(), threading.Barrier(8)

    def first_use(_: int) -> object:
        together.wait(timeout=30)
        return embedder.embed(["tea"]).vectors

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(first_use, range(8))) == [EMBEDDER.embed(["tea"]).vectors] * 8


@pytest.fixture(params=["not installed", "without its weights"])
def broken_package(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real, spec = importlib.util.find_spec, SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    found = None if request.param == "not installed" else spec
    monkeypatch.setattr(
        "adapters.embeddings.static.find_spec", lambda name: found if name == "wordllama" else real(name)
    )


@pytest.mark.usefixtures("broken_package")
def test_a_package_that_cannot_be_read_says_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    embedder = StaticEmbedder()
    with caplog.at_level(logging.WARNING):
        embedder.warm_up().join(timeout=30)
    assert "reinstall 'wordllama'" in caplog.text
    with pytest.raises(MindFailed, match="reinstall 'wordllama', or set an embeddings endpoint") as failed:
        embedder.embed(["tea"])
    assert not failed.value.transient
