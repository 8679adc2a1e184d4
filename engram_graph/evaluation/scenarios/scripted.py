"""Scripted models that speak the ports: every answer is known before it is given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engram_graph.adapters import jev_wire
from engram_graph.adapters.llm_extractor import read_reply
from engram_graph.errors import DecisionInvalidError, DecisionUnavailableError
from engram_graph.evaluation.scenarios.step_form import (
    Answers,
    DraftForm,
    Fault,
    RawReply,
    ReplyForm,
    Rule,
    Script,
)
from engram_graph.models.decisions import Answer, Ask, Question, Reply
from engram_graph.models.facts import Draft, Message
from engram_graph.questions.build import worded
from engram_graph.questions.extraction import ExtractedFact
from engram_graph.rules import questions as ask_about
from engram_graph.rules.answers import FALLBACK_BACKEND

NAME = "scripted"
_UNSAID: dict[str, Answers] = {
    ask_about.WORTH: 0.97,
    ask_about.KIND: {"bio": 0.97, "event": 0.03},
    ask_about.TEMPORAL: {"current": 0.97, "past": 0.03},
    ask_about.DURABILITY: {"long_term": 1.0},
    ask_about.SENSITIVITY: {"none": 1.0},
    ask_about.RELATION: {"new": 0.97, "refinement": 0.03},
    ask_about.SAME_ATTRIBUTE: 0.05,
    ask_about.PLAN_FULFILLED: 0.05,
    ask_about.SAME_FACT: 0.5,
    ask_about.RELEVANT: 0.9,
    ask_about.QUERY_RELATION: {"none": 1.0},
    ask_about.WORTH_SENTENCE: 0.9,
}


class ScriptedDecider:
    """Answers by script, else by the format's default answers.

    Attributes:
        script: question → one answer, or rules of which the first that matches counts.
        malformed: question → what is wrong with its answer.
        down: questions that fail the whole call; None for all.
    """

    name = NAME

    def __init__(self, script: Script | None = None) -> None:
        self.script: Script = script or {}
        self.malformed: Mapping[str, Fault] = {}
        self.down: frozenset[str] | None = frozenset()

    async def ask(self, ask: Ask) -> Reply:
        """Every answer at once.

        Raises:
            DecisionUnavailableError: the decider is down for one of the questions.
        """
        if self.down is None or self.down & {question.name for question in ask.questions}:
            raise DecisionUnavailableError("the scripted decider is down")
        answers = {question.id: self._answer(ask, question) for question in ask.questions}
        return Reply(answers, backend=NAME, model="scripted-1")

    async def aclose(self) -> None:
        """Nothing to release."""

    def _answer(self, ask: Ask, question: Question) -> Answer:
        given = self._p(ask, question.name, question)
        if given is None:  # the format has no such question
            return _unusable(question)
        if isinstance(given, dict):
            p = {option: given.get(option, 0.0) for option in question.options}
        else:
            p = {"yes": given, "no": 1.0 - given}
        answer = Answer(question.id, p, NAME)
        fault = self.malformed.get(question.name)
        return answer if fault is None else _as_read(ask, question, answer, fault)

    def _p(self, ask: Ask, name: str, question: Question) -> Answers | None:
        rules = self.script.get(name)
        if rules is not None and not isinstance(rules, list):
            return rules
        for rule in rules or ():
            if _matches(rule, ask, question):
                return rule.p
        if name == ask_about.SECOND:
            return self._p(ask, ask_about.RELATION, question)
        if name == ask_about.EDGE_TYPE:
            given = ask.draft.predicate
            return {given: 0.97, "related_to": 0.03} if given != "related_to" else {given: 1.0}
        return _UNSAID.get(name)


def _matches(rule: Rule, ask: Ask, question: Question) -> bool:
    old = question.candidate.text if question.candidate else ""
    if question.turn is not None:
        old = question.turn.message.text
    return rule.fact in ask.new_fact(question).text and rule.candidate in old


def _as_read(ask: Ask, question: Question, answer: Answer, fault: Fault) -> Answer:
    """What the decision API's reader makes of ``answer`` once it is spoilt."""
    items = [item for item in worded(ask) if item.question.id == question.id]
    sent = {item.id: _spoilt(question, answer, fault) for item in items if fault != "missing"}
    try:
        read = jev_wire.read_reply(json.dumps({"answers": sent}).encode(), items).answers
    except DecisionInvalidError:  # the other questions' answers stand all the same
        return _unusable(question)
    found = read.get(question.id)
    if found is None or found.fallback:
        return _unusable(question)
    return replace(found, backend=NAME)


def _unusable(question: Question) -> Answer:
    return Answer(question.id, {}, FALLBACK_BACKEND, fallback=True)


def _spoilt(question: Question, answer: Answer, fault: Fault) -> dict[str, Any]:
    if question.type == "noul":
        p: float = {"sum": 1.4, "nan": float("nan")}.get(fault, answer.p("yes"))
        return {"type": "noul", "maybe" if fault == "unknown_option" else "noul": p}
    p_of, chosen = dict(answer.probabilities), answer.chosen
    least = min(p_of, key=p_of.__getitem__)
    if fault == "sum":
        p_of[least] += 0.4
    elif fault == "nan":
        p_of[chosen] = float("nan")
    elif fault == "unknown_option":
        p_of["something_else"] = p_of.pop(chosen)
        chosen = "something_else"
    return {"type": "choice", "choice": chosen, "probabilities": p_of}


class ScriptedExtractor:
    """Gives one reply per call, read as a model's; the last one again and again, none at first."""

    name = NAME

    def __init__(self) -> None:
        self._replies: list[ReplyForm] = []

    def script(self, replies: Sequence[ReplyForm]) -> None:
        """Replace what is still to be given."""
        self._replies = list(replies)

    async def extract(self, message: Message, recent: Sequence[Message]) -> list[Draft]:
        """The drafts of the next reply.

        Raises:
            ExtractionError: it cannot be read whole.
        """
        if not self._replies:
            return []
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        return read_reply(rendered(reply))

    async def aclose(self) -> None:
        """Nothing to release."""


def rendered(reply: ReplyForm) -> str:
    """A reply as the model's words, its drafts in the schema a model is asked for."""
    if not isinstance(reply, RawReply):
        return _drafts_json(reply)
    text: str = reply.raw.replace("{{drafts}}", _drafts_json(reply.drafts))
    for old, new in reply.replace:
        text = text.replace(old, new)
    return text[: len(text) - reply.drop_last] if reply.drop_last else text


def _drafts_json(drafts: Sequence[DraftForm]) -> str:
    return json.dumps({"facts": [_fact(draft) for draft in drafts]}, ensure_ascii=False)


def _fact(draft: DraftForm) -> dict[str, Any]:
    """Each field of the answer's schema; the labels a draft does not have are the usual ones."""
    values: dict[str, Any] = {
        "text": draft.text,
        "subject": draft.subject,
        "predicate": draft.relation,
        "object": draft.object,
        "when": draft.when,
        "quote": draft.quote,
        "negated": False,
        "temporal_status": "current",
        "kind": "bio",
        "durability": "long_term",
        "sensitivity": "none",
    }
    return {name: values[name] for name in ExtractedFact.model_fields}
