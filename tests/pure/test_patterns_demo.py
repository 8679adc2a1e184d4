"""The demo conversation says what it is made to say, also without a language model."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from engram_graph import demo
from engram_graph.adapters.patterns import drafts
from engram_graph.models.facts import Draft, Message
from engram_graph.rules.secrets import redact
from engram_graph.vocabulary import PREDICATES, Role

EXPECTED = """
demo-03 I|lives_in|Lisbon
demo-04 I|works_at|Atlas Maps
demo-04 I|has_role|cartographer
demo-04 I|prefers|drawing coastlines
demo-05 I|lives_in|Hamburg past 2019-01-01 2022-01-01
demo-06 I|lives_in|Bremen current 2022-06-01
demo-06 I|works_at|Weser Ferries
demo-06 I|has_role|mechanic
demo-07 I|family_of|Anna
demo-07 Anna|lives_in|Graz
demo-08 I|owns|dog Pico current 2024-01-27
demo-09 I|allergic_to|shellfish
demo-10 I|dislikes|olives
demo-11 I|hobby|cello
demo-12 I|hobby|bouldering current 2024-02-01
demo-13 I|follows_diet|vegetarian current 2024-02-01
demo-14 I|habit|have fish on Fridays
demo-15 I|plans|move to Porto planned
demo-18 I|lives_in|Porto current 2024-05-06
demo-19 I|goal|visit Porto
demo-20 I|member_of|the Ribeira Choir current 2024-05-01
demo-21 Maya|allergic_to|walnuts
demo-22 not I|allergic_to|walnuts
demo-23 not I|hobby|cello
demo-25 I|attended|harbour festival in Bremen current 2024-07-20
demo-26 I|has_role|head of maintenance current 2024-08-01
demo-28 not I|works_at|Atlas Maps
demo-28 I|works_at|the Maritime Museum
demo-28 I|has_role|exhibition designer
demo-31 I|prefers|grilled sardines
demo-32 I|plans|move to Lisbon hypothetical
demo-33 not I|follows_diet|vegetarian
demo-34 I|lives_in|Lisbon current 2024-12-08
demo-36 not I|member_of|the Ribeira Choir
demo-37 I|hobby|cello
demo-38 I|speaks|German
demo-38 I|speaks|Portuguese
demo-39 I|plans|buy a boat planned
demo-40 I|goal|play in an orchestra
demo-41 I|born_in|Coimbra
"""


def _line(source_id: str, draft: Draft) -> str:
    triple = f"{draft.subject}|{draft.predicate}|{draft.object}"
    parts = [source_id, "not" if draft.negated else "", triple]
    dates = [str(date.date()) for date in (draft.valid_from, draft.valid_until) if date]
    if draft.temporal_status != "current" or dates:
        parts += [draft.temporal_status.value, *dates]
    return " ".join(part for part in parts if part)


def _message(line: dict[str, str]) -> Message:
    said = datetime.fromisoformat(line["said_at"])
    return Message(
        id=line["source_id"], namespace="demo", conversation=line["conversation"],
        speaker=line["speaker"], role=Role(line["role"]), text=redact(line["text"])[0],
        said_at=said, recorded_at=said, source_id=line["source_id"],
    )  # fmt: skip


def test_every_important_sentence_is_understood() -> None:
    found = [
        _line(line["source_id"], draft)
        for line in demo.messages()
        for draft in drafts(_message(line))
    ]
    assert found == EXPECTED.strip().splitlines()


def test_the_conversation_is_well_formed() -> None:
    lines = demo.messages()
    times = [datetime.fromisoformat(line["said_at"]) for line in lines]
    assert times == sorted(set(times))
    assert (times[-1] - times[0]).days > 400
    assert len({line["source_id"] for line in lines}) == len(lines) == 42
    assert {line["conversation"] for line in lines} == {"maya-and-jonas"}
    speakers = Counter(line["speaker"] for line in lines)
    assert min(speakers["Maya"], speakers["Jonas"]) > 12
    assert speakers["assistant"] == 2
    fields = {"source_id", "conversation", "speaker", "role", "said_at", "text"}
    assert all(set(line) == fields for line in lines)


def test_its_one_secret_is_found() -> None:
    found = [value for line in demo.messages() for value in redact(line["text"])[1]]
    assert found == ["Heron7!Quay-Lamp"]


def test_questions_and_queries_are_complete() -> None:
    assert len(demo.questions()) == 6
    for row in demo.questions():
        assert set(row) == {"question", "as_of", "mode", "answer", "shows"}
    assert [row["mode"] for row in demo.questions()] == ["facts"] * 5 + ["turns"]
    assert len(demo.CYPHER) == 3
    for title, query in demo.CYPHER:
        assert title
        assert "namespace: 'demo'" in query
    used = "LIVES_IN"
    assert used in {p.neo4j_type for p in PREDICATES.values()}
    assert used in demo.CYPHER[0][1]
