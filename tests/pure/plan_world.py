"""A memory in a dictionary: applies plans as the graph would, and checks the invariants each time.

Deciders are scripted as ``{question: rules}``; a rule is one answer, or a list of
``(words of the new fact, words of the candidate, answer)`` of which the first match wins, or a
function of draft and question.
"""

from __future__ import annotations

import asyncio
import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

from engram_graph.models.decisions import Answer, Ask, Question, Reply, Round
from engram_graph.models.facts import Draft, Fact, Link, Message
from engram_graph.models.plans import WritePlan
from engram_graph.rules import questions as ask
from engram_graph.rules.answers import merged
from engram_graph.rules.method import PRESETS
from engram_graph.rules.names import entity_key, resolve_person
from engram_graph.rules.plan import (
    Candidate,
    Situation,
    escalated,
    escalation_questions,
    first_questions,
    make_plan,
    repeat_plan,
    repetition,
    second_questions,
)
from engram_graph.vocabulary import ClosedReason, MessageStatus, Outcome, Role

DEFAULTS: dict[str, Any] = {
    ask.WORTH: 0.97,
    ask.KIND: {"bio": 0.97, "event": 0.03},
    ask.TEMPORAL: {"current": 0.97, "past": 0.03},
    ask.DURABILITY: {"long_term": 1.0},
    ask.SENSITIVITY: {"none": 1.0},
    ask.RELATION: {"new": 0.97, "refinement": 0.03},
    ask.SAME_ATTRIBUTE: 0.05,
    ask.PLAN_FULFILLED: 0.05,
}
AWAY = "away"
NOW = datetime(2026, 9, 21, tzinfo=UTC)


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def answer(question: Question, p: Any) -> Answer:
    """A scripted answer; ``AWAY`` for one that cannot be used."""
    if p == AWAY:
        return Answer(question.id, {}, "fallback", fallback=True)
    if question.type == "noul":
        return Answer(question.id, {"yes": p, "no": 1 - p}, "jev")
    return Answer(question.id, {o: p.get(o, 0.0) for o in question.options}, "jev")


