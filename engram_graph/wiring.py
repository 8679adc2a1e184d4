"""Settings to a running set of parts: database, embedder, extractor, decider, reranker."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio.to_thread

from engram_graph.adapters.rules_decider import RulesDecider
from engram_graph.adapters.token_count import token_counter
from engram_graph.embedders import cached_embedder, make_embedder
from engram_graph.errors import ConfigurationError
from engram_graph.flows.runtime import Runtime
from engram_graph.graph import schema
from engram_graph.graph.driver import Graph
from engram_graph.ports import Decider, Embedder, Extractor, Reranker
from engram_graph.rules.method import Method, preset
from engram_graph.settings import Settings

if TYPE_CHECKING:
    from engram_graph.adapters.network_decider import Purse
    from engram_graph.adapters.recording import Recording
    from engram_graph.adapters.rerank_llm import LLMReranker

log = logging.getLogger(__name__)
Progress = Callable[[int, int], None]


async def open_runtime(
    settings: Settings,
    *,
    embedder: Embedder | None = None,
    extractor: Extractor | None = None,
    decider: Decider | None = None,
    escalation: Decider | None = None,
    reranker: Reranker | None = None,
    method: Method | None = None,
    recording: Recording | None = None,
    progress: Progress | None = None,
) -> Runtime:
    """Connect, start the embedded server if that is the one, and bring the schema forward.

    Args:
        escalation: with a ``decider`` of the caller's own, or of the method's, there is none
            unless it is given here or ENGRAM_ESCALATION is ``llm``.
        recording: an open one, shared with others, in place of that of ``settings``.

    Raises:
        ConfigurationError, MissingExtraError, ServerError, StoreError: as each part says.
    """
    method = method or preset(settings.preset)
    if decider is None and method.decider == "rules":
        decider = RulesDecider()
    purse = make_purse(settings)
    recording = recording or await anyio.to_thread.run_sync(make_recording, settings)
    count, counted_by = token_counter()
    if escalation is None and (decider is None or settings.escalation == "llm"):
        escalation = make_escalation(settings, purse, recording)
    decider = decider or make_decider(settings, purse, recording)
    reranker = reranker or make_reranker(settings, decider, method, purse, recording)
    runtime = Runtime(
        graph=await open_graph(settings, progress),
        embedder=cached_embedder(embedder) or make_embedder(settings, recording),
        extractor=extractor or make_extractor(settings, recording),
        decider=decider,
        escalation=escalation,
        reranker=reranker,
        rerank_timeout_s=settings.rerank_timeout,
        method=method,
        without=frozenset(settings.search_without.split(",")),
        count=count,
        counted_by=counted_by,
    )
    try:
        await runtime.graph.connect()
        await schema.migrate(runtime.graph, None, None)
    except BaseException:
        await runtime.aclose()
        raise
    return runtime


async def open_graph(settings: Settings, progress: Progress | None = None) -> Graph:
    """The database of ``settings``, not connected yet; the embedded server when none is named."""
    if settings.neo4j_uri:
        return Graph(
            settings.neo4j_uri,
            settings.neo4j_username,
            settings.neo4j_password.get_secret_value(),
            settings.neo4j_database,
        )
    from engram_graph.server import EmbeddedServer

    info = await anyio.to_thread.run_sync(lambda: EmbeddedServer().up(progress))
    return Graph(info.bolt_uri, info.username, info.password, settings.neo4j_database)


def make_recording(settings: Settings) -> Recording | None:
    """The recording of ``settings``; None when none is named.

    Raises:
        ConfigurationError: the file is no recording; or there is none, and it is to be replayed.
    """
    if settings.recording is None:
        if settings.decider == "recorded":
            raise ConfigurationError(
                "ENGRAM_DECIDER=recorded needs a recording", hint="Name it in ENGRAM_RECORDING."
            )
        return None
    from engram_graph.adapters.recording import Recording

    return Recording(settings.recording, read_only=settings.replays)


def make_extractor(settings: Settings, recording: Recording | None = None) -> Extractor:
    """The extractor of ``settings``, as ``recording`` keeps what it reads."""
    if recording is None:
        return _extractor(settings)
    from engram_graph.adapters.recorder import RecordingExtractor

    sources = {"patterns": "patterns", "llm": f"llm:{settings.llm_model}"}
    return RecordingExtractor(
        None if settings.replays else _extractor(settings),
        recording,
        budget_usd=settings.recording_budget_usd,
        source=sources.get(settings.extractor),
    )


def _extractor(settings: Settings) -> Extractor:
    kind = settings.extractor
    if kind == "auto":
        kind = "llm" if settings.openai_api_key.get_secret_value() else "patterns"
    if kind == "patterns":
        from engram_graph.adapters.patterns import PatternExtractor

        return PatternExtractor()
    from engram_graph.adapters.llm_extractor import LLMExtractor

    return LLMExtractor(
        settings.llm_model,
        api_key=settings.openai_key(),
        base_url=settings.openai_base_url,
        usd_per_million_input=settings.llm_usd_per_million_input,
        usd_per_million_output=settings.llm_usd_per_million_output,
    )


def make_decider(
    settings: Settings, purse: Purse | None = None, recording: Recording | None = None
) -> Decider:
    """The decider of ``settings``: Jev with a key, else rules; or a ladder of several.

    Args:
        purse: shared with other deciders; None for one of its own.
        recording: keeps what each of them answers.
    """
    shared = purse or make_purse(settings)
    kinds = _deciders(settings)
    if len(kinds) == 1:
        return _recorded(kinds[0], settings, shared, recording)
    from engram_graph.adapters.ladder import LadderDecider

    return LadderDecider(
        [_recorded(kind, settings, shared, recording, alone=False) for kind in kinds]
    )


def make_escalation(
    settings: Settings, purse: Purse | None = None, recording: Recording | None = None
) -> Decider | None:
    """The stronger decider for what the usual one leaves unsure; None when none is wanted.

    A replay has one if the recording does.
    """
    wanted = settings.escalation
    shared = purse or make_purse(settings)
    replayed = settings.decider == "recorded" or settings.replays
    if wanted == "auto" and recording is not None and replayed:
        from engram_graph.adapters.recorder import ESCALATION

        held = any(kind == ESCALATION for kind, _, _ in recording.origins())
        return _recorded("recorded", settings, shared, recording, ESCALATION) if held else None
    if wanted == "auto":
        kinds = _deciders(settings)
        has_key = bool(settings.openai_api_key.get_secret_value().strip())
        wanted = "llm" if has_key and "jev" in kinds and "llm" not in kinds else "none"
    if wanted == "none":
        return None
    return _recorded("llm", settings, shared, recording, "escalation")


def make_reranker(
    settings: Settings,
    decider: Decider,
    method: Method,
    purse: Purse | None = None,
    recording: Recording | None = None,
) -> Reranker | None:
    """Who judges what a search found; None when nobody is to, or (``auto``) no model decides.

    Args:
        purse, recording: as of ``make_decider``; what a language model ranks is recorded as well.
    """
    kind = settings.rerank
    if kind == "none" or (kind == "auto" and decider.name == RulesDecider.name):
        return None
    if kind in ("auto", "decider"):
        from engram_graph.adapters.rerank_decider import DeciderReranker

        return DeciderReranker(decider, method.thresholds)
    if kind == "cross-encoder":
        from engram_graph.adapters.rerank_cross_encoder import CrossEncoderReranker

        return CrossEncoderReranker(settings.rerank_model or "")
    if recording is None:
        return _llm_reranker(settings, purse)
    from engram_graph.adapters.recorder import RecordingReranker

    silent = settings.replays
    return RecordingReranker(
        None if silent else _llm_reranker(settings, purse),
        recording,
        budget_usd=settings.recording_budget_usd,
        source=f"llm:{settings.rerank_model or settings.llm_model}" if silent else None,
    )


def _llm_reranker(settings: Settings, purse: Purse | None) -> LLMReranker:
    from engram_graph.adapters.rerank_llm import LLMReranker

    return LLMReranker(
        settings.rerank_model or settings.llm_model,
        api_key=settings.openai_key(),
        base_url=settings.openai_base_url,
        timeout_s=settings.rerank_timeout,
        usd_per_million_input=settings.llm_usd_per_million_input,
        usd_per_million_output=settings.llm_usd_per_million_output,
        budget_usd=purse or make_purse(settings),
    )


def make_purse(settings: Settings) -> Purse:
    """What the deciders of ``settings`` may spend together."""
    from engram_graph.adapters.network_decider import Purse

    return Purse(settings.decider_budget_usd)


def _deciders(settings: Settings) -> list[str]:
    if settings.decider != "auto":
        return settings.decider.split(">")
    if settings.replays:
        return ["recorded"]
    return ["jev" if settings.typesafe_api_key.get_secret_value().strip() else "rules"]


def _recorded(
    kind: str,
    settings: Settings,
    purse: Purse,
    recording: Recording | None,
    use: str = "decision",
    *,
    alone: bool = True,
) -> Decider:
    """One decider as ``recording`` keeps what it answers; without its key when it only replays."""
    if recording is None:
        return _decider(kind, settings, purse, alone=alone)
    from engram_graph.adapters.recorder import RecordingDecider

    # Rules need no key, and a client that never asks them may replay a recording without them.
    silent = kind == "recorded" or (settings.replays and kind != "rules")
    return RecordingDecider(
        None if silent else _decider(kind, settings, purse, alone=alone),
        recording,
        budget_usd=settings.recording_budget_usd,
        kind=use,
        source=_source(kind, settings, alone) if silent else None,
    )


def _source(kind: str, settings: Settings, alone: bool) -> str | None:
    """Under which name a recording holds the answers of a decider; None for the only one's."""
    if kind == "rules":
        return f"rules:{RulesDecider(guesses=alone).model}"
    if kind == "llm":
        return f"llm:{settings.decider_model or settings.llm_model}"
    if kind == "jev":
        from engram_graph.adapters import jev

        model = settings.typesafe_default_model or jev.MODEL
        return f"jev:{jev.endpoint(settings.typesafe_base_url or jev.BASE_URL, model)[1]}"
    return None


def _decider(kind: str, settings: Settings, purse: Purse, *, alone: bool = True) -> Decider:
    """One decider; one over a network gets its rest when it is away."""
    if kind == "rules":
        return RulesDecider(guesses=alone)
    from engram_graph.adapters.cooldown import Cooldown

    if kind == "llm":
        from engram_graph.adapters.llm_decider import LLMDecider

        return Cooldown(
            LLMDecider(
                settings.decider_model or settings.llm_model,
                api_key=settings.openai_key(),
                base_url=settings.openai_base_url,
                usd_per_million_input=settings.llm_usd_per_million_input,
                usd_per_million_output=settings.llm_usd_per_million_output,
                budget_usd=purse,
            )
        )
    key = settings.typesafe_api_key.get_secret_value().strip()
    if not key:
        raise ConfigurationError(
            "TYPESAFE_API_KEY is not set", hint="Set it, or ENGRAM_DECIDER without jev."
        )
    from engram_graph.adapters import jev

    return Cooldown(
        jev.JevDecider(
            api_key=key,
            base_url=settings.typesafe_base_url or jev.BASE_URL,
            model=settings.typesafe_default_model or jev.MODEL,
            rate_per_s=settings.jev_rate,
            budget_usd=purse,
        )
    )
