"""A conversation to try things out with: Maya and Jonas, January 2024 to March 2025, all invented.

It is made for the pattern extractor, so that it works without a key: people move and come back,
change jobs, plan, give things up and take them up again, and once contradict each other.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NAMESPACE = "demo"
_FOLDER = Path(__file__).parent

CYPHER: tuple[tuple[str, str], ...] = (
    (
        "Where Maya lived, as typed edges: one edge per fact, closed ones with an end",
        "MATCH (maya:Entity {namespace: 'demo', key: 'maya'})-[home:LIVES_IN]->(place:Entity)\n"
        "RETURN maya, home, place",
    ),
    (
        "What replaced what, and which message said so",
        "MATCH (newer:Fact {namespace: 'demo'})-[:SUPERSEDES]->(older:Fact)\n"
        "OPTIONAL MATCH (newer)-[:STATED_IN]->(said:Message)\n"
        "RETURN older.text AS before, newer.text AS after, older.valid_until AS until,\n"
        "       older.closed_reason AS reason, said.speaker AS told_by\n"
        "ORDER BY until",
    ),
    (
        "How belief moved: what each fact was compared with, and what the answer did to it",
        "MATCH (d:Decision {namespace: 'demo'})-[c:COMPARED_WITH]->(old:Fact)\n"
        "WHERE c.belief_after <> c.belief_before\n"
        "RETURN old.text AS fact, c.belief_before AS before, c.belief_after AS after,\n"
        "       d.question AS question, d.chosen AS chosen, d.p AS p\n"
        "ORDER BY d.decided_at",
    ),
)
"""(what it shows, query) to paste into Neo4j Browser."""


def messages() -> list[dict[str, Any]]:
    """The chat lines in order: source_id, conversation, speaker, role, said_at, text."""
    lines = (_FOLDER / "conversation.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def questions() -> list[dict[str, Any]]:
    """Six questions: question, as_of (ISO date or null), mode, answer, and what they show.

    ``mode`` says what answers it: ``facts`` or ``turns``.
    """
    found: list[dict[str, Any]] = json.loads(
        (_FOLDER / "questions.json").read_text(encoding="utf-8")
    )
    return found
