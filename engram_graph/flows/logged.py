"""Models that answer from a namespace's own log: what was said then is said again, at no cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engram_graph.errors import EmbeddingError
from engram_graph.flows.asking import answered
from engram_graph.flows.runtime import Runtime
from engram_graph.models.decisions import Answer, Ask, Question, Reply, RequestLog
from engram_graph.models.facts import Vector
from engram_graph.models.whatif import Unanswered
from engram_graph.ports import Decider
from engram_graph.rules.answers import FALLBACK_BACKEND, LLM_ESCALATION, failed


@dataclass(slots=True)
class Names:
    """The ids of a namespace's records and of their copies; what is in neither map stays."""

    copies: dict[str, str] = field(default_factory=dict)
    originals: dict[str, str] = field(default_factory=dict)

    def pair(self, original: str, copy: str) -> str:
        """Remember that one is the copy of the other; the copy."""
        self.copies[original], self.originals[copy] = copy, original
        return copy

    def copy(self, original: str) -> str:
        """What an original is called in the copy."""
        return self.copies.get(original, original)

    def original(self, copy: str) -> str:
        """The reverse."""
        return self.originals.get(copy, copy)


class LoggedDecider:
    """Answers about one fact after the other, as it was answered when the fact was decided on.

    Attributes:
        unanswered: what was never asked. requests: how many the ``live`` decider answered.
        costs: of those requests.

    Args:
        names: of the facts asked about and of those in the log.
        live: asked what the log does not tell; None leaves it unanswered.
    """

    name = "log"

    def __init__(self, names: Names, live: Decider | None = None) -> None:
        self._names = names
        self._live = live
        self._fact = ""
        self._rounds: list[list[RequestLog]] = []
        self.unanswered: list[Unanswered] = []
        self.costs: list[float | None] = []

    def about(self, fact_id: str, requests: Sequence[RequestLog]) -> None:
        """From now on answer about this fact (its id in the log), from these calls."""
        self._fact = fact_id
        self._rounds = _rounds(requests)

    async def ask(self, ask: Ask) -> Reply:
        """Every answer as it was logged; a fallback where there is none."""
        keys = {self._key(question): question for question in ask.questions}
        used = [steps for steps in self._rounds if any(key in steps[0].answers for key in keys)]
        answers = {
            question.id: answer
            for key, question in keys.items()
            if (answer := _answer(used, key, question.id))
        }
        missing = tuple(q for q in ask.questions if q.id not in answers)
        live = await self._ask_now(ask, missing) if missing else None
        answers |= live.answers if live else {}
        answers |= {
            q.id: Answer(q.id, {}, FALLBACK_BACKEND, fallback=True)
            for q in missing
            if q.id not in answers
        }
        ordered = {question.id: answers[question.id] for question in ask.questions}
        if not used:
            return replace(live, answers=ordered) if live else _nothing(ordered)
        first = used[0]
        steps = tuple(_reply(request, keys) for request in first) if len(first) > 1 else ()
        return replace(_reply(first[-1], keys), answers=ordered, steps=steps)

    async def aclose(self) -> None:
        """The live decider is its owner's."""

    def _key(self, question: Question) -> str:
        """The question's id in the log."""
        name, *ids = question.id.split(":")
        return ":".join((name, *map(self._names.original, ids)))

    async def _ask_now(self, ask: Ask, missing: tuple[Question, ...]) -> Reply | None:
        reply = None
        if self._live is not None:
            reply = await answered(self._live, replace(ask, questions=missing))
            if not failed(reply):
                self.costs.append(reply.cost_usd)
        for question in missing:
            answer = reply.answers.get(question.id) if reply else None
            self.unanswered.append(
                Unanswered(
                    question=question.name,
                    fact=self._fact,
                    text=ask.draft.text,
                    candidate=self._names.original(question.candidate.id)
                    if question.candidate
                    else None,
                    asked=answer is not None and not answer.fallback,
                )
            )
        return reply


class LoggedEmbedder:
    """Gives stored texts the vectors they have; others are made by the runtime's embedder."""

    def __init__(self, runtime: Runtime, vectors: Mapping[str, Vector | None]) -> None:
        self._runtime = runtime
        self._vectors = vectors
        known = runtime.graph.vectors
        self.model = (known and known.embedder) or ""
        self.dimension = (known and known.dimension) or 0

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[Vector]:
        """One vector per text.

        Raises:
            EmbeddingError: a text was stored without one, or nothing can make a new one.
        """
        found = []
        for text in texts:
            vector = self._vectors.get(text)
            if vector is None and text not in self._vectors:
                (vector,), _ = await self._runtime.embed([text], query=query)
            if vector is None:
                raise EmbeddingError("a text has no vector")
            found.append(vector)
        return found

    async def aclose(self) -> None:
        """The runtime's embedder is its owner's."""


def escalations(requests: Sequence[RequestLog]) -> tuple[RequestLog, ...]:
    """Those of some calls that a stronger decider answered."""
    return tuple(
        request
        for request in requests
        if any(answer["backend"] == LLM_ESCALATION for answer in request.answers.values())
    )


def _rounds(requests: Sequence[RequestLog]) -> list[list[RequestLog]]:
    """Calls as they were put: what asks again about a part of the one before is a ladder's step."""
    rounds: list[list[RequestLog]] = []
    for request in requests:
        if rounds and request.answers.keys() <= rounds[-1][0].answers.keys():
            rounds[-1].append(request)
        else:
            rounds.append([request])
    return rounds


def _answer(rounds: Sequence[Sequence[RequestLog]], key: str, name: str) -> Answer | None:
    """The last usable answer to a question, else the last; None when it was not asked."""
    given = [
        _logged(request.answers[key], name)
        for steps in rounds
        for request in steps
        if key in request.answers
    ]
    usable = [answer for answer in given if not answer.fallback]
    best = usable or given
    return best[-1] if best else None


def _logged(row: Mapping[str, Any], name: str) -> Answer:
    return Answer(name, dict(row["probabilities"]), row["backend"], bool(row["fallback"]))


def _reply(request: RequestLog, keys: Mapping[str, Question]) -> Reply:
    return Reply(
        answers={
            question.id: _logged(request.answers[key], question.id)
            for key, question in keys.items()
            if key in request.answers
        },
        backend=request.backend,
        model=request.model,
        latency_ms=request.latency_ms,
        cost_usd=request.cost_usd,
        request_id=request.request_id,
        error=request.error,
        replayed=True,
    )


def _nothing(answers: dict[str, Answer]) -> Reply:
    return Reply(answers, backend=FALLBACK_BACKEND, model="", error="not in the log")
