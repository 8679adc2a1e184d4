"""A decider whose every answer a test knows, scripted in plain dicts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engram_graph.evaluation.scenarios import scripted
from engram_graph.evaluation.scenarios.step_form import Decider
from engram_graph.models.decisions import Ask, Reply


class ScriptedDecider(scripted.ScriptedDecider):
    """Answers each question by script, else as a decider that is sure nothing contradicts.

        decider.script = {
            "relation_to_candidate": [
                {"fact": "Porto", "candidate": "Lisbon", "p": {"update": 0.97, "new": 0.03}}
            ],
            "worth_remembering": 0.9,
        }

    An answer is the probability of yes, or option → probability; or a list of rules, of which the
    first counts whose words ``fact`` and ``candidate`` are in the new and the stored text.

    Attributes:
        asked: the name of every question asked, in order.
        down: questions whose call fails; None for all, the empty set for none.
    """

    def __init__(self, script: Mapping[str, Any] | None = None) -> None:
        self.asked: list[str] = []
        super().__init__()
        self.script = script or {}

    @property
    def script(self) -> Any:
        """Question → answer.

        Raises:
            ValueError: on setting: no such question or option, or no probability.
        """
        return self._script

    @script.setter
    def script(self, given: Mapping[str, Any]) -> None:
        self._script = Decider(do="decider", answers=given).answers

    async def ask(self, ask: Ask) -> Reply:
        """Every answer at once.

        Raises:
            DecisionUnavailableError: the decider is down for one of the questions.
        """
        self.asked += [question.name for question in ask.questions]
        return await super().ask(ask)
