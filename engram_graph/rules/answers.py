"""Reading answers: chosen verdict, the deciding candidate, its zone, fallbacks.

Source: decision_rules §5 and §10.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Literal, TypeVar

from engram_graph.models.decisions import Answer, Question, Reply, RequestLog
from engram_graph.rules.thresholds import DEFAULT, Thresholds
from engram_graph.vocabulary import SUPERSEDING, Verdict

L = TypeVar("L", bound=StrEnum)
Zone = Literal["act", "escalate", "tentative"]
FALLBACK_BACKEND = "fallback"
LLM_ESCALATION = "llm_escalation"
"""Backend of an answer a stronger model gave in place of an unsure one (decision_rules §9)."""


@dataclass(frozen=True, slots=True)
class Decided:
    """The relation of a new fact to what is known: verdict, p, and the candidate that decided.

    ``candidate`` is an index into the answers; None when no candidate had a usable answer.
    """

    verdict: Verdict
    p: float
    candidate: int | None = None


def usable(answer: Answer | None) -> bool:
    """Whether ``answer`` says anything: it was asked for, and it is no fallback."""
    return answer is not None and not answer.fallback


def yes(answer: Answer | None) -> float:
    """Probability of yes of a noul; 0 for a fallback: what nobody said is not so."""
    return answer.p("yes") if answer is not None and not answer.fallback else 0.0


def label(answer: Answer | None, hint: L) -> L:
    """The label a choice chose; ``hint`` when no usable answer came."""
    if answer is None or answer.fallback:
        return hint
    return type(hint)(answer.chosen)


def likeliest(answer: Answer, labels: type[L]) -> L:
    """The likeliest of ``labels``; of ties the first in the vocabulary's order."""
    return max(labels, key=lambda each: answer.p(each))


def chosen_verdict(answer: Answer) -> Verdict:
    """The likeliest verdict; of ties the first in the vocabulary's order."""
    return likeliest(answer, Verdict)


def deciding(answers: Sequence[Answer | None]) -> Decided:
    """The relation that counts among all candidates' answers (decision_rules §5).

    The deciding candidate u* has the largest probability on any label but ``new`` (the first of
    ties; fallbacks are skipped). No candidate at all means new, for certain; candidates of which
    none got a usable answer mean new with nothing behind it.
    """
    best: tuple[float, int, Answer] | None = None
    for index, answer in enumerate(answers):
        if answer is None or answer.fallback:
            continue
        strongest = max(answer.p(verdict) for verdict in Verdict if verdict != Verdict.NEW)
        if best is None or strongest > best[0]:
            best = (strongest, index, answer)
    if best is None:
        return Decided(Verdict.NEW, 0.0 if answers else 1.0)
    _, index, answer = best
    verdict = chosen_verdict(answer)
    return Decided(verdict, answer.p(verdict), index)


def zone(verdict: Verdict, p: float, thresholds: Thresholds = DEFAULT) -> Zone:
    """What a verdict of this strength may do: act, ask a stronger decider, or stay unsure."""
    if p >= thresholds.act:
        return "act"
    if verdict in SUPERSEDING and p < thresholds.escalate_below:
        return "escalate"
    return "tentative"


def merged(replies: Sequence[Reply]) -> Reply:
    """Several requests about one draft as one reply; a later usable answer replaces an earlier."""
    answers: dict[str, Answer] = {}
    for reply in replies:
        answers |= {
            key: answer
            for key, answer in reply.answers.items()
            if not answer.fallback or key not in answers
        }
    return replace(replies[0], answers=answers)


def escalated(reply: Reply) -> Reply:
    """What a stronger model said, as it counts: its label is taken for certain (p = 1)."""
    answers = {
        key: answer
        if answer.fallback
        else Answer(answer.question, {chosen_verdict(answer): 1.0}, LLM_ESCALATION)
        for key, answer in reply.answers.items()
    }
    return replace(reply, answers=answers)


def failed(reply: Reply) -> bool:
    """Whether the whole request gave nothing usable."""
    return all(answer.fallback for answer in reply.answers.values())


def fallback_reply(questions: Iterable[Question], error: str) -> Reply:
    """What stands for a reply when the decider could not answer at all."""
    answers = {q.id: Answer(q.id, {}, FALLBACK_BACKEND, fallback=True) for q in questions}
    return Reply(answers, backend=FALLBACK_BACKEND, model="", error=error)


def request_log(
    reply: Reply, questions: Sequence[Question], request_id: str, sent_at: datetime
) -> RequestLog:
    """The lossless record of one request, from what was asked and what came back."""
    return RequestLog(
        id=request_id,
        backend=reply.backend,
        model=reply.model,
        question_versions={q.name: q.version for q in questions},
        candidates=tuple(
            dict.fromkeys(fact.id for q in questions for fact in (q.about, q.candidate) if fact)
        ),
        answers={
            key: {
                "probabilities": dict(answer.probabilities),
                "backend": answer.backend,
                "fallback": answer.fallback,
            }
            for key, answer in reply.answers.items()
        },
        latency_ms=reply.latency_ms,
        cost_usd=reply.cost_usd,
        request_id=reply.request_id,
        error=reply.error,
        sent_at=sent_at,
    )
