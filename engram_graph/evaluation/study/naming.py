"""Which models a study asks, by name: for its result files."""

from __future__ import annotations

from typing import Any, Final

from engram_graph import clock
from engram_graph.adapters.recording import Asked, Recorded, Recording
from engram_graph.embedders import make_embedder
from engram_graph.rules.method import preset
from engram_graph.settings import Settings
from engram_graph.wiring import make_decider, make_escalation, make_extractor, make_reranker

KIND: Final = "names"
_CHOICES = (
    *("decider", "decider_model", "escalation", "extractor", "llm_model", "preset", "rerank"),
    *("rerank_model", "typesafe_default_model", "embedder", "embedding_model"),
    *("embedding_dimension", "embedding_query_prefix", "embedding_passage_prefix"),
)


def named(settings: Settings, recording: Recording, answer: str, judge: str) -> dict[str, str]:
    """Purpose → model.

    A choice left to ``auto`` depends on the keys there are: what it was is kept in the recording,
    so that a replay without keys names the same.

    Raises:
        ConfigurationError: a part cannot be made of the settings.
    """
    choices = {name: getattr(settings, name) for name in _CHOICES}
    asked = Asked(KIND, "study", "", choices | {"answer": answer, "judge": judge})
    if settings.replays and (known := recording.get_now(asked)) is not None:
        return dict(known.answer)
    found = _parts(settings, recording) | {"answer": answer, "judge": judge}
    if not settings.replays:
        recording.put_now(asked, Recorded(found, 0.0, 0.0, clock.now()))
    return found


def _parts(settings: Settings, recording: Recording) -> dict[str, str]:
    decider = make_decider(settings, recording=recording)
    method = preset(settings.preset)
    embedder = make_embedder(settings, recording)
    parts = {
        "extraction": make_extractor(settings, recording),
        "decisions": decider,
        "escalations": make_escalation(settings, recording=recording),
        "reranking": make_reranker(settings, decider, method, recording=recording),
    }
    names = {purpose: _name(part) for purpose, part in parts.items() if part is not None}
    return names | {"embeddings": embedder.model if embedder else "none"}


def _name(part: Any) -> str:
    model = str(getattr(part, "model", ""))
    return f"{part.name}:{model}" if model else str(part.name)
