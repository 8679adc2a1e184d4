"""Asking a decider that may be away."""

from __future__ import annotations

import logging

from engram_graph.errors import DecisionError
from engram_graph.models.decisions import Ask, Reply
from engram_graph.ports import Decider
from engram_graph.rules.answers import fallback_reply

log = logging.getLogger(__name__)


async def answered(decider: Decider, ask: Ask, who: str = "decider") -> Reply:
    """Its reply; when it gives none, fallbacks to all that was asked, and why as ``error``.

    Args:
        who: what the decider is here, for the log.
    """
    try:
        return await decider.ask(ask)
    except DecisionError as error:
        log.warning("%s %s failed: %s", who, decider.name, error.code)
        return fallback_reply(ask.questions, error.code)
