"""A story's steps in plain words: two decimals in sentences, four where it is arithmetic. Pure."""

from __future__ import annotations

from datetime import datetime

from engram_graph.models.decisions import Answer
from engram_graph.models.story import (
    Asked,
    Change,
    Decided,
    Ended,
    Gate,
    GateName,
    Labelled,
    Linked,
    Now,
    Piece,
    Questions,
    Step,
    Told,
)
from engram_graph.rules import questions as ask
from engram_graph.rules.method import Method
from engram_graph.rules.render import day, one_line
from engram_graph.rules.thresholds import Thresholds
from engram_graph.vocabulary import SUPERSEDING, Outcome, Verdict

_LONG = 160  # characters of a text inside a sentence
_GONE = "a fact that was forgotten"
_AS = {
    Verdict.DUPLICATE.value: "a duplicate",
    Verdict.UPDATE.value: "an update",
    Verdict.CONTRADICTION.value: "a contradiction",
    Verdict.REFINEMENT.value: "a refinement",
    Verdict.NEGATES.value: "a denial",
}
_REFUSED: dict[str, str] = {
    Outcome.IGNORED_WEAK: "the answer is too weak",
    Outcome.BLOCKED_TEMPORAL: "the temporal gate",
    Outcome.BLOCKED_STRUCTURE: "the structure gate",
    Outcome.UNCONFIRMED: "the second phrasing does not agree",
    Outcome.BLOCKED_ORDER: "the order of dates",
    Outcome.NEW_INTERVAL: "the two are about different times",
    Outcome.SAME_SOURCE: "the same speaker has said so before",
    Outcome.BLOCKED_ROLE: "an assistant said it",
}
_BECAUSE = {
    "belief": "its belief fell below {:.2f}",
    "superseded": "a newer value was known",
    "fulfilled": "the plan came true",
    "corrected": "corrected by hand",
    "stated": "its end was stated with it",
}
_GATES: dict[GateName, str] = {
    "strength": "strength",
    "temporal": "time",
    "structure": "structure",
    "agreement": "second phrasing",
    "role": "speaker",
    "order": "order of dates",
    "interval": "interval",
    "source": "source",
}
_MADE = {"caller": "given by the caller", "import": "imported undecided"}
_LINKS = {
    "SAME_AS": ("Says the same as {}", "{} says the same"),
    "REFINES": ("Refines {}", "{} refines it"),
    "CONTRADICTS": ("Contradicts {}", "{} contradicts it"),
    "SUPERSEDES": ("Supersedes {}", "{} supersedes it"),
}


def told_in_words(step: Step, numbers: Thresholds) -> tuple[str, ...]:
    """A step as lines for a person."""
    if isinstance(step, Told):
        return _told(step)
    if isinstance(step, Questions):
        return _questions(step)
    if isinstance(step, Decided):
        return tuple(_decided(step, numbers))
    if isinstance(step, Ended):
        return _ended(step, numbers)
    if isinstance(step, Linked):
        forms = _LINKS[step.type]
        p = "" if step.p is None else f" ({step.p:.2f})"
        return (_sentence(forms[not step.source].format(_quoted(step.other_text)) + p),)
    if isinstance(step, Labelled):
        return (_sentence(_label(step)),)
    return tuple(_now(step))


def led_to(name: str, answer: Answer, outcome: str, method: Method) -> str:
    """What one answer did; empty where it only describes the fact."""
    act = method.thresholds.act
    if answer.fallback:
        return "no usable answer"
    if name in (ask.RELATION, ask.PLAN_FULFILLED) and outcome:
        refusal = _REFUSED.get(outcome)
        return f"refused: {refusal}" if refusal else "counted"
    if name == ask.RELATION:
        return "no evidence"
    if name == ask.SECOND:
        return "not confirmed" if outcome == Outcome.UNCONFIRMED else "confirmed"
    if name == ask.PLAN_FULFILLED:
        return f"below {act:.2f}: still a plan"
    if name == ask.WORTH:
        sure = answer.p("yes") >= act
        return "worth keeping" if sure else f"below {act:.2f}: stored unsure"
    if name == ask.EDGE_TYPE:
        sure = answer.p(answer.chosen) >= act
        return "" if sure else f"below {act:.2f}: the relation stays as it was read"
    return ""


# -- where it came from, and what was asked -------------------------------------------------------


def _told(step: Told) -> tuple[str, ...]:
    speaker = _cut(step.speaker) + (" (an assistant)" if step.role == "assistant" else "")
    verb = "Said" if step.first else "Said again"
    made = _MADE.get(step.extractor, f"read by {_cut(step.extractor)}")
    origin = f" ({made})" if step.first else ""
    return (f"{verb} by {speaker} on {_moment(step.said_at)}: {_quoted(step.quote)}{origin}",)


