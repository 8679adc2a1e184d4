// On which questions did the decider fail?
// No usable answer came: it was away, too late, or its answer broke the contract.
//
// Parameters:
//   :param namespace => 'demo'
//     STRING: whose memory.
//   :param limit => 100
//     INTEGER = 100: most rows.
//
// Columns:
//   decided_at: when.
//   question: what was asked.
//   reason: what went wrong.
//   fact, compared_with: what it was asked about.
//   unsettled: the fact still waits to be asked about again.
//   fact_id: for `engram explain`.
CYPHER 25
MATCH (d:Decision)
WHERE d.namespace = $namespace AND d.decided_at IS NOT NULL AND d.outcome = 'fallback'
  AND d.backend = 'fallback'
WITH d ORDER BY d.decided_at DESC, d.position, d.id LIMIT $limit
OPTIONAL MATCH (d)-[:ABOUT]->(f:Fact)
RETURN d.decided_at AS decided_at, d.question AS question, d.reason AS reason, f.text AS fact,
  head(COLLECT { MATCH (d)-[:COMPARED_WITH]->(other:Fact) RETURN other.text }) AS compared_with,
  coalesce(f.unsettled, false) AS unsettled, f.id AS fact_id
ORDER BY decided_at DESC, d.position, d.id
