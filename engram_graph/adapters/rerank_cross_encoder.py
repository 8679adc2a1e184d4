"""Reranker on a sentence-transformers CrossEncoder on this machine.

torch is imported by the first ``rerank``, in a worker thread, never before.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Any

from engram_graph.adapters.local_model import folder_of, in_turn, installed, quiet
from engram_graph.errors import ConfigurationError, MissingExtraError, RerankError
from engram_graph.models.decisions import Turn
from engram_graph.models.facts import Fact
from engram_graph.models.ranking import Ranking
from engram_graph.rules.ranking import id_of
from engram_graph.rules.text import encodable, turn_text

NAME = "cross-encoder"
WINDOW = 8
REST_S = 60.0
"""How long a model that could not be loaded is not tried again: to look for one takes its time."""
_MAX_CHARS = 2_000  # of question and item: to cut longer pairs takes tokenizers quadratic time


class CrossEncoderReranker:
    """Scores each pair of question and item by a cross-encoder, eight pairs at a time.

    An item is what was said: a fact's text, or ``speaker: text`` of a message, without dates, as
    such models are trained on bare passages. Of question and item the first 2,000 characters are
    read, or as many tokens as the model takes. Its number is the logistic function of the model's
    raw output, whatever activation the model's files ask for: between 0 and 1 and in the model's
    own order, and no probability that anything was calibrated to.

    Args:
        model: a folder, or a model's name (sentence-transformers then looks into its own cache
            and may download it).
        device: as torch names it; None lets sentence-transformers choose.

    Raises:
        ConfigurationError: no model is named, or ``model`` is a path and nothing is there.
        MissingExtraError: sentence-transformers is not installed.
    """

    name = NAME
    window = WINDOW

    def __init__(self, model: str, *, device: str | None = None) -> None:
        if not model.strip():
            raise ConfigurationError(
                "a cross-encoder has to be named",
                hint="Set ENGRAM_RERANK_MODEL to a folder, or to a name such as "
                "cross-encoder/ms-marco-MiniLM-L6-v2.",
            )
        if not installed("sentence_transformers") or not installed("torch"):
            raise MissingExtraError("a cross-encoder needs sentence-transformers", extra="local")
        self._folder = folder_of(model)
        self.model = self._folder.resolve().name if self._folder else model
        self._source = str(self._folder or model)
        self._device = device
        self._loaded: Any = None
        self._failed: RerankError | None = None
        self._rests_until = 0.0
        self._lock = threading.Lock()

    async def rerank(
        self, query: str, items: Sequence[Fact | Turn], *, relation: bool = False
    ) -> Ranking:
        """As the port says; ``relation`` is left open. The first call loads the model (seconds).

        A cancellation waits until the pairs at hand are scored, or the model is loaded: a thread
        cannot be stopped.

        Raises:
            RerankError: the model could not be loaded, is no reranker, or failed.
        """
        if not items:
            return Ranking(scale="score")
        began = time.perf_counter()
        asked = encodable(query[:_MAX_CHARS])
        pairs = [(asked, encodable(_text(item)[:_MAX_CHARS])) for item in items]
        scores = await in_turn(partial(self._score, pairs))
        return Ranking(
            scale="score",
            numbers={id_of(item): score for item, score in zip(items, scores, strict=True)},
            asked=len(items),
            latency_ms=(time.perf_counter() - began) * 1000,
        )

    async def aclose(self) -> None:
        """Let go of the model; a later ``rerank`` loads it again."""
        self._loaded = self._failed = None

    def _score(self, pairs: list[tuple[str, str]]) -> list[float]:
        with self._lock:  # tokenizers refuse to be used by two threads at once
            model = self._loaded
            if model is None:
                model = self._loaded = self._load_or_rest()
            try:
                raw = model.predict(
                    pairs,
                    batch_size=WINDOW,
                    show_progress_bar=False,
                    activation_fn=import_module("torch.nn").Identity(),
                )
                outputs = [float(value) for value in raw]
            except Exception as error:
                raise RerankError(
                    f"the model {self.model} failed: {type(error).__name__}"
                ) from error
        if len(outputs) != len(pairs) or not all(map(math.isfinite, outputs)):
            raise RerankError(f"the model {self.model} gave no usable scores")
        return [_logistic(value) for value in outputs]

    def _load_or_rest(self) -> Any:
        if self._failed is not None and time.monotonic() < self._rests_until:
            raise RerankError(self._failed.message, hint=self._failed.hint)
        try:
            return self._load()
        except RerankError as error:
            self._failed, self._rests_until = error, time.monotonic() + REST_S
            raise

    def _load(self) -> Any:
        try:
            with quiet():
                from sentence_transformers import CrossEncoder

                model = CrossEncoder(
                    self._source,
                    device=self._device,
                    local_files_only=self._folder is not None,
                )
        except ImportError as error:
            raise RerankError(f"sentence-transformers cannot be imported: {error}") from error
        except Exception as error:
            raise RerankError(
                f"the model {self.model} could not be loaded: {type(error).__name__}",
                hint="Name a folder with a cross-encoder, or one from its hub.",
            ) from error
        if model.num_labels != 1:
            raise RerankError(
                f"the model {self.model} has {model.num_labels} outputs, a reranker has one",
                hint="Name a cross-encoder that was trained to rank.",
            )
        return model


def _text(item: Fact | Turn) -> str:
    return (
        turn_text(item.message.speaker, item.message.text) if isinstance(item, Turn) else item.text
    )


def _logistic(value: float) -> float:
    """In double precision: a float of torch's would be 1 from 17 on."""
    if value >= 0:
        return 1 / (1 + math.exp(-value))
    part = math.exp(max(value, -700.0))
    return part / (1 + part)
