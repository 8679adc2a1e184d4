"""Settings to an embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram_graph.graph import schema
from engram_graph.ports import Embedder
from engram_graph.settings import Settings

if TYPE_CHECKING:
    from engram_graph.adapters.embed_openai import OpenAIEmbedder
    from engram_graph.adapters.recording import Recording

_OPENAI_MODEL = "text-embedding-3-small"


def embedder_kind(settings: Settings) -> str:
    """``local``, ``openai``, ``hash`` or ``none``."""
    from engram_graph.adapters import embed_local

    if settings.embedder != "auto":
        return settings.embedder
    return "local" if embed_local.available(settings.embedding_model) else "none"


def make_embedder(settings: Settings, recording: Recording | None = None) -> Embedder | None:
    """The embedder of ``settings``; None when none is wanted or installed.

    Args:
        recording: keeps the vectors of an embedder over a network; what is computed here is not
            recorded.
    """
    kind = embedder_kind(settings)
    if kind == "local":
        from engram_graph.adapters.embed_local import LocalEmbedder

        return cached_embedder(
            LocalEmbedder(
                settings.embedding_model,
                query_prefix=settings.embedding_query_prefix,
                text_prefix=settings.embedding_passage_prefix,
            )
        )
    if kind == "openai" and recording is None:
        return cached_embedder(_openai(settings))
    if kind == "openai" and recording is not None:
        from engram_graph.adapters.embed_prefix import name_with_prefixes
        from engram_graph.adapters.recorder_embedder import RecordingEmbedder

        return cached_embedder(
            RecordingEmbedder(
                None if settings.replays else _openai(settings),
                recording,
                model=name_with_prefixes(
                    settings.embedding_model or _OPENAI_MODEL,
                    settings.embedding_query_prefix or "",
                    settings.embedding_passage_prefix or "",
                ),
                dimension=settings.embedding_dimension,
                budget_usd=settings.recording_budget_usd,
            )
        )
    if kind == "hash":
        from engram_graph.adapters.embed_hash import HashEmbedder

        return HashEmbedder(settings.embedding_dimension or schema.DEFAULT_DIMENSION)
    return None


def cached_embedder(embedder: Embedder | None) -> Embedder | None:
    """``embedder`` with a cache of recent vectors round it; None stays None."""
    from engram_graph.adapters.embed_cache import cached

    return cached(embedder) if embedder is not None else None


def _openai(settings: Settings) -> OpenAIEmbedder:
    from engram_graph.adapters.embed_openai import OpenAIEmbedder

    return OpenAIEmbedder(
        settings.embedding_model or _OPENAI_MODEL,
        api_key=settings.embedding_api_key.get_secret_value() or "none"
        if settings.embedding_base_url
        else settings.openai_key(),
        base_url=settings.embedding_base_url or settings.openai_base_url,
        dimension=settings.embedding_dimension,
        query_prefix=settings.embedding_query_prefix or "",
        text_prefix=settings.embedding_passage_prefix or "",
        usd_per_million=settings.embedding_usd_per_million,
    )
