// What did one message give rise to?
// The facts it states, and for each fact it was the first to state, every decision of that write:
// what it was compared with, and what that closed. A message without facts has one row.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param source_id => 'demo-18'
//     STRING: the message, by its source_id.
//
// Columns:
//   speaker, said_at, message: who said what.
//   status: pending, done or failed.
//   fact: a fact it states.
//   first: whether it was the first to state it.
//   question, answer, p, outcome: a decision of that write.
//   other: the other fact of the pair.
//   belief_before, belief_after: of the other fact.
//   fact_id: for `engram explain`.
CYPHER 25
MATCH (m:Message {namespace: $namespace, source_id: $source_id})
OPTIONAL MATCH (m)<-[:STATED_IN]-(f:Fact)
WITH m, f, NOT EXISTS {
  MATCH (f)-[:STATED_IN]->(earlier:Message) WHERE earlier.recorded_at < m.recorded_at
} AS first
OPTIONAL MATCH (f)<-[:ABOUT|COMPARED_WITH]-(d:Decision)
WHERE first AND d.decided_at = f.recorded_at
OPTIONAL MATCH (d)-[moved:ABOUT|COMPARED_WITH]->(other:Fact)
WHERE other <> f
RETURN m.speaker AS speaker, m.said_at AS said_at, m.text AS message, m.status AS status,
  f.text AS fact, CASE WHEN f IS NOT NULL THEN first END AS first, d.question AS question,
  d.chosen AS answer, d.p AS p, d.outcome AS outcome, other.text AS other,
  moved.belief_before AS belief_before, moved.belief_after AS belief_after, f.id AS fact_id
ORDER BY f.recorded_at, fact_id, d.position, d.id
