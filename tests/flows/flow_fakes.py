"""Models that speak the ports: a decider that is away, an extractor whose every word is known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engram_graph.adapters.rules_decider import RulesDecider
from engram_graph.errors import DecisionUnavailableError, ExtractionError
from engram_graph.models.decisions import Ask, Reply
from engram_graph.models.facts import Draft, Message


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
