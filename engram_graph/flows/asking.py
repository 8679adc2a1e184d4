"""Asking a decider that may be away."""

from __future__ import annotations

import asyncio
import logging

from engram_graph import telemetry
from engram_graph.errors import DecisionError
from engram_graph.models.decisions import Ask, Reply
from engram_graph.ports import Decider
from engram_graph.rules.answers import fallback_reply

log = logging.getLogger(__name__)
TOO_SLOW = "too slow while others waited"


async def answered(
    decider: Decider, ask: Ask, who: str = "decider", until: float | None = None
) -> Reply:
    """Its reply; when it gives none, fallbacks to all that was asked, and why as ``error``.

    Args:
        who: what the decider is here, for the log.
        until: a moment of the event loop's clock; whoever has not answered then is away.
    """
    try:
        with telemetry.part("decide", decider.name, questions=len(ask.questions)) as span:
            async with asyncio.timeout_at(until) as limit:
                reply = await decider.ask(ask)
            span.set_attribute("engram.model", reply.model)
        if reply.cost_usd and not reply.replayed:
            telemetry.count("engram.cost", reply.cost_usd, part="decide")
        if reply.error:
            telemetry.count("engram.degraded", part="decide")
        return reply
    except DecisionError as error:
        why = error.code
    except TimeoutError:
        if not limit.expired():
            raise
        why = TOO_SLOW
    telemetry.count("engram.degraded", part="decide")
    log.warning("%s %s failed: %s", who, decider.name, why)
    return fallback_reply(ask.questions, why)