def _questions(step: Questions) -> tuple[str, ...]:
    who = " ".join(_cut(part) for part in (step.backend, step.model) if part)
    if step.error:
        return (f"{who} was asked and gave no answer: {_cut(step.error)}.",)
    count = len(step.questions)
    about = "" if step.of_text is None else f" about {_quoted(step.of_text)}"
    cost = "cost unknown" if step.cost_usd is None else f"{step.cost_usd:.6f} USD"
    cost = "no cost" if step.cost_usd == 0 else cost
    head = (
        f"{who} was asked {count} question{'s' * (count != 1)}{about} "
        f"({step.latency_ms:.1f} ms, {cost}, request {step.reference or step.id}):"
    )
    lines = [f"  {_answer(each)}" for each in step.questions if each.about is None]
    for about_id in dict.fromkeys(each.about for each in step.questions if each.about):
        pair = [each for each in step.questions if each.about == about_id]
        if step.of_text is None:
            lines.append(f"  compared with {_quoted(pair[0].about_text)}:")
        lines += [f"  {'  ' * (step.of_text is None)}{_answer(each)}" for each in pair]
    return (head, *lines)


def _answer(asked: Asked) -> str:
    if asked.fallback:
        said = "no usable answer"
    elif set(asked.probabilities) <= {"yes", "no"}:
        said = f"yes {asked.probabilities.get('yes', 0.0):.2f}"
    else:
        ranked = sorted(asked.probabilities.items(), key=lambda each: -each[1])
        said = ", ".join(f"{option} {p:.2f}" for option, p in ranked if p >= 0.005)
    effect = f" → {asked.led_to}" if asked.led_to and not asked.fallback else ""
    return f"{asked.question} v{asked.version}: {said}{effect}"


# -- what was decided -----------------------------------------------------------------------------


def _decided(step: Decided, numbers: Thresholds) -> list[str]:
    lines = [_sentence(_headline(step))]
    lines += [f"  {_gate(gate)}" for gate in step.gates]
    if not step.kept:
        lines.append("  the answers are no longer kept")
    if step.change is not None:
        lines += [f"  {line}" for line in _change(step.change, numbers)]
    if step.other_change is not None and step.other_change.before is not None:
        before, after = step.other_change.before, step.other_change.after
        lines.append(f"  belief of {_quoted(step.other_text)}: {before:.2f} → {after:.2f}")
    return lines


def _headline(step: Decided) -> str:
    because = f": {_cut(step.reason)}" if step.reason else ""
    if step.outcome == Outcome.FALLBACK and step.question not in ("belief_start", "settle"):
        pair = f" about {_quoted(step.other_text)}" if step.other else ""
        return f"No usable answer to {_cut(step.question)}{pair}{because}"
    if step.question == "belief_start":
        unsure = step.chosen == "tentative"
        return f"Stored{', tentative' if unsure else ''}{because}"
    if step.question == "settle":
        settled = step.outcome == Outcome.APPLIED
        return f"Asked again{'' if settled else ', and some answers are still missing'}{because}"
    if step.question == ask.WORTH and step.outcome == Outcome.STORED:
        return f"Worth remembering, without a question{because}"
    if step.question == "repetition":
        return _repetition(step)
    if step.question in (ask.RELATION, "dispute") and step.other:
        return _pair(step)
    if step.question == ask.PLAN_FULFILLED:
        told, plan = (step.other_text, None) if not step.newer else (None, step.other_text)
        refusal = _REFUSED.get(step.outcome)
        came = f"{_quoted(told, 'This')} says that {_quoted(plan, 'the plan')} came true"
        return f"{came} ({step.p:.2f})" + (f", and nothing was ended: {refusal}" if refusal else "")
    if "forgotten" in (step.question, step.outcome):
        return "What moved it is forgotten, what came of that stays"
    other = f", with {_quoted(step.other_text)}" if step.other else ""
    return f"{_cut(step.question).replace('_', ' ')}: {step.outcome}{other}{because}"


def _repetition(step: Decided) -> str:
    refusal = _REFUSED.get(step.outcome)
    said = "Repeated word for word"
    return f"{said}: one more source, no evidence: {refusal}" if refusal else f"{said}: support"


def _pair(step: Decided) -> str:
    other = _quoted(step.other_text)
    if step.outcome == Outcome.DISPUTED:
        return f"Disputed: it and {other} contradict each other, and neither is closed"
    kind = _AS.get(step.chosen, _cut(step.chosen))
    who, of = ("It", other) if step.newer else (other, "it")
    refusal = _REFUSED.get(step.outcome)
    if refusal:
        return f"{who} looks like {kind} of {of} ({step.p:.2f}), and changes nothing: {refusal}"
    effect = "speaks against it" if step.chosen in SUPERSEDING else "supports it"
    return f"{who} is taken as {kind} of {of} ({step.p:.2f}): {effect}"


def _gate(gate: Gate) -> str:
    parts = [_cut(gate.why)] if gate.why else []
    if gate.value is not None and gate.needed is not None:
        strict = "more than " if gate.name == "strength" and gate.needed <= 0.5 else ""
        parts.insert(0, f"{gate.value:.2f}, needs {strict}{gate.needed:.2f}")
    return f"{'passed' if gate.passed else 'refused'}: {_GATES[gate.name]}: {'; '.join(parts)}"


