"""What writing a conversation left in the graph, read from an export of it.

Rows say texts, source ids and numbers, no ids and no clock of ours: a replay gives the same.
"""

from __future__ import annotations

import tempfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from engram_graph.evaluation.arms.common import costs
from engram_graph.evaluation.study.records import Tally, Written
from engram_graph.formats.export import read_header, read_records
from engram_graph.memory import AsyncMemory
from engram_graph.models.decisions import Decision, RequestLog
from engram_graph.models.export import (
    DecisionRecord,
    FactRecord,
    LinkRecord,
    MessageRecord,
    RequestRecord,
)
from engram_graph.models.facts import Fact, Link


@dataclass(slots=True)
class Stored:
    """A namespace's records. Its messages were written one after the other.

    Attributes:
        facts: id → fact, in the order they were recorded. sources: id → source ids of the turns
            that tell it, in the order they were stored.
        decisions: in the order they were taken.
    """

    facts: dict[str, Fact] = field(default_factory=dict)
    sources: dict[str, tuple[str, ...]] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)
    decisions: list[DecisionRecord] = field(default_factory=list)
    requests: list[RequestLog] = field(default_factory=list)
    turns: list[tuple[datetime, str]] = field(default_factory=list)

    @property
    def first_sources(self) -> dict[str, str]:
        """Fact id → source id of the turn that told it first."""
        return {each: found[0] for each, found in self.sources.items()}

    def turn_at(self, moment: datetime) -> str | None:
        """Source id of the turn that was being written then."""
        at = bisect_right(self.turns, moment, key=lambda turn: turn[0])
        return self.turns[at - 1][1] if at else None


async def stored(memory: AsyncMemory) -> Stored:
    """All of the memory's namespace."""
    with tempfile.TemporaryDirectory(prefix="engram-stored-") as folder:
        path = Path(folder) / "store.jsonl"
        await memory.export(path)
        return _read(path)


def written(
    found: Stored, turns: int, asked: Sequence[Tally], failed: Sequence[tuple[str, str]]
) -> Written:
    """It in numbers and rows.

    Args:
        asked: for each turn. failed: turns that could not be written, with the reason.
    """
    facts = found.facts.values()
    return Written(
        turns=turns,
        facts=len(facts),
        active=sum(fact.open for fact in facts),
        tentative=sum(fact.tentative for fact in facts),
        disputed=sum(fact.disputed for fact in facts),
        same_as=sum(link.type == "SAME_AS" for link in found.links),
        counters=_counters(found),
        closes=tuple(_closes(found)),
        beliefs=tuple(_beliefs(found)),
        cost_usd=costs(asked),
        latency_ms=tuple(tally.latency_ms for tally in asked),
        failed=tuple(failed),
    )


def _read(path: Path) -> Stored:
    found = Stored()
    messages: dict[str, tuple[datetime, str]] = {}
    with path.open("rb") as stream:
        read_header(stream)
        for line in read_records(stream):
            match line.record:
                case MessageRecord(message=message):
                    messages[message.id] = message.recorded_at, message.source_id
                case FactRecord(fact=fact, sources=sources):
                    found.facts[fact.id] = fact
                    told = sorted(messages[each] for each in sources)
                    found.sources[fact.id] = tuple(source_id for _, source_id in told)
                case LinkRecord(link=link):
                    found.links.append(link)
                case DecisionRecord():
                    found.decisions.append(line.record)
                case RequestRecord(request=request):
                    found.requests.append(request)
                case _:
                    pass
    found.turns = sorted(messages.values())
    found.decisions.sort(key=lambda each: (each.decision.decided_at, each.position))
    return found


def _counters(found: Stored) -> dict[str, int]:
    """``question:outcome``, ``closed:reason`` and ``requests:backend`` with their counts."""
    counts = Counter(f"{r.decision.question}:{r.decision.outcome}" for r in found.decisions)
    counts.update(f"closed:{f.closed_reason}" for f in found.facts.values() if f.closed_reason)
    counts.update(f"requests:{request.backend}" for request in found.requests)
    counts.update("requests:failed" for request in found.requests if request.error)
    return dict(sorted(counts.items()))


def _closes(found: Stored) -> Iterable[Mapping[str, Any]]:
    """One row for each fact with an end, in the order of their recording.

    The new fact is the one that superseded it, else the one it was compared with when it got its
    end; there is none where the end was stated with it.
    """
    newer = {link.target: link.source for link in found.links if link.type == "SUPERSEDES"}
    ended_by: dict[str, Decision] = {
        record.decision.fact_id: record.decision
        for record in found.decisions
        if record.moves_end and record.decision.fact_id
    }
    for id_, fact in found.facts.items():
        if fact.valid_until is None:
            continue
        decision = ended_by.get(id_)
        by = newer.get(id_) or (decision.candidate_id if decision else None)
        new = found.facts.get(by or "")
        yield {
            "text": fact.text,
            "by": new.text if new else None,
            "old_sources": list(found.sources[id_]),
            "new_sources": list(found.sources[new.id]) if new else [],
            "reason": str(fact.closed_reason),
            "valid_until": fact.valid_until.isoformat(),
            "turn": found.turn_at(fact.closed_at) if fact.closed_at else None,
        }


def _beliefs(found: Stored) -> Iterable[Mapping[str, Any]]:
    """One row for each change of a belief, in the order of the decisions."""
    for record in found.decisions:
        one = record.decision
        moved = (
            (one.fact_id, one.belief_before, one.belief_after),
            (one.candidate_id, one.candidate_belief_before, one.candidate_belief_after),
        )
        for id_, before, after in moved:
            if after is not None and id_ in found.facts:
                yield {
                    "turn": found.turn_at(one.decided_at),
                    "fact": found.facts[id_].text,
                    "question": one.question,
                    "chosen": one.chosen,
                    "p": one.p,
                    "outcome": one.outcome,
                    "before": before,
                    "after": after,
                }
