"""The story of one fact: what the log holds, put in order and explained, step by step. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from engram_graph.models.decisions import Answer, Decision
from engram_graph.models.facts import Fact, Link
from engram_graph.models.feedback import Feedback
from engram_graph.models.results import Explanation
from engram_graph.models.story import (
    Asked,
    Change,
    Decided,
    Ended,
    Labelled,
    Linked,
    Now,
    Questions,
    Step,
    Told,
)
from engram_graph.rules import questions as ask
from engram_graph.rules.method import DEFAULT, Method
from engram_graph.rules.story_numbers import EXACT, Answers, Pair, change, gates_of, moved, replay
from engram_graph.rules.story_words import led_to, told_in_words
from engram_graph.vocabulary import SUPERSEDING, Outcome

_ENDS = frozenset({Outcome.CLOSED, Outcome.REOPENED, Outcome.CORRECTED})
_STARTS = frozenset({"belief_start", "settle"})
_FROM_ANSWERS = frozenset({ask.RELATION, ask.PLAN_FULFILLED, "dispute", "settle"})
_TOLD, _ASKED, _DECIDED, _LINKED, _LABELLED = range(5)


def story(behind: Explanation, method: Method = DEFAULT) -> tuple[Step, ...]:
    """All that ``behind`` holds, as steps in the order the memory took them.

    Args:
        method: its numbers stand beside the answers; what was decided is what the log says.
    """
    return _Teller(behind, method).tell()


class _Teller:
    """One story while it is put together."""

    def __init__(self, behind: Explanation, method: Method) -> None:
        self._behind = behind
        self._fact = behind.fact
        self._method = method
        self._known = {f.id: f for f in (*behind.others, *behind.older, *behind.newer, self._fact)}
        self._answers: dict[tuple[str, datetime], dict[str, Answer]] = {}
        for request in behind.requests:
            answers = self._answers.setdefault((request["fact_id"], request["sent_at"]), {})
            for key, answer in _answers_of(request).items():
                if not answer.fallback or key not in answers:
                    answers[key] = answer
        self._changes: list[Change] = []
        self._tentative = False

    def tell(self) -> tuple[Step, ...]:
        """Every step, worded."""
        steps: list[tuple[datetime, int, Step]] = []
        steps += [(step.at, _TOLD, step) for step in self._tellings()]
        asked = map(self._questions, self._behind.requests)
        # A later fact's second request may hold nothing that bears on this one.
        steps += [(step.at, _ASKED, step) for step in asked if step.questions or step.error]
        for decision in self._behind.decisions:
            if decision.question == ask.SAME_FACT and decision.outcome == Outcome.KEPT:
                continue  # compared with every fact of its group, and nothing came of it
            steps += [(step.at, _DECIDED, step) for step in self._decision(decision)]
        steps += [(step.at, _LINKED, step) for step in map(self._link, self._behind.links)]
        steps += [(step.at, _LABELLED, step) for step in map(self._label, self._behind.feedback)]
        steps.sort(key=lambda each: each[:2])
        told = [step for _, _, step in steps]
        last = max((step.at for step in told), default=self._fact.recorded_at)
        return tuple(
            step.model_copy(update={"lines": told_in_words(step, self._method.thresholds)})
            for step in (*told, self._now(last))
        )

    def _tellings(self) -> Iterable[Told]:
        fact = self._fact
        for number, message in enumerate(
            sorted(self._behind.messages, key=lambda each: each.recorded_at)
        ):
            quoted = number == 0 and fact.source_quote
            yield Told(
                at=message.recorded_at,
                message_id=message.id,
                speaker=message.speaker,
                role=message.role,
                said_at=message.said_at,
                quote=fact.source_quote if quoted and fact.source_quote else message.text,
                extractor=fact.extractor,
                first=number == 0,
            )

    # -- questions -------------------------------------------------------------------------------

    def _questions(self, request: dict[str, Any]) -> Questions:
        of, at = str(request["fact_id"]), request["sent_at"]
        mine = of == self._fact.id
        asked = []
        for key, answer in _answers_of(request).items():
            name, _, about = key.partition(":")
            if mine or about == self._fact.id or (not about and self._bears(name, of, at)):
                asked.append(self._asked(request, name, about or None, answer))
        return Questions(
            at=at,
            id=request["id"],
            of=of,
            of_text=None if mine else self._text(of),
            backend=request["backend"],
            model=request["model"],
            reference=request.get("request_id"),
            latency_ms=request.get("latency_ms") or 0.0,
            cost_usd=request.get("cost_usd"),
            error=request.get("error"),
            questions=tuple(asked),
        )

    def _bears(self, name: str, of: str, at: datetime) -> bool:
        """Whether a question about a later fact itself bears on this one: its place in time does,
        when it speaks against this one."""
        return name == ask.TEMPORAL and any(
            d.fact_id == of and d.decided_at == at and d.chosen in SUPERSEDING
            for d in self._behind.decisions
        )

    def _asked(self, request: dict[str, Any], name: str, about: str | None, a: Answer) -> Asked:
        offered = ask.question(name).options if name in ask.NAMES else ()
        options = offered or tuple(a.probabilities)
        chosen = a.chosen
        return Asked(
            question=name,
            version=request["question_versions"].get(name, 1),
            about=about,
            about_text=self._text(about) if about else None,
            options=options,
            probabilities={o: a.probabilities[o] for o in options if o in a.probabilities},
            chosen=chosen,
            p=a.p(chosen),
            backend=a.backend,
            fallback=a.fallback,
            led_to=led_to(name, a, self._outcome(name, about, request), self._method),
        )

    def _outcome(self, name: str, about: str | None, request: dict[str, Any]) -> str:
        """What the decision on a question, or on its pair, came to; empty when there is none."""
        question = ask.RELATION if name in (ask.SECOND, ask.SAME_ATTRIBUTE) else name
        return next(
            (
                d.outcome
                for d in self._behind.decisions
                if (d.question, d.fact_id, d.candidate_id, d.decided_at)
                == (question, request["fact_id"], about, request["sent_at"])
            ),
            "",
        )

    # -- decisions -------------------------------------------------------------------------------

    def _decision(self, d: Decision) -> Iterable[Decided | Ended]:
        ends = d.outcome in _ENDS
        if not ends or moved(self._fact.id, d) is not None:
            yield self._judged(d)
        if ends or d.valid_until_before != d.valid_until_after:
            yield self._end(d)

    def _judged(self, d: Decision) -> Decided:
        mine = d.fact_id == self._fact.id
        other = d.candidate_id if mine else d.fact_id
        answers = self._answers.get((d.fact_id or "", d.decided_at), {})
        pair = Pair(d, answers, self._of(d.fact_id), self._of(d.candidate_id))
        own = change(self._fact.id, d, answers, self._tentative, self._method)
        if own is not None:
            self._changes.append(own)
        if d.question in _STARTS and mine:
            self._tentative = d.chosen == "tentative"
        return Decided(
            at=d.decided_at,
            id=d.id,
            question=d.question,
            outcome=d.outcome,
            chosen=d.chosen,
            p=d.p,
            backend=d.backend,
            reason=d.reason,
            other=other,
            other_text=self._text(other),
            newer=mine,
            gates=gates_of(pair, self._method),
            change=own,
            other_change=self._others_change(other, d, answers),
            kept=self._kept(d, answers),
        )

    def _others_change(self, other: str | None, d: Decision, answers: Answers) -> Change | None:
        if other is None or moved(other, d) is None:
            return None
        return change(other, d, answers, False, self._method)

    def _kept(self, d: Decision, answers: Answers) -> bool:
        rests = d.question in _FROM_ANSWERS or (
            d.question == "belief_start" and "worth" in d.reason
        )
        return bool(answers) or not rests

    def _end(self, d: Decision) -> Ended:
        own = d.fact_id == self._fact.id
        return Ended(
            at=d.decided_at,
            id=d.id,
            outcome=d.outcome,
            of=d.fact_id or "",
            of_text=None if own else self._text(d.fact_id),
            own=own,
            by=d.candidate_id,
            by_text=self._text(d.candidate_id) if own else None,
            valid_until_before=d.valid_until_before,
            valid_until_after=d.valid_until_after,
            reason_before=d.reason_before,
            reason_after=d.reason_after,
            why=d.reason,
        )

    # -- links, and the end of the story ---------------------------------------------------------

    def _link(self, link: Link) -> Linked:
        source = link.source == self._fact.id
        other = link.target if source else link.source
        return Linked(
            at=link.decided_at or self._fact.recorded_at,
            type=link.type,
            other=other,
            other_text=self._text(other),
            source=source,
            p=link.p,
        )

    def _label(self, label: Feedback) -> Labelled:
        decision = next((d for d in self._behind.decisions if d.id == label.decision_id), None)
        return Labelled(
            at=label.given_at,
            id=label.id,
            verdict=label.verdict,
            why=label.why or "",
            given_by=label.given_by or "",
            decision=label.decision_id,
            question=decision.question if decision else "",
            chosen=decision.chosen if decision else "",
            open=label.open,
        )

    def _now(self, at: datetime) -> Now:
        fact, replayed = self._fact, replay(self._changes, self._method)
        marks = [
            name
            for name in ("negated", "tentative", "disputed", "unsettled")
            if getattr(fact, name)
        ]
        if fact.temporal_status != "current":
            marks.append(fact.temporal_status.value)
        if fact.archived_at is not None:
            marks.append(f"archived since {fact.archived_at:%Y-%m-%d}")
        chain: Sequence[Fact] = (*reversed(self._behind.older), fact, *self._behind.newer)
        return Now(
            at=at,
            belief=fact.belief,
            replayed=replayed,
            agrees=None if replayed is None else abs(replayed - fact.belief) <= EXACT,
            valid_from=fact.valid_from,
            valid_until=fact.valid_until,
            state=tuple(marks),
            chain=tuple(each.text for each in chain) if len(chain) > 1 else (),
        )

    def _of(self, fact_id: str | None) -> Fact | None:
        return self._known.get(fact_id or "")

    def _text(self, fact_id: str | None) -> str | None:
        found = self._of(fact_id)
        return found.text if found else None


def _answers_of(request: dict[str, Any]) -> dict[str, Answer]:
    return {
        key: Answer(key, kept["probabilities"], kept["backend"], kept["fallback"])
        for key, kept in request["answers"].items()
    }


def needed_facts(
    fact_id: str,
    decisions: Iterable[Decision],
    requests: Iterable[dict[str, Any]],
    links: Iterable[Link],
) -> tuple[str, ...]:
    """Ids of the other facts that the story of ``fact_id`` speaks of."""
    wanted = [each for d in decisions for each in (d.fact_id, d.candidate_id) if each]
    for request in requests:
        if request["fact_id"] == fact_id:
            wanted += request["candidates"]
    wanted += [each for link in links for each in (link.source, link.target)]
    return tuple(dict.fromkeys(each for each in wanted if each != fact_id))
