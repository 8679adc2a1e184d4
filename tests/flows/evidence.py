"""Two hundred statements about five facts, for many writers at once; and what they must add up to.

Eight writers meet on one fact at a time, for the longest queue: a run of statements against it,
then a run for it. Every statement comes from a speaker of its own, so each one is evidence.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

WRITERS = 8
STATEMENTS = 200


@dataclass(frozen=True)
class Known:
    """One of the five facts.

    Attributes:
        against: what its statements against it are called.
    """

    subject: str
    predicate: str
    object: str
    text: str
    against: str


FACTS = (
    Known("Ann", "lives_in", "Bonn", "Ann lives in Bonn", "update"),
    Known("Ann", "works_at", "Acme", "Ann works at Acme", "contradiction"),
    Known("Ann", "hobby", "chess", "Ann plays chess", "update"),
    Known("Bo", "follows_diet", "vegan", "Bo eats vegan food", "contradiction"),
    Known("Bo", "uses", "Vim", "Bo edits with Vim", "update"),
)


def first_statements() -> list[dict[str, Any]]:
    """The five facts as they are told first."""
    return [
        _call(f"{fact.subject}-{fact.predicate}", fact, fact.object, fact.text, "2020-01-01")
        for fact in FACTS
    ]


def statements() -> list[dict[str, Any]]:
    """Calls of ``remember`` on top of the first five: 39 about each fact, in runs of eight.

    Of each fact: 8 against it (it closes), 8 repetitions (it opens again), then a mix.
    """
    order = random.Random(20250301)
    runs: list[list[dict[str, Any]]] = []
    for fact in FACTS:
        mix = ["against"] * 5 + ["again"] * 8 + ["other words"] * 10
        order.shuffle(mix)
        kinds = ["against"] * 8 + ["again"] * 8 + mix
        told = [_statement(fact, kind, number) for number, kind in enumerate(kinds)]
        runs.append(told)
    return [
        one for at in range(0, len(runs[0]), WRITERS) for run in runs for one in run[at : at + 8]
    ]


def _statement(fact: Known, kind: str, number: int) -> dict[str, Any]:
    speaker = f"{fact.subject}-{fact.predicate}-{number}"
    if kind == "again":
        return _call(speaker, fact, fact.object, fact.text, "2021-01-01")
    if kind == "other words":
        return _call(speaker, fact, fact.object, f"{fact.text} aye{number}", "2021-01-01")
    begins = f"2022-{number % 12 + 1:02}-01"
    return _call(speaker, fact, f"nay{number}", f"{fact.text} nay{number}", begins)


def _call(speaker: str, fact: Known, obj: str, text: str, valid_from: str) -> dict[str, Any]:
    return {
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": obj,
        "text": text,
        "speaker": speaker,
        "source_id": speaker,
        "valid_from": valid_from,
        "said_at": "2023-01-01",
    }


def script() -> dict[str, Any]:
    """Answers by text alone: every process, and every second asking, gets the same."""
    new = {"new": 1.0}
    first: list[dict[str, Any]] = [{"candidate": word, "p": new} for word in (" aye", " nay")]
    second: list[dict[str, Any]] = []
    for at, fact in enumerate(FACTS):  # only the fact itself has neither of the two words
        said = f"{fact.text} aye"
        denied = {"fact": f"{fact.text} nay", "candidate": fact.text}
        first.append({"fact": said, "candidate": fact.text, "p": _p("duplicate", 0.88)})
        first.append(denied | {"p": _p(fact.against, 0.90 + 0.015 * at)})
        second.append(denied | {"p": _p(fact.against, 0.86 + 0.02 * at)})
    return {"relation_to_candidate": first, "relation_second": second}


def _p(label: str, p: float) -> dict[str, float]:
    return {label: p, "new": round(1.0 - p, 4)}


# What the log says --------------------------------------------------------------------------------

LOG = """CYPHER 25
MATCH (f:Fact {namespace: $namespace})<-[r:ABOUT|COMPARED_WITH]-(d:Decision)
WHERE r.belief_after IS NOT NULL
RETURN f.id AS id, f.text AS text, f.belief AS belief, type(r) AS role, r.belief_before AS before,
  r.belief_after AS after, d.question AS question, d.chosen AS chosen, d.pieces AS pieces,
  d.decided_at AS decided_at
ORDER BY id, d.decided_at, d.position"""


def replayed(log: list[Mapping[str, Any]]) -> float:
    """Belief of one fact from its log, by the rule alone: add log-odds, clamp at each step.

    The steps' own beliefs are not used, but for the first; they must fit together all the same.
    """
    assert log[0]["before"] is None
    belief: float = log[0]["after"]
    for before, row in itertools.pairwise(log):
        assert row["before"] == before["after"], "an update was lost, or comes out of order"
        against = row["role"] == "COMPARED_WITH" and row["chosen"] not in _FOR
        sign = -1.0 if against else 1.0
        moved = _log_odds(belief) + sign * sum(map(_log_odds, row["pieces"]))
        belief = _inside(1.0 / (1.0 + math.exp(-moved)))
    return belief


_FOR = ("duplicate", "refinement")


def _inside(p: float) -> float:
    return min(max(p, 0.02), 0.98)


def _log_odds(p: float) -> float:
    inside = _inside(p)
    return math.log(inside / (1.0 - inside))
