// Which open facts are believed least?
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param limit => 25
//     INTEGER = 25: most rows.
//
// Columns:
//   fact: the fact as a sentence.
//   belief: probability that it still holds, in [.02, .98].
//   confidence: how sure the write was; it never changes.
//   against: pieces of evidence that spoke against it.
//   tentative, disputed: stored unsure; contradicted and not closed.
//   told_by: who stated it.
//   fact_id: for `engram explain`.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.predicate IS NOT NULL AND f.open
WITH f ORDER BY f.belief, f.recorded_at, f.id LIMIT $limit
RETURN f.text AS fact, f.belief AS belief, f.confidence AS confidence, f.against_count AS against,
  f.tentative AS tentative, f.disputed AS disputed,
  COLLECT { MATCH (f)-[:STATED_IN]->(m:Message) RETURN DISTINCT m.speaker AS who ORDER BY who }
    AS told_by,
  f.id AS fact_id
ORDER BY belief, f.recorded_at, fact_id
