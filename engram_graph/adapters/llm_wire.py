"""A chat model's decisions: the prompt sent, the reply checked. Nothing is sent here.

What is taken as an answer:
- A probability is a number from 0 to 1. A choice is an object of such numbers whose names are the
  options; another name means that another question was answered.
- The numbers of a choice add up to 1 within .02, or within .005 an option where all are named
  (two decimals each): they are taken as they came. An option left out then counts 0, for no more
  than those .02 can be missing.
- All options named and a sum from there up to 2: divided by the sum. That only lowers each number,
  so it lifts nothing over a threshold. Less than 1 is never stretched: a model that gives .5 and
  nothing else has not said that it is sure.
- All else is a fault of that one question; the others stand.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from engram_graph.adapters.chat import Prompt
from engram_graph.adapters.json_reply import find_json
from engram_graph.adapters.network_decider import FaultError, unit
from engram_graph.errors import DecisionInvalidError
from engram_graph.models.decisions import Answer
from engram_graph.questions import decision_prompt
from engram_graph.questions.build import State, Worded

BACKEND = "llm"
_OPENING = re.compile(r'\{\s*"(?:answers|q\d+)"')
_SLACK = 0.02
_ROUNDING = 0.005
_MOST = 2.0


@dataclass(frozen=True, slots=True)
class Read:
    """A reply that holds answers.

    Attributes:
        answers: question id → answer, one for each question sent.
        faults: question id → why its answer is a fallback.
        extra: how many answers nobody had asked for; they are dropped.
    """

    answers: dict[str, Answer]
    faults: dict[str, str] = field(default_factory=dict)
    extra: int = 0


def prompt(state: State, items: Sequence[Worded]) -> Prompt:
    """What is sent to have ``items`` answered."""
    return Prompt(
        system=decision_prompt.system(items),
        user=decision_prompt.material(state),
        name=decision_prompt.SCHEMA_NAME,
        schema=decision_prompt.answer_schema(items),
        plain=decision_prompt.PLAIN_FORM,
    )


def answer_tokens(items: Sequence[Worded]) -> int:
    """About how many tokens the answer has: a dozen for each number and its name."""
    numbers = (1 if i.question.type == "noul" else len(i.criteria) for i in items)
    return 12 * sum(numbers) + 8 * len(items)


def read_reply(text: str, items: Sequence[Worded]) -> Read:
    """The answers in what a model wrote.

    Raises:
        DecisionInvalidError: there is no whole answer in it.
    """
    wanted = {item.id for item in items}

    def accept(value: Any) -> dict[str, Any] | None:
        """The answers in a decoded value, bare or under their own name."""
        if not isinstance(value, dict):
            return None
        inner = value.get("answers")
        if isinstance(inner, dict):
            return inner
        return value if wanted & value.keys() else None

    given = find_json(text, accept, _OPENING)
    if given is None:
        raise DecisionInvalidError("the language model's reply holds no complete answers")
    answers: dict[str, Answer] = {}
    faults: dict[str, str] = {}
    for item in items:
        key = item.question.id
        try:
            answers[key] = Answer(key, _probabilities(given, item), BACKEND)
        except FaultError as fault:
            answers[key] = Answer(key, {}, BACKEND, fallback=True)
            faults[key] = str(fault)
    return Read(answers, faults, len(given.keys() - wanted))


def _probabilities(given: dict[str, Any], item: Worded) -> dict[str, float]:
    if item.id not in given:
        raise FaultError("no answer")
    answer = given[item.id]
    if item.question.type == "noul":
        p = unit(answer, "the answer")
        return {"yes": p, "no": 1.0 - p}
    if not isinstance(answer, dict):
        raise FaultError("not one number for each option")
    return _choice(answer, tuple(item.criteria))


def _choice(told: dict[str, Any], options: tuple[str, ...]) -> dict[str, float]:
    """The distribution of a choice, in the options' own order."""
    if told.keys() - set(options):
        raise FaultError("an option that was not offered")
    named = {option: unit(told[option], "a probability") for option in options if option in told}
    whole = len(named) == len(options)
    total = math.fsum(named.values())
    allowed = max(_SLACK, _ROUNDING * len(options)) if whole else _SLACK
    found = {option: named.get(option, 0.0) for option in options}
    if abs(total - 1.0) <= allowed + 1e-9:
        return found
    if not whole:
        raise FaultError("options are missing")
    if not 1.0 < total <= _MOST + 1e-9:
        raise FaultError(f"probabilities sum to {total:.3f}")
    return {option: p / total for option, p in found.items()}