class World:
    """Facts, links and judgements of one namespace."""

    def __init__(self, decider: Any = None, preset: str = "s2_v3") -> None:
        self.decider = decider
        self.method = PRESETS[preset]
        self.escalation: dict[str, Any] | None = None
        self.script: dict[str, Any] = {}
        self.facts: dict[str, Fact] = {}
        self.speakers: dict[str, list[str]] = {}
        self.links: list[Link] = []
        self.judgements: list[Any] = []
        self.asked: list[str] = []
        self.plans: list[WritePlan] = []
        self.situations: list[Situation] = []
        self._ids = itertools.count(1)
        self._now = itertools.count(1)

    # -- writing ---------------------------------------------------------------------------------

    def new_id(self) -> str:
        return f"id{next(self._ids):06d}"

    def remember(self, triple: str, at: str, text: str = "", **more: Any) -> str:
        """Write ``subject|predicate|object``; returns the id of the fact stored or repeated."""
        subject, predicate, obj = triple.split("|")
        said_at = day(at)
        message = Message(
            id=self.new_id(),
            namespace="n",
            conversation="c",
            speaker=more.get("speaker", "user"),
            role=Role(more.get("role", "user")),
            text=text,
            said_at=said_at,
            recorded_at=said_at,
            source_id=self.new_id(),
            status=MessageStatus.PENDING,
        )
        draft = Draft(
            subject=resolve_person(subject, message.speaker, message.role),
            predicate=predicate,
            object=obj,
            text=text or f"{subject} {predicate.replace('_', ' ')} {obj}",
            **more.get("draft", {}),
        )
        return self._write(
            self.situation(
                draft,
                message,
                day(more["valid_from"]) if "valid_from" in more else said_at,
                valid_from_stated="valid_from" in more,
                valid_until=day(more["valid_until"]) if "valid_until" in more else None,
                caller_relation=more.get("caller_relation", True),
            )
        )

    def situation(self, draft: Draft, message: Message, start: datetime, **more: Any) -> Situation:
        """What the flow would read before a plan is made."""
        more = {"valid_from_stated": False, "valid_until": None, "caller_relation": True} | more
        subject_key = entity_key(draft.subject)
        return Situation(
            namespace="n",
            message=message,
            draft=draft,
            valid_from=start,
            fact_id=more.pop("fact_id", None) or self.new_id(),
            extractor="caller" if more["caller_relation"] else "llm:x",
            subject_version=sum(f.subject_key == subject_key for f in self.facts.values()),
            candidates=tuple(self._candidates(draft)),
            decided_at=NOW + timedelta(seconds=next(self._now)),
            method=self.method,
            **more,
        )

    def settle(self, fact_id: str, at: str) -> None:
        """Ask again about a fact that was stored while the decider was away."""
        stored = self.facts[fact_id]
        draft = Draft(
            subject=stored.subject,
            predicate=stored.predicate,
            object=stored.object,
            text=stored.text,
        )
        said_at = day(at)
        message = Message(
            id=self.new_id(), namespace="n", conversation="c", speaker=self.speakers[fact_id][0],
            role=Role.USER, text="", said_at=said_at, recorded_at=said_at, source_id=self.new_id(),
        )  # fmt: skip
        counted = frozenset(
            j.candidate_id
            for j in self.judgements
            if j.fact_id == fact_id and j.candidate_id and j.outcome == Outcome.APPLIED
        )
        s = self.situation(
            draft, message, stored.valid_from, fact_id=fact_id, stored=stored, counted=counted
        )
        self._decide(s)

    def _candidates(self, draft: Draft) -> list[Candidate]:
        found = []
        for fact in self.facts.values():
            valid = fact.valid_until is None or fact.valid_until > NOW
            near = valid or fact.closed_reason == ClosedReason.BELIEF
            twin = (
                fact.subject_key == entity_key(draft.subject)
                and fact.predicate == draft.predicate
                and fact.object_key == entity_key(draft.object)
            )
            how = frozenset({"near"} if near else ()) | frozenset({"twin"} if twin else ())
            sibling = fact.subject_key == entity_key(draft.subject)
            if sibling and fact.predicate == draft.predicate:
                how |= {"related"} if fact.closed_reason != ClosedReason.CORRECTED else frozenset()
            if how:
                found.append(self.candidate(fact.id, how))
        return found

    def candidate(self, fact_id: str, how: frozenset[str] = frozenset({"near"})) -> Candidate:
        return Candidate(
            self.facts[fact_id],
            frozenset(self.speakers[fact_id]),
            how,
            tuple(
                link.source
                for link in self.links
                if link.type == "SUPERSEDES" and link.target == fact_id
            ),
        )

    def _write(self, s: Situation) -> str:
        self.situations.append(s)
        if found := repetition(s):
            self.apply(repeat_plan(s, found, self.new_id), s.message.speaker)
            return found.fact.id
        return self._decide(s)

    def _decide(self, s: Situation) -> str:
        questions = first_questions(s)
        rounds = [Round(questions, self.reply(s, questions))]
        unsure = escalation_questions(s, rounds[0].reply) if self.escalation else ()
        if unsure:
            rounds.append(Round(unsure, escalated(self.reply(s, unsure, self.escalation))))
        more = second_questions(s, merged([each.reply for each in rounds]))
        if more:
            rounds.append(Round(more, self.reply(s, more)))
        self.apply(make_plan(s, rounds, self.new_id), s.message.speaker)
        return s.fact_id

    def reply(
        self, s: Situation, questions: tuple[Question, ...], script: dict[str, Any] | None = None
    ) -> Reply:
        """What the decider says, or a stronger one with a ``script`` of its own."""
        self.asked += [q.name for q in questions]
        if self.decider is not None:
            asking = Ask(
                s.draft, s.valid_from, s.message.speaker, s.message.role, s.message.text, questions
            )
            reply: Reply = asyncio.run(self.decider.ask(asking))
            return reply
        script = self.script if script is None else script
        answers = {q.id: answer(q, self._scripted(s.draft, q, script)) for q in questions}
        return Reply(answers, "jev", "m")

    def _scripted(self, draft: Draft, question: Question, script: dict[str, Any]) -> Any:
        name = question.name
        if name == ask.SECOND and name not in script:
            name = ask.RELATION
        rules = script.get(name)
        if callable(rules):
            return rules(draft, question)
        if rules is None and name == ask.EDGE_TYPE:
            return {draft.predicate: 0.97, "related_to": 0.03}
        if not isinstance(rules, list):
            return DEFAULTS[name] if rules is None else rules
        old = question.candidate.text if question.candidate else ""
        for new_words, old_words, p in rules:
            if new_words in draft.text and old_words in old:
                return p
        return DEFAULTS[name]

    # -- applying --------------------------------------------------------------------------------

    def apply(self, plan: WritePlan, speaker: str) -> None:
        """Carry a plan out, then prove the invariants."""
        self.plans.append(plan)
        if plan.fact is not None:
            if plan.settles is None:
                assert plan.fact.id not in self.facts
                self.speakers[plan.fact.id] = [speaker]
            else:
                assert self.facts[plan.fact.id].version == plan.settles
            self.facts[plan.fact.id] = plan.fact
        for change in plan.changes:
            old = self.facts[change.id]
            assert old.version == change.version
            self.facts[change.id] = old.model_copy(
                update={
                    "belief": change.belief,
                    "against_count": change.against_count,
                    "disputed": change.disputed,
                    "valid_until": change.valid_until,
                    "open": change.valid_until is None,
                    "closed_at": change.closed_at,
                    "closed_reason": change.closed_reason,
                    "unsettled": change.unsettled,
                    "version": old.version + 1,
                }
            )
        for drop in plan.drop_links:
            self.links.remove(self._link(drop.type, drop.source, drop.target))
        self.links += plan.links
        self.judgements += plan.judgements
        for j in plan.judgements:  # support counts once per speaker and fact
            if j.outcome == Outcome.APPLIED and j.chosen in ("duplicate", "refinement"):
                self.speakers[j.candidate_id or j.fact_id].append(speaker)
        if plan.repeats:
            self.speakers[plan.repeats].append(speaker)
        self.check()

    def _link(self, kind: str, source: str, target: str) -> Link:
        return next(x for x in self.links if (x.type, x.source, x.target) == (kind, source, target))

    def check(self) -> None:
        """The invariants of design §7 that a plan can break."""
        last: dict[str, float] = {}
        for j in self.judgements:
            last |= {fact_id: after for fact_id, (_, after) in j.belief.items()}
        for fact in self.facts.values():
            assert 0.02 <= fact.belief <= 0.98
            assert fact.belief == last[fact.id]
            assert fact.open == (fact.valid_until is None) == (fact.closed_reason is None)
            assert (fact.closed_at is None) == fact.open
            assert fact.valid_until is None or fact.valid_from <= fact.valid_until
        chain = [(x.source, x.target) for x in self.links if x.type == "SUPERSEDES"]
        assert len(chain) == len(set(chain))
        assert all(not self.facts[old].open for _, old in chain)
        assert not self._cyclic(chain)

    @staticmethod
    def _cyclic(edges: list[tuple[str, str]]) -> bool:
        left = list(edges)
        while left:
            targets = {t for _, t in left}
            kept = [(s, t) for s, t in left if s in targets]
            if len(kept) == len(left):
                return True
            left = kept
        return False

    # -- reading ---------------------------------------------------------------------------------

    def open(self) -> set[str]:
        return {self.name(f.id) for f in self.facts.values() if f.open}

    def closed(self) -> dict[str, tuple[str, str]]:
        """Reference → (reason, day it ended)."""
        return {
            self.name(f.id): (str(f.closed_reason), f"{f.valid_until:%Y-%m-%d}")
            for f in self.facts.values()
            if f.valid_until
        }

    def name(self, fact_id: str) -> str:
        """``object key``, with #2 for the second such fact of the same subject and predicate."""
        fact = self.facts[fact_id]
        same = [
            f.id
            for f in self.facts.values()
            if (f.subject_key, f.predicate, f.object_key)
            == (fact.subject_key, fact.predicate, fact.object_key)
        ]
        number = same.index(fact_id) + 1
        return fact.object_key + (f"#{number}" if number > 1 else "")

    def pairs(self, kind: str) -> set[tuple[str, str]]:
        return {(self.name(x.source), self.name(x.target)) for x in self.links if x.type == kind}

    def belief(self, fact_id: str) -> float:
        return round(self.facts[fact_id].belief, 4)

    def outcome(self, fact_id: str, candidate_id: str, question: str = ask.RELATION) -> str:
        """Outcome of the last judgement on a pair; empty when there is none."""
        found = [
            str(j.outcome)
            for j in self.judgements
            if (j.fact_id, j.candidate_id, j.question) == (fact_id, candidate_id, question)
        ]
        return found[-1] if found else ""
