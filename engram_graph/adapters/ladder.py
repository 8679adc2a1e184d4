"""Several deciders as one: the cheap one first, and what it leaves unsure to the next."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

from engram_graph.errors import ConfigurationError, DecisionError, DecisionInvalidError
from engram_graph.models.decisions import Answer, Ask, Question, Reply
from engram_graph.ports import Decider

log = logging.getLogger(__name__)


class LadderDecider:
    """Asks one decider after the other, each about what those before it left open.

    An answer whose likeliest option has ``sure`` or more is settled. One that is less sure goes on
    to the next step; the answer of the last step that had one stands. A step that fails is passed
    over, and the reply says so. Each answer's ``backend`` names who gave it.

    Args:
        steps: in the order they are asked; closed with the ladder. A step that guesses with
            certainty settles what it does not know: leave the guesses of ``RulesDecider`` out.
        sure: from which probability on an answer is settled.

    Raises:
        ConfigurationError: no step, or ``sure`` is no probability above 0.
    """

    def __init__(self, steps: Sequence[Decider], sure: float = 0.85) -> None:
        if not steps:
            raise ConfigurationError("a ladder of deciders needs a step")
        if not 0 < sure <= 1:
            raise ConfigurationError("sure must be above 0, and 1 at most")
        self._steps = tuple(steps)
        self._sure = sure
        self.name = ">".join(step.name for step in self._steps)

    async def ask(self, ask: Ask) -> Reply:
        """Answer every question of ``ask``, in its order; ``steps`` of the reply tell who did what.

        Raises:
            DecisionError: the last one, when no step answered anything and one failed.
        """
        answers = {q.id: Answer(q.id, {}, self.name, fallback=True) for q in ask.questions}
        given: list[Reply] = []
        failures: list[DecisionError] = []
        for step in self._steps:
            left = tuple(q for q in ask.questions if not self._settled(answers[q.id]))
            if given and not left:
                break
            reply, failure = await _ask(step, replace(ask, questions=left))
            failures += [failure] if failure else []
            given.append(reply)
            answers |= _usable(reply, left)
        if failures and all(answer.fallback for answer in answers.values()):
            raise failures[-1]
        return _whole(self.name, answers, given)

    async def aclose(self) -> None:
        """Close every step."""
        for step in self._steps:
            await step.aclose()

    def _settled(self, answer: Answer) -> bool:
        return not answer.fallback and answer.p(answer.chosen) >= self._sure


async def _ask(step: Decider, ask: Ask) -> tuple[Reply, DecisionError | None]:
    """What a step gave; a failure also as a reply that holds fallbacks, to be logged."""
    began = time.perf_counter()
    try:
        return await step.ask(ask), None
    except DecisionError as error:
        log.warning("decider %s failed, the next is asked: %s", step.name, error.code)
        status, request_id = error.details.get("status"), error.details.get("request_id")
        reply = Reply(
            answers={q.id: Answer(q.id, {}, step.name, fallback=True) for q in ask.questions},
            backend=step.name,
            model=str(getattr(step, "model", "")),
            latency_ms=(time.perf_counter() - began) * 1000,
            request_id=request_id if isinstance(request_id, str) else None,
            error=f"{error.code} (HTTP {status})" if status else error.code,
            broke_off=not isinstance(error, DecisionInvalidError),
        )
        return reply, error


def _usable(reply: Reply, asked: Iterable[Question]) -> dict[str, Answer]:
    found = ((q.id, reply.answers.get(q.id)) for q in asked)
    return {key: answer for key, answer in found if answer is not None and not answer.fallback}


def _whole(name: str, answers: dict[str, Answer], given: list[Reply]) -> Reply:
    """One reply from those of the steps.

    Its cost is known if that of every step with an answer is. Its error tells of each step that
    gave nothing; of single answers only while one is missing in the end. It broke off if a step
    did: asked again, that step may answer otherwise than those after it.
    """
    useful = [r for r in given if any(not a.fallback for a in r.answers.values())]
    costs = [reply.cost_usd for reply in given]
    missing = any(answer.fallback for answer in answers.values())
    told = given if missing else [reply for reply in given if reply not in useful]
    last = (useful or given)[-1]
    return Reply(
        answers=answers,
        backend=name,
        model=last.model,
        latency_ms=math.fsum(reply.latency_ms for reply in given),
        cost_usd=None
        if any(reply.cost_usd is None for reply in useful)
        else math.fsum(cost for cost in costs if cost is not None),
        request_id=last.request_id,
        error="; ".join(f"{r.backend}: {r.error}" for r in told if r.error) or None,
        broke_off=any(reply.broke_off for reply in given),
        replayed=all(reply.replayed for reply in given),
        steps=tuple(given),
    )
