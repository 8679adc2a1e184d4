// Which facts are disputed, and by what?
// Disputed: something contradicts the fact, and neither of the two was closed for it.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   fact: the fact as a sentence.
//   open: whether it has no end.
//   belief: probability that it still holds, in [.02, .98].
//   against: pieces of evidence that spoke against it.
//   contradicts: the facts it is at odds with.
//   told_by: who stated it.
//   fact_id: for `engram explain`.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.predicate IS NOT NULL AND f.disputed
WITH f ORDER BY f.belief, f.recorded_at, f.id LIMIT $limit
RETURN f.text AS fact, f.open AS open, f.belief AS belief, f.against_count AS against,
  COLLECT { MATCH (f)-[:CONTRADICTS]-(other:Fact) RETURN other.text AS text ORDER BY text }
    AS contradicts,
  COLLECT { MATCH (f)-[:STATED_IN]->(m:Message) RETURN DISTINCT m.speaker AS who ORDER BY who }
    AS told_by,
  f.id AS fact_id
ORDER BY belief, f.recorded_at, fact_id
