"""Scripted models that speak the ports: deciders and extractors whose every word a test knows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engram_graph.adapters.rules_decider import RulesDecider
from engram_graph.errors import DecisionUnavailableError, ExtractionError
from engram_graph.models.decisions import Answer, Ask, Question, Reply
from engram_graph.models.facts import Draft, Message

Script = Mapping[str, Any]

_DEFAULTS: dict[str, Any] = {
    "worth_remembering": 0.97,
    "fact_kind": {"bio": 0.97, "event": 0.03},
    "temporal_status": {"current": 0.97, "past": 0.03},
    "durability": {"long_term": 1.0},
    "sensitivity": {"none": 1.0},
    "relation_to_candidate": {"new": 0.97, "refinement": 0.03},
    "same_attribute": 0.05,
    "plan_fulfilled": 0.05,
    "same_fact": 0.5,
    "relevant_to_query": 0.9,
    "query_relation": {"none": 1.0},
    "worth_sentence": 0.9,
}


class ScriptedDecider:
    """Answers by script, else by the default answers of the behaviour scenarios.

    Attributes:
        script: question → one answer, or a list of ``{fact?, candidate?, p}``; first match wins.
        malformed: questions whose answer is not usable. down: questions that fail the whole call.
        asked: every question asked, in order.
    """

    name = "scripted"

    def __init__(self, script: Script | None = None) -> None:
        self.script: Script = script or {}
        self.malformed: frozenset[str] = frozenset()
        self.down: frozenset[str] | None = frozenset()
        self.asked: list[str] = []

    async def ask(self, ask: Ask) -> Reply:
        names = {question.name for question in ask.questions}
        self.asked += [question.name for question in ask.questions]
        if self.down is None or names & self.down:
            raise DecisionUnavailableError("the scripted decider is away")
        answers = {question.id: self._answer(ask, question) for question in ask.questions}
        return Reply(answers, backend="scripted", model="scripted-1")

    async def aclose(self) -> None:
        """Nothing to release."""

    def _answer(self, ask: Ask, question: Question) -> Answer:
        if question.name in self.malformed:
            return Answer(question.id, {}, "fallback", fallback=True)
        p = self._p(ask, question)
        if question.type == "noul":
            return Answer(question.id, {"yes": p, "no": 1.0 - p}, self.name)
        return Answer(
            question.id, {option: p.get(option, 0.0) for option in question.options}, self.name
        )

    def _p(self, ask: Ask, question: Question) -> Any:
        name = question.name
        rules = self.script.get(name)
        if rules is None and name == "relation_second":
            name = "relation_to_candidate"
            rules = self.script.get(name)
        for rule in rules if isinstance(rules, list) else []:
            old = question.candidate.text if question.candidate else ""
            if rule.get("fact", "") in ask.draft.text and rule.get("candidate", "") in old:
                return rule["p"]
        if rules is not None and not isinstance(rules, list):
            return rules
        if name == "edge_type":
            given = ask.draft.predicate
            return {"related_to": 0.03} | {given: 0.97}
        return _DEFAULTS[name]


class AwayDecider(RulesDecider):
    """The rules decider, not to be reached while ``away``."""

    def __init__(self) -> None:
        super().__init__()
        self.away = True

    async def ask(self, ask: Ask) -> Reply:
        if self.away:
            raise DecisionUnavailableError("nobody answers")
        return await super().ask(ask)


class ScriptedExtractor:
    """Gives one list of drafts per call, the last one again and again; none at first.

    A reply may be an exception, which is raised. ``heard``: the text of each call.
    """

    name = "scripted"

    def __init__(self, *replies: Sequence[Draft] | Exception) -> None:
        self.replies: list[Sequence[Draft] | Exception] = list(replies)
        self.heard: list[str] = []
        self.before: list[list[str]] = []

    async def extract(self, message: Message, recent: Sequence[Message]) -> list[Draft]:
        self.heard.append(message.text)
        self.before.append([turn.text for turn in recent])
        if not self.replies:
            return []
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return list(reply)

    async def aclose(self) -> None:
        """Nothing to release."""


def draft(text: str, triple: str, **more: Any) -> Draft:
    """A draft from ``subject|predicate|object``."""
    subject, predicate, obj = triple.split("|")
    values: dict[str, Any] = {"subject": subject, "predicate": predicate, "object": obj}
    return Draft(text=text, **values | more)


def broken() -> ExtractionError:
    """What an extractor raises when its model's answer cannot be read."""
    return ExtractionError("the reply is no JSON")


Made = Callable[..., Any]
