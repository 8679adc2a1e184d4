"""What is asked about one draft, request by request, and the plan the answers make."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from engram_graph import clock
from engram_graph.flows.asking import answered
from engram_graph.flows.runtime import Runtime
from engram_graph.graph import write
from engram_graph.graph.surroundings import Surroundings, surroundings
from engram_graph.models.decisions import Ask, Question, Reply, Round
from engram_graph.models.facts import Fact, Vector
from engram_graph.models.plans import WritePlan
from engram_graph.ports import Decider
from engram_graph.rules import plan as rules
from engram_graph.rules import questions as ask
from engram_graph.rules.answers import failed, label, merged
from engram_graph.rules.secrets import PLACEHOLDER, redact_values, redacted_draft
from engram_graph.rules.situation import Place, Situation
from engram_graph.rules.text import turn_text
from engram_graph.vocabulary import Sensitivity


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided about one draft.

    Attributes:
        situation: with everything learnt on the way: further candidates, secrets taken out.
        plan: None when a fact that was to be settled got no answer again.
        repeated: the known fact the draft repeats.
        degraded: what fell back, in words.
        secrets: values that only the decider recognised.
    """

    situation: Situation
    plan: WritePlan | None
    repeated: Fact | None = None
    degraded: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()


async def around_fact(runtime: Runtime, place: Place, embedding: Vector | None) -> Surroundings:
    """What stands around a fact that is decided on, by the runtime's rules and at its moment."""
    return await surroundings(
        runtime.graph,
        place,
        embedding,
        runtime.method.thresholds,
        runtime.now(),
        runtime.near_ids,
    )


async def decide(runtime: Runtime, s: Situation, within: float | None = None) -> Decided:
    """Ask what has to be asked, and plan. Only a secret found on the way is written at once.

    Args:
        within: seconds for all of it, while others wait; who has not answered then is away.
    """
    if s.stored is None and (twin := rules.repetition(s)) is not None:
        return Decided(s, rules.repeat_plan(s, twin, clock.new_id), twin.fact)
    conversation = _Conversation(within)
    reply = await conversation.ask(runtime.decider, s, rules.first_questions(s))
    secrets: tuple[str, ...] = ()
    if failed(reply):
        if s.stored is not None:
            return Decided(s, None, degraded=tuple(conversation.degraded))
    else:
        s, secrets = await _without_credentials(runtime, s, reply)
        s = await _with_decided_relation(runtime, s, reply)
        if further := rules.pair_questions(s, conversation.compared):
            reply = await conversation.ask(runtime.decider, s, further)
        stronger = runtime.escalation
        if stronger is not None and (unsure := rules.escalation_questions(s, reply)):
            reply = await conversation.ask(stronger, s, unsure, escalation=True)
        if again := rules.second_questions(s, reply):
            await conversation.ask(runtime.decider, s, again)
    plan = rules.make_plan(s, conversation.rounds, clock.new_id)
    return Decided(s, plan, None, tuple(dict.fromkeys(conversation.degraded)), secrets)


class _Conversation:
    """The requests about one draft so far."""

    def __init__(self, within: float | None) -> None:
        self._until = None if within is None else asyncio.get_running_loop().time() + within
        self.rounds: list[Round] = []
        self.degraded: list[str] = []

    @property
    def compared(self) -> frozenset[str]:
        """Ids of the facts asked about."""
        return frozenset(q.candidate.id for r in self.rounds for q in r.questions if q.candidate)

    async def ask(
        self,
        decider: Decider,
        s: Situation,
        questions: tuple[Question, ...],
        *,
        escalation: bool = False,
    ) -> Reply:
        """Put ``questions``; everything answered so far, with fallbacks where nothing came."""
        asked = Ask(
            draft=s.draft,
            valid_from=s.valid_from,
            speaker=s.message.speaker,
            role=s.message.role,
            message=s.message.text,
            questions=questions,
        )
        who = "escalation" if escalation else "decider"
        reply = await answered(decider, asked, who, self._until)
        self.degraded += [f"{who}: {reply.error}"] if reply.error else []
        if escalation:
            reply = rules.escalated(reply)
        self.rounds.append(Round(questions, reply))
        return merged([each.reply for each in self.rounds])


async def _without_credentials(
    runtime: Runtime, s: Situation, reply: Reply
) -> tuple[Situation, tuple[str, ...]]:
    """Take a secret that only the decider recognised out of draft and messages (§10)."""
    value, draft = s.draft.object, s.draft
    said = label(reply.answers.get(ask.SENSITIVITY), draft.sensitivity)
    if said != Sensitivity.CREDENTIALS or value == PLACEHOLDER:
        return s, ()
    draft = redacted_draft(draft, (value,)).model_copy(update={"object": PLACEHOLDER})
    messages = [
        each.model_copy(update={"text": redact_values(each.text, (value,))})
        for each in (s.message, *s.retold)
    ]
    texts = [turn_text(each.speaker, each.text) for each in messages]
    (embedding, *vectors), _ = await runtime.embed([draft.text, *texts])
    for message, vector in zip(messages, vectors, strict=True):
        await write.redact_message(runtime.graph, message, (value,), vector)
    clean = replace(s, message=messages[0], draft=draft, embedding=embedding, redacted=True)
    return clean, (value,)


async def _with_decided_relation(runtime: Runtime, s: Situation, reply: Reply) -> Situation:
    """The candidates of the decided relation, where it is not the one the draft came with (§4b)."""
    predicate = rules.decided_predicate(s, reply)
    if predicate == s.draft.predicate or not s.method.graph_candidates:
        return s
    around = await around_fact(runtime, s.place(predicate), s.embedding)
    known = {candidate.fact.id for candidate in s.candidates}
    more = tuple(c for c in around.candidates if c.fact.id not in known)
    return replace(s, candidates=(*s.candidates, *more))