def _change(change: Change, numbers: Thresholds) -> list[str]:
    after = change.after
    if change.before is None:
        return [f"belief starts at {after:.4f}{_differs(change)}"]
    head = f"belief {change.before:.2f} → {after:.2f}"
    if change.delta is None and change.before == after:
        return [f"belief stays at {after:.4f}"]
    if change.delta is None or change.log_odds is None or change.replayed is None:
        return [f"{head} (the answers that moved it are not kept)"]
    if not change.pieces:
        return [f"{head}: nothing is added"]
    signs = ["−" if piece.log_odds < 0 else "+" for piece in change.pieces]
    terms = " ".join(
        f"{s} {abs(p.log_odds):.4f}" for s, p in zip(signs, change.pieces, strict=True)
    )
    answers = " ".join(
        f"{'+' if _adds(piece) else '−'} l({piece.p:.4f})" for piece in change.pieces
    )
    clamped = (
        f", kept within [{numbers.belief_floor:.2f}, {numbers.belief_ceiling:.2f}]"
        if change.clamped
        else ""
    )
    start = _signed(change.log_odds - change.delta)
    lines = [
        f"{head}: l({change.before:.4f}) {answers} = {start} {terms} = {_signed(change.log_odds)}",
        f"  σ({_signed(change.log_odds)}){clamped} = {change.replayed:.4f}{_differs(change)}",
    ]
    if any(not numbers.belief_floor <= p.p <= numbers.belief_ceiling for p in change.pieces):
        lines.append(f"  (an answer counts as {numbers.belief_ceiling:.2f} at most)")
    return lines


def _adds(piece: Piece) -> bool:
    """Whether l(p) was added, rather than subtracted."""
    return (piece.p >= 0.5) == (piece.log_odds >= 0)


def _differs(change: Change) -> str:
    return "" if change.agrees in (None, True) else f", but {change.after:.4f} is stored"


# -- how it ended, and how it stands --------------------------------------------------------------


def _ended(step: Ended, numbers: Thresholds) -> tuple[str, ...]:
    who = "It" if step.own else _quoted(step.of_text)
    by = (
        f", by {_quoted(step.by_text)}" if step.own and step.by else ("" if step.own else ", by it")
    )
    why = f" ({_cut(step.why)})" if step.why else ""
    known = f"known since {step.at:%Y-%m-%d %H:%M:%S}Z"
    was = _moment(step.valid_until_before) if step.valid_until_before else ""
    if step.valid_until_after is None:
        above = f"its belief rose above {numbers.reopen_above:.2f}"
        return (_sentence(f"{who} is open again{by}: {above}; it had ended {was}; {known}{why}"),)
    until = _moment(step.valid_until_after)
    reason = step.reason_after or ""
    because = _BECAUSE.get(reason, reason).format(numbers.close_below)
    instead = f" instead of {was}" if was else ""
    return (_sentence(f"{who} ends {until}{instead}{by}: {because}; {known}{why}"),)


def _label(step: Labelled) -> str:
    if step.decision is None:
        what = "The fact, then open," if step.open else "The fact, then ended,"
    else:
        said = ": ".join(
            _cut(part).replace("_", " ") for part in (step.question, step.chosen) if part
        )
        what = f"The decision “{said}”"
    by = f" by {_cut(step.given_by)}" if step.given_by else ""
    why = f": {_cut(step.why)}" if step.why else ""
    return f"{what} was called {step.verdict}{by}{why}"


def _now(step: Now) -> list[str]:
    until = "open" if step.valid_until is None else f"until {_moment(step.valid_until)}"
    marks = f", {', '.join(step.state)}" if step.state else ""
    lines = [f"True from {_moment(step.valid_from)}, {until}{marks}."]
    if step.replayed is None:
        lines.append(f"Belief {step.belief:.4f}; nothing says how it began.")
    elif step.agrees:
        lines.append(f"Belief {step.belief:.4f}; its changes replayed in order give the same.")
    else:
        lines.append(
            f"Belief {step.belief:.4f}, but its changes replayed give {step.replayed:.4f}."
        )
    if step.chain:
        lines.append("Chain: " + " → ".join(_cut(text) for text in step.chain))
    return lines


# -- small parts ----------------------------------------------------------------------------------


def _signed(value: float) -> str:
    shown = round(value, 4)
    return f"{'−' if shown < 0 else ''}{abs(shown):.4f}"


def _moment(value: datetime) -> str:
    midnight = (value.hour, value.minute, value.second) == (0, 0, 0)
    return day(value) if midnight else f"{value:%Y-%m-%d %H:%M}Z"


def _quoted(text: str | None, otherwise: str = _GONE) -> str:
    return otherwise if text is None else f"“{_cut(text)}”"


def _cut(text: str) -> str:
    line = one_line(text[: 2 * _LONG])
    return line if len(line) <= _LONG else line[:_LONG].rstrip() + "…"


def _sentence(text: str) -> str:
    return f"{text}."
