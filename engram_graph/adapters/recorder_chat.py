"""A recorder round a chat model that is asked one thing at a time."""

from __future__ import annotations

from dataclasses import dataclass

from engram_graph.adapters.chat import ChatError, ChatModel, Prompt
from engram_graph.adapters.llm_meter import Meter
from engram_graph.adapters.recorder_calls import Made, Recorder
from engram_graph.adapters.recording import Asked, Recording
from engram_graph.errors import AnsweringError, BudgetError

ANSWER = "answer"
JUDGE = "judge"
BACKEND = "llm"
_HINTS = {
    401: "Check the API key (OPENAI_API_KEY).",
    403: "Check the API key (OPENAI_API_KEY).",
    404: "Check the model's name and the base URL (OPENAI_BASE_URL).",
    429: "The rate limit or quota is used up; the same command goes on later.",
}


@dataclass(frozen=True, slots=True)
class Said:
    """What a model wrote, now or when it was recorded.

    Attributes:
        flaw: why ``text`` is not the whole answer; empty when it is.
        cost_usd, latency_ms: of the call when it was made; a replay costs and takes nothing.
    """

    text: str
    flaw: str
    cost_usd: float | None
    latency_ms: float
    replayed: bool


class RecordingChat:
    """A chat model whose completions are recorded, and replayed when the same is asked again.

    The key is the whole prompt with the schema of its answer.

    Args:
        inner: asked for what is not recorded; None only replays. meter: tells what it costs.
        model: under which completions are kept; the name asked for, not the one that answers.
        kind: ``answer`` or ``judge``. budget_usd: see ``Recorder``.
    """

    def __init__(
        self,
        inner: ChatModel | None,
        recording: Recording,
        *,
        kind: str,
        model: str,
        meter: Meter | None = None,
        budget_usd: float | None = None,
    ) -> None:
        self.model = model
        self._inner = inner
        self._kind = kind
        self._meter = meter or Meter(None, None, None)
        self._recorder = Recorder(
            recording, budget_usd=budget_usd, failure=AnsweringError, missing=BudgetError
        )

    async def complete(self, prompt: Prompt) -> Said:
        """The recorded completion, else that of the model within.

        Raises:
            BudgetError: it is not recorded, and may not be asked for.
            AnsweringError: no completion came, now or when it was recorded; neither key nor prompt
                is part of it.
        """
        inner = self._inner

        async def make() -> Made:
            assert inner is not None
            try:
                completion = await inner.complete(prompt)
            except ChatError as error:
                hint = error.hint or _HINTS.get(error.status or 0, "")
                raise AnsweringError(error.message, hint=hint, **error.details) from None
            self._meter.settle(None, completion)
            return Made({"text": completion.text, "flaw": completion.flaw})

        request = {
            "system": prompt.system,
            "user": prompt.user,
            "name": prompt.name,
            "schema": prompt.schema,
            "plain": prompt.plain,
        }
        asked = Asked(self._kind, BACKEND, self.model, request)
        call, replayed = await self._recorder.call(asked, make if inner else None)
        told = call.answer
        return Said(told["text"], told["flaw"], call.cost_usd, call.latency_ms, replayed)

    async def aclose(self) -> None:
        """Close the connections, and the recording even if that fails."""
        try:
            if self._inner is not None:
                await self._inner.aclose()
        finally:
            await self._recorder.aclose()
