"""Recorders round models: a call made once is answered from a recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engram_graph.adapters import recorded_forms as forms
from engram_graph.adapters import rerank_llm
from engram_graph.adapters.ladder import LadderDecider
from engram_graph.adapters.recorder_calls import Made, Recorder
from engram_graph.adapters.recording import Asked, Recording
from engram_graph.adapters.rerank_llm import LLMReranker
from engram_graph.errors import (
    ConfigurationError,
    DecisionBudgetError,
    DecisionError,
    ExtractionError,
    RerankError,
)
from engram_graph.models.decisions import Ask, Reply, Turn
from engram_graph.models.facts import Draft, Fact, Message
from engram_graph.models.ranking import Ranking
from engram_graph.ports import Decider, Extractor

DECISION = "decision"
ESCALATION = "escalation"
"""A decision asked of a stronger model, kept apart from those of the usual one."""
EXTRACTION = "extraction"
RERANKING = "reranking"
REPLAY = "recorded"
"""The name of a decider or extractor while its recording holds no call of its kind."""


class RecordingDecider:
    """A decider whose replies are recorded, and replayed when the same is asked again.

    A replayed reply is the recorded one, with its latency and cost of then, and ``replayed`` set;
    ``Recording.spent_usd`` holds what was truly spent.

    Args:
        inner: asked for what is not recorded; it is closed with this one. None only replays.
        budget_usd: see ``Recorder``. kind: ``decision`` or ``escalation``.
        source: without ``inner``, whose replies are meant: a backend (``jev``) or a backend and a
            model (``jev:jev-1.13.0``). Needed where the recording has those of several.

    Raises:
        ConfigurationError: the budget is no number of 0 or more, ``inner`` is a ladder, or it is
            not clear whose replies are meant.
    """

    def __init__(
        self,
        inner: Decider | None,
        recording: Recording,
        *,
        budget_usd: float | None = None,
        kind: str = DECISION,
        source: str | None = None,
    ) -> None:
        if isinstance(inner, LadderDecider):
            raise ConfigurationError(
                "a ladder of deciders is recorded step by step",
                hint="Put a RecordingDecider round each step.",
            )
        self._inner = inner
        self._kind = kind
        self._recorder = Recorder(
            recording, budget_usd=budget_usd, failure=DecisionError, missing=DecisionBudgetError
        )
        if inner is not None:
            self.name, self.model = inner.name, str(getattr(inner, "model", ""))
        else:
            self.name, self.model = whose(recording, kind, source)

    async def ask(self, ask: Ask) -> Reply:
        """The recorded reply, else the one of the decider within.

        Raises:
            DecisionBudgetError: it is not recorded, and may not be asked for.
            DecisionError: as the decider within raised it, now or when it was recorded.
        """
        inner = self._inner

        async def make() -> Made:
            assert inner is not None
            reply = await inner.ask(ask)
            form = forms.reply_form(reply, ask)
            return Made(form, reply.cost_usd, reply.latency_ms, keep=not reply.broke_off)

        asked = Asked(self._kind, self.name, self.model, forms.ask_form(ask))
        recorded, replayed = await self._recorder.call(asked, make if inner else None)
        return replace(forms.reply_of(recorded, ask), replayed=replayed)

    async def aclose(self) -> None:
        """Close the decider within, and the recording."""
        await _close(self._inner, self._recorder)


class RecordingExtractor:
    """An extractor whose drafts are recorded, and replayed when the same message is read again.

    Args and errors as of ``RecordingDecider``; ``source`` is an extractor's name.
    """

    def __init__(
        self,
        inner: Extractor | None,
        recording: Recording,
        *,
        budget_usd: float | None = None,
        source: str | None = None,
    ) -> None:
        self._inner = inner
        self._recorder = Recorder(
            recording, budget_usd=budget_usd, failure=ExtractionError, missing=ExtractionError
        )
        self.name = inner.name if inner is not None else whose(recording, EXTRACTION, source)[0]

    async def extract(self, message: Message, recent: Sequence[Message]) -> list[Draft]:
        """The recorded drafts, else those of the extractor within.

        Raises:
            ExtractionError: they are not recorded and may not be asked for; or as the extractor
                within raised it, now or when it was recorded.
        """
        inner = self._inner

        async def make() -> Made:
            assert inner is not None
            return Made(forms.drafts_form(await inner.extract(message, recent)))

        asked = Asked(EXTRACTION, self.name, "", forms.message_form(message, recent))
        recorded, _ = await self._recorder.call(asked, make if inner else None)
        return forms.drafts_of(recorded.answer)

    async def aclose(self) -> None:
        """Close the extractor within, and the recording."""
        await _close(self._inner, self._recorder)


class RecordingReranker:
    """A language model's rankings, recorded, and replayed when the same items come again.

    A replayed ranking is the recorded one, with its latency and cost of then. A decider that
    reranks is recorded as a decider; a model on this machine is not recorded.

    Args and errors as of ``RecordingDecider``.
    """

    window = rerank_llm.WINDOW

    def __init__(
        self,
        inner: LLMReranker | None,
        recording: Recording,
        *,
        budget_usd: float | None = None,
        source: str | None = None,
    ) -> None:
        self._inner = inner
        self._recorder = Recorder(
            recording, budget_usd=budget_usd, failure=RerankError, missing=RerankError
        )
        if inner is not None:
            self.name, self.model = inner.name, inner.model
        else:
            self.name, self.model = whose(recording, RERANKING, source)

    async def rerank(
        self, query: str, items: Sequence[Fact | Turn], *, relation: bool = False
    ) -> Ranking:
        """The recorded ranking, else that of the reranker within.

        Raises:
            RerankError: it is not recorded and may not be asked for; or as the reranker within
                raised it, now or when it was recorded.
        """
        inner = self._inner

        async def make() -> Made:
            assert inner is not None
            ranking = await inner.rerank(query, items)
            form = forms.ranking_form(ranking, items)
            return Made(form, ranking.cost_usd, ranking.latency_ms)

        asked = Asked(RERANKING, self.name, self.model, forms.listwise_form(query, items))
        recorded, _ = await self._recorder.call(asked, make if inner else None)
        return forms.ranking_of(recorded, items)

    async def aclose(self) -> None:
        """Close the reranker within, and the recording."""
        await _close(self._inner, self._recorder)


async def _close(inner: Decider | Extractor | LLMReranker | None, recorder: Recorder) -> None:
    """Close what is recorded, and the recording even if that fails."""
    try:
        if inner is not None:
            await inner.aclose()
    finally:
        await recorder.aclose()


def whose(recording: Recording, kind: str, source: str | None = None) -> tuple[str, str]:
    """Backend and model whose calls are to be replayed: the only ones, or those ``source`` names.

    Raises:
        ConfigurationError: there are several, or only others.
    """
    known = sorted((backend, model) for one, backend, model in recording.origins() if one == kind)
    fits = [each for each in known if source in (None, each[0], ":".join(each))]
    if len(fits) == 1:
        return fits[0]
    if not known:
        return source or REPLAY, ""
    names = ", ".join(":".join(filter(None, each)) for each in fits or known)
    which = "several" if fits else f"others than {source}"
    raise ConfigurationError(
        f"the recording {recording.path.name} holds {kind}s of {which}: {names}",
        hint="Name one of them.",
    )
