"""Each invariant is broken by hand once; doctor must say so, and say nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from engram_graph.flows import doctor
from engram_graph.graph import doctor as store
from engram_graph.graph.driver import Graph
from engram_graph.graph.queries import load
from engram_graph.models.results import Report

pytestmark = pytest.mark.anyio

OTHER = """MERGE (e:Entity {namespace: $namespace + '-2', key: 'x'})
  ON CREATE SET e.id = randomUUID(), e.name = 'X'"""

# (name of the case, what is done to the graph, what doctor then finds, and on which ids)
DAMAGE: list[tuple[str, str, set[str], str]] = [
    (
        "two subjects",
        "MATCH (f:Fact {id: $tea})-[:SUBJECT]->(e) CREATE (f)-[:SUBJECT]->(e)",
        {"fact_ends"},
        "tea",
    ),
    (
        "no object",
        "MATCH (:Fact {id: $tea})-[r:OBJECT]->() DELETE r",
        {"fact_ends", "stray_edge", "unused_entity"},
        "tea",
    ),
    ("no edge", "MATCH ()-[r:PREFERS {fact_id: $tea}]->() DELETE r", {"fact_edge"}, "tea"),
    (
        "edge of another type",
        "MATCH (a)-[r:PREFERS {fact_id: $tea}]->(b) "
        "CREATE (a)-[n:DISLIKES]->(b) SET n = properties(r) DELETE r",
        {"fact_edge", "stray_edge"},
        "tea",
    ),
    (
        "edge the wrong way round",
        "MATCH (a)-[r:PREFERS {fact_id: $tea}]->(b) CREATE (b)-[n:PREFERS]->(a) "
        "SET n = r {.*, fact_id: null} WITH n, r, r.fact_id AS id DELETE r SET n.fact_id = id",
        {"fact_edge", "stray_edge"},
        "tea",
    ),
    (
        "edge of no fact",
        "MATCH (a)-[:PREFERS {fact_id: $tea}]->(b) CREATE (a)-[:HOBBY {fact_id: $namespace}]->(b)",
        {"stray_edge"},
        "",
    ),
    (
        "entity of no fact",
        "CREATE (:Entity {namespace: $namespace, key: 'nobody', id: $namespace, name: 'Nobody'})",
        {"unused_entity"},
        "namespace",
    ),
    (
        "alias of nobody",
        "CREATE (:Alias {namespace: $namespace, key: 'annie', name: 'Annie'})",
        {"alias"},
        "",
    ),
    (
        "alias with an entity's name",
        "MATCH (a:Entity {namespace: $namespace, key: 'ann'}) SET a.aliases = ['Paris'] "
        "CREATE (:Alias {namespace: $namespace, key: 'paris', name: 'Paris'})-[:ALIAS_OF]->(a)",
        {"alias"},
        "",
    ),
    (
        "alias that is not shown",
        "MATCH (a:Entity {namespace: $namespace, key: 'ann'}) SET a.aliases = ['Nan'] "
        "CREATE (:Alias {namespace: $namespace, key: 'annie', name: 'Annie'})-[:ALIAS_OF]->(a)",
        {"alias"},
        "",
    ),
    (
        "alias that is only shown",
        "MATCH (a:Entity {namespace: $namespace, key: 'ann'}) SET a.aliases = ['Annie']",
        {"alias"},
        "",
    ),
    (
        "no source",
        "MATCH (:Fact {id: $tea})-[r:STATED_IN]->() DELETE r",
        {"fact_source"},
        "tea",
    ),
    (
        "superseded and open",
        "MATCH (a:Fact {id: $berlin}) MATCH (b:Fact {id: $paris}) MATCH (t:Fact {id: $tea}) "
        "CREATE (b)-[:SUPERSEDES]->(t)",
        {"superseded_open"},
        "tea",
    ),
    (
        "circle",
        "MATCH (a:Fact {id: $berlin})<-[:SUPERSEDES]-(b) CREATE (a)-[:SUPERSEDES]->(b) "
        "WITH b SET b.open = false, b.valid_until = b.valid_from, b.closed_reason = 'superseded', "
        "b.closed_at = b.recorded_at, b.candidate = false "
        "WITH b MATCH ()-[r:LIVES_IN {fact_id: b.id}]->() "
        "SET r += b {.open, .valid_until, .closed_reason, .closed_at}",
        {"supersedes_circle"},
        "berlin",
    ),
    (
        "superseding itself",
        "MATCH (a:Fact {id: $berlin}) CREATE (a)-[:SUPERSEDES]->(a)",
        {"supersedes_circle"},
        "berlin",
    ),
    (
        "mention across namespaces",
        f"{OTHER} WITH e MATCH (f:Fact {{id: $tea}}) CREATE (f)-[:MENTIONS]->(e)",
        {"namespace_crossed"},
        "tea",
    ),
    (
        "same_as across namespaces",
        "MATCH (f:Fact {id: $tea}) CREATE (f)-[:SAME_AS]->(:Fact {namespace: $namespace + '-2'})",
        {"namespace_crossed"},
        "tea",
    ),
    (
        "decision about nothing",
        "MATCH (d:Decision)-[r:ABOUT]->(:Fact {id: $tea}) SET r.belief_after = null "
        "CREATE (:Decision {id: $namespace, namespace: $namespace, outcome: 'stored', "
        "decided_at: d.decided_at}) CREATE (d)-[:ABOUT {belief_after: .9}]->(:Fact) "
        "WITH d MATCH (d)-[:ABOUT]->(x:Fact) WHERE x.id IS NULL DETACH DELETE x "
        "WITH DISTINCT d MATCH (d)-[r:ABOUT]->() SET r.belief_after = .9",
        {"decision_fact"},
        "namespace",
    ),
    (
        "belief out of range",
        "MATCH (f:Fact {id: $tea})<-[a:ABOUT]-() MATCH ()-[r:PREFERS {fact_id: f.id}]->() "
        "SET f.belief = 0.99, r.belief = 0.99, a.belief_after = 0.99",
        {"belief_range"},
        "tea",
    ),
    (
        "no belief",
        "MATCH (f:Fact {id: $tea}) MATCH ()-[r:PREFERS {fact_id: f.id}]->() "
        "SET f.belief = null, r.belief = null",
        {"belief_range", "belief_decided"},
        "tea",
    ),
    (
        "belief nobody decided",
        "MATCH (f:Fact {id: $tea}) MATCH ()-[r:PREFERS {fact_id: f.id}]->() "
        "SET f.belief = 0.5, r.belief = 0.5",
        {"belief_decided"},
        "tea",
    ),
    (
        "a lost update of a belief",
        "MATCH (:Fact {id: $berlin})<-[c:COMPARED_WITH]-() SET c.belief_before = 0.9",
        {"belief_decided"},
        "berlin",
    ),
    (
        "no starting belief",
        "MATCH (:Fact {id: $tea})<-[a:ABOUT]-() SET a.belief_after = null",
        {"belief_decided"},
        "tea",
    ),
    (
        "unsettled though nothing is missing",
        "MATCH (f:Fact {id: $tea}) SET f.unsettled = true",
        {"unsettled_disagrees"},
        "tea",
    ),
    (
        "settled though answers are missing",
        "MATCH (f:Fact {id: $tea})<-[:ABOUT]-(d) SET d.question = 'settle', d.outcome = 'fallback'",
        {"unsettled_disagrees"},
        "tea",
    ),
    (
        "open with an end",
        "MATCH (f:Fact {id: $berlin}) MATCH ()-[r:LIVES_IN {fact_id: f.id}]->() "
        "SET f.open = true, r.open = true",
        {"open_disagrees", "superseded_open"},
        "berlin",
    ),
    (
        "no candidate though closed by belief",
        "MATCH (f:Fact {id: $berlin}) SET f.candidate = false",
        {"open_disagrees"},
        "berlin",
    ),
    (
        "closed without a reason",
        "MATCH (f:Fact {id: $berlin}) MATCH ()-[r:LIVES_IN {fact_id: f.id}]->() "
        "SET f.closed_reason = null, r.closed_reason = null, f.candidate = false",
        {"open_disagrees"},
        "berlin",
    ),
    (
        "closed at no time",
        "MATCH (f:Fact {id: $berlin}) MATCH ()-[r:LIVES_IN {fact_id: f.id}]->() "
        "SET f.closed_at = null, r.closed_at = null",
        {"open_disagrees"},
        "berlin",
    ),
    ("open unset", "MATCH (f:Fact {id: $tea}) SET f.candidate = null", {"open_disagrees"}, "tea"),
    (
        "end before start",
        "MATCH (f:Fact {id: $berlin}) MATCH ()-[r:LIVES_IN {fact_id: f.id}]->() "
        "SET f.valid_until = f.valid_from - duration('P1D'), r.valid_until = f.valid_until",
        {"interval_order"},
        "berlin",
    ),
    (
        "another zone",
        "MATCH (f:Fact {id: $tea}) MATCH ()-[r:PREFERS {fact_id: f.id}]->() "
        "SET f.valid_from = datetime('2025-03-11T01:00+01:00'), r.valid_from = f.valid_from",
        {"not_utc"},
        "tea",
    ),
    (
        "no zone",
        "MATCH (m:Message {id: $messages[2]}) SET m.recorded_at = localdatetime()",
        {"not_utc"},
        "",
    ),
    (
        "short vector",
        "MATCH (f:Fact {id: $tea}) SET f.embedding = [.1, .2]",
        {"embedding_dimension"},
        "tea",
    ),
    (
        "vector that was left",
        "MATCH (f:Fact {id: $tea}) SET f.embedding_7 = [.1, .2]",
        {"stray_vector"},
        "tea",
    ),
    (
        "token of another namespace",
        "MATCH (f:Fact {id: $tea}) SET f.namespace_key = 'n0'",
        {"namespace_key"},
        "tea",
    ),
    (
        "index text of a fact",
        "MATCH (f:Fact {id: $tea}) SET f.search_text = 'coffee'",
        {"search_text"},
        "tea",
    ),
    (
        "index text of a message",
        "MATCH (m:Message {id: $messages[0]}) SET m.search_text = null",
        {"search_text"},
        "",
    ),
    (
        "edge says something else",
        "MATCH ()-[r:PREFERS {fact_id: $tea}]->() SET r.tentative = true",
        {"edge_differs"},
        "tea",
    ),
    (
        "edge lacks a property",
        "MATCH ()-[r:LIVES_IN {fact_id: $berlin}]->() REMOVE r.closed_at",
        {"edge_differs"},
        "berlin",
    ),
    (
        "password in a quote",
        "MATCH (f:Fact {id: $tea}) SET f.source_quote = 'my password is hunter2!x9'",
        {"secret"},
        "tea",
    ),
    (
        "password in metadata",
        'MATCH (m:Message {id: $messages[0]}) SET m.metadata = \'{"password": "hunter2!x9"}\'',
        {"secret"},
        "",
    ),
    (
        "password in an alias",
        "MATCH (:Fact {id: $tea})-[:OBJECT]->(e) SET e.aliases = ['password: hunter2!x9'] "
        "CREATE (:Alias {namespace: e.namespace, key: 'x', name: e.aliases[0]})-[:ALIAS_OF]->(e)",
        {"secret"},
        "",
    ),
    (
        "password in a reason",
        "MATCH (d:Decision {namespace: $namespace}) SET d.reason = 'password: hunter2!x9'",
        {"secret"},
        "",
    ),
    (
        "password in an answer",
        'MATCH (q:Request {namespace: $namespace}) SET q.answers = \'{"a": "pwd: hunter2!x9"}\'',
        {"secret"},
        "",
    ),
    (
        "password in a label",
        "MATCH (f:Fact {id: $tea}) CREATE (:Feedback {id: $namespace, namespace: $namespace, "
        "verdict: 'right', given_at: datetime('2025-01-01T00:00Z'), belief: f.belief, open: true, "
        "why: 'password: hunter2!x9'})-[:ABOUT]->(f)",
        {"secret"},
        "namespace",
    ),
    (
        "label of nothing",
        "CREATE (:Feedback {id: $namespace, namespace: $namespace, verdict: 'right', "
        "given_at: datetime('2025-01-01T00:00Z')})",
        {"feedback"},
        "namespace",
    ),
    (
        "label without a verdict",
        "MATCH (d:Decision)-[:ABOUT]->(:Fact {id: $tea}) WITH d LIMIT 1 "
        "CREATE (:Feedback {id: $namespace, namespace: $namespace, "
        "given_at: datetime('2025-01-01T00:00Z')})-[:ABOUT]->(d)",
        {"feedback"},
        "namespace",
    ),
    (
        "label in no zone",
        "MATCH (d:Decision)-[:ABOUT]->(:Fact {id: $tea}) WITH d LIMIT 1 "
        "CREATE (:Feedback {id: $namespace, namespace: $namespace, verdict: 'wrong', "
        "given_at: localdatetime('2025-01-01T00:00')})-[:ABOUT]->(d)",
        {"not_utc"},
        "namespace",
    ),
    (
        "item without a value",
        "CREATE (:Item {id: $namespace, namespace: $namespace, folder: 'a/', key: 'k', said: 0, "
        "source: 's', created_at: datetime('2025-01-01T00:00Z'), "
        "updated_at: datetime('2025-01-01T00:00Z')})",
        {"item"},
        "namespace",
    ),
    (
        "text of no item",
        "CREATE (:ItemText {id: $namespace, namespace: $namespace, folder: 'a/', text: 'tea'})",
        {"item"},
        "namespace",
    ),
    (
        "password in an item",
        "CREATE (:Item {id: $namespace, namespace: $namespace, folder: 'a/', key: 'k', said: 0, "
        "source: 's', created_at: datetime('2025-01-01T00:00Z'), "
        "updated_at: datetime('2025-01-01T00:00Z'), value: '{\"password\": \"hunter2!x9\"}'})",
        {"secret"},
        "namespace",
    ),
    (
        "done without drafts",
        "MATCH (m:Message {id: $messages[0]}) SET m.drafts = null",
        {"message_done"},
        "",
    ),
    (
        "done with an error",
        "MATCH (m:Message {id: $messages[0]}) SET m.error = 'no answer'",
        {"message_done"},
        "",
    ),
    (
        "a state that is none",
        "MATCH (m:Message {id: $messages[0]}) SET m.status = 'half'",
        {"message_done"},
        "",
    ),
    ("lock on a fact", "MATCH (f:Fact {id: $tea}) SET f.locked = true", {"lock_left"}, "tea"),
    (
        "lock on a conversation",
        "MATCH (c:Conversation {namespace: $namespace}) SET c.locked = true",
        {"lock_left"},
        "",
    ),
    (
        "import broken off",
        "MATCH (f:Fact {id: $tea}) SET f.importing = true",
        {"import_left"},
        "tea",
    ),
    (
        "chain torn",
        "MATCH (:Message {id: $messages[0]})-[r:NEXT]->() DELETE r",
        {"next_chain"},
        "",
    ),
    (
        "chain branches",
        "MATCH (a:Message {id: $messages[0]}) MATCH (c:Message {id: $messages[2]}) "
        "CREATE (a)-[:NEXT]->(c)",
        {"next_order", "next_chain"},
        "",
    ),
    (
        "chain out of order",
        "MATCH (a:Message {id: $messages[0]})-[r:NEXT]->(b) DELETE r CREATE (b)-[:NEXT]->(a) "
        "WITH b MATCH (b)-[s:NEXT]->(c:Message {id: $messages[2]}) DELETE s "
        "WITH c MATCH (a:Message {id: $messages[0]}) CREATE (a)-[:NEXT]->(c)",
        {"next_order"},
        "",
    ),
]


def names(report: Report) -> set[str]:
    return {finding.invariant for finding in report.findings}


async def test_a_sound_graph_has_no_findings(sound: Any) -> None:
    report = await doctor.check(sound.graph, sound.namespace)
    assert report.sound, report.findings
    assert report.namespace == sound.namespace
    assert report.checked["fact_edge"] == 3
    assert report.checked["message_done"] == 3
    assert report.checked["supersedes_circle"] == 1
    assert report.checked["next_chain"] == 1
    assert report.checked["secret"] == 3 + 3 + 4 + 5 + 1  # all records with words of their own


async def test_an_empty_namespace_is_sound(graph: Graph, namespace: str) -> None:
    report = await doctor.check(graph, namespace)
    assert report.sound
    assert set(report.checked.values()) == {0}


@pytest.mark.damaged
@pytest.mark.parametrize(
    ("damage", "expected", "where"),
    [pytest.param(text, found, where, id=case) for case, text, found, where in DAMAGE],
)
async def test_each_damage_is_found(
    sound: Any, damage: str, expected: set[str], where: str
) -> None:
    await sound.run(damage)
    report = await doctor.check(sound.graph, sound.namespace)
    assert names(report) == expected, report.findings
    for finding in report.findings:
        assert finding.ids
        assert finding.message
    if where:
        assert getattr(sound, where) in {i for f in report.findings for i in f.ids}


def test_every_invariant_is_broken_once() -> None:
    found = set().union(*(expected for _, _, expected, _ in DAMAGE))
    known = {rule.name for rule in doctor.INVARIANTS}
    known |= {doctor.SUPERSEDES_CIRCLE.name, doctor.SECRET.name, doctor.SEARCH_TEXT.name}
    assert found == known


def test_every_invariant_has_its_statement() -> None:
    assert {rule.name for rule in doctor.INVARIANTS} <= set(load("doctor"))


@pytest.mark.damaged
async def test_all_namespaces_are_checked_at_once(sound: Any) -> None:
    await sound.run("MATCH (f:Fact {id: $tea}) SET f.belief = 1.5")
    await sound.run("CREATE (:Message {id: $namespace, text: 'lost'})")
    try:
        report = await doctor.check(sound.graph, None)
        assert report.namespace is None
        assert {"belief_range", "incomplete_record"} <= names(report)
        assert report.checked["index"] == 3
        assert "index" not in names(report)
    finally:
        await sound.run("MATCH (m:Message {id: $namespace}) DELETE m")


@pytest.mark.damaged
async def test_a_finding_of_another_namespace_is_not_mine(sound: Any) -> None:
    await sound.run("MATCH (f:Fact {id: $tea}) SET f.belief = 1.5")
    report = await doctor.check(sound.graph, sound.namespace + "-other")
    assert report.sound


@pytest.mark.damaged
async def test_a_finding_names_twenty_ids_and_pages_are_read_to_the_end(
    sound: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    await sound.run(
        "UNWIND range(1, 50) AS i CREATE (:Entity {namespace: $namespace, key: 'e' + i, "
        "id: $namespace + i, name: CASE i WHEN 50 THEN 'pwd: hunter2!x9' ELSE 'E' END})"
    )
    monkeypatch.setattr(store, "_PAGE", 7)
    report = await doctor.check(sound.graph, sound.namespace)
    found = {finding.invariant: finding for finding in report.findings}
    assert set(found) == {"unused_entity", "secret"}
    assert len(found["unused_entity"].ids) == doctor.MAX_IDS
    assert found["secret"].ids == (sound.namespace + "50",)
    assert report.checked["secret"] == 3 + 3 + 4 + 50 + 5 + 1


async def test_secrets_are_not_repeated_in_the_report(graph: Graph, sound: Any) -> None:
    await sound.run("MATCH (f:Fact {id: $tea}) SET f.source_quote = 'password: hunter2!x9'")
    report = await doctor.check(graph, sound.namespace)
    await sound.run("MATCH (f:Fact {id: $tea}) SET f.source_quote = null")
    assert not report.sound
    assert "hunter2" not in report.model_dump_json()


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        ([], []),
        ([("c", "b"), ("b", "a"), ("c", "a")], []),
        ([("a", "a")], ["a"]),
        ([("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")], ["a", "b", "c"]),
    ],
)
def test_circles(pairs: list[tuple[str, str]], expected: list[str]) -> None:
    assert doctor.circles(pairs) == expected


async def test_nothing_is_written(sound: Any) -> None:
    count = "MATCH (n {namespace: $namespace}) RETURN count(n) AS n, sum(n.version) AS v"
    before = await sound.run(count)
    await doctor.check(sound.graph, sound.namespace)
    assert await sound.run(count) == before
