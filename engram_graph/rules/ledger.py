"""A working copy of the facts a plan touches, with the judgements made on the way.

Only rules use it while they make one plan; what it writes down becomes a ``WritePlan``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from engram_graph.models.decisions import Judgement, Question, Reply, RequestLog
from engram_graph.models.facts import Fact, Link
from engram_graph.models.plans import FactChange, WritePlan
from engram_graph.rules import belief
from engram_graph.rules.answers import failed, request_log
from engram_graph.rules.situation import Candidate, Situation
from engram_graph.vocabulary import ClosedReason, Outcome

Moved = dict[str, tuple[float | None, float]]


class Ledger:
    """Facts as they stand, links and judgements, in the order things were decided."""

    def __init__(self, s: Situation, new_id: Callable[[], str]) -> None:
        self._s = s
        self._new_id = new_id
        self._before: dict[str, Fact] = {}
        self._now: dict[str, Fact] = {}
        self._moved: set[str] = set()
        self._superseded_by: dict[str, tuple[str, ...]] = {}
        self._judgements: list[Judgement] = []
        self._requests: list[RequestLog] = []
        self._links: list[Link] = []
        self._drops: list[Link] = []
        for candidate in s.candidates:
            self.watch(candidate)

    def watch(self, candidate: Candidate) -> None:
        """Take a known fact in; what changes of it becomes part of the plan."""
        fact = candidate.fact
        self._before[fact.id] = self._now[fact.id] = fact
        self._superseded_by[fact.id] = candidate.superseded_by

    def fact(self, fact_id: str) -> Fact:
        """The fact as it stands by now."""
        return self._now[fact_id]

    def put(self, fact: Fact) -> None:
        """Start or replace the working copy of the fact being written."""
        self._now[fact.id] = fact

    def log(self, reply: Reply, questions: Sequence[Question]) -> str:
        """Write down one request; its id goes into the judgements that rest on it.

        Of a ladder every step is one; the id is that of the last step that had an answer.
        """
        steps = reply.steps or (reply,)
        ids = [self._new_id() for _ in steps]
        told = [known for known, step in zip(ids, steps, strict=True) if not failed(step)]
        last = (told or ids)[-1]
        for known, step in zip(ids, steps, strict=True):
            asked = [q for q in questions if q.id in step.answers]
            log = request_log(step, asked, known, self._s.decided_at)
            ladder = last if reply.steps else None
            self._requests.append(replace(log, ladder=ladder, preset=self._s.method.name))
        return last

    def judge(
        self,
        question: str,
        outcome: Outcome,
        fact_id: str | None = None,
        candidate_id: str | None = None,
        *,
        chosen: str = "",
        p: float = 1.0,
        reason: str = "",
        backend: str = "rule",
        moved: Moved | None = None,
        closing: tuple[Fact, Fact] | None = None,
        pieces: tuple[float, ...] = (),
        request: str | None = None,
    ) -> None:
        """Write down one judgement; ids follow the order of decisions."""
        ends = None
        if closing is not None:
            before, after = closing
            ends = (
                (before.valid_until, before.closed_reason),
                (after.valid_until, after.closed_reason),
            )
        self._judgements.append(
            Judgement(
                id=self._new_id(),
                question=question,
                outcome=outcome,
                chosen=chosen,
                p=p,
                reason=reason,
                fact_id=fact_id,
                candidate_id=candidate_id,
                backend=backend,
                belief=moved or {},
                closing=ends,
                pieces=pieces,
                request=request,
            )
        )

    def move(self, fact_id: str, delta: float, against: int = 0) -> Moved:
        """Move a belief by ``delta`` log-odds; ``against``: pieces of evidence to count."""
        fact = self._now[fact_id]
        after = belief.updated(fact.belief, delta, self._s.thresholds)
        self._now[fact_id] = fact.model_copy(
            update={"belief": after, "against_count": fact.against_count + against}
        )
        self._moved.add(fact_id)
        return {fact_id: (fact.belief, after)}

    def dispute(self, fact_id: str) -> None:
        """Mark a fact as contradicted and not closed."""
        self._now[fact_id] = self._now[fact_id].model_copy(update={"disputed": True})

    def close(
        self,
        fact_id: str,
        until: datetime,
        reason: ClosedReason,
        by: str | None,
        *,
        question: str = "close",
        outcome: Outcome = Outcome.CLOSED,
        why: str = "",
    ) -> None:
        """End a fact, or move its end; ``by`` then supersedes it.

        What a person corrects is settled: nothing about it is asked again.
        """
        before = self._now[fact_id]
        after = before.model_copy(
            update={
                "valid_until": until,
                "open": False,
                "closed_at": self._s.decided_at,
                "closed_reason": reason,
                "unsettled": before.unsettled and reason != ClosedReason.CORRECTED,
            }
        )
        self._now[fact_id] = after
        if by is not None:
            self.supersede(by, fact_id, reason)
        self.judge(
            question, outcome, fact_id, by, chosen=reason, reason=why, closing=(before, after)
        )

    def state_end(self, fact_id: str, until: datetime) -> None:
        """Give a new fact the end that was stated with it."""
        self.close(fact_id, until, ClosedReason.STATED, None)

    def reopen(self, fact_id: str, by: str | None) -> None:
        """Take the end of a fact away: what is open is not superseded (house rule 3)."""
        before = self._now[fact_id]
        after = before.model_copy(
            update={"valid_until": None, "open": True, "closed_at": None, "closed_reason": None}
        )
        self._now[fact_id] = after
        self.unlink(fact_id)
        self.judge("reopen", Outcome.REOPENED, fact_id, by, closing=(before, after))

    def reopen_if_believed(self, fact_id: str, by: str | None) -> None:
        """Reopen what belief had closed, once support lifts it above .60 again."""
        fact = self._now[fact_id]
        if belief.reopens(fact.belief, fact.closed_reason, self._s.thresholds):
            self.reopen(fact_id, by)

    def supersede(self, newer: str, older: str, reason: str) -> None:
        """Add one step of a chain."""
        self.link("SUPERSEDES", newer, older, reason=reason)

    def link(
        self,
        kind: str,
        source: str,
        target: str,
        *,
        p: float | None = None,
        reason: str | None = None,
    ) -> None:
        """Add a link between two facts."""
        self._links.append(
            Link.model_validate(
                {
                    "type": kind,
                    "source": source,
                    "target": target,
                    "p": p,
                    "reason": reason,
                    "decided_at": self._s.decided_at,
                }
            )
        )

    def unlink(self, fact_id: str) -> tuple[str, ...]:
        """Drop all that supersedes a fact so far; returns the ids of those newer facts."""
        newer = self._superseded_by.pop(fact_id, ())
        self._drops += [Link(type="SUPERSEDES", source=n, target=fact_id) for n in newer]
        return newer

    def plan(self, fact_id: str | None, repeats: str | None = None) -> WritePlan:
        """All that was written down, as one plan that stores ``fact_id``.

        Where nothing is stored the first decision stands for the draft, as its fact would: it has
        that id, so that a draft resumed is applied once. A belief moved against its bound is a
        change too, though it stays: the fact's log is one line of decisions.
        """
        s = self._s
        if fact_id is None:
            self._judgements[0] = replace(self._judgements[0], id=s.fact_id)
        touched = [
            before
            for before in self._before.values()
            if before.id != fact_id and (self._now[before.id] != before or before.id in self._moved)
        ]
        changes = tuple(
            FactChange(
                id=before.id,
                version=before.version,
                belief=now.belief,
                against_count=now.against_count,
                disputed=now.disputed,
                valid_until=now.valid_until,
                closed_at=now.closed_at,
                closed_reason=now.closed_reason,
                unsettled=now.unsettled,
            )
            for before in touched
            for now in [self._now[before.id]]
        )
        ends = {key for before in touched for key in (before.subject_key, before.object_key)}
        return WritePlan(
            namespace=s.namespace,
            message_id=s.message.id,
            subject_key=s.subject_key,
            subject_version=s.subject_version,
            decided_at=s.decided_at,
            fact=self._now[fact_id] if fact_id else None,
            settles=s.stored.version if s.stored and fact_id else None,
            embedding=s.embedding if fact_id else None,
            mentions=s.mentions if fact_id else (),
            beside=tuple(sorted(ends)),
            repeats=repeats,
            changes=changes,
            links=tuple(self._links),
            drop_links=tuple(self._drops),
            judgements=tuple(self._judgements),
            requests=tuple(self._requests),
        )
