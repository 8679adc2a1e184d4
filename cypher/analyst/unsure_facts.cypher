// Which facts are tentative, or unsettled?
// Tentative: stored unsure. Unsettled: a question about it got no usable answer; `engram resume`
// asks again.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   fact: the fact as a sentence.
//   tentative, unsettled: which of the two.
//   belief: probability that it still holds, in [.02, .98].
//   confidence: how sure the write was.
//   open: whether it has no end.
//   recorded_at: when it was stored.
//   told_by: who stated it.
//   fact_id: for `engram explain`.
CYPHER 25
MATCH (f:Fact)
WHERE f.namespace = $namespace AND f.predicate IS NOT NULL AND (f.tentative OR f.unsettled = true)
WITH f, coalesce(f.unsettled, false) AS unsettled
ORDER BY unsettled DESC, f.belief, f.recorded_at, f.id LIMIT $limit
RETURN f.text AS fact, f.tentative AS tentative, unsettled,
  f.belief AS belief, f.confidence AS confidence, f.open AS open, f.recorded_at AS recorded_at,
  COLLECT { MATCH (f)-[:STATED_IN]->(m:Message) RETURN DISTINCT m.speaker AS who ORDER BY who }
    AS told_by,
  f.id AS fact_id
ORDER BY unsettled DESC, belief, recorded_at, fact_id
