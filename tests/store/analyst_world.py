"""A small town in one namespace, with every kind of record, for the queries of analysts.

Three people speak of each other in 2025; every answer of the decider is scripted. ``first``: when
only Mirelle's first employer was known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from engram_graph.clock import now
from engram_graph.evaluation.scenarios.scripted import ScriptedDecider
from engram_graph.evaluation.scenarios.step_form import Decider
from engram_graph.models.decisions import Ask, Reply
from engram_graph.settings import Settings
from engram_graph.sync import Memory

SCRIPT: dict[str, Any] = {
    "relation_to_candidate": [
        {"fact": "at Saltway", "candidate": "at Hollin", "p": {"update": 0.97, "new": 0.03}},
        {"fact": "drives", "candidate": "at Saltway", "p": {"duplicate": 0.9, "new": 0.1}},
        {"fact": "crowds", "candidate": "likes markets", "p": {"contradiction": 0.9, "new": 0.1}},
        {"fact": "night markets", "candidate": "likes markets", "p": {"refinement": 0.95}},
        {"fact": "in Tarn", "candidate": "in Oldmill", "p": {"update": 0.87, "new": 0.13}},
        {"fact": "sells maps", "p": {"new": 0.7, "refinement": 0.3}},
        {"fact": "no longer", "candidate": "plays chess", "p": {"negates": 0.92, "new": 0.08}},
        {"fact": "still plays", "candidate": "Bero plays", "p": {"duplicate": 0.97, "new": 0.03}},
    ],
    "temporal_status": [{"fact": "plans to", "p": {"planned": 0.98, "current": 0.02}}],
    "plan_fulfilled": [{"fact": "lives in Varn", "candidate": "move to Varn", "p": 0.95}],
    "sensitivity": [{"fact": "the safe", "p": {"credentials": 0.97, "none": 0.03}}],
}
# source_id | said_at | speaker | subject | predicate | object | text
STATEMENTS = """
m02 | 2025-03-01 | Mirelle | Mirelle | works_at | Saltway Freight | Mirelle works at Saltway Freight
m03 | 2025-03-09 | Bero | Mirelle | works_at | Saltway Freight | Mirelle drives for Saltway Freight
m04 | 2025-03-10 | Mirelle | Mirelle | prefers | markets | Mirelle likes markets
m05 | 2025-03-11 | Odo | Mirelle | dislikes | crowds | Mirelle cannot stand crowds
m06 | 2025-03-12 | Mirelle | Mirelle | prefers | night markets | Mirelle likes night markets
m07 | 2025-03-13 | Bero | Mirelle | works_at | Saltway Freight | Mirelle works at Saltway Freight
m08 | 2025-02-01 | Bero | Bero | friend_of | Mirelle | Bero is a friend of Mirelle
m09 | 2025-02-02 | Mirelle | Mirelle | plans | open a stall | Mirelle plans to open a stall
m10 | 2025-02-03 | Mirelle | Mirelle | plans | move to Varn | Mirelle plans to move to Varn
m11 | 2025-04-05 | Mirelle | Mirelle | lives_in | Varn | Mirelle lives in Varn
m12 | 2025-05-01 | Bero | Bero | lives_in | Oldmill | Bero lives in Oldmill
m13 | 2025-05-10 | Mirelle | Bero | lives_in | Tarn | Bero lives in Tarn
m14 | 2025-05-11 | Odo | Odo | has_role | map seller | Odo sells maps
m15 | 2025-01-02 | Bero | Bero | hobby | chess | Bero plays chess
m16 | 2025-02-20 | Mirelle | Bero | hobby | chess | Bero no longer plays chess
m17 | 2025-02-21 | Odo | Bero | hobby | chess | Bero still plays chess
m18 | 2025-03-20 | Odo | Odo | attended | the spring fair | Odo was at the spring fair
m19 | 2025-01-05 | Berold | Berold | speaks | Welsh | Berold speaks Welsh
m20 | 2025-01-06 | Bero | Bero | speaks | Welsh | Bero speaks Welsh
m21 | 2025-06-01 | Odo | Odo Kern | friend_of | Bero | Odo Kern is a friend of Bero
m22 | 2025-06-02 | Odo | Odo | uses | plain words | Odo opens the safe with plain words
m23 | 2025-06-03 | Odo | Odo | born_in | Lunde | Odo was born in Lunde
"""
MORE: dict[str, dict[str, Any]] = {
    "m16": {"negated": True},
    "m17": {"valid_from": "2025-01-02"},
    "m18": {"valid_from": "2025-03-20", "valid_until": "2025-03-23"},
}  # arguments


class Priced(ScriptedDecider):
    """A tenth of a cent a question, ten milliseconds a request."""

    async def ask(self, ask: Ask) -> Reply:
        reply = await super().ask(ask)
        return replace(reply, cost_usd=0.001 * len(ask.questions), latency_ms=10.0)


@dataclass(frozen=True)
class Town:
    """What tests ask about. ``first``, ``done``: moments after the first and the last write."""

    memory: Memory
    namespace: str
    first: datetime
    done: datetime


def build(settings: Settings, namespace: str) -> tuple[datetime, datetime]:
    """Write the town; the moments after the first and after the last write."""
    decider = Priced(Decider(do="decider", answers=SCRIPT).answers)
    with Memory(namespace, settings=settings, decider=decider) as memory:
        memory.remember(
            *("Mirelle", "works_at", "Hollin Press"),
            text="Mirelle works at Hollin Press",
            said_at="2025-01-01",
            speaker="Mirelle",
            source_id="m01",
        )
        first = now()
        for line in STATEMENTS.split("\n")[1:-1]:
            source_id, said_at, speaker, *triple, text = line.split(" | ")
            memory.remember(
                *triple,
                said_at=said_at,
                speaker=speaker,
                source_id=source_id,
                text=text,
                **MORE.get(source_id, {}),
            )
        decider.malformed = {"fact_kind": "nan"}
        memory.remember(
            *("Odo", "owns", "a cart"), said_at="2025-06-04", speaker="Odo", source_id="m24"
        )
        decider.malformed = {}
        memory.add(
            "The wifi password is hunter2x9!", said_at="2025-06-05", speaker="Bero", source_id="m25"
        )
        wrong = memory.facts(subject="Odo", predicate="born_in").facts[0]
        memory.correct(wrong, object="Lund", text="Odo was born in Lund", reason="a misprint")
        memory.add_alias("Mirelle", "Mimi")
        memory.merge_entities("Bero", "Berold")
        home = memory.explain("Bero|lives_in|Oldmill")
        memory.feedback(home.fact, "wrong", by="Bero", why="I moved")
        moved = next(each for each in home.decisions if each.question == "relation_to_candidate")
        memory.feedback(None, "right", decision=moved.id)
        return first, now()
