"""Vectors without a model server: the static embeddings that the `wordllama` package carries, 256 dimensions.

A text is the mean of the vectors of its tokens. Weights and tokenizer are read from the package's folder by hand: its
own loader would import an HTTP client, take over the root logger, hold the weights twice as large in memory, and pad a
batch to its longest text, which for one long text among many takes gigabytes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from application.ports import Embeddings, MindFailed

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MODEL = "wordllama-l2-supercat-256"
DIMENSIONS = 256
LONGEST_TEXT = 32_000
"""Characters of a text that are read; the mean of that many words hardly moves with more, and time grows with each."""

_WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
_TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")
_WITHOUT_TOKENS = [1.0] + [0.0] * (DIMENSIONS - 1)
"""The vector of a text without tokens (the empty one): a zero vector has no direction, and its distances are NaN. This
one is near no text, and equal to itself."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Model:
    tokenizer: Tokenizer
    weights: Any
    """One row a token, 16-bit floats as they are stored: half the memory, and means are taken in 32 bits."""


class StaticEmbedder:
    """An Embedder; safe to use from several threads. Loads about 50 MB at the first use, or ahead with `warm_up`.

    The vector of a text depends on nothing but the text. Calls cost nothing and are not counted.
    """

    model = MODEL

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: _Model | None = None

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    def close(self) -> None:
        """Nothing is held but memory."""

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """One unit-length vector a text, in order. Only the first `LONGEST_TEXT` characters of a text count; a lone
        surrogate counts as a question mark. Raises MindFailed when the model's files cannot be read."""
        model = self._model()
        return Embeddings(vectors=[_vector(model, text) for text in texts])

    def warm_up(self) -> threading.Thread:
        """Loads in the background and returns the thread that does; whoever embeds meanwhile waits for it. A failure is
        logged here and raised by the next `embed`."""
        thread = threading.Thread(target=self._load_quietly, name="static-embeddings")
        thread.start()
        return thread

    def _load_quietly(self) -> None:
        try:
            self._model()
        except MindFailed as failed:
            _log.warning("%s", failed)

    def _model(self) -> _Model:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load()
            return self._loaded


def _load() -> _Model:
    try:
        # Imported here: they cost 0.2 s and 20 MB, which a process that embeds nothing does not pay.
        from safetensors import safe_open
        from tokenizers import Tokenizer

        package = find_spec("wordllama")
        if package is None or package.origin is None:
            raise FileNotFoundError("the package 'wordllama' is not installed")
        folder = Path(package.origin).parent
        tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        with safe_open(folder / _WEIGHTS, framework="np") as file:
            return _Model(tokenizer, file.get_tensor("embedding.weight"))
    except Exception as error:  # the tokenizer raises plain Exception for a file it cannot read
        raise MindFailed(
            f"The static embeddings could not be loaded: {error}; reinstall 'wordllama', or set an embeddings endpoint",
            reason="unexpected_error",
            transient=False,
        ) from error


def _vector(model: _Model, text: str) -> list[float]:
    import numpy as np

    readable = text[:LONGEST_TEXT].encode("utf-8", "replace").decode()
    tokens = model.tokenizer.encode(readable, add_special_tokens=False).ids
    if not tokens:
        return list(_WITHOUT_TOKENS)
    total = np.take(model.weights, tokens, axis=0).astype(np.float32).sum(axis=0)
    length = float(np.linalg.norm(total))
    return (total / length).tolist() if length else list(_WITHOUT_TOKENS)
