"""The numbers behind a story: each belief change worked out again, each gate with what it saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engram_graph.models.decisions import Answer, Decision
from engram_graph.models.facts import Fact
from engram_graph.models.story import Change, Gate, GateName, Piece
from engram_graph.rules import belief, gates
from engram_graph.rules import questions as ask
from engram_graph.rules.answers import LLM_ESCALATION, chosen_verdict, yes
from engram_graph.rules.method import Method
from engram_graph.vocabulary import SUPERSEDING, Outcome, TemporalStatus, Verdict

Answers = Mapping[str, Answer]
EXACT = 1e-9
"""How far a replayed belief may be from the stored one: what rounding leaves."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A decision on a new and an old fact, and the answers of the write it belongs to.

    Attributes:
        new, old: None when that fact was forgotten.
    """

    decision: Decision
    answers: Answers
    new: Fact | None
    old: Fact | None

    def answer(self, name: str) -> Answer | None:
        """The answer to a question on the pair; None when not asked, or not kept."""
        return self.answers.get(ask.question_id(name, self.decision.candidate_id or ""))


# -- belief -----------------------------------------------------------------------------------


def moved(fact_id: str, d: Decision) -> tuple[float | None, float] | None:
    """Belief of a fact before and after a decision; None when the decision left it alone."""
    if fact_id == d.fact_id and d.belief_after is not None:
        return d.belief_before, d.belief_after
    if fact_id == d.candidate_id and d.candidate_belief_after is not None:
        return d.candidate_belief_before, d.candidate_belief_after
    return None


def change(
    fact_id: str, d: Decision, answers: Answers, tentative: bool, method: Method
) -> Change | None:
    """The change a decision made to a fact's belief, with its arithmetic where it is known.

    Args:
        tentative: the fact was unsure before this decision.
    """
    values = moved(fact_id, d)
    if values is None:
        return None
    before, after = values
    numbers = method.thresholds
    if before is None:
        begun = belief.start(d.chosen == "tentative", d.p, numbers)
        return _checked(Change(fact_id=fact_id, before=None, after=after, replayed=begun))
    pieces = _pieces(fact_id, d, answers, tentative, method)
    if pieces is None:
        return Change(fact_id=fact_id, before=before, after=after)
    delta = sum(piece.log_odds for piece in pieces)
    log_odds = belief.logit(before, numbers) + delta
    edge = belief.logit(1.0, numbers)
    return _checked(
        Change(
            fact_id=fact_id,
            before=before,
            after=after,
            pieces=pieces,
            delta=delta,
            log_odds=log_odds,
            clamped=abs(log_odds) > edge + EXACT,
            replayed=belief.updated(before, delta, numbers),
        )
    )


def replay(changes: Sequence[Change], method: Method) -> float | None:
    """Belief after all changes in their order, clamped at each step.

    A change whose pieces are not known is taken as it was stored.
    """
    now: float | None = None
    for each in changes:
        if each.before is None:
            now = each.replayed
        elif each.delta is None:
            now = each.after
        else:
            now = belief.updated(now, each.delta, method.thresholds)
    return now


def _checked(one: Change) -> Change:
    agrees = one.replayed is not None and abs(one.replayed - one.after) <= EXACT
    return one.model_copy(update={"agrees": agrees})


def _pieces(
    fact_id: str, d: Decision, answers: Answers, tentative: bool, method: Method
) -> tuple[Piece, ...] | None:
    """What was added to l(before), signed; None when nothing says so."""
    numbers = method.thresholds
    if d.question == "settle":
        if not tentative or d.chosen == "tentative":
            return ()
        return (_piece(d.question, d.chosen, d.p, 1, method),)
    if not d.pieces:
        return None
    against = d.chosen in SUPERSEDING and fact_id == d.candidate_id
    sign = -1 if against else 1
    labels = [(d.question, d.chosen)]
    second = answers.get(ask.question_id(ask.SECOND, d.candidate_id or ""))
    usable = second is not None and not second.fallback
    labels += [(ask.SECOND, chosen_verdict(second).value if second and usable else "")]
    return tuple(
        Piece(question=name, label=label, p=p, log_odds=sign * belief.logit(p, numbers))
        for (name, label), p in zip(labels, d.pieces, strict=False)
    )


def _piece(question: str, label: str, p: float, sign: int, method: Method) -> Piece:
    log_odds = sign * belief.logit(p, method.thresholds)
    return Piece(question=question, label=label, p=p, log_odds=log_odds)


# -- gates ------------------------------------------------------------------------------------

_AGAINST: tuple[tuple[GateName, Outcome], ...] = (
    ("strength", Outcome.IGNORED_WEAK),
    ("temporal", Outcome.BLOCKED_TEMPORAL),
    ("structure", Outcome.BLOCKED_STRUCTURE),
    ("role", Outcome.BLOCKED_ROLE),
    ("agreement", Outcome.UNCONFIRMED),
    ("order", Outcome.BLOCKED_ORDER),
    ("interval", Outcome.NEW_INTERVAL),
)
_FOR: tuple[tuple[GateName, Outcome], ...] = (
    ("strength", Outcome.IGNORED_WEAK),
    ("interval", Outcome.NEW_INTERVAL),
    ("role", Outcome.BLOCKED_ROLE),
    ("source", Outcome.SAME_SOURCE),
)
_SPOKEN_OF: frozenset[GateName] = frozenset({"strength", "temporal", "structure", "agreement"})


def gates_of(pair: Pair, method: Method) -> tuple[Gate, ...]:
    """The gates in their order, up to the one that refused; empty for what passes none.

    What decided was the outcome; the numbers say what it saw. Of the last three only a refusal is
    told, and that the dates were in order.
    """
    d = pair.decision
    if d.question != ask.RELATION or d.candidate_id is None or d.outcome == Outcome.FALLBACK:
        return ()
    verdict = Verdict(d.chosen)
    found: list[Gate] = []
    for name, refusal in _AGAINST if verdict in SUPERSEDING else _FOR:
        passed = d.outcome != refusal
        if name in _SPOKEN_OF or not passed or name == "order":
            found.append(_gate(name, passed, pair, verdict, method))
        if not passed:
            break
    return tuple(found)


def _gate(name: GateName, passed: bool, pair: Pair, verdict: Verdict, method: Method) -> Gate:
    if name == "strength":
        return _strength(passed, pair, verdict, method)
    if name == "temporal":
        return _temporal(passed, pair, verdict, method)
    if name == "structure":
        return Gate(name=name, passed=passed, why=_structure(pair, verdict, method))
    if name == "agreement":
        return _agreement(passed, pair, method)
    if name == "order":
        return Gate(name=name, passed=passed, why=_order(passed, pair))
    return Gate(name=name, passed=passed, why=pair.decision.reason)


def _strength(passed: bool, pair: Pair, verdict: Verdict, method: Method) -> Gate:
    numbers = method.thresholds
    answer = pair.answer(ask.RELATION)
    p = gates.strength(answer, verdict, method) if answer else pair.decision.p
    mass = verdict in SUPERSEDING and method.superseding == "mass"
    needed: float | None = numbers.evidence_above
    if not method.belief:
        needed = numbers.act
    elif method.evidence == "all":
        needed = None
    why = "update, contradiction and negates together" if mass else f"{verdict} is the likeliest"
    return Gate(name="strength", passed=passed, value=p, needed=needed, why=why)


def _temporal(passed: bool, pair: Pair, verdict: Verdict, method: Method) -> Gate:
    answer = pair.answers.get(ask.TEMPORAL)
    needed = method.thresholds.act
    if answer is None or answer.fallback:
        why = "no usable answer" if answer else "the answer is no longer kept"
        return Gate(name="temporal", passed=passed, needed=needed, why=why)
    current, past = answer.p(TemporalStatus.CURRENT), answer.p(TemporalStatus.PAST)
    if method.temporal_gate == "current":
        return Gate(
            name="temporal", passed=passed, value=current, needed=needed, why="current alone"
        )
    why = f"current {current:.2f} + past {past:.2f}"
    if not passed and verdict == Verdict.CONTRADICTION and current + past >= needed:
        why += ", and what is past contradicts nothing"
    value = round(current + past, 9)
    return Gate(name="temporal", passed=passed, value=value, needed=needed, why=why)


def _structure(pair: Pair, verdict: Verdict, method: Method) -> str:
    """Why there can be only one of the two, or why there can be both."""
    if not method.structure:
        return "not part of this method"
    if verdict == Verdict.NEGATES:
        return "a denial names what it ends"
    if pair.new is None or pair.old is None:
        return "one of the two facts was forgotten"
    old, same = pair.old.predicate, pair.answer(ask.SAME_ATTRIBUTE)
    single, sibling = gates.one_valued(old), gates.is_sibling(pair.new, pair.old)
    parts = [f"{old} has {'one value' if single else 'many values'} at a time"]
    if not single or verdict == Verdict.CONTRADICTION:
        not_ = "" if sibling else "not "
        parts.append(f"the two are {not_}values of one relation of one subject")
    if same is not None and not same.fallback and verdict in method.same_attribute:
        parts.append(f"same attribute {yes(same):.2f}, which decides from {method.thresholds.act}")
    return "; ".join(parts)


def _agreement(passed: bool, pair: Pair, method: Method) -> Gate:
    if not method.agreement:
        return Gate(name="agreement", passed=passed, why="not part of this method")
    needed = method.thresholds.act
    second = pair.answer(ask.SECOND)
    if second is not None and not second.fallback:
        verdict = chosen_verdict(second)
        p = gates.strength(second, verdict, method)
        why = f"the second phrasing says {verdict} {second.p(verdict):.2f}"
        return Gate(name="agreement", passed=passed, value=p, needed=needed, why=why)
    first = pair.answer(ask.RELATION)
    if not passed:
        return Gate(name="agreement", passed=False, needed=needed, why=pair.decision.reason)
    if first is None or len(pair.decision.pieces) > 1:
        why = "the answer is no longer kept"
    elif first.backend == LLM_ESCALATION:
        why = "not asked: a stronger model had answered"
    else:
        why = "not asked: evidence had counted against it before"
    return Gate(name="agreement", passed=True, why=why)


def _order(passed: bool, pair: Pair) -> str:
    if pair.new is None or pair.old is None:
        return "in order" if passed else pair.decision.reason
    new, old = f"{pair.new.valid_from:%Y-%m-%d}", f"{pair.old.valid_from:%Y-%m-%d}"
    begins = f"the new fact begins {new}, the old one {old}"
    return begins if passed else f"{begins}: the older statement ends nothing newer"
